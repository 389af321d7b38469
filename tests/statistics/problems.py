"""Small problems whose rows are few enough to be stacked and given to other people's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import steelyard as sy
from steelyard.identification.model.linear_model import Model, build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.problem import Problem
from steelyard.identification.samples.samples import Samples
from steelyard.robot import Robot
from tests.motions import coloured, fourier

TERMS = ("viscous", "coulomb", "offset")
SIGMA = (0.4, 0.05)  # [N m] noise of the two joints


@cache
def planar() -> Robot:
    """Two joints with friction and rotors."""
    return (
        sy.load("planar_2r")
        .with_friction(viscous=[2.0, 1.0], coulomb=[1.5, 0.8], offset=[0.2, -0.1])
        .with_rotors([0.3, 0.2])
    )


@cache
def pendulum() -> Robot:
    """One joint with friction and a rotor."""
    return (
        sy.load("planar_2r")
        .freeze({"joint2": 0.3})
        .with_friction(viscous=0.7, coulomb=0.5, offset=0.1)
        .with_rotors(0.2)
    )


@cache
def model_of(robot: Robot) -> Model:
    return build_model(robot, ModelOptions(friction=TERMS))


def samples_of(
    robot: Robot,
    N: int = 400,
    sigma: Sequence[float] | float = SIGMA,
    rho: float = 0.0,
    seed: int = 0,
    rate: float = 50.0,
) -> Samples:
    """Samples along a smooth motion with exact derivatives, and torque noise of deviation `sigma`
    (n,) [N m] and correlation rho.
    """
    t, q, qd, qdd = fourier(robot.n, N / rate, rate, seed)
    tau = robot.inverse_dynamics(q, qd, qdd)
    return Samples(
        t,
        q,
        qd,
        qdd,
        tau + np.asarray(sigma) * coloured(tau.shape, rho, np.random.default_rng(seed + 1)),
    )


def problem_of(robot: Robot, *samples: Samples, decimate: int = 1) -> Problem:
    return Problem(model_of(robot), samples or (samples_of(robot),), decimate)


def with_mask(samples: Samples, least: float) -> Samples:
    """The samples with the rows in use of which the joint is faster than `least`."""
    return replace(samples, keep=np.abs(samples.qd) > least)


def stacked(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All rows in use, in order of time.

    Y (R, b), tau (R,), joint (R,) and the number of the sample (R,) among all kept ones.
    """
    Y, tau, keep = (
        np.concatenate(x)
        for x in zip(*((b.Y, b.tau, in_use(b)) for b in problem.blocks()), strict=True)
    )
    number, joint = np.nonzero(keep)
    return Y[number, joint], tau[number, joint], joint, number


def in_use(block) -> np.ndarray:
    return np.ones(block.tau.shape, bool) if block.keep is None else block.keep


def truth(problem: Problem, robot: Robot) -> np.ndarray:
    """The base parameters (b,) of the robot that the samples were made with."""
    return problem.base.values(robot.parameters)
