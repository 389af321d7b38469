"""Numbers as a paper prints them: with the digits that their uncertainty leaves meaningful."""

from __future__ import annotations

import math

NOTHING = "–"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(x: float | None, digits: int = 3) -> str:
    """Return a number with a few significant digits; a dash for None and non-finite numbers."""
    if x is None or not math.isfinite(x):
        return NOTHING
    if x == 0 or 1e-4 <= abs(x) < 1e5:
        return _minus(f"{x:.{digits}g}")
    mantissa, exponent = f"{x:.{min(digits, 3) - 1}e}".split("e")
    return f"{_minus(mantissa)}·10{str(int(exponent)).translate(RAISED)}"


def fixed(x: float, decimals: int = 3) -> str:
    """Return a number with a fixed number of decimals, without a minus before zero."""
    return _minus(f"{x:.{decimals}f}")


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return a fraction in percent, without the sign: 0.0514 -> 5.1; large ones as '> 999'."""
    if fraction is None or math.isnan(fraction):
        return NOTHING
    value = 100 * fraction
    return (
        "> 999"
        if value > 999
        else f"{value:.0f}"
        if value >= 100
        else _minus(f"{value:.{digits}f}")
    )


def with_uncertainty(value: float, spread: float) -> tuple[str, str]:
    """Return value and spread as text, both to the second significant digit of the spread.

    (12.3456, 0.0123) -> ('12.346', '0.012').
    """
    if not (math.isfinite(value) and math.isfinite(spread)) or spread <= 0:
        return short(value, 5), NOTHING
    digits = 1 - math.floor(math.log10(spread))  # decimals that show two digits of the spread
    if digits > 7 or digits < -3:
        return short(value, 4), short(spread, 2)
    decimals = max(digits, 0)
    return _minus(f"{round(value, digits):.{decimals}f}"), f"{round(spread, digits):.{decimals}f}"


def _minus(text: str) -> str:
    """Return a true minus sign in front, and none before zero."""
    if text.startswith("-") and not any(c in "123456789" for c in text):
        text = text[1:]
    return text.replace("-", "−")
