"""No false collision in free motion of measured robots: one half fitted, the other observed, both ways."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.experiments.online.collision_calibration import RULE
from tests.real.free_motion import ROBOTS, cases, observe

LOGS = 2  # pendulum logs of a test; benchmarks/collision_calibration.py has all of them


@pytest.mark.parametrize("name", ROBOTS)
def test_free_motion_of_the_other_half_is_no_collision(name, tmp_path):
    for case in cases(name, tmp_path)[: 2 * LOGS]:
        fit = case.fit
        for log in case.free:
            seen = observe(fit, log)
            assert seen.observer.collision is None, str(seen.observer.collision)
            assert np.all(seen.worst < 1.0)


def test_thresholds_follow_from_the_held_out_residuals_of_their_joint(tmp_path):
    case = cases("ur10", tmp_path)[0]
    seen = observe(case.fit, case.free[0])
    known = seen.observer.calibration
    assert np.any(known.calibrated)
    assert np.all(known.threshold[known.calibrated] <= RULE.factor * known.largest[known.calibrated])
    pooled = np.nanmax(known.largest, axis=1)
    assert np.all(known.threshold[:, :2] <= RULE.factor * pooled[:, None] * (1 + 1e-12))
    assert known.hours * 3600.0 == pytest.approx(13.75, abs=0.5)
    assert known.alarms_per_hour_limit > 3.0 / known.hours * 0.99  # 14 s support no better statement
    assert np.all(known.detectable > np.nanmax(known.threshold[:, :2], axis=1))
