"""Thresholds of kinematic calibration and of rehearsals."""

from __future__ import annotations

from dataclasses import dataclass

from ..threshold import threshold


@dataclass(frozen=True)
class ExperimentThresholds:
    """Thresholds of experiments; the metadata `chosen` says how each was chosen."""

    # -- Kinematic calibration
    # step [m|rad] that ends the iteration
    calibration_tolerance: float = threshold(1e-13, "numerical tolerance")
    # share of the information on a correction that measurements must have
    least_information_share: float = threshold(0.01, "convention: 1 %")
    # least standard deviation [m|rad] of a measurement
    least_deviation: float = threshold(1e-12, "numerical tolerance")
    # residual over the median from which a measurement is an outlier
    outlier_medians: float = threshold(8.0, "normal noise reaches it once in 1e18")
    # distance of base and tool from where they fit the described robot, in tolerances of a joint
    alignment_tolerances: float = threshold(10.0, "convention: not measured")
    # steps of the iteration
    calibration_steps: int = threshold(30, "computing time")
    # residual in tolerances of a joint from which a fit explains nothing
    refused_tolerances: float = threshold(10.0, "convention: not measured")

    # -- Rehearsal
    # duration [s] of each motion
    rehearsal_seconds: float = threshold(20.0, "convention: the default of `excite`")
    # harmonics of each motion
    rehearsal_harmonics: int = threshold(10, "convention: the default of `excite`")
    # rate [Hz] of the simulated log
    rehearsal_rate: float = threshold(500.0, "convention")
    # starts of the search
    rehearsal_starts: int = threshold(2, "computing time")


THRESHOLDS = ExperimentThresholds()
