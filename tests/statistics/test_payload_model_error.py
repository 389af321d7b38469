"""Intervals of a load hold where friction has memory and grows with the transmitted torque."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from tests.motions import fourier

MASS, COM = 2.8, (0.04, -0.03, 0.08)
FIXED = {"diagnose": False, "delay": 0}


@cache
def described() -> sy.Robot:
    return sy.load("spatial_3r")


def lugre(qd: np.ndarray, torque: np.ndarray, dt: float, rng: np.random.Generator) -> np.ndarray:
    """LuGre friction (N, n) with a Stribeck effect, 5 % of the transmitted torque included."""
    size = np.array([4.0, 4.0, 1.5]) * rng.uniform(0.6, 1.4, 3)
    stribeck, stiffness = rng.uniform(0.03, 0.15, 3), size / rng.uniform(0.003, 0.02, 3)
    z, friction = np.zeros(3), np.zeros_like(qd)
    for k, v in enumerate(qd):
        level = size * (1.0 + 0.4 * np.exp(-((v / stribeck) ** 2))) + 0.05 * np.abs(torque[k])
        steady = level / stiffness * np.sign(v)
        z = steady + (z - steady) * np.exp(-stiffness * np.abs(v) / level * dt)
        friction[k] = stiffness * z + 0.4 * size * v
    return friction


def recorded(robot: sy.Robot, motion: int, seed: int) -> sy.Log:
    """A log of the robot with the friction of its seed along a motion."""
    t, q, qd, qdd = fourier(3, 20, 100, motion, size=0.3)
    torque = robot.inverse_dynamics(q, qd, qdd)
    friction = lugre(qd, torque, 0.01, np.random.default_rng(seed))
    noise = 0.5 * np.random.default_rng((seed, motion, robot.n)).normal(size=torque.shape)
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=torque + friction + noise)


@cache
def weighed(seed: int, motion: int) -> sy.PayloadEstimate:
    """A load from two runs of one motion."""
    arm = sy.perturbed(described(), seed=seed).without_friction()
    loaded = arm.with_payload(MASS, com=COM, inertia=0.02)
    logs = (recorded(robot, motion, seed) for robot in (loaded, arm))
    return sy.payload(described(), *logs, **FIXED)


def deviations(load: sy.PayloadEstimate) -> list[float]:
    """Errors of mass and centre over their standard deviations, of what is identified."""
    errors = [load.mass - MASS, *(load.com - COM)]
    std = [load.std.mass, *load.std.com]
    return [e / s for e, s in zip(errors, std, strict=True) if np.isfinite(s)]


def test_intervals_hold_with_unmodelled_friction() -> None:
    """Without the errors that grow with the load, the rms of the mass is 2.0 deviations."""
    estimates = [weighed(seed, 2 * seed) for seed in range(8)]
    mass = np.array([deviations(load)[0] for load in estimates])
    every = np.concatenate([deviations(load) for load in estimates])
    assert np.mean(np.abs(every) < 2.0) >= 0.9
    assert np.sqrt(np.mean(mass**2)) < 1.3
    assert all(load.std.mass < 0.05 * MASS for load in estimates), "an interval says something"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_motions_with_one_load_agree(seed: int) -> None:
    one, other = weighed(seed, 2 * seed), weighed(seed, 2 * seed + 101)
    apart = abs(one.mass - other.mass)
    assert apart < 2.0 * np.hypot(one.std.mass, other.std.mass)
