"""Attributes of XML elements as numbers, vectors and names; every problem is collected, so that a user sees all of them at once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ....algebra.rotation import from_rpy
from ....algebra.vector import IDENTITY, ZERO, Matrix, Vector
from ..inertial import LARGEST
from .xml_text import Element

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_INFINITE = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}


@dataclass
class Notes:
    """Problems and remarks of a reader, each with file and line."""

    where: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        return f"{self.where}, line {line}"

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(f"{self.at(line)}: {sentence}")


def parse_float(text: str) -> float | None:
    """A decimal number; None for anything else, NaN, infinity and numbers beyond 1e60 included."""
    value = float(text) if len(text) < 400 and _DECIMAL.fullmatch(text) else None
    return value if value is not None and abs(value) < LARGEST else None


def parse_bound(text: str) -> float | None:
    """A decimal number, inf or -inf."""
    word = text.strip().lower()
    return _INFINITE[word] if word in _INFINITE else float(word) if len(word) < 400 and _DECIMAL.fullmatch(word) else None


def name_attribute(element: Element, key: str, notes: Notes) -> str:
    """A required string."""
    value = element.attributes.get(key, "")
    if not value:
        notes.problem(element.line, f"<{element.tag}> has no {key}")
    return value


def float_attribute(element: Element, key: str, default: str | None, notes: Notes) -> float:
    """A number; required where the default is None."""
    text = element.attributes.get(key, default)
    value = None if text is None else parse_float(text.strip())
    if value is None:
        notes.problem(element.line, f"<{element.tag}> has " + (f"no {key}" if text is None else f"{key}={text!r}; expected a number"))
    return value or 0.0


def optional_float(element: Element | None, key: str, notes: Notes) -> float | None:
    """A number, None where the element or the attribute is absent."""
    return None if element is None or key not in element.attributes else float_attribute(element, key, None, notes)


def vector_attribute(element: Element | None, key: str, notes: Notes, default: Vector = ZERO) -> Vector:
    """Three numbers; the default where the element or the attribute is absent or blank."""
    text = "" if element is None else element.attributes.get(key, "")
    if element is None or not text.strip():
        return default
    values = [value for word in text.split() if (value := parse_float(word)) is not None]
    if len(values) != 3 or len(text.split()) != 3:
        notes.problem(element.line, f"<{element.tag}> has {key}={text!r}; expected three numbers")
        return default
    return (values[0], values[1], values[2])


def rpy_rotation(origin: Element | None, notes: Notes) -> Matrix:
    """The rotation of an <origin rpy="roll pitch yaw">."""
    rpy = vector_attribute(origin, "rpy", notes)
    return from_rpy(rpy) if any(rpy) else IDENTITY
