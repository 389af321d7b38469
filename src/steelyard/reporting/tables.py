"""The tables of an identification.

Torque errors per joint, estimates with their uncertainty, estimates beside true values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.numbers import NOTHING, percent, short, with_uncertainty
from ..drawing.parameter_table import typeset
from ..drawing.table import Column, Table
from ..identification import Fit, Region, Validation
from ..robot import Robot

Array = NDArray[np.float64]
WEAK = 0.3  # relative standard deviation of a poorly identified parameter


def shown_units(fit: Fit) -> tuple[str, ...]:
    """Return units of `fit.parameters`, as a page shows them."""
    return tuple(unit.replace("m2", "m²") for unit in fit.robot.parameter_units)


def base_units(fit: Fit) -> list[str]:
    """Return units of `fit.base_values`."""
    units = shown_units(fit)
    return [units[column] for column in fit.base.columns]


def compared_errors(
    names: Sequence[str], results: Sequence[tuple[str, Any]], units: Sequence[str]
) -> Table:
    """Return RMS, relative error and R² of each joint by result, e.g. ('before', validation).

    The last row is all joints together.

    Each result has .rms (n,) [N m|N], .relative_error (n,), .total_relative_error and .r2 (n,), as
    fractions.
    """
    columns = [Column("joint", numeric=False), Column("unit", numeric=False)]
    for label, _ in results:
        columns += [
            Column(name, sign, group=label)
            for name, sign in (("RMS", ""), ("error", "%"), ("R²", ""))
        ]
    rows = []
    for j, name in enumerate(names):
        cells = [
            (short(float(r.rms[j])), percent(float(r.relative_error[j])), _r2(float(r.r2[j])))
            for _, r in results
        ]
        rows.append((name, units[j], *(cell for group in cells for cell in group)))
    rows.append(
        (
            "all",
            "",
            *(
                cell
                for _, r in results
                for cell in ("", percent(float(r.total_relative_error), 2), "")
            ),
        )
    )
    return Table(
        "Prediction errors",
        tuple(columns),
        tuple(rows),
        "error: ‖τ − τ̂‖ / ‖τ‖ over the whole motion.",
    )


def _r2(value: float) -> str:
    return NOTHING if not np.isfinite(value) else "< 0" if value < 0 else f"{value:.4f}"


def estimate_table(
    title: str,
    names: Sequence[str],
    units: Sequence[str],
    value: Array,
    sigma: Array | None,
    others: Sequence[tuple[str, Array]] = (),
    more: Sequence[tuple[str, Sequence[str]]] = (),
    note: str = "",
) -> Table:
    """Return values with two standard deviations and the relative one.

    `others` are further values (before, true), `more` further text.
    """
    columns = [
        Column("parameter", numeric=False),
        *(Column(label, numeric=False) for label, _ in more),
        Column("value"),
        Column("± 2σ"),
    ]
    columns += [
        Column("σ/|value|", "%"),
        *(Column(label) for label, _ in others),
        Column("unit", numeric=False),
    ]
    rows, faint = [], []
    for k, name in enumerate(names):
        spread = float(sigma[k]) if sigma is not None else float("nan")
        relative = spread / abs(value[k]) if value[k] else float("inf")
        cells = with_uncertainty(float(value[k]), 2 * spread)
        share = percent(relative) if np.isfinite(relative) else NOTHING
        rows.append(
            (
                name,
                *(text[k] for _, text in more),
                *cells,
                share,
                *(short(float(x[k]), 4) for _, x in others),
                units[k],
            )
        )
        if not relative < WEAK:
            faint.append(k)
    return Table(
        title=title,
        columns=tuple(columns),
        rows=tuple(rows),
        note=note,
        faint=frozenset(faint),
        breaks=starts(names),
    )


def starts(names: Sequence[str]) -> frozenset[int]:
    """Return where the parameters of another link or joint begin."""
    owners = [name.rpartition(".")[0] for name in names]
    return frozenset(k for k in range(1, len(owners)) if owners[k] != owners[k - 1])


def true_and_estimated(
    names: Sequence[str],
    units: Sequence[str],
    value: Array,
    sigma: Array,
    true: Array,
    before: Array,
    combinations: Sequence[str],
) -> Table:
    """Return estimated against true base parameters, in standard deviations."""
    columns = [
        Column("parameter", numeric=False),
        *map(Column, ("true", "estimated", "± 2σ", "error / σ", "before")),
        Column("unit", numeric=False),
        Column("combination", numeric=False),
    ]
    rows, faint = [], []
    for k, name in enumerate(names):
        estimated, spread = with_uncertainty(float(value[k]), 2 * float(sigma[k]))
        away = (value[k] - true[k]) / sigma[k] if sigma[k] > 0 else float("nan")
        numbers = (
            short(float(true[k]), 5),
            estimated,
            spread,
            _signed(away),
            short(float(before[k]), 4),
        )
        rows.append((name, *numbers, units[k], combinations[k]))
        if not sigma[k] < WEAK * abs(value[k]):
            faint.append(k)
    return Table(
        title="True against estimated",
        columns=tuple(columns),
        rows=tuple(rows),
        note=coverage(value, sigma, true),
        faint=frozenset(faint),
        breaks=starts(names),
    )


def _signed(x: float) -> str:
    return NOTHING if not np.isfinite(x) else f"{x:+.1f}".replace("-", "−")


def coverage(value: Array, sigma: Array, true: Array) -> str:
    """Return in a sentence how many true values lie within two standard deviations."""
    inside = int(np.sum(np.abs(value - true) <= 2 * sigma))
    return (
        f"{inside} of {len(value)} true values lie within two standard deviations of the estimate."
    )


def results_of(fit: Fit, validation: Validation | None = None) -> list[tuple[str, Any]]:
    """Return the results to compare.

    Before, after and, where it was made, a validation on another log.
    """
    return [
        (label, r)
        for label, r in (("before", fit.before), ("after", fit), ("validation", validation))
        if r is not None
    ]


def cause_table(fit: Fit) -> Table:
    """Return a table of the causes of the remaining error, joint by joint.

    Shares of sensor noise, friction, rigid bodies, and unexplained errors.
    """
    return fit.residual_split.table()


def error_table(fit: Fit, validation: Validation | None = None) -> Table:
    """Return RMS [N m|N], relative error and R² per joint before, after and on another log."""
    return compared_errors(fit.model.row_names, results_of(fit, validation), fit.model.row_units)


def base_table(fit: Fit, true_robot: Robot | None = None) -> Table:
    """Return the base parameters and the combinations that they stand for.

    Beside the true values if the true robot is given.
    """
    value, sigma = fit.base_values, fit.base_standard_deviation
    columns = [("before", fit.base.values(aligned(fit.initial, fit.parameter_names)))]
    note = (
        "Torques depend on these combinations alone. σ accounts for correlated residuals;"
        " faint rows are barely identifiable."
    )
    if true_robot is not None:
        true = fit.base.values(aligned(true_robot, fit.parameter_names))
        columns = [
            ("true", true),
            ("off by", np.round((value - true) / np.where(sigma > 0, sigma, np.nan), 1)),
            *columns,
        ]
        note += f" Off by: error against the true value in σ; {coverage(value, sigma, true)}"
    more = [("combination", combinations(fit))]
    return estimate_table(
        "Base parameters", fit.base.names, base_units(fit), value, sigma, columns, more, note
    )


def combinations(fit: Fit) -> list[str]:
    """Return the combination of parameters behind each base parameter, as a page shows it."""
    return [typeset(text) for text in fit.base.expressions]


def region_table(region: Region) -> Table:
    """Return the region in numbers.

    Positions from and to, largest speeds and accelerations, joint by joint.
    """
    rows = []
    for j, name in enumerate(region.joint_names):
        numbers = (region.q_low[j], region.q_high[j], region.qd_most[j], region.qdd_most[j])
        rows.append((name, *(short(float(x)) for x in numbers), region.units[j]))
    columns = (
        Column("joint", numeric=False),
        *map(Column, ("q from", "to", "|qd| up to", "|qdd| up to")),
        Column("unit", numeric=False),
    )
    note = (
        f"The states that the log covers, {percent(region.share, 0)} % of its samples. Unit of q;"
        " speeds per s, accelerations per s²."
    )
    return Table("Region", columns, tuple(rows), note)


def full_table(fit: Fit) -> Table:
    """Return a table of every parameter of the exported model."""
    names = fit.parameter_names
    before = [("before", aligned(fit.initial, names))]
    note = (
        "As they stand in the exported model. The faint ones act only together with others: no"
        " motion can show them by themselves."
    )
    return estimate_table(
        "All parameters",
        names,
        shown_units(fit),
        fit.parameters,
        fit.standard_deviation,
        before,
        (),
        note,
    )


def accuracy_table(fit: Fit, true_robot: Robot) -> Table:
    """Return base parameters beside the true ones, errors in standard deviations of the fit."""
    true, before = (
        fit.base.values(aligned(robot, fit.parameter_names)) for robot in (true_robot, fit.initial)
    )
    value, sigma = fit.base_values, fit.base_standard_deviation
    return true_and_estimated(
        fit.base.names, base_units(fit), value, sigma, true, before, combinations(fit)
    )


def aligned(robot: Robot, names: tuple[str, ...]) -> Array:
    """Return a robot's parameters in another order of names; zero for absent terms."""
    values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    return np.array([values.get(name, 0.0) for name in names])
