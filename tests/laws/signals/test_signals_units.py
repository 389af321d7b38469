"""Units of logs: each is what the constants of SciPy make of its name."""

from __future__ import annotations

import math

import pytest
from scipy.constants import degree, kilo, micro, milli, minute, nano

from steelyard.signals.units import UNITS

REVOLUTION = 360 * degree
PREFIXES = {
    "ms": milli,
    "us": micro,
    "µs": micro,
    "ns": nano,
    "mm": milli,
    "mm/s": milli,
    "mnm": milli,
    "knm": kilo,
    "kn": kilo,
    "ma": milli,
}
ANGLES = {
    "deg": degree,
    "°": degree,
    "degrees": degree,
    "rev": REVOLUTION,
    "turn": REVOLUTION,
    "rpm": REVOLUTION / minute,
}


@pytest.mark.parametrize("si", UNITS)
def test_a_unit_is_what_its_name_says(si: str) -> None:
    for unit, factor in UNITS[si].items():
        expected = PREFIXES.get(unit) or ANGLES.get(unit.split("/")[0]) or 1.0
        assert math.isclose(factor, expected, rel_tol=1e-14), f"{unit} is {factor} {si}"
