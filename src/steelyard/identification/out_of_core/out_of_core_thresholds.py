"""Thresholds of identification from many logs."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class OutOfCoreThresholds:
    """Thresholds of out-of-core identification; `chosen` says how each was chosen."""

    # logs from which one can be an outlier
    least_logs_for_outliers: int = threshold(8, "convention")
    # robust standard deviations of the log errors
    outlier_deviations: float = threshold(6.0, "convention: far beyond a normal distribution")
    # ratio to the median error
    outlier_ratio: float = threshold(1.5, "convention: a smaller difference does not matter")
    # logs with distinct motions, whose differences show the uncertainty
    least_motions: int = threshold(8, "convention: seven degrees of freedom")
    # consecutive parts of a log that are folded apart
    parts_per_log: int = threshold(4, "memory of a factor against degrees of freedom")
    # states of a log that are stored
    states_per_log: int = threshold(2048, "memory of a factor")
    # rows of a task; a larger Parquet file is folded in parts
    rows_per_task: int = threshold(200_000, "memory of a worker")
    # logs of the pilot that chooses the model
    pilot_logs: int = threshold(8, "computing time")
    # samples in the middle of each of them
    pilot_samples: int = threshold(20_000, "computing time")
    # sets of logs of the jackknife
    most_motions: int = threshold(500, "computing time: the uncertainty is known to 3 %")
    # logs that the others are compared with
    compared_logs: int = threshold(200, "computing time")
    # states of each part that are compared
    compared_states: int = threshold(16, "computing time")
    # share of them that must be near states of an earlier part
    repeated_share: float = threshold(0.5, "convention: half")
    # times that all workers are replaced before calls run one by one
    worker_replacements: int = threshold(3, "convention")
    # retries of Dask for a call whose worker was lost
    dask_retries: int = threshold(2, "convention")
    # bytes of logs up to which all samples are in memory
    bytes_in_memory: float = threshold(256e6, "convention")
    # logs that a sentence names
    listed_logs: int = threshold(5, "convention")


THRESHOLDS = OutOfCoreThresholds()
