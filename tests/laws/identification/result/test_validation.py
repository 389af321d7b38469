"""Validation scores every model on the same samples of a log, for all options of the fits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import Preparation, cross_validate, validate_robot, validate_robots
from tests.motions import recorded, rubbing

LATE = 0.02  # [s] by which the torque of the logs lags


@cache
def robot() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@cache
def log(seed: int = 0, late: float = LATE, size: float = 0.4) -> sy.Log:
    recording = recorded(robot(), rate=200.0, noise=0.05, seed=seed, size=size)
    tau = np.stack(
        [np.interp(recording.t - late, recording.t, column) for column in recording.tau.T], axis=1
    )
    return recording.replace(tau=tau)


def same_samples(*validations: sy.Validation) -> bool:
    first = validations[0]
    return all(
        np.array_equal(a, b)
        for other in validations[1:]
        for a, b in ((first.t, other.t), (first.measured, other.measured), (first.keep, other.keep))
    )


OPTIONS = {
    "delay and shape": {"delay": 0.0, "coulomb_width": 0.1},
    "estimator": {"estimator": "ols"},
    "mask": {"mask": 0.2},
    "decimation": {"decimate": 7},
    "smoothing": {"smoothing": "kalman"},
    "terms": {"friction": ("viscous",), "rotor": False},
    "drive gains": {"drive_gains": ["joint3"], "hold": {"link3.m": None}},
}


@cache
def fitted(name: str = "") -> sy.Fit:
    return sy.identify(robot(), log(), **{"estimator": "wls", **OPTIONS.get(name, {})})


@pytest.mark.parametrize("name", OPTIONS)
def test_another_fit_is_scored_on_the_same_samples(name):
    fit, other, held_out = fitted(), fitted(name), log(3)
    both = fit.validate(held_out, other=other)
    assert same_samples(both, both.before, both.other)
    alone = other.validate(held_out, preparation=fit.preparation)
    assert same_samples(both, alone)
    np.testing.assert_allclose(both.other.predicted, alone.predicted, rtol=1e-12, atol=1e-12)
    assert both.total_relative_error == fit.validate(held_out).total_relative_error, (
        "the other one changes nothing"
    )


@pytest.mark.parametrize("name", ["delay and shape", "estimator", "terms", "drive gains"])
def test_fits_of_one_preparation_can_be_compared_one_by_one(name):
    """Also if delay or rate of their own samples differ: here the other is from a slower motion."""
    other = sy.identify(
        robot(),
        log(5, late=0.0, size=0.15),
        **{"estimator": "wls", **OPTIONS[name]},
        preparation=Preparation(),
    )
    assert same_samples(*(fit.validate(log(3)) for fit in (fitted(), other)))


def test_the_delay_is_that_of_each_fit():
    """tau_measured(t) = tau(t - delay).

    The fit that knows the delay predicts to the noise, the one without is late.
    """
    both = fitted().validate(log(3), other=fitted("delay and shape"))
    np.testing.assert_allclose(fitted().delay, LATE, atol=1e-3)
    inner = slice(10, -10)
    noise = np.sqrt(np.mean((both.measured - both.predicted)[inner] ** 2))
    assert noise < 0.06
    assert np.sqrt(np.mean((both.measured - both.other.predicted)[inner] ** 2)) > 5 * noise


def test_a_preparation_that_is_given_is_used():
    masked = fitted().validate(log(3), preparation=Preparation(mask=0.3, decimate=3))
    assert not masked.keep.all()
    assert len(masked.t) == -(-log(3).N // 3)
    assert same_samples(
        masked, fitted("smoothing").validate(log(3), preparation=Preparation(mask=0.3, decimate=3))
    )


def test_robots_are_scored_on_the_same_samples_in_any_order():
    true, wrong = (
        robot(),
        robot().with_parameters(1.1 * robot().parameters).with_friction(width=0.2),
    )
    first, second = validate_robots((true, wrong), log(3))
    other_second, other_first = validate_robots((wrong, true), log(3))
    assert same_samples(first, second, other_first, other_second)
    for one, again in ((first, other_first), (second, other_second)):
        np.testing.assert_allclose(one.predicted, again.predicted, rtol=1e-9, atol=1e-9)
    assert first.total_relative_error < 0.01 < second.total_relative_error
    assert validate_robot(true, log(3)).total_relative_error == first.total_relative_error


def test_robots_may_have_their_joints_in_another_order(tmp_path):
    path = tmp_path / "tree.urdf"
    arm = "".join(LINK.format(name=name) for name in "ab")
    texts = [
        "<robot name='tree'><link"
        f" name='base'/>{arm}{''.join(JOINT.format(name=n) for n in order)}</robot>"
        for order in ("ab", "ba")
    ]
    robots = []
    for text in texts:
        path.write_text(text)
        robots.append(sy.load(path))
    assert robots[0].joint_names == tuple(reversed(robots[1].joint_names))
    measured = recorded(robots[0], noise=0.01)
    one, two = validate_robots(robots, measured)
    np.testing.assert_allclose(one.predicted, two.predicted, rtol=1e-12, atol=1e-12)


LINK = """<link name="{name}"><inertial><origin xyz="0.3 0 0.1"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="j{name}" type="continuous"><parent link="base"/><child link="{name}"/>
<axis xyz="0 1 0"/>
<dynamics damping="0.5" friction="0.1"/></joint>"""


def test_a_delay_that_is_given_is_not_estimated():
    argument = validate_robot(robot(), log(3), Preparation(delay=LATE))
    none = validate_robot(robot(), log(3), Preparation(delay=0.0))
    assert same_samples(argument, none)
    assert argument.total_relative_error < none.total_relative_error


def test_cross_validations_are_made_on_the_same_samples():
    one, two = (cross_validate(robot(), log(), 3, estimator=name) for name in ("wls", "ols"))
    assert all(same_samples(a, b) for a, b in zip(one.validations, two.validations, strict=True))


BAD = {
    "other must be a Robot or a Fit, not str": lambda: fitted().validate(log(3), "ur10.urdf"),
    "preparation must be a Preparation, not {}": lambda: fitted().validate(log(3), preparation={}),
    "validate_robots needs one robot or several": lambda: validate_robots((), log(3)),
    "validate_robots takes a robot, not its name or path": lambda: validate_robots(
        ("ur10.urdf",), log(3)
    ),
    "planar_2r has the joints joint1, joint2; expected the joints of the first robot": (
        lambda: validate_robots((robot(), sy.load("planar_2r")), log(3))
    ),
    "preparation must be a Preparation, not 3": lambda: validate_robot(robot(), log(3), 3),
    "the number of blocks must be a whole number from 2 to 400, not 1": lambda: cross_validate(
        robot(), log(3), 1
    ),
    "the number of blocks must be a whole number from 2 to 400, not 'x'": lambda: cross_validate(
        robot(), log(3), "x"
    ),
    "the number of blocks must be a whole number from 2 to 400, not 401": lambda: cross_validate(
        robot(), log(3), 401
    ),
    "cross_validate takes a robot": lambda: cross_validate("ur10.urdf", log(3)),
    "expected a Log, not ndarray": lambda: cross_validate(robot(), np.zeros((10, 3))),
    "there is no log": lambda: cross_validate(robot(), []),
}


@pytest.mark.parametrize("words", BAD)
def test_a_bad_call_ends_in_a_sentence(words):
    with pytest.raises(sy.SteelyardError, match=words):
        BAD[words]()
