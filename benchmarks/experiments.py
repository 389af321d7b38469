"""Experiments of which the truth is known: a description, the true robot, a motion and a log, healthy or with planted faults.

    experiment("ur5", seed=7)                          a healthy log
    experiment("ur5", seed=7, faults=("delay",))       the same robot and motion, with a fault

A simulated robot has links that differ from its description by about 10 %, at most 20 % in mass and in torque, and friction, rotors and
sensors that the description does not know. Everything follows from the seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import MEASURED, arm, measured
from benchmarks.faults import FAULTS, Joints
from steelyard.checks.states import swing
from steelyard.errors import CallError, suggest
from steelyard.motion.trajectories.fourier import Fourier
from steelyard.motion.trajectories.trajectory import Trajectory, trajectory
from steelyard.simulation import Sensors, perturbed, record

Array = NDArray[np.float64]
Rng = np.random.Generator
SPREAD = 0.1  # of the logarithm of mass, size and centre between description and robot
FARTHEST = 0.2  # that mass and torque of the description may be off
CANDIDATES = 12  # motions that the best is chosen from: a good one, not the best there is
SHORT = 1.2  # [s]: of a measured log that excites little
VELOCITY_NOISE = 2e-3  # [rad/s|m/s]


class Planted(NamedTuple):
    """A fault that was planted: its key, the joints it sits at, its size."""

    key: str
    joints: Joints
    size: float


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the user has, `described` and `log`, and what is true: `true` and `motion`. A measured log has none; its `rest` was held out."""

    name: str
    seed: int
    described: sy.Robot
    log: sy.Log
    true: sy.Robot | None = None
    motion: Fourier | None = None
    rest: tuple[sy.Log, ...] = ()
    planted: tuple[Planted, ...] = ()

    def unseen(self, seed: int, rate: float = 50.0) -> Trajectory:
        """Another motion of the true robot, within the same limits."""
        assert self.true is not None
        made = sy.excite(arm(self.name), self.log.duration or 10.0, 5, None, seed, candidates=3)
        return made.sample(rate)


class Recording(NamedTuple):
    """How a simulated log is taken: length [s], harmonics of the motion, rate [Hz], sensors, and whether velocities are logged."""

    seconds: float
    harmonics: int
    rate: float
    sensors: Sensors
    velocities: bool


def experiment(name: str, seed: int, faults: Sequence[str] = (), places: Sequence[Joints | None] = ()) -> Experiment:
    """The experiment of this robot and seed with these faults, planted in their order at the given joints, or at random ones."""
    for key in faults:
        if key not in FAULTS:
            raise CallError(f"no fault is called {key!r}; {suggest(key, tuple(FAULTS))}")
    planted = _drawn(arm(name), seed, faults, places)
    return _measured(name, seed, planted) if name in MEASURED else _simulated(name, seed, planted)


def _drawn(robot: sy.Robot, seed: int, faults: Sequence[str], places: Sequence[Joints | None]) -> tuple[Planted, ...]:
    """Places and sizes; two faults do not share a joint, unless one concerns the whole log."""
    taken: set[str] = set()
    made = []
    for i, key in enumerate(faults):
        rng, row = _rng(seed, *f"{robot.name} {key}".encode()), FAULTS[key]
        given = places[i] if i < len(places) else None
        free = [given] if given else [p for p in places_of(robot, key) if row.whole or not taken & set(p)]
        if len(faults) > 1 and not row.whole:  # leave joints for the other fault
            free = [place for place in free if len(place) == min(map(len, free))]
        if not free:
            raise CallError(f"{robot.name} has no joint left for {key!r} beside {', '.join(sorted(taken))}")
        joints = free[int(rng.integers(len(free)))]
        taken |= set() if row.whole else set(joints)
        made.append(Planted(key, tuple(joints), row.draw(rng)))
    return tuple(made)


def places_of(robot: sy.Robot, key: str) -> Sequence[Joints]:
    """Where a fault may sit. A robot that is described with a shared motor has its coupling there."""
    if key == "coupling" and robot.mechanism.couplings:
        return [(shared.joint_a, shared.joint_b) for shared in robot.mechanism.couplings]
    return FAULTS[key].places(robot)


def _simulated(name: str, seed: int, planted: tuple[Planted, ...]) -> Experiment:
    robot = arm(name)
    plan = recording(_rng(seed, 0))
    true = true_robot(robot, seed)
    motion = sy.excite(robot, plan.seconds, plan.harmonics, 1 / plan.seconds, seed, candidates=CANDIDATES).motion
    assert isinstance(motion, Fourier)
    true = plant(robot, true, "true robot", planted, seed)
    motion = plant(robot, motion, "motion", planted, seed)
    log = taken(true, motion, plan, seed)
    log, described = with_faults(robot, log, planted, seed)
    return Experiment(name, seed, described, log, true, motion, (), planted)


