"""Samples that the doctor examines: smoothed, with torques that are dead or saturated left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...compiler.runtime.threads import mapped
from ...errors import LogError
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from ..samples.preparation import Preparation
from ..samples.samples import Samples, payload_torque
from ..samples.samples_thresholds import THRESHOLDS as SAMPLES_THRESHOLDS
from ..samples.smoothing import smoothed
from .channels import is_dead, is_saturated


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
    """Return the samples with torques that are dead or at their bound marked as not in use."""
    keep = np.ones(samples.tau.shape, bool) if samples.keep is None else samples.keep.copy()
    for j, used in enumerate(
        mapped(lambda tau: ~is_saturated(tau) & (not is_dead(tau)), samples.tau.T)
    ):
        keep[:, j] &= used
    return replace(samples, keep=keep)
