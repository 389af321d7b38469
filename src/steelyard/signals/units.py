"""The table of units that logs use: for each SI unit, other units with their factors."""

from __future__ import annotations

from math import pi

UNITS: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    "rad": {
        "rad": 1.0,
        "deg": pi / 180,
        "°": pi / 180,
        "degrees": pi / 180,
        "rev": 2 * pi,
        "turn": 2 * pi,
    },
    "m": {"m": 1.0, "mm": 1e-3},
    "rad/s": {"rad/s": 1.0, "deg/s": pi / 180, "°/s": pi / 180, "rpm": pi / 30},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "rad/s2": {"rad/s2": 1.0, "deg/s2": pi / 180, "°/s2": pi / 180},
    "m/s2": {"m/s2": 1.0},
    "N m": {"nm": 1.0, "n·m": 1.0, "n*m": 1.0, "mnm": 1e-3, "knm": 1e3},
    "N": {"n": 1.0, "kn": 1e3},
    "A": {"a": 1.0, "ma": 1e-3},
    "°C": {"°c": 1.0, "degc": 1.0, "c": 1.0, "celsius": 1.0},
}
"""SI unit -> {unit in lower case: what one of it is in SI}."""

SPELLINGS = {
    "radians": "rad",
    "degree": "deg",
    "seconds": "s",
    "secs": "s",
    "amp": "a",
    "amps": "a",
    "ampere": "a",
}
"""Other spellings of units in the table."""

ENDINGS = (
    "deg",
    "rad",
    "deg_per_s",
    "rad_per_s",
    "deg_per_s2",
    "rad_per_s2",
    "rpm",
    "mm",
    "nm",
    "mnm",
    "knm",
    "ma",
    "ms",
    "us",
    "ns",
    "degc",
)
"""Units that may end a column's name without brackets, as in `time_ms`; no other words."""


def spelled(unit: str) -> str:
    """Return the unit as the table spells it: 'Deg / s^2' is 'deg/s2'."""
    plain = (
        unit.strip()
        .lower()
        .replace(" ", "")
        .replace("^", "")
        .replace("²", "2")
        .replace("_per_", "/")
        .replace("per", "/")
    )
    return SPELLINGS.get(plain, plain)


def is_unit(text: str) -> bool:
    """Return whether the text is a unit of the table."""
    return any(spelled(text) in table for table in UNITS.values())


def unit_factor(unit: str | None, si: str) -> float | None:
    """Return what one `unit` is in the SI unit, such as 'rad|m'.

    1 for no unit; None where it measures something else.
    """
    if unit is None:
        return 1.0
    tables = [UNITS[part] for part in si.split("|")]
    name = spelled(unit)
    # 'velocity [deg]' means degrees per second
    if name in ("deg", "rad", "°") and si.startswith("rad/s"):
        return UNITS["rad"][name]
    return next((table[name] for table in tables if name in table), None)