def _measured(name: str, seed: int, planted: tuple[Planted, ...]) -> Experiment:
    """Three quarters of the measured log, from a random place on; the rest is held out."""
    robot, log = measured(name)
    start = int(_rng(seed, 0).integers(log.N // 4))
    stop = start + 3 * log.N // 4
    rest = tuple(part for part in (log[:start], log[stop:]) if part.N > 0.05 * log.N)
    keys = [each.key for each in planted]
    if "poor excitation" in keys:  # hardly more than a second of it
        stop = start + int(SHORT * log.rate)
    if "coupling" in keys:
        robot = without_coupling(robot)
    faulty, described = with_faults(robot, log[start:stop], planted, seed)
    return Experiment(name, seed, described, faulty, None, None, rest, planted)


def without_coupling(robot: sy.Robot) -> sy.Robot:
    """The description of a robot with a shared motor, as it is without."""
    if not robot.mechanism.couplings:
        raise CallError(f"no joints of the measured {robot.name} share a motor, so none can be left out of its description")
    return type(robot)(replace(robot.mechanism, couplings=()))


def with_faults(robot: sy.Robot, log: sy.Log, planted: tuple[Planted, ...], seed: int) -> tuple[sy.Log, sy.Robot]:
    """Log and description with the faults of these two stages. Another robot's description names the joints its own way."""
    log = plant(robot, log, "log", planted, seed)
    described = plant(robot, robot, "description", planted, seed)
    return log.replace(joint_names=described.joint_names), described


def plant(robot: sy.Robot, subject: Any, stage: str, planted: tuple[Planted, ...], seed: int) -> Any:
    """The subject of a stage with the faults that act there."""
    for i, (key, joints, size) in enumerate(planted):
        if FAULTS[key].stage == stage:
            subject = FAULTS[key].plant(robot, subject, joints, size, _rng(seed, 20 + i))
    return subject


def recording(rng: Rng) -> Recording:
    """How this log is taken: 8 to 20 s, 100 to 500 Hz, torque noise 0.5 to 2 %, a delay below 2 ms, every other one with velocities."""
    seconds = float(rng.choice([8.0, 10.0, 12.0, 16.0, 20.0]))
    sensors = Sensors(
        torque_noise=rng.uniform(0.005, 0.02), torque_ripple=rng.uniform(0.0, 0.01), delay=rng.uniform(0.0, 0.002), encoder_noise=1e-5
    )
    rate = float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0]))
    return Recording(seconds, max(5, math.ceil(seconds / 2)), rate, sensors, bool(rng.uniform() < 0.5))


def taken(true: sy.Robot, motion: Fourier, plan: Recording, seed: int) -> sy.Log:
    """The log of a motion, with measured velocities if the recording has them."""
    log = record(true, trajectory(motion, plan.seconds, plan.rate, true.joint_names), plan.rate, seed, plan.sensors)
    if not plan.velocities:
        return log
    return log.replace(qd=motion(log.t).qd + VELOCITY_NOISE * _rng(seed, 1).normal(size=log.q.shape))


def true_robot(robot: sy.Robot, seed: int) -> sy.Robot:
    """The robot that stands there: perturbed links within 20 % of the description, with friction and rotors."""
    rough = with_drives(robot)
    for attempt in range(1000):
        true = perturbed(rough, 1000 * seed + attempt, SPREAD)
        if deviation(robot, true) <= FARTHEST:
            return true
    raise CallError(f"no robot within {FARTHEST:.0%} of {robot.name} was drawn in 1000 attempts")


def deviation(robot: sy.Robot, true: sy.Robot) -> float:
    """The larger of the relative differences in mass, of any link, and in torque of the rigid bodies, of all joints together."""
    states = swing(robot, 200)
    bodies = 10 * len(robot.tree.bodies)
    mass, other = robot.parameters[:bodies:10], true.parameters[:bodies:10]
    expected, torque = (x.without_friction().without_rotors().inverse_dynamics(*states) for x in (robot, true))
    return max(float(np.max(np.abs(other / mass - 1)[mass > 0])), float(np.linalg.norm(torque - expected) / np.linalg.norm(expected)))


def with_drives(robot: sy.Robot) -> sy.Robot:
    """The robot with friction and rotors, where it has none: 15 % of each joint's torque Coulomb, 10 % viscous, rotors of 30 % of the
    inertia.
    """
    if any(name.endswith(".Fc") for name in robot.parameter_names):
        return robot
    q, qd, _ = states = swing(robot, 500)
    rms = np.sqrt(np.mean(robot.inverse_dynamics(*states) ** 2, axis=0))
    speed = np.sqrt(np.mean(qd**2, axis=0))
    inertia = np.mean(np.diagonal(robot.mass_matrix(q), axis1=1, axis2=2), axis=0)
    rough = robot.with_friction(viscous=(0.1 * rms / speed).tolist(), coulomb=(0.15 * rms).tolist(), offset=[0.0] * robot.n)
    return rough.with_rotors((0.3 * inertia).tolist())


def _rng(seed: int, *stream: int) -> Rng:
    return np.random.default_rng([seed, *stream])
