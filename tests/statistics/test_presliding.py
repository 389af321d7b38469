"""Friction with memory from simulated logs: planted values, and no memory where there is none.

The plant is a pendulum with two joints in the horizontal plane whose friction is integrated here,
step by step, without code of the package.
"""

from __future__ import annotations

from functools import cache
from math import copysign, exp

import numpy as np
import pytest

import steelyard as sy
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf

I1, I2 = 1.3, 0.4  # about the axes, which are parallel to gravity and far apart [kg m2]
DESCRIPTION = f"""<robot name="turntables">
  <link name="base"/>
  <link name="first"><inertial><origin xyz="0 0 0"/><mass value="3.0"/>
    <inertia ixx="1.0" iyy="1.0" izz="{I1}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="second"><inertial><origin xyz="0 0 0"/><mass value="2.0"/>
    <inertia ixx="0.3" iyy="0.3" izz="{I2}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="one" type="revolute"><parent link="base"/><child link="first"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" velocity="9" effort="90"/></joint>
  <joint name="two" type="revolute"><parent link="base"/><child link="second"/>
    <origin xyz="2 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" velocity="9" effort="90"/></joint>
</robot>
"""
LEVEL, DISTANCE, VISCOUS, OFFSET = (6.0, 2.5), (2e-3, 8e-3), (1.5, 0.6), (0.3, -0.2)
RATE, SECONDS = 500.0, 20.0


