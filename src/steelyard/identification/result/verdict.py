"""The verdict on a fit, in sentences, and the table of its parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...drawing.numbers import percent, with_uncertainty
from ...drawing.table import Column, Table
from ...parameters.pseudo_inertia import is_consistent
from ...robot import Robot
from .uncertainty import Uncertainty
from .validation import Validation

TRUSTED = "This fit can be trusted for motions as fast and as wide as those of the log."
TRUSTED_WITHIN = "Trust this fit only for motions like those of the log."
REFUSED = "Do not trust this fit: the log does not identify this robot."


def check(robot: Robot, uncertainty: Uncertainty, validation: Validation) -> tuple[str, ...]:
    """Return the verdict, then every reason for it with what to do."""
    unexplained = int(np.sum(validation.r2 < 0.7))
    weak, n_base = len(uncertainty.weak), uncertainty.base.n_base
    missing = n_base - uncertainty.excitation.rank
    error = validation.total_relative_error
    if error > 0.5 or missing > 0.2 * n_base or unexplained > 0.3 * robot.n:
        verdict = REFUSED
    elif missing or unexplained or error > 0.2 or missing + weak > 0.7 * n_base:
        verdict = TRUSTED_WITHIN
    else:
        verdict = TRUSTED
    reasons = [*poor_excitation(uncertainty), *poor_torque(validation), *weak_parameters(uncertainty)]
    return (verdict, *reasons, *impossible_links(robot), *autocorrelated(validation))


def poor_excitation(uncertainty: Uncertainty) -> Iterator[str]:
    """Name base parameters without excitation, or a bad condition number."""
    rank, condition = uncertainty.excitation.rank, uncertainty.excitation.condition
    if uncertainty.unexcited:
        names = ", ".join(uncertainty.unexcited)
        yield f"Rank {rank} of {uncertainty.base.n_base}: not excited, left as described: {names}. Record a motion made by excite()."
    elif condition > 1000:
        yield f"The condition number is {condition:.3g} (good logs stay below 100): a motion made by excite() would show more."


def weak_parameters(uncertainty: Uncertainty) -> Iterator[str]:
    """Name base parameters that cannot be told from zero."""
    weak = uncertainty.weak
    if weak:
        yield f"{len(weak)} of {uncertainty.base.n_base} base parameters cannot be told from zero: {', '.join(weak)}."


def poor_torque(validation: Validation) -> Iterator[str]:
    """Name joints whose torque is not explained."""
    for j, name in enumerate(validation.joint_names):
        if validation.relative_error[j] > 0.5 or validation.r2[j] < 0.5:
            found = f"relative error {validation.relative_error[j]:.0%}, R2 {validation.r2[j]:.2f}"
            yield f"The torque of {name} is not explained: {found}. Is it measured, in N m, with the right sign?"
    before, after = validation.before, validation.total_relative_error
    if before is not None and before.total_relative_error < after:
        yield f"The robot as given predicts better ({before.total_relative_error:.1%} against {after:.1%})."


def impossible_links(robot: Robot) -> Iterator[str]:
    """Name links of the result that cannot exist; estimators never return any."""
    bodies = robot.tree.bodies
    real = is_consistent(robot.parameters[: 10 * len(bodies)].reshape(-1, 10))
    bad = [body.name for body, ok in zip(bodies, np.atleast_1d(real), strict=True) if not ok]
    if bad:
        yield f"These links have an inertia that no body has: {', '.join(bad)}."


def autocorrelated(validation: Validation) -> Iterator[str]:
    """Name joints whose residuals are strongly autocorrelated: the model lacks something there."""
    slow = [name for name, w in zip(validation.joint_names, validation.whiteness, strict=True) if w > 0.8]
    if slow:
        cause = "friction beyond this model, elasticity or temperature"
        yield f"The residuals of {', '.join(slow)} vary slowly: {cause}; the uncertainties allow for it."


def base_lines(uncertainty: Uncertainty) -> list[str]:
    """Return a table of the base parameters with two standard deviations, line by line."""
    columns = (Column("parameter", numeric=False), Column("value"), Column("± 2σ"), Column("σ/|value|", "%"), Column("is", numeric=False))
    rows = zip(
        uncertainty.base.names, uncertainty.values, uncertainty.std, uncertainty.relative_std, uncertainty.base.expressions, strict=True
    )
    cells = tuple((name, *with_uncertainty(value, 2 * std), percent(share), text) for name, value, std, share, text in rows)
    lines = Table("Base parameters", columns, cells).to_text().splitlines()
    return [*lines, "", f"not shown by these samples: {', '.join(uncertainty.unexcited) or 'nothing'}"]
