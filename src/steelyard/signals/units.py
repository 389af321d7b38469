"""Units that logs come in, and what one of each is in SI."""

from __future__ import annotations

from math import pi

UNITS = {
    "rad": 1.0, "deg": pi / 180, "°": pi / 180, "degrees": pi / 180, "rev": 2 * pi, "turn": 2 * pi, "m": 1.0, "mm": 1e-3,
    "rad/s": 1.0, "deg/s": pi / 180, "°/s": pi / 180, "rpm": pi / 30, "m/s": 1.0, "mm/s": 1e-3,
    "rad/s2": 1.0, "deg/s2": pi / 180, "°/s2": pi / 180, "m/s2": 1.0,
    "nm": 1.0, "n·m": 1.0, "n*m": 1.0, "mnm": 1e-3, "knm": 1e3, "n": 1.0, "kn": 1e3,
    "a": 1.0, "ma": 1e-3,
    "s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
}  # fmt: skip
"""Factor to SI of each unit, spelled in lower case."""

OF_QUANTITY = {
    "t": ("s", "sec", "ms", "us", "µs", "ns"),
    "q": ("rad", "deg", "°", "degrees", "rev", "turn", "m", "mm"),
    "qd": ("rad/s", "deg/s", "°/s", "rpm", "m/s", "mm/s"),
    "qdd": ("rad/s2", "deg/s2", "°/s2", "m/s2"),
    "tau": ("nm", "n·m", "n*m", "mnm", "knm", "n", "kn"),
    "current": ("a", "ma"),
}
"""Which units each quantity may have."""

WORDS = {"radians": "rad", "degree": "deg", "seconds": "s", "secs": "s", "amp": "a", "amps": "a", "ampere": "a"}


def spelled(unit: str) -> str:
    """The unit as the table spells it: 'Deg / s^2' is 'deg/s2'."""
    plain = unit.strip().lower().replace(" ", "").replace("^", "").replace("²", "2").replace("_per_", "/").replace("per", "/")
    return WORDS.get(plain, plain)


def factor(unit: str | None, quantity: str) -> float | None:
    """What one `unit` of the quantity is in SI; 1 when nothing is said; None when the quantity has no such unit."""
    if unit is None:
        return 1.0
    name = spelled(unit)
    if name in ("deg", "rad", "°") and quantity in ("qd", "qdd"):  # 'velocity [deg]' means degrees a second
        return UNITS[name]
    return UNITS[name] if name in OF_QUANTITY.get(quantity, ()) else None
