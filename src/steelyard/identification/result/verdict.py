"""Whether to trust a fit, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...parameters.pseudo_inertia import is_consistent

if TYPE_CHECKING:
    from .fit import Fit


def check(fit: Fit) -> tuple[str, ...]:
    """A verdict first, then every reason for it, with what to do."""
    reasons = [*not_seen(fit), *poor_torque(fit), *weakly_seen(fit), *impossible(fit), *coloured(fit)]
    share = len(fit.unseen) + len(fit.weak)
    dark = int(np.sum(fit.r2 < 0.7))
    if fit.total_relative_error > 0.5 or len(fit.unseen) > 0.2 * fit.base.n_base or dark > 0.3 * fit.robot.n:
        verdict = "Do not trust this fit: the log does not identify this robot."
    elif fit.unseen or dark or fit.total_relative_error > 0.2 or share > 0.7 * fit.base.n_base:
        verdict = "Trust this fit only for motions like those of the log."
    else:
        verdict = "This fit can be trusted for motions as fast and as wide as those of the log."
    return (verdict, *reasons)


def not_seen(fit: Fit) -> Iterator[str]:
    """Base parameters with no trace in the samples."""
    if fit.unseen:
        names = ", ".join(fit.unseen)
        yield f"Rank {fit.rank} of {fit.base.n_base}: not excited, left as described: {names}. Record a motion made by excite()."
    elif fit.condition > 1000:
        yield f"The condition number is {fit.condition:.3g} (good logs stay below 100): a motion made by excite() would show more."


def weakly_seen(fit: Fit) -> Iterator[str]:
    """Base parameters that cannot be told from zero."""
    if fit.weak:
        yield f"{len(fit.weak)} of {fit.base.n_base} base parameters cannot be told from zero: {', '.join(fit.weak)}."


def poor_torque(fit: Fit) -> Iterator[str]:
    """Joints whose torque is not explained."""
    for j, name in enumerate(fit.robot.joint_names):
        if fit.relative_error[j] > 0.5 or fit.r2[j] < 0.5:
            found = f"relative error {fit.relative_error[j]:.0%}, R2 {fit.r2[j]:.2f}"
            yield f"The torque of {name} is not explained: {found}. Is it measured, in N m, with the right sign?"
    if fit.before is not None and fit.before.total_relative_error < fit.total_relative_error:
        yield f"The robot as given predicts better ({fit.before.total_relative_error:.1%} against {fit.total_relative_error:.1%})."


def impossible(fit: Fit) -> Iterator[str]:
    """Links of the result that cannot exist: a defect, never expected."""
    bodies = fit.robot.tree.bodies
    real = is_consistent(fit.parameters[: 10 * len(bodies)].reshape(-1, 10))
    bad = [body.name for body, ok in zip(bodies, np.atleast_1d(real), strict=True) if not ok]
    if bad:
        yield f"These links have an inertia that no body has: {', '.join(bad)}."


def coloured(fit: Fit) -> Iterator[str]:
    """Residuals with a memory: something is missing in the model, and standard deviations have taken it into account."""
    slow = [name for name, w in zip(fit.robot.joint_names, fit.validation.whiteness, strict=True) if w > 0.8]
    if slow:
        cause = "friction beyond this model, elasticity or temperature"
        yield f"The residuals of {', '.join(slow)} vary slowly: {cause}; the uncertainties allow for it."
