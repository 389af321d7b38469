"""Thresholds of closed kinematic loops."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class LoopThresholds:
    """Thresholds of closed loops; the metadata `chosen` says how each was chosen."""

    # -- Assembly
    # gap [m|rad] up to which a configuration is closed
    closed_gap: float = threshold(1e-11, "numerical tolerance")
    # gap [m|rad] up to which a configuration is left as it is
    exact_gap: float = threshold(1e-14, "numerical tolerance")
    # Newton steps towards a closed configuration
    closing_steps: int = threshold(60, "computing time")
    # steps along the closed configurations towards the given one
    nearest_steps: int = threshold(30, "computing time")
    # changes [rad|m] of the start where no closed configuration is found from it
    restart_changes: tuple[float, ...] = threshold(
        (0.3, 1.0, 1.0, 2.0, 2.0, 3.0), "no record of a measurement"
    )
    # longest step [rad|m] of a coordinate
    longest_step: float = threshold(0.5, "convention: not measured")
    # gap after a step over the gap before it, from which it does not close
    slow_convergence: float = threshold(1.0 - 1e-4, "convention: not measured")
    # ridge over the mean squared size of a closure
    dependent_closure: float = threshold(1e-12, "numerical tolerance")

    # -- Constrained torque
    # residual over the largest torque up to which it is rounding
    torque_residual: float = threshold(1e-8, "numerical tolerance")
    # acceleration at which loops open over the largest one, beyond which a configuration is
    # singular
    opening_acceleration: float = threshold(1e-6, "numerical tolerance")
    # gap [m|rad] or its rate beyond which a motion that opens the loops is reported
    open_gap: float = threshold(1e-8, "numerical tolerance")

    # -- Structure
    # remainder of a closure over the largest row below which it is dependent
    closure_rank: float = threshold(1e-7, "numerical tolerance")
    # remainder over the largest one from which the first closure is taken
    preferred_remainder: float = threshold(0.3, "convention: not measured")
    # random configurations at which closures are compared
    structure_samples: int = threshold(12, "convention: not measured")
    # motion [rad|m] of an independent coordinate that can move
    least_motion: float = threshold(3e-4, "no record of a measurement")
    # closed configurations at which that is tried
    tried_configurations: int = threshold(8, "computing time")
    # choices of drives as independent coordinates that are compared
    compared_choices: int = threshold(500, "computing time")


THRESHOLDS = LoopThresholds()
