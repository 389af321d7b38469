"""Thresholds of the linear model, its prior and its normal equations."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ModelThresholds:
    """Thresholds of the model; the metadata `chosen` says how each was chosen."""

    # -- Blocks of rows
    # samples whose rows are computed at once
    block_samples: int = threshold(4096, "computing time and memory")
    # consecutive parts of the samples for cross-validation
    folds: int = threshold(8, "convention: 8-fold cross-validation")
    # bytes of rows up to which they are kept and not computed again
    stored_bytes: float = threshold(200e6, "memory")

    # -- Threads and caches
    # samples from which the factors of joints are shared between threads
    threaded_samples: int = threshold(256, "computing time")
    # unknowns from which work on their matrices is shared between threads
    threaded_unknowns: int = threshold(200, "computing time")

    # -- Normal equations
    # numbers n K^2 up to which all joints are multiplied at once
    dense_entries: int = threshold(1 << 19, "computing time: the cache of a core holds them")
    # ridge on a unit diagonal before a Cholesky factorisation
    cholesky_ridge: float = threshold(1e-10, "numerical tolerance")

    # -- Joint terms
    # Stribeck velocity [rad/s|m/s] before it is estimated
    first_stribeck_velocity: float = threshold(0.1, "convention: not measured")
    # presliding distance [rad|m] before it is estimated
    first_presliding_distance: float = threshold(1e-3, "convention: the middle of its range")
    # step of a presliding distance, over the distance, for its derivative
    distance_step: float = threshold(0.02, "numerical: small beside the distance")
    # time [s] for which a motion lasted before the first sample of a log
    presliding_start: float = threshold(0.05, "judgement: a joint that moves keeps its velocity")

    # -- Prior of a body
    # least radius of gyration [m] of the metric
    least_gyration: float = threshold(
        0.02, "judgement: a thin rod in the description does not make its inertia certain"
    )
    # least radius of gyration over the largest one
    least_gyration_ratio: float = threshold(0.3, "judgement: a body drawn as a line is not a line")
    # least length [m] between joints of a body whose description is discarded
    least_body_length: float = threshold(0.05, "convention: not measured")


THRESHOLDS = ModelThresholds()
