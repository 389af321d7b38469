"""Parts of the measured motion, each with base parameters that were estimated without it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...signals.segments import split
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..samples.samples import Samples
from .held_out import HeldOut
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOutMotion:
    """Consecutive samples as measured, and base parameters (k, b) estimated from others.

    t (N,) [s], q [rad|m], qd and tau [N m|N] are (N, n). The torque is multiplied by the drive
    gains, and has no share of a known payload. qd is None without measured velocities. `half` is
    the half of all samples that contains these, 0 or 1.
    """

    t: Array
    q: Array
    qd: Array | None
    tau: Array
    bases: Array
    half: int = 0


def held_out_motion(
    problem: Problem, left_out: HeldOut, values: Array, gains: Array
) -> tuple[HeldOutMotion, ...]:
    """Return the parts of cross-validation as measured motion, without gaps in time.

    Where parts of the cross-validation are not parts of the samples (archives of many logs), each
    part has the base parameters of the fit: one log is then a small share of all.

    Parameters
    ----------
    problem : the problem that was solved
    left_out : its cross-validation
    values : base parameters of the fit, (b,)
    gains : drive gains, (n,)
    """
    bases = (
        np.tile(values, (MODEL_THRESHOLDS.folds, 1, 1))
        if left_out.bases is None
        else left_out.bases
    )
    edges = [-(-problem.N * k // MODEL_THRESHOLDS.folds) for k in range(MODEL_THRESHOLDS.folds + 1)]
    most = max(THRESHOLDS.held_out_samples // MODEL_THRESHOLDS.folds, THRESHOLDS.least_part_samples)
    parts, first = list[HeldOutMotion](), 0
    for samples, times in zip(problem.samples, problem.times, strict=True):
        cuts = np.clip(np.array(edges) - first, 0, len(times))
        first += len(times)
        if samples.measured is None or samples.measured_tau is None or samples.base is not None:
            continue
        starts = np.searchsorted(samples.t, np.append(times, np.inf)[cuts])
        for k, (a, b) in enumerate(pairwise(starts.tolist())):
            parts += motions(
                samples.part(slice(a, min(b, a + most))),
                bases[k],
                gains,
                2 * k // MODEL_THRESHOLDS.folds,
            )
    return tuple(parts)


def motions(samples: Samples, bases: Array, gains: Array, half: int) -> list[HeldOutMotion]:
    """Return the stretches without gaps of some samples."""
    assert samples.measured is not None
    assert samples.measured_tau is not None
    tau = samples.measured_tau * gains
    if samples.payload_torque is not None:
        tau = tau - samples.payload_torque
    result = []
    for part in (
        each for each in split(samples.t) if each.stop - each.start >= THRESHOLDS.least_part_samples
    ):
        qd = None if samples.measured_qd is None else samples.measured_qd[part]
        result.append(
            HeldOutMotion(
                t=samples.t[part],
                q=samples.measured[part],
                qd=qd,
                tau=tau[part],
                bases=bases,
                half=half,
            )
        )
    return result
