"""The cells of the comparison.

A robot in a closed loop, the noise of its encoders, its controller and the filter of its positions.

A true robot differs from its description by about 10 % and has friction and rotors that the
description does not know. It follows a motion made by `excite` under a controller; encoders have
noise in the log, not in the loop. Everything follows from the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import DATA, MEASURED, installed, measured
from benchmarks.true_robot import true_robot, with_drives
from steelyard.motion import Trajectory
from steelyard.signals.filters import differences
from steelyard.simulation import PD, ComputedTorque, Sensors

Array = NDArray[np.float64]
NOISES = (1e-5, 1e-4, 1e-3, 1e-2)  # [rad] of the encoders
SECONDS, EVERY = 10.0, 2  # of a run at 1 kHz, of which one sample in two is logged
MOVING = 5e-3  # [rad/s] below which friction has no definite value: such samples do not count
TORQUE_NOISE = 0.02  # of each joint's rms torque

ROBOTS: dict[str, Callable[[], sy.Robot]] = {
    "TX40": lambda: with_rotors(sy.load(DATA / "staubli_tx40" / "tx40_mdh_modified.urdf")),
    "Puma": lambda: sy.load("puma560"),
    "UR10": lambda: installed("ur_description/urdf/ur10_robot.urdf"),
}
FILTERS: dict[str, dict[str, Any]] = {
    "own": {},
    "tuned, 8 Hz": {"smoothing": "butterworth", "cutoff": 8.0},
    "low, 1.5 Hz": {"smoothing": "butterworth", "cutoff": 1.5},
    "high, 80 Hz": {"smoothing": "butterworth", "cutoff": 80.0},
    "none": {"smoothing": None},
}
CONTROLLERS = ("computed torque 5 Hz", "PD 10 Hz", "PD 4 Hz")


@dataclass(frozen=True)
class Cell:
    """What is varied: robot, noise [rad], filter, controller; measured logs have a robot alone."""

    robot: str
    noise: float = 1e-3
    filter: str = "own"
    controller: str = CONTROLLERS[0]

    @property
    def simulated(self) -> bool:
        return self.robot in ROBOTS


@dataclass(frozen=True, eq=False)
class Recording:
    """What an estimator is given, and what its result is held against.

    The true robot along another motion, or another log.
    """

    described: sy.Robot
    log: sy.Log
    controller: Any = None
    true: sy.Robot | None = None
    motion: Trajectory | None = None
    other: sy.Log | None = None

    def error(self, fit: sy.Fit) -> float:
        """|e| / |tau|, of joints that move, on motion that the fit has not seen.

        Without noise if it is simulated.
        """
        if self.true is None or self.motion is None:
            assert self.other is not None
            return float(fit.validate(self.other).total_relative_error)
        states = self.motion.q, self.motion.qd, self.motion.qdd
        tau, e = self.true.inverse_dynamics(*states), fit.robot.inverse_dynamics(*states)
        moving = np.abs(self.motion.qd) > MOVING
        return float(np.linalg.norm((e - tau)[moving]) / np.linalg.norm(tau[moving]))


def available() -> tuple[str, ...]:
    """The robots that can be simulated: one of them is described by a file beside the project."""
    return tuple(name for name in ROBOTS if name != "TX40" or (DATA / "staubli_tx40").is_dir())


def with_rotors(robot: sy.Robot) -> sy.Robot:
    """The robot with rotors of gears.

    The description of the TX40's last link has next to no inertia.
    """
    return robot.with_rotors(np.geomspace(0.4, 0.02, robot.n).tolist())


@cache
def described(robot: str) -> sy.Robot:
    """The description of a robot."""
    return ROBOTS[robot]()


@cache
def motions(robot: str, seed: int) -> tuple[Trajectory, Trajectory]:
    """A motion that excites the robot, and another one."""
    return tuple(
        sy.excite(
            described(robot),
            seconds=SECONDS,
            starts=1,
            seed=seed + k,
            speed=1.0,
            acceleration=np.inf,
            ground=None,
        )
        for k in (0, 500)
    )  # type: ignore[return-value]


@cache
def truth(robot: str, seed: int) -> sy.Robot:
    """The robot that stands there."""
    return true_robot(described(robot), seed)


def controller(name: str, robot: str, motion: Trajectory | None) -> Any:
    """Return a controller of a bandwidth whose model is the description with the robot's drives.

    Gains of PD follow from the mean inertia of each joint.
    """
    w, believed = 2 * math.pi * float(name.split()[-2]), with_drives(described(robot))
    if name.startswith("computed"):
        return ComputedTorque(motion, kp=w**2, kd=2 * w, model=believed)
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (200, believed.n))
    inertia = np.mean(np.diagonal(believed.mass_matrix(q), axis1=1, axis2=2), axis=0)
    return PD(motion, kp=w**2 * inertia, kd=2 * w * inertia, model=believed)


@cache
def run(robot: str, law: str, seed: int) -> sy.simulation.Run:
    """The true robot in its closed loop."""
    motion, _ = motions(robot, seed)
    true = truth(robot, seed)
    return sy.simulate(
        true, controller(law, robot, motion), motion.q[0], seconds=SECONDS, every=EVERY
    )


def recording(cell: Cell, seed: int) -> Recording:
    """What an estimator is given in a cell."""
    if not cell.simulated:
        return measured_recording(cell.robot)
    sensors = Sensors(
        encoder=0.0,
        encoder_noise=cell.noise,
        torque_noise=TORQUE_NOISE,
        torque_ripple=0.0,
        bandwidth=0.0,
        delay=0.0,
    )
    log = run(cell.robot, cell.controller, seed).log(sensors, seed)
    if cell.filter == "none":
        qd, qdd = differences(log.q, log.t)
        log = log.replace(qd=qd, qdd=qdd)
    law = controller(cell.controller, cell.robot, None)
    return Recording(
        described(cell.robot), log, law, truth(cell.robot, seed), motions(cell.robot, seed)[1]
    )


@cache
def measured_recording(name: str) -> Recording:
    """A measured log: the first half is identified, the second one predicted.

    Of the KUKA, one run and the other.
    """
    robot, log = measured(name)
    half = log.N // 2
    return Recording(robot, log[:half], other=log[half:])


def measured_names() -> tuple[str, ...]:
    """The measured logs that are beside the project."""
    return tuple(MEASURED) if DATA.is_dir() else ()


def cells() -> dict[str, tuple[Cell, ...]]:
    """Return the tables: noise, filters and controllers, and measured logs."""
    robots = available()
    return {
        "noise": tuple(Cell(robot, noise) for robot in robots for noise in NOISES),
        "filter": tuple(
            Cell("Puma", noise, name) for name in FILTERS if name != "own" for noise in (1e-4, 1e-3)
        ),
        "controller": tuple(
            Cell("Puma", noise, controller=law)
            for law in CONTROLLERS[1:]
            for noise in (1e-5, 1e-3, 1e-2)
        ),
        "measured": tuple(Cell(name) for name in measured_names()),
    }
