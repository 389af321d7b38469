"""Thresholds of identification from many logs, of fleets and of online identification."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from unittest.mock import patch

import numpy as np

import steelyard as sy
from steelyard.experiments.fleet import outliers
from steelyard.experiments.fleet.identify_fleet import robots_of
from steelyard.experiments.online.watch import JointStates, match_joints
from steelyard.identification.out_of_core.archive import Archive
from steelyard.identification.out_of_core.archive_problem import ArchiveProblem
from tests.thresholds.threshold import Threshold, sides

ROBOT = sy.load("planar_2r")
LOG = sy.Log(t=np.arange(9.0), q=np.zeros((9, 2)), tau=np.zeros((9, 2)))


def outlier(error: float, logs: int = 21, spread: float = 0.1) -> bool:
    """Whether the last log is an outlier; the others' errors are exp(0), exp(spread),
    exp(-spread).
    """
    errors = np.exp(spread * (np.arange(logs) % 3 - 1.0))
    errors[-1] = error
    names = tuple(map(str, range(logs)))
    archive = Archive(names, np.ones(logs, np.intp), errors[:, None], errors, ("joint1",))
    return bool(archive.outliers[-1])


def apart(deviations: float) -> bool:
    """Whether a log is an outlier that is so many robust standard deviations from the median."""
    return outlier(float(np.exp(deviations * 1.4826 * 0.1)))


def varied(motions: float) -> bool:
    """Whether so many logs with a motion of their own show the uncertainty."""
    assert ArchiveProblem.varied.fget is not None
    return bool(ArchiveProblem.varied.fget(Stub(ends=range(int(motions)))))


def is_fleet(robots: int) -> bool:
    try:
        robots_of({f"arm{k}": LOG for k in range(robots)}, "robot")
    except sy.CallError:
        return False
    return True


def alarms(probability: float) -> bool:
    """Whether a part is an outlier whose deviation has such a probability among all parts."""
    fakes = {
        "pool": lambda *args: None,
        "probability_of": lambda *args, freed=False: probability if freed else 0.5,
    }
    with patch.multiple(outliers, **fakes):
        triangles, names = np.zeros((1, 2, 2)), ("joint1.Fc",)
        return bool(outliers.find_outliers(triangles, np.ones(1), np.ones(1), names)[1].any())


def ends(messages: float) -> bool:
    """Whether so many messages without the robot's joints are an error."""
    other = JointStates(0.0, ("other",), (0.0,), (0.0,), (0.0,))
    try:
        list(match_joints(iter([other] * int(messages)), ROBOT, "ros2:/joint_states"))
    except sy.LogError:
        return True
    return False


MANY_LOGS = [
    Threshold(
        "out_of_core.out_of_core_thresholds:least_logs_for_outliers",
        lambda: (outlier(100.0, 5), outlier(100.0, 11)),
    ),
    Threshold("out_of_core.out_of_core_thresholds:outlier_deviations", sides(apart, 6.0)),
    Threshold(
        "out_of_core.out_of_core_thresholds:outlier_ratio",
        sides(lambda x: outlier(x, spread=1e-3), 1.5),
    ),
    Threshold("out_of_core.out_of_core_thresholds:least_motions", sides(varied, 8.0)),
    Threshold(
        "experiments.fleet.fleet_thresholds:least_robots", lambda: (is_fleet(2), is_fleet(4))
    ),
    Threshold("experiments.fleet.fleet_thresholds:false_alarm", sides(alarms, 0.01), (True, False)),
    Threshold("experiments.online.online_thresholds:missed_messages", sides(ends, 100.0)),
]
