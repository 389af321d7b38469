"""Faults that can be planted into an experiment.

One row a fault, with its least size, where it acts and how.

A fault acts at one of four stages: on the description that the user has, on the true robot, on its
motion, or on the log. Its function takes and returns the subject of that stage: a Robot, a Robot, a
Fourier motion or a Log. A measured log can hold faults of the first and last stage only. What a
fault cannot show on which robot is found in `benchmarks.visibility`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfiltfilt

import steelyard as sy
from benchmarks.arms import stranger
from steelyard.checks.states import swing
from steelyard.motion.trajectories.fourier import Fourier, motion_bounds

Array = NDArray[np.float64]
Rng = np.random.Generator
Joints = tuple[str, ...]
Plant = Callable[[sy.Robot, Any, Joints, float, Rng], Any]
MOTION = ("q", "qd", "qdd", "reference", "motor_position", "link_position")


@dataclass(frozen=True)
class Fault:
    """One row.

    `plant(robot, subject, joints, size, rng)` returns the faulty subject; `robot` is the
    description.

    A size lies between `least` and `most` [unit], the latter being the worse; `either` says whether
    its inverse ("ratio") or its negative ("sign") is as good. `places(robot)` are the sets of
    joints it may sit at; `whole` is True if it concerns the log as a whole, so that the joints do
    not matter when it is named.
    """

    key: str
    stage: str
    least: float
    most: float
    unit: str
    meaning: str
    places: Callable[[sy.Robot], Sequence[Joints]]
    plant: Plant
    either: str = ""
    whole: bool = False

    def draw(self, rng: Rng) -> float:
        """A size between the least and the worst, evenly in its logarithm."""
        size = (
            self.least * (self.most / self.least) ** rng.uniform()
            if self.most != self.least
            else self.least
        )
        turned = rng.uniform() < 0.5
        return (
            1 / size
            if turned and self.either == "ratio"
            else -size
            if turned and self.either == "sign"
            else size
        )


def each_joint(robot: sy.Robot) -> list[Joints]:
    return [(name,) for name in robot.joint_names]


def each_pair(robot: sy.Robot) -> list[Joints]:
    return list(combinations(robot.joint_names, 2))


def neighbours(robot: sy.Robot) -> list[Joints]:
    return list(zip(robot.joint_names, robot.joint_names[1:], strict=False))


def all_joints(robot: sy.Robot) -> list[Joints]:
    return [robot.joint_names]


def turning_joints(robot: sy.Robot) -> list[Joints]:
    """All joints that turn, at once."""
    turning = tuple(
        name for name in robot.joint_names if robot.mechanism.joint(name).kind != "prismatic"
    )
    return [turning] if turning else []


def one_or_all(robot: sy.Robot) -> list[Joints]:
    return each_joint(robot) + all_joints(robot)


def longest_links(robot: sy.Robot) -> list[Joints]:
    """The joints at least half as far from the joint before them as the farthest one."""
    distances = {joint.name: span(joint) for joint in moving_joints(robot)[1:]}
    far = max(distances.values(), default=0.0)
    return [(name,) for name, distance in distances.items() if distance > max(0.5 * far, 1e-9)]


def moving_joints(robot: sy.Robot) -> list[Any]:
    return [robot.mechanism.joint(name) for name in robot.joint_names]


def span(joint: Any) -> float:
    """The distance [m] of a joint from the frame of its parent."""
    return math.hypot(*joint.origin.p)


# -- on the log
# ----------------------------------------------------------------------------


def swap(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    a, b = columns(log, joints)
    order = list(range(log.n))
    order[a], order[b] = b, a
    return changed(log, (*MOTION, "tau", "current"), lambda x: x[:, order])


def scale_positions(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    return changed(log, MOTION, lambda x: x * factors(log, joints, size))


def scale_torques(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    return changed(log, ("tau",), lambda x: x * factors(log, joints, size))


def currents(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Divide by torque constants spread at random from half of `size` to twice that."""
    constants = size * rng.permutation(np.geomspace(0.5, 2.0, log.n))
    return changed(log, ("tau",), lambda x: x / constants)


