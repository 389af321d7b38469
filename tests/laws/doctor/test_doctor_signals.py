"""What the signals alone show.

Time stamps, dead and saturated channels, spikes; each threshold from both sides.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor.channels import (
    dead_channels,
    is_dead,
    is_saturated,
    saturated_torques,
)
from steelyard.identification.doctor.channels import spikes as spike_findings
from steelyard.identification.doctor.time_stamps import read_stamps, stamp_findings, unit_finding
from steelyard.signals.clean.spikes import find_spikes, without_spikes
from steelyard.signals.log import Log
from tests.motions import recorded

T = np.arange(4000) / 200
RNG = np.random.default_rng(0)
Q = np.stack([np.sin(2 * T), 0.7 * np.cos(3 * T)], axis=1) + 1e-5 * RNG.normal(size=(4000, 2))
TAU = np.stack([3 * np.sin(2 * T), 5 * np.cos(5 * T)], axis=1) + 0.05 * RNG.normal(size=(4000, 2))


def log(**changes) -> Log:
    return Log(**{"t": T, "q": Q, "tau": TAU, "joint_names": ("a", "b"), **changes})


def faults(t: np.ndarray, q: np.ndarray = Q) -> list[str]:
    return [finding.fault for finding in stamp_findings(log(t=t, q=q))[0]]


def test_regular_stamps_are_silent():
    assert stamp_findings(log()) == ((), False)
    assert stamp_findings(log()[:20]) == ((), False)
    gap = T + 5.0 * (np.arange(4000) > 2000)
    assert faults(gap) == []


@pytest.mark.parametrize(("size", "found"), [(0.05, []), (0.15, ["jitter"])])
def test_jitter_of_the_stamps_is_told_from_uneven_sampling(size, found):
    late = T + np.clip(size * np.random.default_rng(1).normal(size=4000), -0.49, 0.49) / 200
    assert faults(late) == found
    assert stamp_findings(log(t=late))[1] == bool(found), "evenly spaced stamps are better"
    uneven = np.stack([np.sin(2 * late), 0.7 * np.cos(3 * late)], axis=1)
    assert faults(late, uneven) == found
    assert not stamp_findings(log(t=late, q=uneven))[1], "here the stamps are right"


@pytest.mark.parametrize(("share", "found"), [(0.006, []), (0.018, ["dropped samples"])])
def test_dropped_samples(share, found):
    rows = np.delete(
        np.arange(4000), 1 + np.random.default_rng(2).choice(3998, int(share * 4000), replace=False)
    )
    message, even = stamp_findings(log()[rows])
    assert [finding.fault for finding in message] == found
    assert not even
    assert read_stamps(T[rows]).missing == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize(("share", "found"), [(0.006, []), (0.018, ["duplicated stamps"])])
def test_stamps_that_repeat_the_one_before(share, found):
    twice = 1 + np.random.default_rng(3).choice(3998, int(share * 4000), replace=False)
    t = T.copy()
    t[twice] = T[twice - 1]
    message, even = stamp_findings(log(t=t))
    assert [finding.fault for finding in message] == found
    assert even == bool(found)


def test_repeated_samples_are_no_reason_for_even_stamps():
    rows = np.sort(np.concatenate([np.arange(4000), np.arange(0, 4000, 20)]))
    message, even = stamp_findings(log()[rows])
    assert [finding.fault for finding in message] == ["duplicated stamps"]
    assert even, (
        "the stamps repeat, but so do the samples: they are as many as the time holds and more"
    )


@pytest.mark.parametrize(("share", "dead"), [(0.3, False), (0.9, True)])
def test_a_torque_that_is_mostly_zero_is_dead(share, dead):
    tau = np.where(np.arange(4000) < share * 4000, 0.0, TAU[:, 0])
    assert is_dead(tau) == dead
    assert is_dead(np.full(4000, 3.0))
    findings = list(dead_channels(log(tau=np.stack([TAU[:, 0], np.full(4000, 3.0)], axis=1))))
    assert [(finding.fault, finding.joints) for finding in findings] == [("dead channel", ("b",))]


@pytest.mark.parametrize(("bound", "cut"), [(0.99, False), (0.95, True)])
def test_a_torque_is_cut_off_if_many_samples_are_at_its_bound(bound, cut):
    smooth = 3 * np.sin(2 * T)
    clipped = (
        np.clip(smooth + 0.05 * RNG.normal(size=4000), -3 * bound, 3 * bound) if cut else smooth
    )
    assert is_saturated(clipped).any() == cut
    findings = list(saturated_torques(log(tau=np.stack([clipped, TAU[:, 1]], axis=1))))
    assert [finding.joints for finding in findings] == ([("a",)] if cut else [])


@pytest.mark.parametrize("step", [0.01, 0.1, 0.5])
def test_a_torque_in_steps_is_not_cut_off(step):
    assert not is_saturated(step * np.rint(3 * np.sin(2 * T) / step)).any()


@pytest.mark.parametrize(("share", "cut"), [(0.006, False), (0.018, True)])
def test_few_samples_at_the_bound_are_no_saturation(share, cut):
    tau = TAU[:, 1].copy()
    tau[: int(share * 4000)] = 6.0
    assert is_saturated(tau).any() == cut


@pytest.mark.parametrize(
    ("size", "count", "found"),
    [(0.05, 10, True), (0.05, 2, False), (0.003, 10, False), (0.05, 400, False)],
)
def test_spikes_are_few_single_and_large(size, count, found):
    q = Q.copy()
    rows = 10 + 9 * np.arange(count)
    q[rows, 1] += size * (-1.0) ** np.arange(count)
    findings = list(spike_findings(log(q=q)))
    assert [finding.joints for finding in findings] == ([("b",)] if found else [])
    if found:
        assert np.flatnonzero(find_spikes(q)[:, 1]).tolist() == rows.tolist()
        assert np.max(np.abs(without_spikes(log(q=q)).q - Q)) < 1e-3


def test_a_step_and_fast_motion_are_no_spikes():
    q = Q.copy()
    q[2000:] += 0.5
    assert not find_spikes(q).any()
    assert not find_spikes(3 * np.sin(20 * T)[:, None]).any()
    assert not find_spikes(Q[:5]).any()


@pytest.mark.parametrize(
    ("interval", "unit"),
    [(0.01, 1.0), (0.35, 1.0), (0.7, 1e-3), (2.0, 1e-3), (8000.0, 1e-6), (8e6, 1e-9)],
)
def test_stamps_too_far_apart_for_seconds_are_of_another_unit(interval, unit):
    message, result = unit_finding(log(t=interval * np.arange(len(T))))
    assert result == unit
    assert [finding.fault for finding in message] == (["clock"] if unit != 1.0 else [])
    assert all(finding.fix == f"correction.clock = {unit:g}" for finding in message)


def test_a_clock_that_runs_backwards_is_named_and_a_file_with_its_last_sample_first_is_not():
    """Both have stamps that fall; friction brakes in one direction of time only."""
    robot = sy.load("planar_2r").with_friction(viscous=5.0, coulomb=4.0)
    healthy = recorded(robot, 8.0, 100.0, 0.05).replace(qd=None, qdd=None)
    assert sy.doctor(robot, healthy[::-1]).findings == ()
    findings = sy.doctor(robot, healthy.replace(t=-healthy.t))
    assert [(finding.fault, finding.fix) for finding in findings.findings] == [
        ("clock", "correction.clock = -1")
    ]
    assert findings.correction.clock == -1.0
    np.testing.assert_allclose(
        findings.correction.correct_samples(healthy.replace(t=-healthy.t)).t, healthy.t
    )
    fit = sy.identify(robot, healthy.replace(t=-healthy.t))
    assert not fit.verdict.trusted
    assert "run backwards" in " ".join(fit.verdict.reasons)


def test_rows_out_of_order_are_no_fault_of_the_clock():
    robot = sy.load("planar_2r")
    mixed = recorded(robot, 8.0, 100.0, 0.05)[np.random.default_rng(0).permutation(800)]
    assert sy.doctor(robot, mixed).findings == ()
