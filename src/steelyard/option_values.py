"""Values of options that are more than a number: parsers of texts, and their JSON schemas.

A parser turns the text of a command line, a form or a configuration file into a value. It raises a
CallError that says what was expected; `options.parse_text` puts the name of the option before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import CallError

PER_JOINT = "one number, one per joint, or JOINT=NUMBER,..."
NUMBERS = {"type": "array", "items": {"type": "number"}}
NAMED_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
PER_JOINT_SCHEMA: Mapping[str, Any] = {"anyOf": [{"type": "number"}, NUMBERS, NAMED_NUMBERS]}
RANGES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": {**NUMBERS, "minItems": 2, "maxItems": 2},
}
BOXES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "array",
        "items": {**NUMBERS, "minItems": 3, "maxItems": 3},
        "minItems": 2,
        "maxItems": 2,
    },
}
HALF_SPACES_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {"type": "array", "minItems": 2, "maxItems": 3},
}
GROUND_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"type": "number"}, {"enum": ["base", "none"]}, {"type": "null"}]
}
TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
NAMES_SCHEMA: Mapping[str, Any] = {"anyOf": [{"type": "string"}, TEXTS]}
NAMES_OR_VALUES_SCHEMA: Mapping[str, Any] = {"anyOf": [*NAMES_SCHEMA["anyOf"], NAMED_NUMBERS]}
ESTIMATED_SCHEMA: Mapping[str, Any] = {"anyOf": [{"const": "estimate"}, *PER_JOINT_SCHEMA["anyOf"]]}
MASS_SCHEMA: Mapping[str, Any] = {"anyOf": [{"type": "number"}, NAMED_NUMBERS]}
PAIR_SCHEMA: Mapping[str, Any] = {**TEXTS, "minItems": 2, "maxItems": 2}
PAIRS_SCHEMA: Mapping[str, Any] = {"anyOf": [PAIR_SCHEMA, {"type": "array", "items": PAIR_SCHEMA}]}
EXPRESSIONS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": "string"},
}
PAYLOAD_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"type": "number"}, {**NUMBERS, "minItems": 1, "maxItems": 4}]
}


DEGREE = math.pi / 180
UNITS: Mapping[str, tuple[str, float]] = {
    "deg": ("rad", DEGREE), "°": ("rad", DEGREE), "rad": ("rad", 1.0),
    "deg/s": ("rad/s", DEGREE), "°/s": ("rad/s", DEGREE), "rad/s": ("rad/s", 1.0),
    "deg/s2": ("rad/s2", DEGREE), "°/s2": ("rad/s2", DEGREE), "rad/s2": ("rad/s2", 1.0),
    "m": ("m", 1.0), "cm": ("m", 1e-2), "mm": ("m", 1e-3),
    "m/s": ("m/s", 1.0), "mm/s": ("m/s", 1e-3), "m/s2": ("m/s2", 1.0),
    "kg": ("kg", 1.0), "g": ("kg", 1e-3), "s": ("s", 1.0), "ms": ("s", 1e-3),
    "Hz": ("Hz", 1.0), "kHz": ("Hz", 1e3), "N": ("N", 1.0), "Nm": ("Nm", 1.0),
    "Nm/A": ("Nm/A", 1.0),
}  # fmt: skip
"""Unit that a number may end in -> SI unit without spaces, and factor."""
CELL = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z°][\w°·/²³ ]*)")


def number(text: str) -> float:
    """Read a number in SI units, or one that ends in its unit, such as 30deg or 28.7kg."""
    digits, unit = split_unit(text)
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CallError(f"{text!r} is not a number; write for example 0.5 or 30deg")
    return value * UNITS[unit][1] if unit else value


def split_unit(text: str) -> tuple[str, str]:
    """Return the digits of a number and its unit, '' where it ends in none of UNITS."""
    match = CELL.fullmatch(text.strip())
    if match is None:
        return text, ""
    unit = match.group(2).replace(" ", "").replace("·", "").replace("²", "2").replace("³", "3")
    if unit.lower() in ("deg", "rad"):
        unit = unit.lower()
    return (match.group(1), unit) if unit in UNITS else (text, "")


def split_numbers(text: str) -> list[str]:
    """Return the cells of '1, 2, 3', '[1, 2, 3]' or '1 2 3'."""
    inner = text.strip()
    if inner[:1] + inner[-1:] in ("[]", "()"):
        inner = inner[1:-1]
    if "," not in inner:
        inner = re.sub(r"(?<=[0-9.])\s+(?=[A-Za-z°])", "", inner)  # 28.7 kg is one number
        return inner.split() or [""]
    return [cell.strip() for cell in inner.split(",")]


def check_units(texts: Sequence[str], unit: str) -> None:
    """Raise CallError if a number in texts ends in a unit that its option does not have.

    Parameters
    ----------
    texts : values as typed, such as 'joint2=30deg' or '28.7kg,0,0,10cm'
    unit : unit of the option, alternatives divided by "|", one for each number by ", "
    """
    parts = unit.replace(" m/A", "m/A").replace("N m", "Nm").split(", ")
    for text in texts:
        cells = split_numbers(text.partition("=")[2] or text)
        for k, cell in enumerate(cells):
            typed = split_unit(cell.rpartition("=")[2])[1]
            known = parts[min(k, len(parts) - 1)].split("|")
            si = UNITS[typed][0] if typed else ""
            # an angle in degrees stands for a rate too: 30deg is 30deg/s
            if si and si not in known and not (si == "rad" and known[0].startswith("rad")):
                raise CallError(f"{cell!r} is in {typed}; expected {' or '.join(known)}")


def numbers_parser(*counts: int) -> Callable[[str], list[float]]:
    """Return a parser of '1, 2, 30deg' or '[1 2 30deg]', with as many numbers as in `counts`."""

    def parse(text: str) -> list[float]:
        cells = split_numbers(text)
        if counts and len(cells) not in counts:
            raise CallError(
                f"{text!r} has {len(cells)} numbers; expected {' or '.join(map(str, counts))},"
                " such as 0.1,0,0.2"
            )
        return [number(cell) for cell in cells]

    return parse


def by_joint(text: str) -> float | list[float] | dict[str, float]:
    """Read '2.0' for all joints, '1,2,3' for each, or 'joint2=1,joint3=2' by name."""
    if "=" in text:
        return named(text.split(","))
    values = numbers_parser()(text)
    return values[0] if len(values) == 1 else values


def estimate_or_by_joint(text: str) -> str | float | list[float] | dict[str, float]:
    """Read 'estimate', or numbers as `by_joint` does."""
    return text.strip() if text.strip() == "estimate" else by_joint(text)


def named(texts: Sequence[str]) -> dict[str, float]:
    """Read 'name=0.02' each."""
    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise CallError(f"{text!r}; expected NAME=NUMBER, such as link3.mcx=0.02")
        values[name.strip()] = _number_of(name, value)
    return values


def ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read 'joint2=-1,1' each."""
    intervals = {}
    for text in texts:
        name, _, value = text.partition("=")
        low, high = numbers_parser(2)(value)
        intervals[name.strip()] = (low, high)
    return intervals


