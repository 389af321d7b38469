"""A fit compared with a log that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ...robot import Robot
from ...signals.log import Log
from ...signals.segments import split
from ..model.problem import Problem
from ..samples.decimation import decimated
from ..samples.samples import Samples, prepare
from .fit import Fit
from .validation import Validation

Array = NDArray[np.float64]


def validate(fit: Fit, log: Log, other: Robot | Fit | None = None) -> Validation:
    """Predicted against measured torque of a log that is prepared as the fit's own were: same smoothing, delay, mask and rate."""
    samples = prepare(fit.model.robot, log, fit.preparation).advanced(fit.delay)
    if fit.drive_gains is not None:
        samples = replace(samples, tau=samples.tau * fit.drive_gains)
    factor = max(1, round(fit.interval / float(np.median(np.diff(samples.t)))))
    problem = Problem(fit.model, (samples,), factor)
    result = against(problem, fit.base_values)
    if other is None:
        return result
    return replace(result, other=replace(result, predicted=filtered(other, samples, factor), before=None))


def against(problem: Problem, base: Array) -> Validation:
    """Base parameters (b,) against a problem's samples, beside the robot as given."""
    given = problem.base.values(problem.model.initial)
    blocks = [(b.t, b.Y @ base + b.known, b.Y @ given + b.known, b.tau + b.known, kept(b.tau, b.keep)) for b in problem.blocks()]
    t, predicted, before, measured, keep = (np.concatenate(x) for x in zip(*blocks, strict=True))
    names = problem.model.robot.joint_names
    return Validation(t, predicted, measured, keep, names, Validation(t, before, measured, keep, names))


def kept(tau: Array, keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return np.ones(tau.shape, bool) if keep is None else keep


def filtered(other: Robot | Fit, samples: Samples, factor: int) -> Array:
    """Torque of another model through the same low-pass, at the kept samples."""
    if not isinstance(other, (Robot, Fit)):
        raise CallError(f"other must be a Robot or a Fit, not {type(other).__name__}")
    q, qd, qdd = samples.q, samples.qd, samples.qdd
    tau = other.torque(q, qd, qdd) if isinstance(other, Fit) else other.inverse_dynamics(q, qd, qdd)
    return np.concatenate([decimated(tau[part], factor, 0, -(-(part.stop - part.start) // factor)) for part in split(samples.t)])
