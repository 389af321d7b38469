"""No false collision in free motion of measured robots.

One half fitted, the other observed, both ways.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.experiments.online.calibration.rule import RULE
from tests.real.free_motion import ROBOTS, cases, observe

# Cases of a test: both halves of a log that is quickly fitted, else one; the others are in
# benchmarks/collision_calibration.py.
CASES = {"ur10": 2, "tx40": 1, "kuka": 1}
SHARES = {  # least share of samples that is monitored: the mean of the joints and of the fits
    "ur10": 0.85,
    "tx40": 0.45,
    "kuka": 0.1,
    "double_pendulum_A": 0.5,
    "double_pendulum_C": 0.4,
    "simple_pendulum": 0.25,
}


@pytest.mark.filterwarnings("ignore:CollisionObserver monitors nothing")
@pytest.mark.parametrize("name", ROBOTS)
def test_free_motion_of_the_other_half_is_no_collision(name, tmp_path):
    shares = []
    for case in cases(name, tmp_path)[: CASES.get(name, 2)]:
        seen = observe(case.fit, case.free[0])
        observer, known = seen.observer, seen.observer.calibration
        assert observer.collision is None, str(observer.collision)
        assert not np.any(np.abs(observer.external_torque) > observer.threshold)
        assert np.all(
            known.threshold[known.monitored] <= RULE.factor * known.largest[known.monitored]
        )
        finite = observer.threshold[np.isfinite(observer.threshold)]
        assert np.isin(finite, known.threshold).all()
        shares.append(observer.monitored_share.mean())
    assert np.mean(shares) > SHARES[name]


@pytest.mark.parametrize(
    ("name", "number", "least"),
    [
        ("tx40", 1, 0.45),  # friction with memory that the log chose
        ("double_pendulum_A", 8, 0.05),  # a plain model of a log that hardly supports it
        ("double_pendulum_C", 1, 0.15),  # parameters without constraints, of a limit cycle
        ("double_pendulum_C", 11, 0.35),  # least squares of a limit cycle
    ],
)
def test_choices_by_held_out_torque_cause_no_collision(name, number, least, tmp_path):
    """Free motion of logs whose choice of terms or predictor fits them better than other motion."""
    case = cases(name, tmp_path)[number]
    seen = observe(case.fit, case.free[0])
    assert seen.observer.collision is None, str(seen.observer.collision)
    assert seen.observer.monitored_share.mean() > least


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
    # 14 s support no better statement
    assert known.alarms_per_hour_limit > 3.0 / known.hours * 0.99
    assert np.all(known.detectable[:-1] < 2.0 * known.torque[:-1])
    # the last wrist rests in an eighth of the log, where its friction is within the stiction
    assert known.detectable[-1] < 3.0 * known.torque[-1]
