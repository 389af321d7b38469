"""Decimals of a file, exactly, and sentences about those that are none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
LARGEST = 10**60  # squares and products of what is read must not overflow
_INFINITE = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}


@dataclass
class Notes:
    """What a reader found wrong or odd, gathered so that a user sees all of it at once."""

    where: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        return f"{self.where}, line {line}"

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(f"{self.at(line)}: {sentence}")


def decimal(text: str) -> Fraction | None:
    """The exact value of a decimal number, None where the text is none (NaN, infinity and what no robot is made of are none)."""
    text = text.strip()
    if len(text) > 400 or not _DECIMAL.fullmatch(text):
        return None
    value = Fraction(text)
    return value if abs(value) < LARGEST else None


def decimals(text: str, count: int) -> tuple[Fraction, ...] | None:
    """The exact values of `count` decimals parted by white space."""
    values = [decimal(word) for word in text.split()]
    return tuple(x for x in values if x is not None) if len(values) == count and None not in values else None


def bound(text: str) -> float | None:
    """A limit: a decimal, inf or -inf."""
    word = text.strip().lower()
    if word in _INFINITE:
        return _INFINITE[word]
    return float(word) if len(word) < 400 and _DECIMAL.fullmatch(word) else None
