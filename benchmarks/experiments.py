"""Experiments of which the truth is known.

A description, the true robot, a motion and a log, healthy or with planted faults.

    experiment("ur5", seed=7)                          a healthy log
    experiment("ur5", seed=7, faults=("delay",))       the same robot and motion, with a fault

A simulated robot has links that differ from its description by about 10 %, at most 20 % in mass and
in torque, and friction, rotors and sensors that the description does not know. A fault sits at a
place and has a size that a log can show (`benchmarks.visibility`), if there is one. Everything
follows from the seed.
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
from benchmarks.faults import FAULTS, FIRST, Joints, Planted, places_of
from benchmarks.true_robot import true_robot
from benchmarks.visibility import shows
from steelyard.errors import CallError, suggest
from steelyard.motion.trajectories.fourier import Fourier
from steelyard.motion.trajectories.trajectory import trajectory
from steelyard.simulation import Sensors, record

Array = NDArray[np.float64]
Rng = np.random.Generator
ATTEMPTS = 40  # at a place and size that a log can show
ROUNDS = 5  # of drawing two faults that leave a place to each other
CANDIDATES = 12  # motions that the best is chosen from: a good one, not the best there is
SHORT = 1.2  # [s]: of a measured log that excites little
VELOCITY_NOISE = 2e-3  # [rad/s|m/s]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the user has, `described` and `log`, and what is true: `true` and `motion`.

    A measured log has none; its `rest` was held out.
    """

    name: str
    seed: int
    described: sy.Robot
    log: sy.Log
    true: sy.Robot | None = None
    motion: Fourier | None = None
    rest: tuple[sy.Log, ...] = ()
    planted: tuple[Planted, ...] = ()


class Recording(NamedTuple):
    """How a simulated log is taken.

    Length [s], harmonics of the motion, rate [Hz], sensors, and whether velocities are logged.
    """

    seconds: float
    harmonics: int
    rate: float
    sensors: Sensors
    velocities: bool


def experiment(
    name: str, seed: int, faults: Sequence[str] = (), places: Sequence[Joints | None] = ()
) -> Experiment:
    """Return the experiment of a robot and seed with these faults planted in order."""
    for key in faults:
        if key not in FAULTS:
            raise CallError(f"no fault is called {key!r}; {suggest(key, tuple(FAULTS))}")
    planted = drawn(arm(name), seed, faults, places)
    return _measured(name, seed, planted) if name in MEASURED else _simulated(name, seed, planted)


def drawn(
    robot: sy.Robot,
    seed: int,
    faults: Sequence[str],
    places: Sequence[Joints | None] = (),
    rounds: int = ROUNDS,
) -> tuple[Planted, ...]:
    """Places and sizes of the faults.

    If the first leaves no place to the next, it is drawn again.
    """
    try:
        return _drawn(robot, (seed, rounds), faults, places)
    except CallError:
        if rounds == 1 or len(faults) < 2:
            raise
    return drawn(robot, seed, faults, places, rounds - 1)


def _drawn(
    robot: sy.Robot, seed: tuple[int, ...], faults: Sequence[str], places: Sequence[Joints | None]
) -> tuple[Planted, ...]:
    """Two faults do not share a joint, unless one concerns the whole log."""
    taken: set[str] = set()
    results: list[Planted] = []
    for i, key in enumerate(faults):
        row = FAULTS[key]
        argument = places[i] if i < len(places) else None
        free = (
            [argument]
            if argument
            else [p for p in places_of(robot, key) if row.whole or not taken & set(p)]
        )
        if len(faults) > 1 and not row.whole:  # leave joints for the other fault
            free = [path for path in free if len(path) == min(map(len, free))]
        if not free:
            raise CallError(
                f"{robot.name} has no joint left for {key!r} beside {', '.join(sorted(taken))}"
            )
        results.append(_shown(robot, key, free, seed))
        taken |= set() if row.whole else set(results[-1].joints)
    return tuple(results)


def _shown(robot: sy.Robot, key: str, free: Sequence[Joints], seed: tuple[int, ...]) -> Planted:
    """The first of several draws of place and size that a log can show."""
    for attempt in range(ATTEMPTS):
        stream = (*seed, attempt, *f"{robot.name} {key}".encode())
        rng = np.random.default_rng(stream)
        planted = Planted(
            key, tuple(free[int(rng.integers(len(free)))]), FAULTS[key].draw(rng), stream
        )
        if shows(robot, planted):
            return planted
    raise CallError(
        f"{key!r} cannot show on {robot.name}: in {ATTEMPTS} draws a robot like its description"
        " explained the log as well"
    )


