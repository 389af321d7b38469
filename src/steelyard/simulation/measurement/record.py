"""Recording: the log that a robot would have written along a trajectory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, require_robot
from ...floating_point import default_errstate
from ...motion import Trajectory
from ...robot import Robot
from ...signals.log import Log
from .sensors import Sensors, low_passed, quantised, ripple

Array = NDArray[np.float64]
STILL = 1e-9  # rad/s|m/s: below it a joint at rest has a velocity by rounding only, which must not decide the sign of its friction


@default_errstate
def record(robot: Robot, trajectory: Trajectory, rate: float = 500.0, seed: int = 0, sensors: Sensors | None = None) -> Log:
    """The log of a robot that follows a trajectory exactly: torques by inverse dynamics, then the errors of its sensors.

    tau(t) = low-pass(ID(q, qd, qdd)(t - delay) + ripple(q) + noise). rate [Hz]; before the start and after the end the robot stands still.
    q [rad|m] and tau [N m|N] are in the log, velocities are not. The same seed gives the same log.
    Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 7.3 (what is measured, and how well).

    Example:
        >>> robot = sy.load("planar_2r")
        >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
        >>> log.N, log.n
        (401, 2)
    """
    require_robot(robot, "record")
    sensors = sensors or Sensors()
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    if not (math.isfinite(rate) and (end - start) * rate >= 1):
        raise CallError(f"rate = {rate!r} Hz; expected at least two samples in {end - start:g} s")
    t = start + np.arange(math.floor((end - start) * rate * (1 + 1e-12)) + 1) / rate
    q = trajectory.motion(t).q
    if q.shape[1] != robot.n:
        raise CallError(f"the trajectory moves {q.shape[1]} joints, the robot has {robot.n}: {', '.join(robot.joint_names)}")
    log = _log(robot, t, q, _torque(robot, trajectory, t, sensors), sensors, seed)
    return log.replace(base_wrench=on_plate(robot.base_wrench(*trajectory.motion(t)), sensors, seed)) if sensors.plate else log


def on_plate(wrench: Array, sensors: Sensors, seed: int) -> Array:
    """What a force plate makes of true wrenches (N, 6) [N, N m]."""
    rng = np.random.default_rng([seed, 6])
    return wrench + sensors.plate_noise * wrench.std(axis=0) * rng.normal(size=wrench.shape)


def measured(robot: Robot, t: Array, q: Array, tau: Array, sensors: Sensors, seed: int = 0) -> Log:
    """The log that sensors make of true samples on a uniform grid: t [s] (N,), q [rad|m] and tau [N m|N] (N, n)."""
    delays = sensors.per_joint("delay", robot.n)
    late = np.column_stack([np.interp(t - delay, t, column) for delay, column in zip(delays, tau.T, strict=True)])
    return _log(robot, t, q, late, sensors, seed)


def _log(robot: Robot, t: Array, q: Array, tau: Array, sensors: Sensors, seed: int) -> Log:
    """What encoders and torque channels make of positions and of torques that are late already."""
    rng = np.random.default_rng(seed)
    rate = (len(t) - 1) / float(t[-1] - t[0])
    tau = _measured_torque(tau, q, rate, sensors, rng)
    noisy = q + sensors.per_joint("encoder_noise", robot.n) * rng.normal(size=q.shape)
    q = quantised(noisy, sensors.per_joint("encoder", robot.n))
    constant = sensors.per_joint("torque_constant", robot.n)
    if np.any(constant):
        if not np.all(constant):
            raise CallError("sensors: torque_constant is zero for some joints; a log has currents of all joints, or torques of all")
        return Log(t=t, q=q, current=tau / constant, joint_names=robot.joint_names, effort="current", source=f"simulated {robot.name}")
    return Log(t=t, q=q, tau=tau, joint_names=robot.joint_names, effort="torque", source=f"simulated {robot.name}")


def _torque(robot: Robot, trajectory: Trajectory, t: Array, sensors: Sensors) -> Array:
    """The true torque, delayed by each joint's channel."""
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    delays = sensors.per_joint("delay", robot.n)
    tau = np.empty((len(t), robot.n))
    for delay in np.unique(delays):
        q, qd, qdd = trajectory.motion(np.clip(t - delay, start, end))
        qd = np.where(np.abs(qd) < STILL, 0.0, qd)
        true = robot.constrained_inverse_dynamics(q, qd, qdd).tau if robot.tree.loops else robot.inverse_dynamics(q, qd, qdd)
        tau[:, delays == delay] = true[:, delays == delay]
    return tau


def _measured_torque(tau: Array, q: Array, rate: float, sensors: Sensors, rng: np.random.Generator) -> Array:
    n = tau.shape[1]
    size = np.sqrt(np.mean(tau**2, axis=0))
    phases = rng.uniform(0, 2 * math.pi, (len(sensors.harmonics), n))
    ripples = ripple(q, sensors.per_joint("gear_ratio", n), sensors.harmonics, phases)
    disturbed = tau + size * (
        sensors.per_joint("torque_ripple", n) * ripples + sensors.per_joint("torque_noise", n) * rng.normal(size=tau.shape)
    )
    return quantised(low_passed(disturbed, rate, sensors.per_joint("bandwidth", n)), sensors.per_joint("torque_step", n))
