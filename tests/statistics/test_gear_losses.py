"""Gear losses by the direction of the power: planted values come back, and only where they are.

The plant is a double pendulum in a vertical plane in closed form, without code of the package:
Siciliano et al., "Robotics", 2009, section 7.3.2.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import steelyard as sy

G, RATE, SECONDS, REACH = 9.81, 250.0, 30.0, 0.6
DESCRIPTION = f"""<robot name="pendulum">
  <link name="base"/>
  <link name="first"><inertial><origin xyz="0.3 0 0"/><mass value="8"/>
    <inertia ixx="0.05" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="second"><inertial><origin xyz="0.25 0 0"/><mass value="5"/>
    <inertia ixx="0.03" iyy="0.12" izz="0.12" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="one" type="revolute"><parent link="base"/><child link="first"/><axis xyz="0 -1 0"/>
    <limit lower="-9" upper="9" velocity="9" effort="900"/></joint>
  <joint name="two" type="revolute"><parent link="first"/><child link="second"/>
    <origin xyz="{REACH} 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-9" upper="9" velocity="9" effort="900"/></joint>
</robot>
"""


class Plant(NamedTuple):
    """First moments [kg m], inertias about the axes [kg m2], mass [kg], losses of each joint."""

    moment: np.ndarray
    inertia: np.ndarray
    second_mass: float
    driving: np.ndarray
    driven: np.ndarray


def plant(seed: int) -> Plant:
    rng = np.random.default_rng([seed, 1])
    moment = np.array([8 * 0.3, 5 * 0.25]) * rng.uniform(0.85, 1.15, 2)
    inertia = np.array([0.3 + 8 * 0.3**2, 0.12 + 5 * 0.25**2]) * rng.uniform(0.85, 1.15, 2)
    driving = rng.uniform(0.05, 0.25, 2)
    driven = driving + rng.uniform(0.1, 0.35, 2)
    return Plant(moment, inertia, 5 * rng.uniform(0.85, 1.15), driving, driven)


def motion(seed: int) -> tuple[np.ndarray, ...]:
    """Return t, q, qd and qdd of sums of sines."""
    rng = np.random.default_rng([seed, 2])
    t = np.arange(round(SECONDS * RATE)) / RATE
    q, qd, qdd = np.zeros((3, len(t), 2))
    for j in range(2):
        for k in range(1, 6):
            w = 2 * np.pi * 0.13 * k * rng.uniform(0.9, 1.1)
            a, p = 0.7 / k, rng.uniform(0, 2 * np.pi)
            q[:, j] += a * np.sin(w * t + p)
            qd[:, j] += a * w * np.cos(w * t + p)
            qdd[:, j] -= a * w * w * np.sin(w * t + p)
    return t, q, qd, qdd


def gravity(p: Plant, q: np.ndarray) -> np.ndarray:
    second = G * p.moment[1] * np.cos(q[:, 0] + q[:, 1])
    first = G * (p.moment[0] + REACH * p.second_mass) * np.cos(q[:, 0])
    return np.stack([first + second, second], axis=1)


def rigid(p: Plant, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    c, s = REACH * p.moment[1] * np.cos(q[:, 1]), REACH * p.moment[1] * np.sin(q[:, 1])
    i1, i2 = p.inertia[0] + p.second_mass * REACH**2, p.inertia[1]
    a, b = qdd[:, 0], qdd[:, 1]
    first = (i1 + i2 + 2 * c) * a + (i2 + c) * b - s * qd[:, 1] * (2 * qd[:, 0] + qd[:, 1])
    second = (i2 + c) * a + i2 * b + s * qd[:, 0] ** 2
    return np.stack([first, second], axis=1)


def losses(load: np.ndarray, qd: np.ndarray, driving: np.ndarray, driven: np.ndarray) -> np.ndarray:
    """(c_d where load qd > 0, else c_b) |load| sign(qd)."""
    return np.where(load * qd > 0, driving, driven) * np.abs(load) * np.sign(qd)


def torque(seed: int, kind: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the torque of a plant with both losses, with equal ones, or without."""
    p = plant(seed)
    driving, driven = p.driving, p.driven
    if kind == "equal":
        driven = driving
    if kind == "none":
        driving = driven = np.zeros(2)
    load = gravity(p, q)
    dry = np.array([3.0, 1.5]) * np.sign(qd) + losses(load, qd, driving, driven)
    return rigid(p, q, qd, qdd) + load + dry + np.array([1.0, 0.5]) * qd + np.array([0.4, -0.2])


@cache
def log(seed: int, kind: str) -> sy.Log:
    """Return a log of the plant with noise of 1 % of the torque."""
    t, *states = motion(seed)
    q, rng = states[0], np.random.default_rng([seed, 3])
    tau = torque(seed, kind, *states)
    tau += 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    noisy = q + 1e-6 * rng.normal(size=q.shape)
    return sy.Log(t=t, q=noisy, tau=tau, joint_names=("one", "two"))


@cache
def fit(seed: int, kind: str) -> sy.Fit:
    return sy.identify(sy.load(DESCRIPTION), log(seed, kind), diagnose=False, delay=0)


DRAWS = range(6)


def test_planted_losses_are_within_three_standard_deviations() -> None:
    """Losses of both joints, in 90 % of the draws, and chosen in 90 %."""
    within, chosen = [], []
    for seed in DRAWS:
        result, p = fit(seed, "both"), plant(seed)
        values = dict(zip(result.robot.parameter_names, result.parameters, strict=True))
        std = dict(zip(result.robot.parameter_names, result.parameters_std, strict=True))
        for j, name in enumerate(("one", "two")):
            chosen.append("driving" in result.robot.tree.terms[j])
            for symbol, true in (("Fld", p.driving[j]), ("Flb", p.driven[j])):
                if chosen[-1]:
                    error = abs(values[f"{name}.{symbol}"] - true)
                    within.append(error <= 3 * std[f"{name}.{symbol}"])
    assert np.mean(chosen) >= 0.9
    assert np.mean(within) >= 0.9


def test_losses_lower_the_error_of_another_motion() -> None:
    """Beside the same identification with friction of the load, and without either."""
    robot, errors = sy.load(DESCRIPTION), []
    usual = ("viscous", "coulomb", "offset")
    for friction in (usual, (*usual, "load"), (*usual, "losses")):
        result = sy.identify(robot, log(1, "both"), friction=friction, diagnose=False, delay=0)
        errors.append(result.torque(*motion(8)[1:]) - torque(1, "both", *motion(8)[1:]))
    usual_error, by_load, by_losses = (float(np.sqrt(np.mean(e**2))) for e in errors)
    assert by_losses < 0.5 * by_load < 0.5 * usual_error


@pytest.mark.parametrize("kind", ["equal", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_a_gear_that_loses_alike_gets_one_value_and_one_without_losses_none(
    seed: int, kind: str
) -> None:
    result = fit(seed, kind)
    terms = result.robot.tree.terms
    expected = [("one", "load"), ("two", "load")] if kind == "equal" else []
    assert sorted(result.friction_terms) == expected
    assert not any({"driving", "driven"} & set(each) for each in terms)
    assert all(("load" in each) == (kind == "equal") for each in terms)


def test_a_sentence_names_the_losses() -> None:
    note = next(x for x in fit(1, "both").status if x.startswith("Friction"))
    assert "losses (one by" in note
    assert "load" not in note.replace("losses", "")
