"""Thresholds of building a fit and of the observations."""

from __future__ import annotations

from dataclasses import dataclass

from ..threshold import threshold


@dataclass(frozen=True)
class IdentificationThresholds:
    """Thresholds of the pipeline; the metadata `chosen` says how each was chosen."""

    # -- Load-dependent friction
    # fits at most
    load_rounds: int = threshold(20, "computing time")
    # relative change of the load that needs no further fit
    load_tolerance: float = threshold(1e-4, "numerical tolerance")

    # -- Closed loops
    # samples between those that are closed one after the other
    closure_stride: int = threshold(25, "computing time")


THRESHOLDS = IdentificationThresholds()
