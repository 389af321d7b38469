"""No false collision in free motion of measured robots: one half fitted, the other observed, both ways."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import SteelyardWarning
from steelyard.experiments.online.collision_calibration import RULE
from tests.real.free_motion import ROBOTS, cases, observe

LOGS = 2  # pendulum logs of a test; benchmarks/collision_calibration.py has all of them
SHARES = {"ur10": 0.85, "tx40": 0.55, "kuka": 0.3}  # least share of samples that is monitored; the mean of the joints


@pytest.mark.parametrize("name", ROBOTS)
def test_free_motion_of_the_other_half_is_no_collision(name, tmp_path):
    for case in cases(name, tmp_path)[: 2 * LOGS]:
        fit = case.fit
        for log in case.free:
            if fit.verdict.word == "refused" or all(joint.word in ("doubtful", "refused") for joint in fit.verdict.joints):
                with pytest.warns(SteelyardWarning, match=f"this fit is {fit.verdict.word}"):
                    seen = observe(fit, log)
                assert np.isinf(seen.observer.threshold).all()
                assert seen.observer.collision is None
                continue
            seen = observe(fit, log)
            assert seen.observer.collision is None, str(seen.observer.collision)
            assert np.all(seen.worst < 1.0)
            if case.label in SHARES:
                assert seen.observer.monitored_share.mean() > SHARES[case.label]


def test_thresholds_follow_from_the_held_out_residuals_of_their_joint_and_state(tmp_path):
    case = cases("ur10", tmp_path)[0]
    seen = observe(case.fit, case.free[0])
    known = seen.observer.calibration
    assert np.mean(known.monitored[:, :3]) > 0.8
    assert np.all(known.threshold[known.monitored] <= RULE.factor * known.largest[known.monitored])
    assert np.all(np.isinf(known.threshold[~known.monitored]))
    finite = seen.observer.threshold[seen.observer.monitored]
    assert np.isin(finite, known.threshold).all()
    assert known.hours * 3600.0 == pytest.approx(13.75, abs=0.5)
    assert known.alarms_per_hour_limit > 3.0 / known.hours * 0.99  # 14 s support no better statement
    assert np.all(known.detectable < 2.0 * known.torque)