def boxes(texts: Sequence[str]) -> Mapping[str, tuple[list[float], list[float]]]:
    """Read 'tool0=-1,-1,0,1,1,2' each: the corners of a box of a frame or link [m]."""
    corners = {}
    for text in texts:
        name, _, value = text.partition("=")
        six = [
            float(cell) if cell.strip() in ("inf", "-inf") else number(cell.strip())
            for cell in value.split(",")
        ]
        if len(six) != 6:
            raise CallError(
                f"{text!r}; expected FRAME=x0,y0,z0,x1,y1,z1 [m], such as tool0=-1,-1,0,1,1,2"
            )
        corners[name.strip()] = (six[:3], six[3:])
    return corners


def half_spaces(texts: Sequence[str]) -> list[tuple[list[float], float]]:
    """Read 'nx,ny,nz,d' each: the points x with n . x <= d [m]."""
    rows = [numbers_parser(4)(text) for text in texts]
    return [(row[:3], row[3]) for row in rows]


def names_or_values(texts: Sequence[str]) -> list[str] | dict[str, float | None]:
    """Read names, 'link1,joint2', some of them with a value, 'joint1.Fv=2.5'."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not any("=" in name for name in names):
        return names
    return {
        name: value
        for each in names
        for name, value in (named([each]) if "=" in each else {each: None}).items()
    }


def names_parser(texts: Sequence[str]) -> list[str]:
    """Read 'joint1,joint2' each."""
    cells = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    wrong = next((name for name in cells if "=" in name), None)
    if wrong is not None or not cells:
        raise CallError(f"{wrong or ','.join(texts)!r}; expected names, such as joint1,joint2")
    return cells


def joint_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Read 'joint5,joint6' each."""
    pairs = []
    for text in texts:
        names = [name.strip() for name in text.split(",")]
        if len(names) != 2 or not all(names):
            raise CallError(
                f"{text!r}; expected two joints that share a motor, such as joint5,joint6"
            )
        pairs.append((names[0], names[1]))
    return pairs


def ground_height(text: str) -> float | str | None:
    """Read 'base', 'none' or a height [m]."""
    word = text.strip().lower()
    return {"base": "base", "none": None}[word] if word in ("base", "none") else number(word)


def _number_of(name: str, text: str) -> float:
    """Read the number of a name; an error names it."""
    try:
        return number(text.strip())
    except CallError as error:
        raise CallError(f"{name.strip()}: {error.message}") from None
