"""The momentum observer.

It is the residual of the momenta, notices a push in time, and takes no error of its model for one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from tests.motions import coloured, fourier

Array = NDArray[np.float64]
RATE, NOISE = 500.0, np.array([0.15, 0.2, 0.1])


@cache
def robot() -> sy.Robot:
    return (
        sy.load("spatial_3r").with_friction(viscous=1.0, coulomb=0.8, offset=0.2).with_rotors(0.1)
    )


@cache
def motion() -> tuple[Array, ...]:
    return fourier(3, 30.0, RATE, 2, base=0.1, harmonics=5, size=0.4)


def measured(seed: int = 0, speed: float = 2e-5) -> tuple[Array, Array, Array]:
    """q, qd and tau of a robot that nothing touches."""
    _, q, qd, qdd = motion()
    rng = np.random.default_rng(seed)
    return (
        q,
        qd + speed * rng.normal(size=q.shape),
        robot().inverse_dynamics(q, qd, qdd) + NOISE * coloured(q.shape, 0.3, rng),
    )


def test_the_external_torque_is_the_residual_of_the_momenta() -> None:
    t, q, qd, qdd = motion()
    push = np.where((t > 10.0)[:, None], [0.0, 3.0, -1.0], 0.0)
    tau = robot().inverse_dynamics(q, qd, qdd) - push
    o = sy.CollisionObserver(robot(), noise=0.1, gain=25.0, rate=RATE)
    o.update(q, qd, tau)
    expected = robot().momentum_residual(t, q, qd, tau, 25.0)
    np.testing.assert_allclose(o.external_torque, expected, atol=0.02)
    np.testing.assert_allclose(o.external_torque[-1], [0.0, 3.0, -1.0], atol=0.02)


def test_samples_one_by_one_give_the_same() -> None:
    q, qd, tau = (x[:400] for x in measured())
    block, single = (sy.CollisionObserver(robot(), noise=NOISE, rate=RATE) for _ in range(2))
    block.update(q, qd, tau)
    made = []
    for k in range(400):
        single.update(q[k], qd[k], tau[k])
        made.append((single.external_torque, single.threshold))
    np.testing.assert_allclose([r for r, _ in made], block.external_torque, atol=1e-9)
    np.testing.assert_allclose([limit for _, limit in made][3:], block.threshold[3:], rtol=1e-6)


@cache
def fit() -> sy.Fit:
    """Three motions, whose velocities are measured as on the live robot."""
    logs = []
    for seed in (5, 6, 7):
        t, q, qd, qdd = fourier(3, 20.0, RATE, seed, base=0.1, harmonics=5, size=0.4)
        rng = np.random.default_rng(seed + 4)
        tau = robot().inverse_dynamics(q, qd, qdd) + NOISE * coloured(q.shape, 0.3, rng)
        speeds = qd + 2e-5 * rng.normal(size=q.shape)
        logs.append(sy.Log(t=t, q=q, qd=speeds, qdd=qdd, tau=tau, joint_names=robot().joint_names))
    options = {
        "friction": ("viscous", "coulomb", "offset"),
        "delay": 0,
        "coulomb_width": 0,
        "diagnose": False,
    }
    return sy.identify(robot(), logs, **options)


@cache
def online() -> sy.OnlineIdentifier:
    _, q, _, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, learn=29.0)
    _, speeds, tau = measured(3)
    o.update(q, speeds, qdd, tau)
    return o


@pytest.mark.parametrize("model", [fit, online, robot])
def test_a_push_is_noticed_in_time_and_nothing_else(model: Callable[[], Any]) -> None:
    options = {"noise": 1.3 * NOISE} if model is robot else {}

    def made() -> sy.CollisionObserver:
        return sy.CollisionObserver(model(), rate=RATE, rest=1e-3, **options)

    q, qd, tau = measured(1)
    still = made()
    assert still.update(q, qd, tau) is None
    assert np.all(np.abs(still.external_torque[100:]) < still.threshold[100:])
    for joint, at in ((0, 3000), (1, 7000), (2, 11111)):
        o, part = made(), slice(at - 1000, at + 200)
        push = np.zeros_like(tau)
        push[at:, joint] = 5.0
        o.update(q[part], qd[part], tau[part] - push[part])
        assert o.collision is not None
        assert 0.0 <= o.collision.time - 1000 / RATE <= 0.03
        assert o.collision.joints == (robot().joint_names[joint],)
        assert f"at {robot().joint_names[joint]}" in str(o.collision)
        o.clear()
        assert o.collision is None


def test_dry_friction_holds_a_robot_at_rest_without_a_collision() -> None:
    """A joint that stands may be held by any part of its Coulomb friction."""
    q = np.repeat([[0.3, -0.5, 0.8]], 1000, axis=0)
    qd = 1e-4 * np.random.default_rng(0).normal(size=q.shape)
    tau = robot().gravity_torque(q) + [0.2, 0.2, 0.2] + np.array([0.79, -0.79, 0.79])
    o = sy.CollisionObserver(robot(), noise=NOISE, rate=RATE, rest=1e-3)
    assert o.update(q, qd, tau) is None
    careless = sy.CollisionObserver(robot(), noise=0.01, rate=RATE)
    assert careless.update(q, qd, tau) is not None


def test_the_threshold_counts_every_error() -> None:
    q, _, tau = (x[:500] for x in measured())
    limits = {}
    for name, (noise, hours, speed) in {
        "plain": (NOISE, 100.0, 0.0),
        "noise": (2 * NOISE, 100.0, 0.0),
        "hours": (NOISE, 1.0, 0.0),
        "speed": (NOISE, 100.0, 0.01),
    }.items():
        o = sy.CollisionObserver(robot(), noise=noise, rate=RATE, hours=hours)
        o.update(q, motion()[2][:500] + speed * np.random.default_rng(1).normal(size=q.shape), tau)
        limits[name] = o.threshold[-1]
    np.testing.assert_allclose(limits["noise"][2], 2 * limits["plain"][2], rtol=1e-3)
    assert np.all(limits["hours"] < limits["plain"])
    assert np.all(limits["speed"] > 1.5 * limits["plain"])
    far = np.full((80, 3), 2.0), np.full((80, 3), 30.0)
    o = sy.CollisionObserver(fit(), rate=RATE)
    o.update(*far, tau[:80])
    assert np.all(np.isinf(o.threshold[-1])), "far from the log nothing is monitored"


def test_nothing_is_reported_before_the_noise_of_the_velocities_is_known() -> None:
    q, qd, tau = (x[:200] for x in measured())
    o = sy.CollisionObserver(robot(), noise=NOISE, rate=RATE)
    found = o.update(q, qd, tau - [0.0, 20.0, 0.0])
    assert found is not None
    assert found.time == THRESHOLDS.warm_up_samples / RATE
