"""Where in a log a finding shows: the samples that it is about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.spikes import find_spikes
from ...signals.log import Log
from .channels import at_the_bound
from .finding import Finding


def marked_samples(log: Log, finding: Finding) -> NDArray[np.bool_]:
    """Return the samples (N,) of a log that a finding is about: all of them unless it happens at single instants.

    Samples that are cut off, single positions that stand apart, both ends of a hole in the time stamps, stamps that repeat the one before.
    """
    joints = [j for j, name in enumerate(log.labels) if name in finding.joints]
    if finding.fault == "saturation" and log.tau is not None:
        return np.any([at_the_bound(log.tau[:, j]) for j in joints], axis=0)
    if finding.fault == "encoder spikes":
        return np.any(find_spikes(log.q)[:, joints], axis=1)
    step = np.diff(log.t)
    if finding.fault == "dropped samples":
        wide = np.round(step / np.median(step[step > 0])) > 1  # whole steps are missing in between
        return np.r_[wide, False] | np.r_[False, wide]
    if finding.fault == "duplicated stamps":
        return np.r_[False, step == 0]
    return np.ones(log.N, dtype=bool)
