"""Laws of a log: parts make the whole, joints keep their columns, what is mapped can be mapped
back, faults are found, reported and corrected.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import LogError
from steelyard.signals import Log, Transmission
from steelyard.signals.clean import clean, find_faults
from steelyard.signals.smooth import smooth

NAMES = ("base", "shoulder", "elbow")


def make(N: int = 200, rate: float = 100.0, **more: object) -> Log:
    t = np.arange(N) / rate
    q = np.sin(2.0 * t[:, None] * np.array([1.0, 1.3, 0.7])) * 0.5
    return Log(
        t=t,
        q=q,
        **{"tau": 3.0 * q + 1.0, "qd": np.gradient(q, t, axis=0), "joint_names": NAMES, **more},
    )


def test_a_log_is_frozen_and_keeps_its_own_numbers() -> None:
    q = np.zeros((4, 2))
    log = Log(t=np.arange(4.0), q=q)
    q[0, 0] = 7.0
    assert log.q[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        log.q[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        log.t = np.arange(4.0)  # type: ignore[misc]
    assert (log.N, log.n, log.dt, log.rate, log.duration, log.labels) == (
        4,
        2,
        1.0,
        1.0,
        3.0,
        ("joint1", "joint2"),
    )
    assert "4 samples x 2 joints" in repr(log)


@given(seconds=st.floats(0.011, 3.0), count=st.integers(2, 300))
@settings(deadline=None, max_examples=40)
def test_blocks_make_the_whole(seconds: float, count: int) -> None:
    log = make(count)
    blocks = log.blocks(seconds)
    for name in ("t", "q", "tau", "qd"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(block, name) for block in blocks]), getattr(log, name)
        )
    assert max(block.duration for block in blocks) < seconds + 1e-6


def test_parts_by_time_by_mask_by_index() -> None:
    log = make()
    early, late = log.between(None, 1.0), log.between(1.0)
    assert early.N + late.N == log.N
    assert early.t[-1] < 1.0 <= late.t[0]
    np.testing.assert_array_equal(log[log.q[:, 0] > 0].q[:, 0], log.q[log.q[:, 0] > 0, 0])
    assert log[-1].N == 1
    np.testing.assert_array_equal(log[::5].tau, log.tau[::5])


def test_joints_are_matched_by_name() -> None:
    log = make()
    turned = log.reordered(("elbow", "base"))
    np.testing.assert_array_equal(turned.q, log.q[:, [2, 0]])
    np.testing.assert_array_equal(turned.tau, log.tau[:, [2, 0]])
    assert "shoulder" in turned.remarks[-1]
    assert log.reordered(log) is log
    unnamed = make(joint_names=None).reordered(NAMES)
    assert unnamed.joint_names == NAMES
    assert "order" in unnamed.remarks[-1]


def test_a_smoothed_log_is_cut_and_selected_with_its_covariance() -> None:
    log = smooth(make(400))
    part = log.select(["elbow"])[10:20]
    np.testing.assert_array_equal(part.covariance, log.covariance[10:20, [2]])
    np.testing.assert_array_equal(part.bandwidth, log.bandwidth[[2]])
    assert part.smoother.noise.n == 1
    assert part.sigma.shape == (10, 1, 3)


@given(data=st.data())
@settings(deadline=None, max_examples=30)
def test_mapped_and_mapped_back(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    n = data.draw(st.integers(2, 7))
    sides = st.sampled_from(["motor", "joint"])
    gears = Transmission.of(
        ratio=rng.uniform(20, 150, n) * rng.choice([-1, 1], n),
        coupling=[(n, n - 1, 32.0)],
        sign=rng.choice([-1.0, 1.0], n),
        offset=rng.uniform(-3, 3, n),
        position=data.draw(sides),
        torque=data.draw(sides),
    )
    q, qd, tau = rng.normal(size=(3, 5, n))
    log = Log(t=np.arange(5.0), q=q, qd=qd, tau=tau, reference=q, motor_position=q)
    joint = gears.apply(log)
    np.testing.assert_array_equal(joint.reference, joint.q)
    np.testing.assert_array_equal(joint.motor_position, q)
    back = gears.undo(joint)
    for name in ("q", "qd", "tau", "reference"):
        np.testing.assert_allclose(getattr(back, name), getattr(log, name), rtol=1e-9, atol=1e-9)


def test_power_is_the_same_on_both_sides(rng: np.random.Generator) -> None:
    gears = Transmission.of(
        ratio=[32, 32, 45, -48, 45, 32], coupling=[(6, 5, 32)], sign=[1, -1, 1, 1, 1, 1]
    )
    log = Log(
        t=np.arange(9.0),
        q=rng.normal(size=(9, 6)),
        qd=rng.normal(size=(9, 6)),
        tau=rng.normal(size=(9, 6)),
    )
    joint = gears.apply(log)
    np.testing.assert_allclose(
        np.sum(joint.tau * joint.qd, axis=1), np.sum(log.tau * log.qd, axis=1), rtol=1e-12
    )


def test_the_coupled_wrist_of_the_tx40() -> None:
    ratio = np.array([32.0, 32, 45, -48, 45, 32])
    gears = Transmission.of(ratio=ratio, coupling=[(6, 5, 32)])
    Rq = np.diag(ratio)
    Rq[5, 4] = 32
    Rt = np.diag(ratio)
    Rt[4, 5] = 32
    q_motor, tau_motor = np.arange(1.0, 7)[None], np.arange(2.0, 8)[None]
    joint = gears.apply(Log(t=[0.0], q=q_motor, tau=tau_motor))
    np.testing.assert_allclose(joint.q[0], np.linalg.solve(Rq, q_motor[0]), rtol=1e-14)
    np.testing.assert_allclose(joint.tau[0], Rt @ tau_motor[0], rtol=1e-14)


def test_currents_become_torques_by_their_constants() -> None:
    log = Log(t=[0.0], q=[[0.1, 0.2]], current=[[1.0, -2.0]], effort="current")
    at_joint = Transmission.of(
        torque_constant=[10.0, 11.0], position="joint", torque="joint"
    ).apply(log)
    np.testing.assert_allclose(at_joint.tau, [[10.0, -22.0]])
    at_motor = Transmission.of(
        ratio=[100, 336], torque_constant=[0.136, -0.0613], position="joint"
    ).apply(log)
    np.testing.assert_allclose(at_motor.tau, [[13.6, 2 * 336 * 0.0613]])
    np.testing.assert_array_equal(at_motor.q, log.q)
    assert at_motor.effort == "current"


def test_a_sound_log_gives_no_cause_for_remarks() -> None:
    assert find_faults(make()) == ()
    assert clean(make()).remarks == ()


def test_dropped_repeated_disordered_and_missing_are_said_and_mended() -> None:
    whole = make()
    index = np.delete(np.arange(200), [50, 51, 120])
    index = np.insert(index, 30, index[30])
    index[[80, 81]] = index[[81, 80]]
    broken = whole[index]
    q = broken.q.copy()
    q[10:13, 1] = np.nan
    broken = broken.replace(q=q)
    message = " ".join(find_faults(broken))
    for word in ("repeated", "backwards", "dropped", "shoulder is not a number in 3 samples"):
        assert word in message
    mended = clean(broken)
    assert len(mended.remarks) == 4
    np.testing.assert_allclose(mended.t, whole.t, atol=1e-12)
    np.testing.assert_allclose(mended.q, whole.q, atol=2e-4)
    assert len(mended.segments) == 1
    assert clean(mended) is mended
    again = clean(mended.replace())  # a copy, which is cleaned again
    for name in ("t", *mended.signals):
        np.testing.assert_array_equal(getattr(again, name), getattr(mended, name))
    assert again.remarks == mended.remarks


def test_no_filter_reaches_across_a_long_hole() -> None:
    log = make(600)
    tau = log.tau.copy()
    tau[200:260, 0] = np.nan
    parts = clean(log.replace(tau=tau))
    assert [(s.start, s.stop) for s in parts.segments] == [(0, 200), (200, 540)]
    jumped = parts.replace(q=np.where(np.arange(540)[:, None] < 200, parts.q, parts.q + 100.0))
    for method, cutoff in (("kalman", None), ("butterworth", 8.0)):
        a, b = (
            smooth(parts, method, cutoff, velocity=False),
            smooth(jumped, method, cutoff, velocity=False),
        )
        np.testing.assert_allclose(a.qdd[:200], b.qdd[:200], atol=1e-5)


def test_a_clock_that_starts_over_is_an_error() -> None:
    log = make()
    with pytest.raises(LogError, match=r"goes back by 0\.99 s at sample 100"):
        clean(log.replace(t=np.concatenate([log.t[:100], log.t[:100]])))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda log: {"q": np.rad2deg(log.q) * 3}, "Degrees"),
        (lambda log: {"q": 0 * log.q}, "never moved"),
        (lambda log: {"q": log.q * [1, 1, 0]}, "Never moved: elbow"),
        (lambda log: {"tau": log.tau * [0, 1, 1]}, "zero throughout for base"),
        (lambda log: {"tau": log.tau * [1, 0, 1] + [0, 2, 0]}, "never changes for shoulder"),
        (lambda log: {"tau": None}, "no torque"),
        (lambda log: {"qd": log.qd * [1, 1, 1.2]}, "qd of elbow does not fit"),
        (lambda log: {"qd": np.roll(log.qd, 9, axis=0)}, "0.09 s late"),
        (lambda log: {"q": np.repeat(log.q[::4], 4, axis=0)}, "repeated 4 times"),
    ],
)
def test_what_is_suspicious_is_said(change, word: str) -> None:  # type: ignore[no-untyped-def]
    log = make(800)
    assert word in " ".join(find_faults(log.replace(**change(log))))


@pytest.mark.parametrize(("missing", "parts"), [(8, 1), (10, 2)])
def test_a_step_of_more_than_ten_samples_is_a_gap(missing, parts):
    """Nine steps after eight missing samples can be interpolated, eleven cannot."""
    t = np.delete(np.arange(200) / 100.0, np.arange(50, 50 + missing))
    log = Log(t=t, q=np.sin(t)[:, None], tau=np.cos(t)[:, None])
    assert len(log.segments) == len(clean(log).segments) == parts