def motion(seed: int) -> tuple[np.ndarray, ...]:
    """Return t, q, qd and qdd of sums of sines, at 10 kHz."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(SECONDS * 1e4) + 1) / 1e4
    q, qd, qdd = np.zeros((3, len(t), 2))
    for j in range(2):
        for k in range(1, 6):
            w = 2 * np.pi * 0.13 * k * rng.uniform(0.9, 1.1)
            a, p = 0.5 / k, rng.uniform(0, 2 * np.pi)
            q[:, j] += a * np.sin(w * t + p)
            qd[:, j] += a * w * np.cos(w * t + p)
            qdd[:, j] -= a * w * w * np.sin(w * t + p)
    return t, q, qd, qdd


def dahl(q: np.ndarray, distance: float, first: float) -> np.ndarray:
    """Return the state of a Dahl element from position to position, one after the other."""
    z = [copysign(1.0, first)]
    for dq in np.diff(q).tolist():
        side = copysign(1.0, dq)
        z.append(side - (side - z[-1]) * exp(-abs(dq) / distance))
    return np.array(z)


@cache
def log(seed: int, memory: bool) -> sy.Log:
    """Return a log of the plant, with friction with memory or sharp Coulomb friction."""
    t, q, qd, qdd = motion(seed)
    rng = np.random.default_rng(seed + 1000)
    tau = np.empty_like(q)
    for j in range(2):
        state = dahl(q[:, j], DISTANCE[j], qd[0, j]) if memory else np.sign(qd[:, j])
        tau[:, j] = (I1, I2)[j] * qdd[:, j] + VISCOUS[j] * qd[:, j] + OFFSET[j] + LEVEL[j] * state
    every = slice(None, None, round(1e4 / RATE))
    noisy = q[every] + 1e-6 * rng.normal(size=q[every].shape)
    torque = tau[every] + 0.15 * rng.normal(size=q[every].shape)
    return sy.Log(t=t[every], q=noisy, tau=torque, joint_names=("one", "two"))


def log_with_rests(seed: int) -> sy.Log:
    """Return a log of sharp Coulomb friction, whose joints rest for 3 s after every 5 s of motion.

    The friction of a resting joint stays as it was before.
    """
    u, rest = np.linspace(0.0, 1.0, 2501), np.ones(1500)
    phase, rate, acceleration = (
        np.concatenate([np.append(moving, end * rest) for _ in range(5)])
        for moving, end in (
            (4.0 * u**2 * (3.0 - 2.0 * u), 4.0),
            (4.8 * u * (1.0 - u), 0.0),
            (0.96 * (1.0 - 2.0 * u), 0.0),
        )
    )
    phase += 4.0 * np.repeat(np.arange(5), len(phase) // 5)
    t, *states = motion(seed)
    q, v, a = (np.stack([np.interp(phase, t, x[:, j]) for j in range(2)], axis=1) for x in states)
    qd, qdd = v * rate[:, None], a * rate[:, None] ** 2 + v * acceleration[:, None]
    before = np.maximum.accumulate(np.where(rate > 0.0, np.arange(len(rate)), 0))
    direction, rng = np.sign(v)[before], np.random.default_rng(seed + 1000)
    tau = np.array([I1, I2]) * qdd + np.array(VISCOUS) * qd + OFFSET + np.array(LEVEL) * direction
    return sy.Log(
        t=np.arange(len(q)) / RATE,
        q=q + 1e-5 * rng.normal(size=q.shape),
        tau=tau + 0.15 * rng.normal(size=q.shape),
        joint_names=("one", "two"),
    )


@cache
def fit(seed: int, memory: bool) -> sy.Fit:
    robot = sy.Robot(read_urdf(DESCRIPTION))
    return sy.identify(robot, log(seed, memory), diagnose=False, delay=0)


SEEDS = range(10)


def test_planted_values_are_within_three_standard_deviations() -> None:
    """Friction and presliding distance of both joints, in 90 % of the draws."""
    within = []
    for seed in SEEDS:
        result = fit(seed, True)
        values = dict(zip(result.robot.parameter_names, result.parameters, strict=True))
        std = dict(zip(result.robot.parameter_names, result.parameters_std, strict=True))
        for j, name in enumerate(("one", "two")):
            terms = result.robot.tree.terms[j]
            assert "presliding" in terms, f"{name} of draw {seed} has no memory"
            within.append(abs(values[f"{name}.Fp"] - LEVEL[j]) <= 3 * std[f"{name}.Fp"])
            within.append(abs(terms["distance"] - DISTANCE[j]) <= 3 * result.presliding_std[j])
    assert np.mean(within) >= 0.9


def test_memory_lowers_the_error_near_reversals() -> None:
    """Of other motions, beside the same identification without memory."""
    robot = sy.Robot(read_urdf(DESCRIPTION))
    usual = ("viscous", "coulomb", "offset")
    plain = sy.identify(robot, log(0, True), friction=usual, diagnose=False, delay=0)
    errors = []
    for result in (plain, fit(0, True)):
        v = result.validate(log(1, True))
        t, qd = v.t, v.states[1]
        near = np.zeros(qd.shape, bool)
        for j in range(2):
            for k in np.flatnonzero(np.diff(np.sign(qd[:, j]))):
                near[:, j] |= np.abs(t - t[k]) <= 0.1
        errors.append(float(np.sqrt(np.mean(v.residuals[near] ** 2))))
    assert errors[1] <= 0.8 * errors[0]


@pytest.mark.parametrize("seed", range(4))
def test_sharp_friction_gets_no_memory(seed: int) -> None:
    assert not any("presliding" in terms for terms in fit(seed, False).robot.tree.terms)


@pytest.mark.parametrize("seed", range(3))
def test_friction_that_stays_at_rest_alone_is_no_memory(seed: int) -> None:
    """The parameters of the moving joints are found as without rests."""
    robot = sy.Robot(read_urdf(DESCRIPTION))
    result = sy.identify(robot, log_with_rests(seed), diagnose=False, delay=0)
    assert not any("presliding" in terms for terms in result.robot.tree.terms)
    values = dict(zip(result.robot.parameter_names, result.parameters, strict=True))
    for j, name in enumerate(("one", "two")):
        assert values[f"{name}.Fc"] == pytest.approx(LEVEL[j], rel=0.03)
        assert values[f"{name}.Fv"] == pytest.approx(VISCOUS[j], rel=0.05)


def test_predictions_of_a_motion_carry_the_state() -> None:
    """Torques of a motion follow the hysteresis; of single states, joints slide."""
    result = fit(0, True)
    t, q, qd, qdd = (x[::20] for x in motion(2))
    true = np.stack([LEVEL[j] * dahl(q[:, j], DISTANCE[j], qd[0, j]) for j in range(2)], axis=1)
    rigid = np.array([I1, I2]) * qdd + np.array(VISCOUS) * qd + OFFSET
    along = result.predict(q, qd, qdd, t=t).torque
    order = np.random.default_rng(0).permutation(len(q))
    sliding = result.predict(q[order], qd[order], qdd[order]).torque[np.argsort(order)]
    assert np.sqrt(np.mean((along - rigid - true) ** 2)) < 0.1
    np.testing.assert_allclose(sliding, result.torque(q, qd, qdd))
    np.testing.assert_allclose(result.predict(q, qd, qdd).torque, along, atol=1e-9)
    assert np.sqrt(np.mean((sliding - rigid - true) ** 2)) > 0.5
    low = result.predict(q, qd, qdd, cutoff=20.0, t=t).torque
    assert np.sqrt(np.mean((low - along) ** 2)) < 0.3


def test_a_sentence_names_the_distance() -> None:
    note = next(x for x in fit(0, True).status if x.startswith("Coulomb friction with memory"))
    assert "one 6 N m over 0.002" in note
    assert "rad" in note


def test_an_own_choice_of_terms_has_memory_at_every_joint() -> None:
    robot = sy.Robot(read_urdf(DESCRIPTION))
    terms = ("viscous", "offset", "presliding")
    new_fit = sy.identify(robot, log(0, True), friction=terms, diagnose=False, delay=0)
    values = [each["presliding"] for each in new_fit.robot.tree.terms]
    np.testing.assert_allclose(values, LEVEL, rtol=0.03)
    np.testing.assert_allclose(
        [each["distance"] for each in new_fit.robot.tree.terms], DISTANCE, rtol=0.03
    )


def test_live_samples_carry_the_state() -> None:
    """The online identifier, sample by sample, finds what the whole log says."""
    result = fit(0, True)
    q, qd, qdd = (x[::20] for x in motion(3)[1:])
    true = np.stack([LEVEL[j] * dahl(q[:, j], DISTANCE[j], qd[0, j]) for j in range(2)], axis=1)
    tau = np.array([I1, I2]) * qdd + np.array(VISCOUS) * qd + OFFSET + true
    robot = result.robot
    online = {}
    for block in (1, 700):
        o = sy.OnlineIdentifier(robot, rate=RATE, learn=0, friction=("viscous", "presliding"))
        for k in range(0, 2100, block):
            part = slice(k, k + block)
            o.update(q[part], qd[part], qdd[part], tau[part])
        online[block] = dict(zip(o.base_names, o.base_values, strict=True))
    for j, name in enumerate(("one", "two")):
        assert online[1][f"{name}.Fp"] == pytest.approx(online[700][f"{name}.Fp"], rel=1e-9)
        assert online[1][f"{name}.Fp"] == pytest.approx(LEVEL[j], rel=0.05)
