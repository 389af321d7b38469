"""States that a motion covered, and friction over speed, joint by joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...drawing.colours import BLUE, ORANGE, SILVER
from ...drawing.figure import Axis, Box, Curve, Mark, Panel, Points, Rule
from ...drawing.numbers import percent
from .residual_figures import evenly_spread

Array = NDArray[np.float64]
Range = tuple[float, float, float]  # lower and upper position, largest speed


def coverage_panel(
    joint: str, unit: str, q: Array, qd: Array, limits: Range, region: Range
) -> Panel:
    """Return positions (N,) [rad|m] and speeds (N,) of a joint, with its limits and the region."""
    shown = evenly_spread(np.isfinite(q) & np.isfinite(qd))
    low, high, speed = region
    marks: list[Mark] = [Box(x=(low, high), y=(-speed, speed), dash="dot")]
    marks += _limit_marks(limits)
    marks.append(Points(x=q[shown], y=qd[shown], colour=BLUE, marker="dot"))
    used = [
        f"{percent(share, 0)} % of its {quantity}"
        for share, quantity in covered_shares(q, qd, limits)
        if np.isfinite(share)
    ]
    return Panel(
        marks=tuple(marks),
        x=Axis(title=f"position [{unit}]"),
        y=Axis(title=f"speed [{unit}/s]"),
        title=joint,
        note=" · ".join(used),
    )


def covered_shares(q: Array, qd: Array, limits: Range) -> tuple[tuple[float, str], ...]:
    """Return the shares of range and speed that samples (N,) used, NaN where there is no limit."""
    low, high, speed = limits
    bounded = np.isfinite(high - low) and high > low
    wide = float(np.nanmax(q) - np.nanmin(q)) / (high - low) if bounded else np.nan
    quick = np.nan
    if np.isfinite(speed) and speed > 0:
        quick = float(np.nanmax(np.abs(qd))) / speed
    return (wide, "range"), (quick, "speed")


def _limit_marks(limits: Range) -> list[Mark]:
    """Return a box of the limits, or lines at those that are finite."""
    low, high, speed = limits
    if np.isfinite([low, high, speed]).all():
        return [Box(x=(low, high), y=(-speed, speed), colour=ORANGE)]
    ends: list[Mark] = [
        Rule(position=x, along="x", colour=ORANGE, dash="solid")
        for x in (low, high)
        if np.isfinite(x)
    ]
    speeds = [y for y in (-speed, speed) if np.isfinite(y)]
    return ends + [Rule(position=y, along="y", colour=ORANGE, dash="solid") for y in speeds]


def friction_panel(
    joint: str, units: tuple[str, str], qd: Array, friction: Array, curve: tuple[Array, Array]
) -> Panel:
    """Return torque less the rigid-body part (N,) against speed (N,), and the fitted friction.

    Parameters
    ----------
    units : of speed and torque
    curve : speeds and torques (k,) of the fitted friction
    """
    shown = evenly_spread(np.isfinite(friction) & np.isfinite(qd))
    dots = Points(x=qd[shown], y=friction[shown], colour=SILVER, marker="dot")
    fitted = Curve(x=curve[0], y=curve[1], name="fitted", colour=ORANGE, width=2.0)
    return Panel(
        marks=(dots, fitted),
        x=Axis(title=f"speed [{units[0]}]"),
        y=Axis(title=f"friction [{units[1]}]"),
        title=joint,
    )
