"""Samples that the doctor examines: smoothed, with torques that are dead or saturated left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import mapped
from ...errors import LogError
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from ..samples.preparation import Preparation
from ..samples.samples import Samples, payload_torque
from ..samples.samples_thresholds import THRESHOLDS as SAMPLES_THRESHOLDS
from ..samples.smoothing import smoothed
from ..selection.choose_rows import long_stretches
from ..selection.selection_thresholds import THRESHOLDS
from .channels import is_dead, is_saturated
from .doctor_thresholds import THRESHOLDS as DOCTOR


def samples_of(robot: Robot, log: Log) -> Samples:
    """Return the smoothed samples of a log, also of a log with implausible positions."""
    log = clean(log)
    if log.N < SAMPLES_THRESHOLDS.least_samples:
        raise LogError(
            f"{log.where}{log.N} samples are too few to identify from; expected at least"
            f" {SAMPLES_THRESHOLDS.least_samples}"
        )
    (q, qd, qdd), sure, *_ = smoothed(log, Preparation())
    assert log.tau is not None
    samples = Samples(
        t=log.t[sure],
        q=q[sure],
        qd=qd[sure],
        qdd=qdd[sure],
        tau=log.tau[sure],
        keep=None,
        remarks=log.remarks,
        source=log.source,
        measured_qd=None if log.qd is None else log.qd[sure],
    )
    return (
        samples
        if log.payload is None
        else replace(
            samples,
            payload_torque=payload_torque(robot, log.payload, samples.q, samples.qd, samples.qdd),
        )
    )


def mark_unused_torques(samples: Samples) -> Samples:
    """Return the samples with torques that are dead, at their bound or at rest marked as unused.

    Static friction takes any value between plus and minus the breakaway torque, so that the torque
    of a resting joint is not a function of the state.
    """
    keep = np.ones(samples.tau.shape, bool) if samples.keep is None else samples.keep.copy()
    for j, used in enumerate(
        mapped(lambda tau: ~is_saturated(tau) & (not is_dead(tau)), samples.tau.T)
    ):
        keep[:, j] &= used
    return replace(samples, keep=keep & is_moving(samples))


def is_moving(samples: Samples) -> NDArray[np.bool_]:
    """Return the samples (N, n) that do not belong to a rest of their joint.

    All samples of a joint that nearly always rests.
    """
    slow = np.abs(samples.qd) < THRESHOLDS.rest_speed * np.max(np.abs(samples.qd), axis=0)
    moving = ~long_stretches(samples.t, slow)
    return moving | (np.mean(moving, axis=0) < DOCTOR.least_moving_share)