def motor_side(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Positions times, torques divided by gear ratios from `size` to twice that."""
    ratios = np.rint(size * rng.uniform(1.0, 2.0, log.n))
    return changed(changed(log, MOTION, lambda x: x * ratios), ("tau",), lambda x: x / ratios)


def without_gravity(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Subtract the described gravity torque, as a controller with that model would."""
    assert log.tau is not None
    return log.replace(tau=log.tau - size * robot.gravity_torque(log.q))


def offset(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Size in degrees; a sliding joint is off by as many centimetres."""
    (j,) = columns(log, joints)
    turning = robot.mechanism.joint(joints[0]).kind != "prismatic"
    shift = np.zeros(log.n)
    shift[j] = math.radians(size) if turning else size / 100
    return changed(log, ("q", "reference", "motor_position", "link_position"), lambda x: x + shift)


def clock(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Stamps times a factor, in one of three cases 1000: milliseconds."""
    return log.replace(
        t=log.t[0] + (log.t - log.t[0]) * (1000.0 if rng.uniform() < 1 / 3 else size)
    )


def jitter(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Shift time stamps by normal deviates of `size` per cent of the interval, in order."""
    return log.replace(t=log.t + log.dt * np.clip(size / 100 * rng.normal(size=log.N), -0.49, 0.49))


def drop(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    return log[np.delete(np.arange(log.N), 1 + some(log.N - 2, size / 100, rng))]


def repeat_stamps(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    t, late = log.t.copy(), 1 + some(log.N - 1, size / 100, rng)
    t[late] = log.t[late - 1]
    return log.replace(t=t)


def delay(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """The torque of these joints comes `size` milliseconds late.

    Before the first sample the robot stood still.
    """
    assert log.tau is not None
    tau = log.tau.copy()
    for j in columns(log, joints):
        tau[:, j] = np.interp(log.t - size / 1000, log.t, log.tau[:, j])
    return log.replace(tau=tau)


def saturate(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Clip the torque at `size` per cent of its peak, or lower, in at least 2 % of the samples."""
    (j,) = columns(log, joints)
    assert log.tau is not None
    tau = log.tau.copy()
    bound = min(size / 100 * np.max(np.abs(tau[:, j])), np.quantile(np.abs(tau[:, j]), 0.98))
    tau[:, j] = np.clip(tau[:, j], -bound, bound)
    return log.replace(tau=tau)


def kill(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """The torque channel stays at 0 or at its first value."""
    (j,) = columns(log, joints)
    assert log.tau is not None
    tau = log.tau.copy()
    tau[:, j] = tau[0, j] if rng.uniform() < 0.5 else 0.0
    return log.replace(tau=tau)


def spike(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Shift single readings by `size` to either side, 0.5 % of the samples and at least five."""
    (j,) = columns(log, joints)
    q, hit = log.q.copy(), some(log.N, max(0.005, 5 / log.N), rng)
    q[hit, j] += size * rng.choice([-1.0, 1.0], len(hit))
    return log.replace(q=q)


def low_pass(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Low-pass all torques at `size` [Hz], without delay."""
    section = butter(2, size, fs=1 / log.dt, output="sos")
    return changed(log, ("tau",), lambda x: sosfiltfilt(section, x, axis=0))


# -- on the description, the true robot and the motion
# ---------------------------------------------------------------------------------


def tilt(robot: sy.Robot, described: sy.Robot, joints: Joints, size: float, rng: Rng) -> sy.Robot:
    """Rotate the described gravity by `size` degrees about a random axis normal to it."""
    g = np.asarray(described.gravity, dtype=float)
    side = np.cross(g, rng.normal(size=3))
    side *= np.linalg.norm(g) / np.linalg.norm(side)
    return described.with_gravity(
        (math.cos(math.radians(size)) * g + math.sin(math.radians(size)) * side).tolist()
    )


def mistake(
    robot: sy.Robot, described: sy.Robot, joints: Joints, size: float, rng: Rng
) -> sy.Robot:
    return stranger(described, rng)


def couple(robot: sy.Robot, true: sy.Robot, joints: Joints, size: float, rng: Rng) -> sy.Robot:
    """A motor that two joints share.

    Inertia, viscous and Coulomb friction in equal parts, together `size` per cent of their torques.
    """
    _, qd, qdd = states = swing(true, 500)
    rms = np.sqrt(np.mean(true.inverse_dynamics(*states) ** 2, axis=0))
    j = [true.joint_names.index(name) for name in joints]
    part = size / 100 * math.sqrt(float(np.prod(rms[j]))) / math.sqrt(3)
    inertia, viscous = (part / float(np.sqrt(np.mean(x[:, j] ** 2))) for x in (qdd, qd))
    return true.with_coupling(*joints, armature=inertia, viscous=viscous, coulomb=part)


def spring(robot: sy.Robot, true: sy.Robot, joints: Joints, size: float, rng: Rng) -> sy.Robot:
    """A spring at a joint that is at rest at one end of its travel.

    Its torque varies by `size` per cent of the joint's torque (standard deviation).
    """
    states = swing(true, 500)
    j = true.joint_names.index(joints[0])
    rms = math.sqrt(float(np.mean(true.inverse_dynamics(*states)[:, j] ** 2)))
    stiffness, rest = (
        size / 100 * rms / float(np.std(states.q[:, j])),
        float(np.min(states.q[:, j])),
    )
    torque = f"{stiffness:.9g} * (q[{joints[0]!r}] - ({rest:.9g}))"
    return true.with_known_torque({joints[0]: torque})


def lengthen(
    robot: sy.Robot, described: sy.Robot, joints: Joints, size: float, rng: Rng
) -> sy.Robot:
    """The place of a joint is described `size` times as far from its parent."""
    mechanism = described.mechanism

    def longer(joint: Any) -> Any:
        far = joint.origin._replace(p=tuple(size * x for x in joint.origin.p))
        return replace(joint, origin=far) if joint.name == joints[0] else joint

    return type(described)(replace(mechanism, joints=tuple(map(longer, mechanism.joints))))


def still(robot: sy.Robot, motion: Fourier, joints: Joints, size: float, rng: Rng) -> Fourier:
    """One joint moves by `size` [rad|m] in all.

    With all joints given, each moves by a twentieth of what it did.
    """
    if len(joints) == motion.n:
        return motion.scaled(0.05)
    bounds, shrink = motion_bounds(motion), np.ones(motion.n)
    j = robot.joint_names.index(joints[0])
    shrink[j] = size / (bounds.upper[j] - bounds.lower[j])
    return motion.scaled(shrink)


# -- helpers
# ----------------------------------------------------------------------------


def columns(log: sy.Log, joints: Joints) -> list[int]:
    """The columns of these joints."""
    return [log.labels.index(name) for name in joints]


def factors(log: sy.Log, joints: Joints, size: float) -> Array:
    """`size` for these joints, 1 for the others, (n,)."""
    result = np.ones(log.n)
    result[columns(log, joints)] = size
    return result


def changed(log: sy.Log, signals: Sequence[str], change: Callable[[Array], Array]) -> sy.Log:
    """The log with these signals changed, where it has them."""
    return log.replace(
        **{name: change(value) for name in signals if (value := getattr(log, name)) is not None}
    )


def some(count: int, share: float, rng: Rng) -> NDArray[np.int64]:
    """A share of the numbers below `count`, at least one, in order."""
    return np.sort(rng.choice(count, max(1, math.ceil(share * count)), replace=False))


DEGREE = 180 / math.pi
# fmt: off
ROWS = (
    Fault("swapped joints", "log", 1, 1, "pair", "all columns of two joints are exchanged", each_pair, swap),
    Fault("position sign", "log", -1, -1, "x", "the position of a joint has the other sign", each_joint, scale_positions),
    Fault("torque sign", "log", -1, -1, "x", "the torque of a joint has the other sign", each_joint, scale_torques),
    Fault("degrees", "log", DEGREE, DEGREE, "x", "positions are in degrees", turning_joints, scale_positions, whole=True),
    Fault("currents", "log", 5, 20, "N m/A", "motor currents replace torques", all_joints, currents, whole=True),
    Fault("gear ratio or torque constant", "log", 1.3, 3, "x", "the torque of a joint is scaled", each_joint, scale_torques, "ratio"),
    Fault("torque scale", "log", 2, 10, "x", "all torques are scaled", all_joints, scale_torques, "ratio", True),
    Fault("gravity taken out", "log", 1, 1, "x", "the torque of gravity was subtracted", all_joints, without_gravity, whole=True),
    Fault("gravity direction", "description", 30, 180, "deg", "the robot is mounted otherwise", all_joints, tilt, whole=True),
    Fault("position offset", "log", 5, 30, "deg or cm", "the zero of a joint is elsewhere", each_joint, offset, "sign"),
    Fault("motor side", "log", 30, 100, "x", "positions and torques are those of the motors", all_joints, motor_side, whole=True),
    Fault("clock", "log", 2, 4, "x", "stamps are scaled, or in milliseconds", all_joints, clock, "ratio", True),
    Fault("jitter", "log", 20, 40, "% of dt", "stamps are off by a random part of the interval", all_joints, jitter, whole=True),
    Fault("dropped samples", "log", 2, 10, "% of samples", "samples are missing", all_joints, drop, whole=True),
    Fault("duplicated stamps", "log", 2, 10, "% of samples", "stamps repeat the one before", all_joints, repeat_stamps, whole=True),
    Fault("delay", "log", 20, 500, "ms", "the torque of one joint or of all comes late", one_or_all, delay),
    Fault("saturation", "log", 60, 35, "% of the peak", "the torque of a joint is cut off", each_joint, saturate),
    Fault("dead channel", "log", 1, 1, "channel", "the torque of a joint never changes", each_joint, kill),
    Fault("encoder spikes", "log", 0.05, 0.5, "rad or m", "0.5 % of the positions of a joint are off", each_joint, spike),
    Fault("coupling", "true robot", 20, 40, "% of the torque", "two joints share a motor", neighbours, couple),
    Fault("missing term", "true robot", 50, 150, "% of the torque", "a spring at a joint is not described", each_joint, spring),
    Fault("geometry", "description", 1.25, 1.5, "x", "a long link is described too long", longest_links, lengthen),
    Fault("filtered torque", "log", 1, 0.7, "Hz", "torques are low-passed, positions are not", all_joints, low_pass, whole=True),
    Fault("poor excitation", "motion", 0.01, 0.002, "rad or m", "a joint stands almost still, or all move little", one_or_all, still),
    Fault("wrong robot", "description", 1, 1, "robot", "another robot is described", all_joints, mistake, whole=True),
)
# fmt: on
FAULTS = {row.key: row for row in ROWS}
"""The faults by key; the doctor's findings have the same keys."""
FIRST = ("gravity taken out", "saturation", "dead channel", "encoder spikes", "delay")
"""Faults applied before the others of a log: their sizes are in correct units and time."""


class Planted(NamedTuple):
    """A fault that was planted.

    Its key, the joints it sits at, its size, and the seed of what else is random about it.
    """

    key: str
    joints: Joints
    size: float
    seed: tuple[int, ...] = (0,)

    def into(self, robot: sy.Robot, subject: Any) -> Any:
        """The subject of the fault's stage, with the fault."""
        return FAULTS[self.key].plant(
            robot, subject, self.joints, self.size, np.random.default_rng(self.seed)
        )


def places_of(robot: sy.Robot, key: str) -> Sequence[Joints]:
    """Where a fault may sit.

    A robot that is described with a shared motor has its coupling there.
    """
    if key == "coupling" and robot.mechanism.couplings:
        return [(shared.joint_a, shared.joint_b) for shared in robot.mechanism.couplings]
    return FAULTS[key].places(robot)
