"""A table of a TOML file that is asked for its keys: what was never asked for is unknown, and every problem is gathered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ....errors import choices
from ..decimals import LARGEST


class Table:
    """Typed access to one table. `where` names file and place, `problems` is shared by all tables of a file."""

    def __init__(self, data: dict[str, Any], where: str, problems: list[str]) -> None:
        self.data, self.where, self.problems = data, where, problems
        self.asked: dict[str, None] = {}

    def has(self, key: str) -> bool:
        self.asked[key] = None
        return key in self.data

    def text(self, key: str, default: str | None = None) -> str:
        """A string; required where there is no default."""
        return self._typed(key, str, "a string", "" if default is None else default, default is None)

    def flag(self, key: str) -> bool:
        return self._typed(key, bool, "true or false", False)

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in options:
            self.problem(f"{key} = {value!r}; {choices(value, options)}")
            return default
        return value

    def number(self, key: str, default: Fraction | int | None = 0) -> Fraction:
        """A finite number, exactly; required where the default is None."""
        if not self.has(key):
            if default is None:
                self.problem(f"{key} is missing")
            return Fraction(default or 0)
        value = exact(self.data[key])
        if value is None:
            self.problem(f"{key} = {_plain(self.data[key])}; expected a number")
        return value or Fraction(0)

    def optional(self, key: str) -> float | None:
        return float(self.number(key)) if self.has(key) else None

    def bound(self, key: str, default: float) -> float:
        """A number that may be infinite."""
        if not self.has(key):
            return default
        value = self.data[key]
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or math.isnan(value):
            self.problem(f"{key} = {_plain(value)}; expected a number")
            return default
        return float(value)

    def numbers(self, key: str, counts: tuple[int, ...], default: Sequence[int]) -> tuple[Fraction, ...]:
        """A list of finite numbers whose length is one of `counts`."""
        if not self.has(key):
            return tuple(map(Fraction, default))
        value = self.data[key]
        found = [exact(x) for x in value] if isinstance(value, list) else []
        if len(found) not in counts or None in found:
            self.problem(f"{key} = {_plain(value)}; expected a list of {' or '.join(map(str, counts))} numbers")
            return tuple(map(Fraction, default))
        return tuple(x for x in found if x is not None)

    def table(self, key: str) -> Table:
        """A table within this one; an empty one where it is absent."""
        return Table(self._typed(key, dict, "a table", {}), f"{self.where}, {key}", self.problems)

    def tables(self, key: str) -> list[Table]:
        """An array of tables: [[key]]."""
        rows = self._typed(key, list, "an array of tables", [], required=True)
        if not all(isinstance(row, dict) for row in rows):
            self.problem(f"{key} must be an array of tables: [[{key}]]")
            rows = []
        return [Table(row, f"{self.where}, {key}[{i}]{_called(row)}", self.problems) for i, row in enumerate(rows)]

    def done(self) -> None:
        """To be called when every known key was asked for: the others are errors."""
        for key in self.data:
            if key not in self.asked:
                self.problem(f"unknown key {key!r}; {choices(key, self.asked)}")

    def problem(self, sentence: str) -> None:
        self.problems.append(f"{self.where}: {sentence}")

    def _typed(self, key: str, kind: type, what: str, default: Any, required: bool = False) -> Any:
        if not self.has(key):
            if required:
                self.problem(f"{key} is missing; expected {what}")
            return default
        if not isinstance(self.data[key], kind):
            self.problem(f"{key} = {_plain(self.data[key])}; expected {what}")
            return default
        return self.data[key]


def exact(value: Any) -> Fraction | None:
    """A TOML number as a fraction, None where it is no finite number of a size that a robot can have."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < 400 and len(value.as_tuple().digits) < 400):
        return Fraction(0) if value.is_zero() else None
    number = Fraction(value)
    return number if abs(number) < LARGEST else None


def _called(row: dict[str, Any]) -> str:
    return f" ({row['name']})" if isinstance(row.get("name"), str) else ""


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_plain(x) for x in value) + "]"
    return str(value) if isinstance(value, Decimal) else repr(value)
