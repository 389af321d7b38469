"""Bad calls and bad logs of an identification end in one sentence that names the offender and says what to do."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import ESTIMATORS, validate_robot
from tests.motions import recorded, rubbing


@cache
def case() -> tuple[sy.Robot, sy.Log]:
    robot = rubbing(sy.load("spatial_3r"))
    return robot, recorded(robot, noise=0.05)


def positions_only(log: sy.Log) -> sy.Log:
    return log.replace(qd=None, qdd=None)


TAKING_A_ROBOT = {
    "identify": lambda robot: sy.identify(robot, case()[1]),
    "doctor": lambda robot: sy.doctor(robot, case()[1]),
    "validate_robot": lambda robot: validate_robot(robot, case()[1]),
    "check": sy.check,
    "excite": sy.excite,
    "base_parameters": sy.base_parameters,
    "perturbed": sy.perturbed,
    "record": lambda robot: sy.record(robot, None),
}


@pytest.mark.parametrize("name", TAKING_A_ROBOT)
def test_a_path_where_a_robot_is_expected_says_to_load_it(name):
    for path in ("ur10.urdf", Path("ur10.urdf")):
        with pytest.raises(sy.CallError, match=rf"{name} takes a robot.*load it first, sy.load\('ur10.urdf'\)"):
            TAKING_A_ROBOT[name](path)
    with pytest.raises(sy.CallError, match=f"{name} takes a robot first, not Log"):
        TAKING_A_ROBOT[name](case()[1])


@pytest.mark.parametrize("use", [sy.identify, sy.doctor])
def test_a_path_where_a_log_is_expected_says_to_read_it(use):
    with pytest.raises(sy.LogError, match="expected a Log, not str; read one with read_log"):
        use(case()[0], "run.csv")


@pytest.mark.parametrize("smoothing", ["auto", "kalman", None])
def test_a_cutoff_that_would_be_ignored_is_refused(smoothing):
    with pytest.raises(sy.CallError, match=r"cutoff=5 would be ignored: smoothing=.* give smoothing='butterworth'"):
        sy.identify(*case(), smoothing=smoothing, cutoff=5)


@pytest.mark.parametrize("cutoff", [50, 51.0])
def test_a_cutoff_from_half_the_sampling_rate_on_is_refused(cutoff):
    with pytest.raises(sy.CallError, match=rf"{cutoff:g} Hz is not below half the sampling rate, 50 Hz"):
        sy.identify(*case(), smoothing="butterworth", cutoff=cutoff)


def test_a_cutoff_that_is_not_a_number_is_refused():
    with pytest.raises(sy.CallError, match="positive number, not '5' Hz"):
        sy.identify(*case(), smoothing="butterworth", cutoff="5")


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
@pytest.mark.parametrize("count", [1, 9, 10, 60])
def test_few_samples_end_in_a_fit_or_in_a_sentence(count, estimator):
    robot, log = case()
    for part in (log[:count], positions_only(log)[:count]):
        if count < 10 or (count == 10 and part.qd is None):
            with pytest.raises(sy.LogError, match=r"too few|too short"):
                sy.identify(robot, part, estimator)
            assert "cannot be used" in sy.doctor(robot, part).verdict
        else:
            assert np.all(np.isfinite(sy.identify(robot, part, estimator).parameters))


@pytest.mark.parametrize("signal", ["q", "tau"])
def test_a_log_without_numbers_is_named_among_ten(signal):
    robot, log = case()
    empty = positions_only(log).replace(**{signal: np.full_like(log.q, np.nan)})
    with pytest.raises(sy.LogError, match=f"^log 5 of 10: {signal} has no number in any of the 2000 samples of joint1, joint2, joint3"):
        sy.identify(robot, [log] * 4 + [empty] + [log] * 5)
    assert f"{signal} has no number" in sy.doctor(robot, empty).verdict


def test_a_log_that_is_too_short_is_named_among_ten_with_its_file():
    robot, log = case()
    with pytest.raises(sy.LogError, match=r"^log 10 of 10: run\.csv: 3 samples are too few"):
        sy.identify(robot, [log] * 9 + [log[:3].replace(source="run.csv")])


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
@pytest.mark.parametrize("joints", [(1,), (0, 1), (1, 2)])
def test_with_several_standing_joints_the_rest_is_identified(joints, estimator):
    robot, log = case()
    q, qd, qdd = (np.array(x) for x in (log.q, log.qd, log.qdd))
    q[:, joints], qd[:, joints], qdd[:, joints] = 0.3, 0.0, 0.0
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.05 * np.random.default_rng(1).normal(size=q.shape)
    fit = sy.identify(robot.with_parameters(1.2 * robot.parameters), log.replace(q=q, qd=qd, qdd=qdd, tau=tau), estimator)
    assert fit.total_relative_error < 0.03
    assert {f"{robot.joint_names[j]}.Fv" for j in joints} <= set(fit.unseen)
    assert not {f"{name}.Fv" for j, name in enumerate(robot.joint_names) if j not in joints} & set(fit.unseen)
