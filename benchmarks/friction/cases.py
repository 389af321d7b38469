"""Logs of the study of friction.

Robots have viscous and Coulomb friction, some of them one further feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.experiments import VELOCITY_NOISE, recording
from benchmarks.true_robot import SPREAD, with_drives
from steelyard.identification.model.linear_model import Model
from steelyard.motion.trajectories.fourier import Fourier
from steelyard.simulation import perturbed

Array = NDArray[np.float64]
MOTIONS = 2  # of each robot
GEAR = 100.0
COLOUR = 0.1  # [s] correlation time of coloured noise
ENCODER_NOISE = 1e-5  # [rad|m]


class Joint(NamedTuple):
    """A moving joint: rms torque [N m|N], speed [rad/s|m/s], Coulomb and viscous friction."""

    name: str
    torque: float
    speed: float
    coulomb: float
    viscous: float


class Kind(NamedTuple):
    """A kind of logs: the term's name in `identify`, its size in words, and the term.

    That is joint terms, or a torque at speeds qd that drifts with a clock from -1 to 1, which may
    be the temperature.
    """

    word: str = ""
    size: str = "none"
    terms: Callable[[Joint], dict[str, float]] = lambda joint: {}
    drift: Callable[[Joint, Array], Array] = lambda joint, qd: 0 * qd
    coloured: bool = False
    warm: bool = False

    @property
    def drifts(self) -> bool:
        return self.word.startswith("drift")


KINDS = {
    "plain, white noise": Kind(),
    "plain, coloured noise": Kind(coloured=True),
    "backward friction": Kind(
        "negative",
        "half of the forward friction, over 0.1 rms speeds",
        lambda j: {"negative": 0.5 * j.coulomb, "width": 0.1 * j.speed},
    ),
    "Stribeck": Kind(
        "stribeck",
        "twice the Coulomb friction, fades at 0.2 rms speeds",
        lambda j: {"stiction": 2 * j.coulomb, "stribeck": 0.2 * j.speed},
    ),
    "load": Kind("load", "0.1 of the gravity torque", lambda j: {"load": 0.1}),
    "losses": Kind(
        "losses",
        "0.05 of a gravity torque that the motor drives, 0.35 of one that drives it",
        lambda j: {"driving": 0.05, "driven": 0.35},
    ),
    "ripple": Kind(
        "ripple",
        "3 % of the rms torque",
        lambda j: {"sine2": 0.024 * j.torque, "cosine2": -0.018 * j.torque, "gear": GEAR},
    ),
    "drifting offset": Kind(
        "drift of the offset",
        "5 % of the rms torque either way",
        drift=lambda j, qd: 0.05 * j.torque + 0 * qd,
    ),
    "drifting Coulomb friction": Kind(
        "drift of the Coulomb friction",
        "30 % either way",
        drift=lambda j, qd: 0.3 * j.coulomb * np.sign(qd),
    ),
    "drifting viscous friction": Kind(
        "drift of the viscous friction", "50 % either way", drift=lambda j, qd: 0.5 * j.viscous * qd
    ),
    "viscous friction of the temperature": Kind(
        "drift of the viscous friction",
        "50 % either way",
        drift=lambda j, qd: 0.5 * j.viscous * qd,
        warm=True,
    ),
}


class Case(NamedTuple):
    """A log with what is true of it.

    The robot, the joint that has the feature, and the torque (N,) [N m|N] that drifts there.
    """

    log: sy.Log
    true: sy.Robot
    joint: str
    drift: Array


def make_case(kind: str, name: str, seed: int) -> Case:
    """The log of this kind, robot and seed."""
    rng = np.random.default_rng([seed, *kind.encode()])
    row, moves = KINDS[kind], motion(name, seed % MOTIONS)
    joint = drawn(name, moves, row.word, rng)
    true = with_feature(perturbed(rough(name), seed, SPREAD), joint, row)
    log, drift = recorded(true, name, moves, joint, row, rng)
    return Case(log, true, joint.name, drift)


@cache
def motion(name: str, number: int) -> Fourier:
    """A good motion of a robot."""
    result = sy.excite(
        arm(name), 10.0, 5, 0.1, number, candidates=4, speed=1.0, acceleration=np.inf, ground=None
    ).motion
    assert isinstance(result, Fourier)
    return result


@cache
def rough(name: str) -> sy.Robot:
    """The robot as described, with drives."""
    return with_drives(arm(name))


def with_feature(robot: sy.Robot, joint: Joint, row: Kind) -> sy.Robot:
    """The robot with the joint terms of a feature, sized by the friction of the joint."""
    own = robot.tree.terms[robot.joint_names.index(joint.name)]
    terms = row.terms(joint._replace(coulomb=own["coulomb"], viscous=own["viscous"]))
    return (
        robot.with_friction(**{key: {joint.name: value} for key, value in terms.items()})
        if terms
        else robot
    )


def torque(true: sy.Robot, name: str, q: Array, qd: Array, qdd: Array) -> Array:
    """The torque (N, n) [N m|N] of a true robot, by the columns of the robot as described.

    One kernel serves for all.
    """
    described = rough(name).mechanism
    pairs = zip(described.joints, true.mechanism.joints, strict=True)
    joints = tuple(replace(own, terms=there.terms.changed(dict(own.terms))) for own, there in pairs)
    model = Model(sy.Robot(replace(described, joints=joints)), ()).with_load(true.parameters)
    return np.asarray(model.columns(q, qd, qdd, range(len(true.parameters))) @ true.parameters)


def drawn(name: str, moves: Fourier, word: str, rng: np.random.Generator) -> Joint:
    """A joint at random, without the term.

    For friction of the load one whose load changes along the motion.
    """
    robot, (q, qd, qdd) = rough(name), moves(np.linspace(0.0, 10.0, 400))
    torques, speed = (
        np.sqrt(np.mean(x**2, axis=0)) for x in (robot.inverse_dynamics(q, qd, qdd), qd)
    )
    load = np.std(np.abs(robot.gravity_torque(q)), axis=0) / torques
    able = [
        j
        for j in range(robot.n)
        if word not in robot.tree.terms[j] and (word not in ("load", "losses") or load[j] >= 0.2)
    ] or [int(np.argmax(load))]
    j = int(rng.choice(able))
    own = robot.tree.terms[j]
    return Joint(
        robot.joint_names[j],
        float(torques[j]),
        float(speed[j]),
        own["coulomb"],
        own["viscous"],
    )


def recorded(
    true: sy.Robot, name: str, moves: Fourier, joint: Joint, row: Kind, rng: np.random.Generator
) -> tuple[sy.Log, Array]:
    """The log of a motion, and the torque (N,) that drifts along it."""
    plan, j = recording(rng), true.joint_names.index(joint.name)
    t = np.arange(int(plan.seconds * plan.rate)) / plan.rate
    (q, qd, _), delayed = moves(t), moves(t - float(np.max(plan.sensors.delay)))
    tau = torque(true, name, *delayed)
    rho = np.exp(-1.0 / (COLOUR * plan.rate)) if row.coloured else 0.0
    noise = lfilter(
        [np.sqrt(1 - rho**2)], [1, -rho], rng.normal(size=(len(t) + 1000, true.n)), axis=0
    )[1000:]
    tau += float(np.max(plan.sensors.torque_noise)) * np.sqrt(np.mean(tau**2, axis=0)) * noise
    warm = 40.0 - 15.0 * np.exp(-t / (0.3 * t[-1]))
    clock = warm - warm.mean() if row.warm else t - t.mean()
    drift = row.drift(joint, qd[:, j]) * clock / np.max(np.abs(clock))
    tau[:, j] += drift
    measured = qd + VELOCITY_NOISE * rng.normal(size=qd.shape) if plan.velocities else None
    q = q + ENCODER_NOISE * rng.normal(size=q.shape)
    return (
        sy.Log(
            t=t,
            q=q,
            qd=measured,
            tau=tau,
            joint_names=true.joint_names,
            temperature=warm if row.warm else None,
        ),
        drift,
    )