def _simulated(name: str, seed: int, planted: tuple[Planted, ...]) -> Experiment:
    robot = arm(name)
    plan = recording(_rng(seed, 0))
    true = true_robot(robot, seed)
    motion = sy.excite(
        robot,
        plan.seconds,
        plan.harmonics,
        1 / plan.seconds,
        seed,
        candidates=CANDIDATES,
        speed=1.0,
        acceleration=np.inf,
        ground=None,
    ).motion
    assert isinstance(motion, Fourier)
    true = plant(robot, true, "true robot", planted)
    motion = plant(robot, motion, "motion", planted)
    log = taken(true, motion, plan, seed)
    log, described = with_faults(robot, log, planted)
    return Experiment(name, seed, described, log, true, motion, (), planted)


def _measured(name: str, seed: int, planted: tuple[Planted, ...]) -> Experiment:
    """Three quarters of the measured log, from a random place on; the rest is held out."""
    robot, log = measured(name)
    start = int(_rng(seed, 0).integers(log.N // 4))
    stop = start + 3 * log.N // 4
    rest = tuple(log[a:b] for a, b in ((0, start), (stop, log.N)) if b - a > 0.05 * log.N)
    keys = [each.key for each in planted]
    if "poor excitation" in keys:  # hardly more than a second of it
        stop = start + int(SHORT * log.rate)
    if "coupling" in keys:
        robot = without_coupling(robot)
    faulty, described = with_faults(robot, log[start:stop], planted)
    return Experiment(name, seed, described, faulty, None, None, rest, planted)


def without_coupling(robot: sy.Robot) -> sy.Robot:
    """The description of a robot with a shared motor, as it is without."""
    if not robot.mechanism.couplings:
        raise CallError(
            f"no joints of the measured {robot.name} share a motor, so none can be left out of its"
            " description"
        )
    return type(robot)(replace(robot.mechanism, couplings=()))


def with_faults(
    robot: sy.Robot, log: sy.Log, planted: tuple[Planted, ...]
) -> tuple[sy.Log, sy.Robot]:
    """Log and description with the faults of these two stages.

    Another robot's description names the joints its own way.
    """
    log = plant(robot, log, "log", planted)
    described = plant(robot, robot, "description", planted)
    return log.replace(joint_names=described.joint_names), described


def plant(robot: sy.Robot, subject: Any, stage: str, planted: tuple[Planted, ...]) -> Any:
    """Return the subject of a stage with the faults that act there, sensor faults first."""
    for each in sorted(planted, key=lambda each: each.key not in FIRST):
        if FAULTS[each.key].stage == stage:
            subject = each.into(robot, subject)
    return subject


def recording(rng: Rng) -> Recording:
    """How this log is taken.

    8 to 20 s, 100 to 500 Hz, torque noise 0.5 to 2 %, a delay below 2 ms, every other one with
    velocities.
    """
    seconds = float(rng.choice([8.0, 10.0, 12.0, 16.0, 20.0]))
    sensors = Sensors(
        torque_noise=rng.uniform(0.005, 0.02),
        torque_ripple=rng.uniform(0.0, 0.01),
        delay=rng.uniform(0.0, 0.002),
        encoder_noise=1e-5,
    )
    rate = float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0]))
    return Recording(
        seconds, max(5, math.ceil(seconds / 2)), rate, sensors, bool(rng.uniform() < 0.5)
    )


def taken(true: sy.Robot, motion: Fourier, plan: Recording, seed: int) -> sy.Log:
    """The log of a motion, with measured velocities if the recording has them."""
    log = record(
        true,
        trajectory(motion, plan.seconds, plan.rate, true.joint_names),
        plan.rate,
        seed,
        plan.sensors,
    )
    if not plan.velocities:
        return log
    return log.replace(
        qd=motion(log.t).qd + VELOCITY_NOISE * _rng(seed, 1).normal(size=log.q.shape)
    )


def _rng(seed: int, *stream: int) -> Rng:
    return np.random.default_rng([seed, *stream])
