"""Forms in which an argument of an identification may come.

A single name, a mapping, an iterator, text for a function.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.laws.identification.test_bad_identifications import case


def test_a_single_name_stands_for_a_list_of_one():
    robot, log = case()
    one, several = (
        sy.identify(robot, log, "wls", friction=f, hold=h)
        for f, h in (("viscous", "link1"), (["viscous"], ["link1"]))
    )
    assert one.options.model == several.options.model
    np.testing.assert_array_equal(one.parameters, several.parameters)


def test_couplings_may_be_pairs_of_names():
    robot, log = case()
    pair = ("joint2", "joint3")
    fits = [
        sy.identify(robot, log, "wls", coupling=c)
        for c in (pair, [pair], sy.Coupling(*pair), [sy.Coupling(*pair)])
    ]
    assert len({fit.parameter_names for fit in fits}) == 1
    assert "joint3.Iam" in fits[0].parameter_names


def test_numbers_per_joint_may_be_named():
    robot, log = case()
    named = sy.identify(
        robot,
        log,
        "wls",
        delay={"joint2": 0.02},
        coulomb_width={"joint3": 0.1},
        mask={"joint1": 0.05},
    )
    listed = sy.identify(
        robot, log, "wls", delay=[0, 0.02, 0], coulomb_width=[0, 0, 0.1], mask=[0.05, 0, 0]
    )
    np.testing.assert_array_equal(named.parameters, listed.parameters)
    np.testing.assert_array_equal(named.delay, [0, 0.02, 0])


def test_logs_may_come_one_by_one():
    robot, log = case()
    halves = [log[:1000], log[1000:]]
    np.testing.assert_array_equal(
        *(
            sy.identify(robot, logs, "wls").parameters
            for logs in (halves, (half for half in halves))
        )
    )
    for nothing in ([], (), iter(())):
        with pytest.raises(sy.LogError, match="there is no log"):
            sy.identify(robot, nothing)
    for other in (np.zeros((10, 3)), {"q": log.q}, 3, None):
        with pytest.raises(
            sy.LogError, match=f"expected a Log, not {type(other).__name__}; read one with read_log"
        ):
            sy.identify(robot, other)
    with pytest.raises(sy.LogError, match="log 2 of 2: expected a Log, not int"):
        sy.identify(robot, [log, 3])
    for missing in ("missing.csv", Path("missing.csv"), [log, "missing.csv"]):
        with pytest.raises(sy.LogError, match=r"missing\.csv: no such file or folder"):
            sy.identify(robot, missing)


def test_a_known_torque_as_expressions_is_that_of_the_function():
    robot, log = case()
    sprung = log.replace(tau=log.tau + 10.0 * log.q * [0, 1, 0])
    by_text = sy.identify(robot, sprung, "wls", known={"joint2": "10 * q['joint2']"})
    by_function = sy.identify(
        robot, sprung, "wls", known=lambda q, qd, qdd: 10.0 * q * [0.0, 1.0, 0.0]
    )
    np.testing.assert_allclose(by_text.parameters, by_function.parameters, rtol=1e-9, atol=1e-12)
    assert by_text.before.total_relative_error == pytest.approx(
        by_function.before.total_relative_error
    )
    assert by_text.before.total_relative_error < 0.05, "the robot as given has the spring too"


def test_a_fit_whose_robot_carries_the_known_torque_can_be_pickled():
    robot, log = case()
    fit = sy.identify(robot, log, "wls", known=lambda q, qd, qdd: 0.1 * q)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(
        again.torque(log.q, log.qd, log.qdd), fit.torque(log.q, log.qd, log.qdd)
    )
    assert again.validate(log).before.total_relative_error == pytest.approx(
        fit.validate(log).before.total_relative_error
    )
