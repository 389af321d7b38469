"""Synthetic logs: the signals that a robot's sensors would record along a trajectory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, require_robot
from ...floating_point import default_errstate
from ...motion import Trajectory
from ...robot import Robot
from ...signals.log import Log
from ..simulation_thresholds import THRESHOLDS
from .sensors import Sensors, first_order_low_pass, quantised, ripple

Array = NDArray[np.float64]


@default_errstate
def record(
    robot: Robot,
    trajectory: Trajectory,
    rate: float = 500.0,
    seed: int = 0,
    sensors: Sensors | None = None,
) -> Log:
    """Record the log of a robot that follows a trajectory exactly, with sensor errors.

    tau(t) = low-pass(ID(q, qd, qdd)(t - delay) + ripple(q) + noise). The robot is at
    rest before the start and after the end. The log has q [rad|m] and tau [N m|N], no velocities.
    Siciliano et al., "Robotics: Modelling, Planning and
    Control", 2009, section 7.3 (what is measured, and how well).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    trajectory : a `Trajectory`: positions (N, n) [rad|m] over time (N,) [s].
    rate : samples per second [Hz].
    seed : number that random draws start from; equal seeds give equal results.
    sensors : `Sensors`: noise, steps, ripple and delay of the measurements; typical ones by
        default.

    Returns
    -------
    A `Log`.

    Examples
    --------
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
        raise CallError(
            f"the trajectory moves {q.shape[1]} joints, the robot has {robot.n}:"
            f" {', '.join(robot.joint_names)}"
        )
    log = _log(robot, t, q, _torque(robot, trajectory, t, sensors), sensors, seed)
    return (
        log.replace(base_wrench=on_plate(robot.base_wrench(*trajectory.motion(t)), sensors, seed))
        if sensors.plate
        else log
    )


def on_plate(wrench: Array, sensors: Sensors, seed: int) -> Array:
    """Return the measurement of a force plate from true wrenches (N, 6) [N, N m]."""
    rng = np.random.default_rng([seed, 6])
    return wrench + sensors.plate_noise * wrench.std(axis=0) * rng.normal(size=wrench.shape)


def measured(robot: Robot, t: Array, q: Array, tau: Array, sensors: Sensors, seed: int = 0) -> Log:
    """Return the log of true samples on a uniform grid: t [s] (N,), q and tau (N, n)."""
    delays = sensors.per_joint("delay", robot.n)
    late = np.column_stack(
        [np.interp(t - delay, t, column) for delay, column in zip(delays, tau.T, strict=True)]
    )
    return _log(robot, t, q, late, sensors, seed)


def _log(robot: Robot, t: Array, q: Array, tau: Array, sensors: Sensors, seed: int) -> Log:
    """Return the log of positions and delayed torques with encoder and torque noise."""
    rng = np.random.default_rng(seed)
    rate = (len(t) - 1) / float(t[-1] - t[0])
    tau = _measured_torque(tau, q, rate, sensors, rng)
    noisy = q + sensors.per_joint("encoder_noise", robot.n) * rng.normal(size=q.shape)
    q = quantised(noisy, sensors.per_joint("encoder", robot.n))
    constant = sensors.per_joint("torque_constant", robot.n)
    if np.any(constant):
        if not np.all(constant):
            raise CallError(
                "sensors: torque_constant is zero for some joints; a log has currents of all"
                " joints, or torques of all"
            )
        return Log(
            t=t,
            q=q,
            current=tau / constant,
            joint_names=robot.joint_names,
            effort="current",
            source=f"simulated {robot.name}",
        )
    return Log(
        t=t,
        q=q,
        tau=tau,
        joint_names=robot.joint_names,
        effort="torque",
        source=f"simulated {robot.name}",
    )


def _torque(robot: Robot, trajectory: Trajectory, t: Array, sensors: Sensors) -> Array:
    """Return the true torque, delayed by each joint's channel."""
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    delays = sensors.per_joint("delay", robot.n)
    tau = np.empty((len(t), robot.n))
    for delay in np.unique(delays):
        q, qd, qdd = trajectory.motion(np.clip(t - delay, start, end))
        qd = np.where(np.abs(qd) < THRESHOLDS.still_velocity, 0.0, qd)
        true = (
            robot.constrained_inverse_dynamics(q, qd, qdd).tau
            if robot.tree.loops
            else robot.inverse_dynamics(q, qd, qdd)
        )
        if robot.tree.has_memory:
            true = true + robot.presliding_torque(qd, robot.presliding_along(q))
        tau[:, delays == delay] = true[:, delays == delay]
    return tau


def _measured_torque(
    tau: Array, q: Array, rate: float, sensors: Sensors, rng: np.random.Generator
) -> Array:
    n = tau.shape[1]
    size = np.sqrt(np.mean(tau**2, axis=0))
    phases = rng.uniform(0, 2 * math.pi, (len(sensors.harmonics), n))
    ripples = ripple(q, sensors.per_joint("gear_ratio", n), sensors.harmonics, phases)
    disturbed = tau + size * (
        sensors.per_joint("torque_ripple", n) * ripples
        + sensors.per_joint("torque_noise", n) * rng.normal(size=tau.shape)
    )
    return quantised(
        first_order_low_pass(disturbed, rate, sensors.per_joint("bandwidth", n)),
        sensors.per_joint("torque_step", n),
    )
