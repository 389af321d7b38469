"""Two identifications beside each other.

Errors of their torques, and parameters with the difference in their own uncertainty.
"""

from __future__ import annotations

import numpy as np

from ..drawing.numbers import NOTHING, short, with_uncertainty
from ..drawing.table import Column, Table
from .saved_fit import Array, SavedFit
from .tables import compared_errors, starts

APART = 3.0  # standard deviations of the difference, from which two values disagree


def compared_fits(a: SavedFit, b: SavedFit, names: tuple[str, str]) -> Table:
    """Return RMS [N m|N], relative error and R² of each joint of two fits, on their own logs."""
    return compared_errors(a.joint_names, [(names[0], a), (names[1], b)], a.joint_units)


def difference_table(a: SavedFit, b: SavedFit, names: tuple[str, str]) -> Table:
    """Return the parameters of two fits with two standard deviations, and their difference.

    The difference is (b - a) / sqrt(sa² + sb²).

    Faint rows are those that neither log shows; the note says how many disagree.
    """
    labels = tuple(dict.fromkeys((*a.parameter_names, *b.parameter_names)))
    units = dict(
        zip(
            a.parameter_names + b.parameter_names,
            a.parameter_units + b.parameter_units,
            strict=True,
        )
    )
    values = [_aligned(fit.parameter_names, fit.parameters, labels, 0.0) for fit in (a, b)]
    spreads = [_aligned(fit.parameter_names, fit.parameters_std, labels, np.inf) for fit in (a, b)]
    apart = standardised_differences(*values, *spreads)
    rows, faint = list[tuple[str, ...]](), list[int]()
    for k, name in enumerate(labels):
        cells = [
            cell
            for x, s in zip(values, spreads, strict=True)
            for cell in _cells(float(x[k]), float(s[k]))
        ]
        rows.append(
            (
                name,
                *cells,
                NOTHING if not np.isfinite(apart[k]) else f"{apart[k]:+.1f}".replace("-", "−"),
                units[name].replace("m2", "m²"),
            )
        )
        if not np.isfinite(spreads[0][k]) and not np.isfinite(spreads[1][k]):
            faint.append(k)
    columns = [Column("parameter", numeric=False)]
    columns += [Column(title, group=name) for name in names for title in ("value", "± 2σ")]
    columns += [Column("difference / σ"), Column("unit", numeric=False)]
    known, far = (
        int(np.isfinite(apart).sum()),
        int((np.abs(apart[np.isfinite(apart)]) > APART).sum()),
    )
    note = (
        f"{far} of {known} parameters that both logs show differ by more than {APART:g} standard"
        " deviations."
    )
    return Table(
        title="Parameters of both",
        columns=tuple(columns),
        rows=tuple(rows),
        note=note,
        faint=frozenset(faint),
        breaks=starts(labels),
    )


def standardised_differences(a: Array, b: Array, sa: Array, sb: Array) -> Array:
    """Return (b - a) / sqrt(sa² + sb²), (p,); NaN where either is not known, or both are held."""
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = (b - a) / np.hypot(sa, sb)
    return np.where(np.isfinite(sa) & np.isfinite(sb) & (np.hypot(sa, sb) > 0), distances, np.nan)


def _aligned(
    names: tuple[str, ...], values: Array, labels: tuple[str, ...], absent: float
) -> Array:
    """Return values in the order of labels; `absent` for those that are not there."""
    known = dict(zip(names, values, strict=True))
    return np.array([known.get(label, absent) for label in labels], dtype=float)


def _cells(value: float, std: float) -> tuple[str, str]:
    return (
        with_uncertainty(value, 2 * std)
        if np.isfinite(std) and std > 0
        else (short(value, 4), NOTHING)
    )
