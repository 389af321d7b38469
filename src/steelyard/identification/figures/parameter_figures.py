"""Masses, error budget, singular values, uncertainty and correlation of parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...drawing.colours import BLUE, ORANGE, SILVER, WINE
from ...drawing.figure import Axis, Bars, Figure, Heatmap, Marker, Panel, Points, Rule
from ...drawing.numbers import percent, short
from ...drawing.parameter_table import correlation

Array = NDArray[np.float64]
WEAK = 30.0  # [%] relative standard deviation of a poorly identified parameter
SMALLEST, LARGEST = 1e-6, 1e2  # relative standard deviations that are drawn
CAUSE_COLOURS = (SILVER, ORANGE, BLUE, WINE)


def mass_figure(links: Sequence[str], mass: Array, std: Array, described: Array) -> Figure:
    """Return the mass (L,) [kg] of every link with two standard deviations.

    Links whose `std` (L,) is infinite are not identified by the log and have open markers.
    """
    identified = np.isfinite(std)
    positions = np.arange(len(links), dtype=float)
    marks = [
        Points(
            x=described,
            y=positions,
            name="described",
            colour=ORANGE,
            marker="diamond-open",
            unit="kg",
        )
    ]
    groups: tuple[tuple[NDArray[np.bool_], str, Marker], ...] = (
        (identified, "identified, ± 2σ", "circle"),
        (~identified, "not identified by the log", "circle-open"),
    )
    for group, name, marker in groups:
        if group.any():
            errors = np.where(group, 2 * np.where(identified, std, 0.0), 0.0)[group]
            texts = tuple(_mass_text(mass[k], std[k]) for k in np.flatnonzero(group))
            marks.append(
                Points(
                    x=mass[group],
                    y=positions[group],
                    name=name,
                    marker=marker,
                    x_error=errors,
                    labels=texts,
                )
            )
    panel = Panel(
        marks=tuple(marks),
        x=Axis(title="mass [kg]", from_zero=True),
        y=Axis(categories=tuple(links)),
    )
    caption = "Mass of every link with all that is fixed to it, beside the described mass."
    height = 110 + 30 * len(links)
    return Figure(name="masses", rows=((panel,),), caption=caption, height=height)


def _mass_text(mass: float, std: float) -> str:
    spread = f" ± {short(2 * float(std), 2)}" if np.isfinite(std) else ""
    return f"{short(float(mass), 4)} kg{spread}"


def budget_figure(
    joints: Sequence[str],
    units: Sequence[str],
    causes: Sequence[str],
    shares: Array,
    rms: Array,
    relative: Array,
) -> Figure:
    """Return the causes of each joint's error.

    Parameters
    ----------
    shares : (n, c) of the squared residual of each joint
    rms, relative : (n,) error of each joint [N m|N] and as a fraction of its torque
    """
    marks = []
    for k, cause in enumerate(causes):
        sizes = np.sqrt(shares[:, k]) * rms
        texts = [f"{short(float(x))} {unit} RMS" for x, unit in zip(sizes, units, strict=True)]
        colour = CAUSE_COLOURS[k % len(CAUSE_COLOURS)]
        marks.append(
            Bars(values=100 * shares[:, k], name=cause, colour=colour, labels=tuple(texts))
        )
    panel = Panel(
        marks=tuple(marks),
        x=Axis(title="share of the squared residual [%]", limits=(0.0, 100.0)),
        y=Axis(categories=tuple(joints)),
    )
    worst = int(np.argmax(np.nan_to_num(relative)))
    caption = (
        "Causes of the remaining error, joint by joint. Hover for the size in N m or N."
        f" {joints[worst]} has the largest relative error:"
        f" {percent(float(relative[worst]))} % of its torque."
    )
    height = 110 + 30 * len(joints)
    return Figure(name="budget", rows=((panel,),), caption=caption, height=height)


def singular_value_figure(values: Array, rank: int) -> Figure:
    """Return the singular values of the scaled regressor; those beyond the rank are not excited."""
    floor = 1e-18 * max(float(np.max(values, initial=0.0)), 1e-300)
    drawn = np.maximum(values, floor)
    colours = tuple(BLUE if k < rank else ORANGE for k in range(len(drawn)))
    numbers = np.arange(1.0, len(drawn) + 1)
    panel = Panel(
        marks=(Points(x=numbers, y=drawn, colour=colours),),
        x=Axis(title="number", limits=(0.0, len(drawn) + 1.0)),
        y=Axis(title="singular value", logarithmic=True),
    )
    caption = (
        "Singular values of the regressor along the recorded motion."
        " A long tail means parameter combinations that the motion hardly excited."
    )
    return Figure(name="singular", rows=((panel,),), caption=caption)


def uncertainty_figure(
    relative: Array, names: Sequence[str], combinations: Sequence[str]
) -> Figure:
    """Return the relative standard deviation [%] of every base parameter, smallest first."""
    order = np.argsort(relative, kind="stable")
    values = 100 * np.clip(relative[order], SMALLEST, LARGEST)
    colours = tuple(BLUE if value < WEAK else ORANGE for value in values)
    texts = tuple(
        f"{names[k]} = {combinations[k]}: {short(float(v))} %"
        for k, v in zip(order, values, strict=True)
    )
    numbers = np.arange(1.0, len(values) + 1)
    points = Points(x=numbers, y=values, colour=colours, labels=texts)
    panel = Panel(
        marks=(Rule(position=WEAK, colour=ORANGE, dash="dot"), points),
        x=Axis(title="base parameters, best identified first", limits=(0.0, len(values) + 1.0)),
        y=Axis(title="relative std [%]", logarithmic=True),
    )
    caption = (
        "Relative standard deviation of the base parameters. Parameters above the dotted "
        "line (30 %) are poorly identified."
    )
    return Figure(name="uncertainty", rows=((panel,),), caption=caption)


def correlation_figure(names: Sequence[str], covariance: Array) -> Figure:
    """Return the correlation of base parameters from their covariance (b, b)."""
    shown, values = correlation(covariance)
    labels = tuple(names[int(k)] for k in shown)
    panel = Panel(
        marks=(Heatmap(values=values, label="correlation"),),
        x=Axis(categories=labels),
        y=Axis(categories=labels),
    )
    caption = (
        "Correlation of the errors of the base parameters. Dark fields off the diagonal are pairs"
        " that this motion separates badly: a change of one compensates a change of the other."
        f" {strongest_correlation(labels, values)}"
    )
    rows = ((panel,),)
    return Figure(name="correlation", rows=rows, caption=caption, height=640, square=True)


def strongest_correlation(labels: Sequence[str], values: Array) -> str:
    """Return a sentence on the pair with the strongest correlation."""
    if len(labels) < 2:
        return ""
    off = np.abs(np.triu(values, 1))
    i, j = divmod(int(np.argmax(off)), len(labels))
    number = f"{values[i, j]:.2f}".replace("-", "−")
    return f"The strongest is between {labels[i]} and {labels[j]}, {number}."
