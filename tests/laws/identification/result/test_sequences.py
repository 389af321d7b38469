"""Predictions of consecutive states without times: friction with memory follows the motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from steelyard.identification.result.prediction import sequence_times

Array = NDArray[np.float64]
RATE = 100.0


def motion(count: int = 1000) -> tuple[Array, Array, Array]:
    """Two joints that reverse: q, qd, qdd, each (N, 2)."""
    t = np.arange(count)[:, None] / RATE
    w = 2 * np.pi * np.array([0.31, 0.47])
    return 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w**2 * np.sin(w * t)


def test_consecutive_states_have_their_times() -> None:
    q, qd, _ = motion()
    times = sequence_times(q, qd)
    assert times is not None
    np.testing.assert_allclose(times, np.arange(len(q)) / RATE, rtol=1e-3)


def test_a_jump_between_two_motions_is_a_gap() -> None:
    q, qd, _ = motion(400)
    times = sequence_times(np.concatenate([q, q[100:] + 1.0]), np.concatenate([qd, qd[100:]]))
    assert times is not None
    steps = np.diff(times)
    assert np.argmax(steps) == 399
    assert steps[399] > 100 * np.median(steps)


def test_states_in_any_other_order_are_single_states() -> None:
    q, qd, _ = motion()
    order = np.random.default_rng(0).permutation(len(q))
    assert sequence_times(q[order], qd[order]) is None
    assert sequence_times(q[::-1], qd[::-1]) is None
    assert sequence_times(q[:5], qd[:5]) is None
    assert sequence_times(q, np.zeros_like(qd)) is None


def test_a_prediction_without_times_equals_the_one_with_them() -> None:
    truth = sy.load("planar_2r").with_friction(presliding=8.0, distance=0.02)
    q, qd, qdd = motion(3000)
    z = truth.presliding_along(q, np.ones(2))
    rng = np.random.default_rng(1)
    tau = truth.inverse_dynamics(q, qd, qdd) + truth.presliding_torque(qd, z)
    tau = tau + 0.01 * rng.normal(size=tau.shape)
    log = sy.Log(t=np.arange(3000) / RATE, q=q, tau=tau, joint_names=truth.joint_names)
    fit = sy.identify(sy.load("planar_2r"), log, diagnose=False)
    assert fit.robot.tree.has_memory
    with_times = fit.predict(q, qd, qdd, t=log.t).torque
    np.testing.assert_allclose(fit.predict(q, qd, qdd).torque, with_times, atol=1e-9)
    sliding = np.concatenate([fit.predict(q[k], qd[k], qdd[k]).torque for k in range(0, 3000, 50)])
    assert np.max(np.abs(sliding - with_times[::50].ravel())) > 1.0
