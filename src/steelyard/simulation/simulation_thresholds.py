"""Thresholds of simulated motions."""

from __future__ import annotations

from dataclasses import dataclass

from ..threshold import threshold


@dataclass(frozen=True)
class SimulationThresholds:
    """Thresholds of the simulation; the metadata `chosen` says how each was chosen."""

    # -- Steps
    # steps in one call, which cannot be interrupted
    steps_per_call: int = threshold(1000, "convention: not measured")
    # nodes times steps times runs in one call
    work_per_call: int = threshold(200_000_000, "time until an interrupt: about 20 ms")
    # runs that take their steps together
    block_runs: int = threshold(512, "computing time: their states stay in the processor's cache")

    # -- Adaptive steps
    # events of a motion beyond which it is refused
    event_limit: int = threshold(100_000, "computing time")
    # evaluations within one step of the schedule
    evaluation_limit: int = threshold(20_000, "computing time: only a diverging motion needs more")
    # samples of one call of the adaptive method, which is not interrupted
    samples_per_call: int = threshold(50, "time until an interrupt")

    # -- Controllers and drives
    # position [rad|m] or velocity [rad/s|m/s] beyond which a state has diverged
    diverged_state: float = threshold(1e50, "numerical: its torque is not the controller's error")
    # distance [rad|m] that a step may overshoot a stop
    stop_overshoot: float = threshold(0.05, "convention: not measured")

    # -- Dry friction and stops
    # velocity [rad/s|m/s] up to which a joint that strikes its stop stays there
    rest_velocity: float = threshold(0.02, "convention: not measured")
    # velocity [rad/s|m/s] at which one-sided limits of friction are evaluated
    creep_velocity: float = threshold(1e-12, "numerical tolerance")
    # changes of sides at one instant
    side_change_limit: int = threshold(1000, "computing time")
    # distance [rad|m] beyond a stop at which an impact is detected
    stop_slack: float = threshold(1e-12, "numerical tolerance: a joint that leaves does not hit")

    # -- Results
    # failed runs of a batch that the status names
    listed_failures: int = threshold(5, "convention")
    # gap [m|rad] of loops beyond which it is reported
    open_gap: float = threshold(1e-9, "numerical tolerance")
    # exchanged energy over the energy below which nothing moved
    still_energy: float = threshold(1e-9, "numerical tolerance")
    # velocity [rad/s|m/s] below which it is a rounding error
    still_velocity: float = threshold(
        1e-9, "numerical tolerance: it must not decide the sign of friction"
    )


THRESHOLDS = SimulationThresholds()
