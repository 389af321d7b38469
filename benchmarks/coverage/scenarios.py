"""Scenarios of which the truth is known.

A robot, what its description is like, the noise of its torque, and friction beyond the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.description import placeholder
from benchmarks.true_robot import with_drives
from tests.motions import coloured, fourier

Array = NDArray[np.float64]
SECONDS, RATE = 20.0, 100.0  # [s], [Hz] of a log
NOISE = 0.02  # of each joint's rms torque
MEMORY = 0.95  # correlation of neighbouring samples of coloured noise
ENCODER = 1e-5  # [rad|m] noise of positions
DESCRIPTIONS = ("3-5 % off", "25 % off", "20 % too heavy", "one link x 3", "placeholder")
ELBOW, COUPLED = "elbow_4r", "elbow_4r, shared motor"
MOTIONS = {"one period": (0.05, 10), "two periods": (0.1, 5)}  # base frequency [Hz] and harmonics


@dataclass(frozen=True)
class Scenario:
    """A robot by name, its description, the noise of its torque, its friction and its motion."""

    robot: str
    description: str
    noise: str = "white"
    friction: str = "as modelled"
    motion: str = "one period"

    @property
    def name(self) -> str:
        """The scenario in a few words."""
        return (
            f"{self.robot}, {self.description}, {self.noise} noise, friction {self.friction},"
            f" {self.motion}"
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """One draw of a scenario.

    What the user has, and the true robot with the parameters that describe its friction best.
    """

    scenario: Scenario
    seed: int
    true: sy.Robot
    described: sy.Robot
    parameters: dict[str, float]

    def log(self, number: int = 0) -> sy.Log:
        """Positions and torques along a motion of the true robot.

        Other numbers are other motions.
        """
        rng = np.random.default_rng([self.seed, number, 7])
        t, q, qd, qdd = motion(self.scenario, self.true.n, self.seed + 1000 * number)
        tau = self.true.inverse_dynamics(q, qd, qdd)
        size = np.sqrt(np.mean(tau**2, axis=0))
        memory = MEMORY if self.scenario.noise == "coloured" else 0.0
        tau = (
            tau
            + further_friction(self.true, self.scenario.friction, qd)
            + NOISE * size * coloured(tau.shape, memory, rng)
        )
        return sy.Log(
            t=t,
            q=q + ENCODER * rng.normal(size=q.shape),
            tau=tau,
            joint_names=self.true.joint_names,
        )


def trial(scenario: Scenario, seed: int) -> Trial:
    """The draw of a scenario that belongs to a seed."""
    true = sy.perturbed(robot_of(scenario.robot), 10_000 + seed, 0.1)
    values = dict(zip(true.parameter_names, true.parameters.tolist(), strict=True))
    if scenario.friction != "as modelled":
        for name, value in best_friction(true, scenario).items():
            values[name] = values.get(name, 0.0) + value
    return Trial(scenario, seed, true, described(true, scenario.description, seed), values)


def robot_of(name: str) -> sy.Robot:
    """A robot with friction and rotors.

    COUPLED is ELBOW with a motor that its last two joints share.
    """
    if name != COUPLED:
        return with_drives(arm(name))
    robot = with_drives(arm(ELBOW))
    values = dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True))
    last = robot.joint_names[-1]
    shared = {
        "armature": values[f"{last}.Ia"],
        "viscous": values[f"{last}.Fv"],
        "coulomb": values[f"{last}.Fc"],
    }
    return robot.with_coupling(*robot.joint_names[-2:], **shared)


def described(true: sy.Robot, kind: str, seed: int) -> sy.Robot:
    """What the user has: links that are wrong in one of several ways, no friction and no rotors."""
    plain = true.without_friction().without_rotors()
    if plain.mechanism.couplings:
        plain = plain.with_coupling(*true.joint_names[-2:], armature=0.0, viscous=0.0, coulomb=0.0)
    if kind == "placeholder":
        return placeholder(plain)
    if kind == "20 % too heavy":
        return plain.with_parameters(1.2 * plain.parameters)
    near = sy.perturbed(plain, seed, 0.25 if kind == "25 % off" else 0.04)
    pi = near.parameters.copy()
    if kind == "one link x 3":
        first = 10 * int(np.random.default_rng(seed).integers(len(plain.tree.bodies)))
        pi[first : first + 10] *= 3.0
    return near.with_parameters(pi)


def motion(scenario: Scenario, n: int, seed: int) -> tuple[Array, ...]:
    """t (N,), q, qd, qdd (N, n) of a random Fourier series."""
    base, harmonics = MOTIONS[scenario.motion]
    return fourier(n, SECONDS, RATE, seed, base, harmonics)


def further_friction(true: sy.Robot, kind: str, qd: Array) -> Array:
    """Friction (N, n) [N m|N] that the model lacks.

    Stiction of half the Coulomb friction, or 30 % more of both in one direction.
    """
    values = dict(zip(true.parameter_names, true.parameters.tolist(), strict=True))
    Fc, Fv = (
        np.array([values[f"{name}.{symbol}"] for name in true.joint_names])
        for symbol in ("Fc", "Fv")
    )
    if kind == "Stribeck":
        return np.asarray(0.5 * Fc * np.sign(qd) * np.exp(-((qd / 0.1) ** 2)))
    return (
        np.where(qd < 0, 0.3 * (Fv * qd - Fc), 0.0) if kind == "asymmetric" else np.zeros_like(qd)
    )


def best_friction(true: sy.Robot, scenario: Scenario) -> dict[str, float]:
    """What Fv, Fc and F0 take of further friction: least squares over many motions of this kind."""
    qd = speeds(scenario.motion, true.n)
    extra = further_friction(true, scenario.friction, qd)
    results: dict[str, float] = {}
    for j, name in enumerate(true.joint_names):
        columns = np.column_stack([qd[:, j], np.sign(qd[:, j]), np.ones(len(qd))])
        values = np.linalg.lstsq(columns, extra[:, j], rcond=None)[0].tolist()
        results |= dict(zip((f"{name}.Fv", f"{name}.Fc", f"{name}.F0"), values, strict=True))
    return results


@cache
def speeds(kind: str, n: int) -> Array:
    """Velocities of many motions of a kind, (N, n)."""
    return np.concatenate(
        [motion(Scenario("", "", motion=kind), n, 900_000 + i)[2][::5] for i in range(60)]
    )


def one_joint(
    robot: sy.Robot, joint: int, seed: int, memory: float = 0.0
) -> tuple[sy.Log, tuple[Array, Array, Array]]:
    """Return a log in which one joint moves and the others are at rest, and its exact states.

    `memory` is the correlation of neighbouring samples of that noise.
    """
    rng = np.random.default_rng(seed)
    true = sy.perturbed(with_drives(robot), seed, 0.1)
    t, q, qd, qdd = fourier(robot.n, SECONDS, RATE, seed)
    others = np.arange(robot.n) != joint
    q[:, others], qd[:, others], qdd[:, others] = rng.uniform(-1, 1, robot.n)[others], 0.0, 0.0
    tau = true.inverse_dynamics(q, qd, qdd)
    tau = tau + 0.01 * np.sqrt(np.mean(tau**2)) * rng.normal(size=tau.shape)
    measured = q + ENCODER * coloured(q.shape, memory, rng)
    return sy.Log(t=t, q=measured, tau=tau, joint_names=robot.joint_names), (q, qd, qdd)
