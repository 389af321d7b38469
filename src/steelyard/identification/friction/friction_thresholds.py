"""Thresholds of the choice of friction terms and of the residual split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...threshold import threshold


@dataclass(frozen=True)
class FrictionThresholds:
    """Thresholds of friction terms; the metadata `chosen` says how each was chosen."""

    # samples that the search reads
    search_samples: int = threshold(16_000, "computing time")
    # speed [rad/s|m/s] up to which friction has no definite value
    standing_speed: float = threshold(5e-3, "convention: not measured")
    # share of a joint's held-out error that a term must explain
    least_gain: float = threshold(0.02, "no record of a measurement; benchmarks.friction judges it")
    # fall of the information criterion
    least_information: float = threshold(6.0, "strong evidence: Kass and Raftery 1995, section 3.2")
    # share of the signed ranks of the parts' changes
    least_consistency: float = threshold(0.9, "one by chance in fifty for eight parts")
    # share of a joint's held-out error near reversals that memory must explain
    least_reversal_gain: float = threshold(0.1, "judgement: smaller gains change no prediction")
    # share of a joint's held-out error that memory must explain, with all parameters free
    least_memory_gain: float = threshold(
        0.2, "judgement: a state in simulation and in controllers must be worth it"
    )
    # share of the parts, and of the signed ranks of their changes, that memory must improve
    least_memory_parts: float = threshold(0.75, "convention: three parts of four")
    # presliding distance over the smallest that is tried, up to which it is a sharp step
    sharp_distance: float = threshold(1.1, "convention: at the bound of the search")
    # share by which memory may raise the held-out error of moving rows against a fit to them alone
    largest_moving_loss: float = threshold(
        0.05, "as the least gain of leaving rows at rest out (selection)"
    )
    # time [s] before and after a reversal in which friction with memory differs from sliding
    reversal_seconds: float = threshold(0.1, "convention: the issue of presliding measures it so")
    # the same at a few samples without a low-pass, for a first look
    first_reversal_gain: float = threshold(0.01, "judgement: noise of the torque hides gains")
    # every k-th width of the Coulomb step is tried beside memory, at a first look and then
    first_memory_step: int = threshold(6, "computing time: a factor of 4 between neighbours")
    memory_step: int = threshold(3, "computing time: a factor of 2 between neighbours")
    # samples of a friction column per kept sample, before the low-pass
    samples_per_kept: int = threshold(4, "computing time: the low-pass passes no more")
    # rounds of the greedy search
    rounds: int = threshold(6, "computing time: a joint gets one term per round")
    # speeds [rad/s|m/s] at which stiction may fade
    stribeck_velocities: tuple[float, ...] = threshold(
        tuple(np.geomspace(0.015, 0.75, 8).tolist()), "a factor of 1.75 between neighbours"
    )
    # samples that the split reads
    split_samples: int = threshold(8000, "computing time")
    # samples whose speeds are sorted
    speed_samples: int = threshold(100_000, "computing time")
    # pieces of the friction curve in either direction
    speed_knots: int = threshold(5, "convention")
    # ridge over the information of a column
    ridge: float = threshold(1e-6, "numerical tolerance")
    # band of the sensor noise over the Nyquist frequency
    noise_band: tuple[float, ...] = threshold(
        (0.4, 0.75), "little motion lies there, and the decimation filter passes it"
    )


THRESHOLDS = FrictionThresholds()
