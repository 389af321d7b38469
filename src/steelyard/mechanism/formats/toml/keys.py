"""Typed access to the keys of a TOML table.

Keys that no reader asks for are unknown, and every problem is collected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....algebra.vector import ZERO, Vector
from ....errors import suggest
from ....names import escape_name
from ..inertial import LARGEST


class TomlKeys:
    """The keys of one table.

    `where` names file and table; `problems` is shared by all tables of a file.
    """

    def __init__(self, data: dict[str, Any], where: str, problems: list[str]) -> None:
        self.data, self.where, self.problems = data, where, problems
        self.asked: dict[str, None] = {}

    def has(self, key: str) -> bool:
        self.asked[key] = None
        return key in self.data

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; required where there is no default."""
        return self._typed(
            key, str, "a string", "" if default is None else default, default is None
        )

    def flag(self, key: str) -> bool:
        return self._typed(key, bool, "true or false", False)

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in options:
            self.problem(f"{key} = {value!r}; {suggest(value, options)}")
            return default
        return value

    def number(self, key: str, default: float | None = 0.0) -> float:
        """Return a finite number; required where the default is None."""
        if not self.has(key):
            if default is None:
                self.problem(f"{key} is missing")
            return default or 0.0
        value = _finite(self.data[key])
        if value is None:
            self.problem(f"{key} = {self.data[key]!r}; expected a number")
        return value or 0.0

    def optional(self, key: str) -> float | None:
        """Return a finite number, None where it is absent."""
        return self.number(key) if self.has(key) else None

    def bound(self, key: str, default: float) -> float:
        """Return a number that may be infinite."""
        if self.has(key) and self.data[key] in (math.inf, -math.inf):
            return float(self.data[key])
        return self.number(key) if self.has(key) else default

    def numbers(
        self, key: str, counts: tuple[int, ...], default: tuple[float, ...]
    ) -> tuple[float, ...]:
        """Return a list of finite numbers whose length is one of `counts`."""
        if not self.has(key):
            return default
        value = self.data[key]
        numbers = [_finite(x) for x in value] if isinstance(value, list) else []
        if len(numbers) not in counts or None in numbers:
            self.problem(
                f"{key} = {value!r}; expected a list of {' or '.join(map(str, counts))} numbers"
            )
            return default
        return tuple(x for x in numbers if x is not None)

    def vector(self, key: str, default: Vector = ZERO) -> Vector:
        """Return three finite numbers."""
        x, y, z = self.numbers(key, (3,), default)
        return (x, y, z)

    def table(self, key: str) -> TomlKeys:
        """Return a table within this one; an empty one where it is absent."""
        return TomlKeys(
            self._typed(key, dict, "a table", {}), f"{self.where}, {key}", self.problems
        )

    def tables(self, key: str) -> list[TomlKeys]:
        """Return an array of tables: [[key]]."""
        rows = self._typed(key, list, "an array of tables", [], required=True)
        if not all(isinstance(row, dict) for row in rows):
            self.problem(f"{key} must be an array of tables: [[{key}]]")
            rows = []
        return [
            TomlKeys(row, f"{self.where}, {key}[{i}]{_called(row)}", self.problems)
            for i, row in enumerate(rows)
        ]

    def done(self) -> None:
        """Report the keys that were never asked for; call it last."""
        for key in self.data:
            if key not in self.asked:
                self.problem(f"unknown key {key!r}; {suggest(key, self.asked)}")

    def problem(self, sentence: str) -> None:
        self.problems.append(f"{self.where}: {sentence}")

    def _typed(self, key: str, kind: type, what: str, default: Any, required: bool = False) -> Any:
        if not self.has(key):
            if required:
                self.problem(f"{key} is missing; expected {what}")
            return default
        if not isinstance(self.data[key], kind):
            self.problem(f"{key} = {self.data[key]!r}; expected {what}")
            return default
        return self.data[key]


def _finite(value: Any) -> float | None:
    """Return a number as a float; None for other values and implausibly large numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
        return None
    return float(value)


def _called(row: dict[str, Any]) -> str:
    return f" ({escape_name(row['name'])})" if isinstance(row.get("name"), str) else ""
