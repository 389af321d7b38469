"""Thresholds of reading, cleaning and smoothing logs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..threshold import threshold


@dataclass(frozen=True)
class SignalThresholds:
    """Thresholds of signals; the metadata `chosen` says how each was chosen."""

    # -- Reading
    # interval [s] from which time stamps may be milliseconds
    longest_interval: float = threshold(
        0.5, "convention: few robots are logged so slowly, and many loggers count milliseconds"
    )
    # time [s] between episodes
    episode_pause: float = threshold(1.0, "convention: no filter reaches from one into the next")
    # folders above a file in which meta/info.json is looked for
    searched_folders: int = threshold(4, "convention: not measured")
    # cells of a CSV file up to which NumPy reads it, before polars is imported
    numpy_cells: int = threshold(
        1_000_000, "computing time: NumPy takes less than the import of polars, 0.25 s"
    )
    # bytes that are read at once for a digest
    digest_bytes: int = threshold(1 << 20, "memory")

    # -- Segments
    # time step over the median one from which it is a gap; shorter ones are interpolated
    gap_ratio: float = threshold(10.0, "convention: not measured")

    # -- Cleaning
    # number beyond all measurements, which counts as infinite
    largest_number: float = threshold(
        1e60, "numerical: its differences and squares may not be finite"
    )
    # difference of two time stamps over the usual step up to which they are equal
    equal_stamps: float = threshold(1e-9, "numerical tolerance")
    # first samples of a column in which most signals change
    constant_samples: int = threshold(64, "computing time")
    # position [rad] beyond which positions may be degrees
    degrees_position: float = threshold(
        4.0 * np.pi, "convention: hardly any joint turns further, angles in degrees mostly do"
    )

    # -- Spikes
    # deviation of a position from the median of its neighbours over the usual one
    spike_ratio: float = threshold(12.0, "no record of a measurement")
    # least deviation [rad|m] of a spike
    least_spike: float = threshold(5e-3, "no record of a measurement")
    # the same over the range of the joint's positions; the larger counts
    least_spike_share: float = threshold(2e-3, "no record of a measurement")
    # the same over the motion from sample to sample
    spike_steps: float = threshold(1.5, "no record of a measurement")
    # share of the samples beyond which deviations are noise
    spike_share: float = threshold(0.05, "convention: 5 %")
    # samples in a row that are a spike
    spike_samples: int = threshold(2, "convention: longer ones are motion")

    # -- Smoothing
    # samples that are smoothed together
    smoother_samples: int = threshold(60_000, "memory")
    # samples before and after them that are smoothed too
    smoother_overlap: int = threshold(
        2_000, "no record of a measurement; tests compare parts with the whole"
    )
    # samples of a block on which the likelihood is evaluated
    likelihood_samples: int = threshold(2048, "computing time: enough for two unknowns")
    # blocks on which it is evaluated
    likelihood_blocks: int = threshold(8, "computing time: enough for two unknowns")
    # samples of a block if the time step varies
    uneven_likelihood_samples: int = threshold(512, "computing time: the recursion is slower")
    # blocks if the time step varies
    uneven_likelihood_blocks: int = threshold(4, "computing time: the recursion is slower")
    # log10 of s dt^(2k-1)/r above which the smoother only interpolates
    largest_noise_ratio: float = threshold(7.0, "numerical: larger ratios give the same path")

    # -- Velocities
    # correlation with differences of positions from which velocities follow the positions
    least_correlation: float = threshold(0.7, "convention: half of the variance")

    # -- Autocorrelation
    # lags up to which products are summed directly
    summed_lags: int = threshold(8, "computing time: beyond it an FFT is faster")
    # largest variance inflation
    largest_inflation: float = threshold(
        300.0, "numerical: beyond it rho cannot be distinguished from 1"
    )


THRESHOLDS = SignalThresholds()
