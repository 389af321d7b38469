"""Rows of resting joints: left out where that lowers the held-out error of moving rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import steelyard as sy
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.nuisance.nuisance_estimates import remaining_rows
from steelyard.identification.samples.samples import Samples
from steelyard.identification.selection.choose_rows import RestingRows
from tests.laws.identification.selection.dwelling import dwelling_log


@cache
def fit_of(stiction: bool = True) -> sy.Fit:
    """The fit of a log with dwells; without stiction, friction vanishes smoothly at rest."""
    robot = arm() if stiction else arm().with_friction(viscous=5.0, coulomb=30.0, width=0.05)
    log = dwelling_log(robot, seed=0, stiction=stiction)
    friction = ("viscous", "coulomb", "offset")
    return sy.identify(robot, log, friction=friction, delay=0.0)


def arm() -> sy.Robot:
    """An arm whose friction jumps at rest."""
    return sy.load("planar_2r").with_friction(viscous=5.0, coulomb=30.0)


def test_rows_within_the_stiction_are_left_out() -> None:
    fit = fit_of()
    assert isinstance(fit.preparation.mask, dict)
    assert set(fit.preparation.mask) == {"joint1", "joint2"}
    assert any("Rows of resting joints are left out" in note for note in fit.status)
    for joint, keep in zip(fit.verdict.joints, fit.validation.keep.T, strict=True):
        assert 0.1 < np.mean(~keep) < 0.9
        assert joint.resting is not None
        assert joint.resting.error > 3.0 * joint.inside.error


def test_all_rows_are_used_where_the_model_explains_them() -> None:
    fit = fit_of(stiction=False)
    assert fit.preparation.mask is None
    assert all(joint.resting is None for joint in fit.verdict.joints)


def test_a_given_mask_is_never_replaced() -> None:
    fit = sy.identify(arm(), dwelling_log(arm(), seed=0), mask=0.2, delay=0.0)
    assert fit.preparation.mask == 0.2


def test_the_band_at_rest_holds_the_stiction() -> None:
    """95 % of measurements at rest lie within the band, which is narrow while joints move."""
    fit = fit_of()
    log = dwelling_log(arm(), seed=7)
    states = log.q, log.qd, np.zeros_like(log.q)
    band = fit.predict(*states)
    assert fit.preparation.mask is not None
    speed = np.array([fit.preparation.mask[name] for name in fit.robot.joint_names])
    resting, moving = log.qd == 0.0, np.abs(log.qd) > speed
    inside = (log.tau >= band.low) & (log.tau <= band.high)
    assert np.mean(inside[resting]) > 0.85
    assert np.min(band.std[resting]) > 3.0 * np.max(band.std[moving])


def test_a_written_fit_keeps_the_band_at_rest(tmp_path) -> None:
    fit = fit_of()
    fit.to_json(tmp_path / "fit.json")
    loaded = sy.Fit.load(tmp_path / "fit.json")
    rest = np.zeros((1, 2))
    np.testing.assert_allclose(
        loaded.predict(rest, rest, rest).std, fit.predict(rest, rest, rest).std, rtol=1e-9
    )
    assert [j.resting for j in loaded.verdict.joints] == [j.resting for j in fit.verdict.joints]


def test_joints_get_their_rows_back() -> None:
    """Friction with memory explains rows at rest."""
    zeros = np.zeros(2)
    choice = RestingRows(("a", "b"), np.array([0.1, 0.2]), zeros, zeros, zeros)
    remaining = choice.with_every_row([0])
    assert remaining is not None
    assert remaining.speeds.tolist() == [0.0, 0.2]
    assert choice.with_every_row([0, 1]) is None


def test_rows_of_a_joint_with_memory_are_used_again() -> None:
    """The samples of a model leave out the rows at rest of joints without memory alone."""
    log = dwelling_log(arm(), seed=0)
    still = np.zeros(2)
    choice = RestingRows(arm().joint_names, np.array([0.1, 0.1]), still, still, still)
    whole = Samples(t=log.t, q=log.q, qd=log.qd, qdd=log.q, tau=log.tau)
    masked = choice.masked((whole,))
    first, *others = arm().mechanism.joints
    terms = first.terms.changed({"presliding": 2.0, "distance": 0.003})
    joints = (replace(first, terms=terms), *others)
    memory = sy.Robot(replace(arm().mechanism, joints=joints))
    used = remaining_rows(masked, choice, build_model(memory))[0].keep
    assert used is not None
    assert used[:, 0].all()
    assert np.array_equal(used[:, 1], masked[0].keep[:, 1])
    assert remaining_rows(masked, choice, None)[0].keep is None
    assert remaining_rows(masked, None, None) is masked


def test_reversals_keep_their_rows() -> None:
    """A joint that reverses is slow for a moment, and does not rest."""
    motion = sy.excite(arm(), seconds=8, starts=1)
    log = sy.record(arm(), motion, rate=200)
    assert sy.identify(arm(), log).preparation.mask is None


def test_friction_of_resting_joints_is_smooth_where_their_rows_say_so() -> None:
    """Without friction at rest, noise of the velocity must not switch the Coulomb friction."""
    fit = fit_of()
    assert fit.pipeline.rest is not None
    widths = [terms.get("width") or 0.0 for terms in fit.robot.tree.terms]
    assert all(
        (width >= 0.39 * speed) is (speed > 0.0)
        for width, speed in zip(widths, fit.pipeline.rest.speeds, strict=True)
    ), (widths, fit.pipeline.rest.speeds)
