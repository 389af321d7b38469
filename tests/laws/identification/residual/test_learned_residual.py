"""The learned residual wins where torque is missing, and changes nothing elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.errors import CallError
from steelyard.identification.model.known import torque_of
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.identification.result.prediction import learned_torque
from steelyard.identification.result.validation import CorrectedTorque
from tests.motions import recorded, rubbing

Array = NDArray[np.float64]
FAST = {"diagnose": False, "delay": 0, "friction": ("viscous", "coulomb", "offset")}
MOTION = {"seconds": 30.0, "base": 0.04, "harmonics": 14, "size": 0.3}
SIZE = np.array([2.0, 0.0, 1.0])  # [N m] of the planted ripple


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


def ripple(q: Array) -> Array:
    """The planted torque, three waves to a turn; none at joint 2, (N, 3) [N m]."""
    return SIZE * np.sin(5.0 * q + 0.3)


@cache
def log(planted: bool, seed: int = 0) -> sy.Log:
    healthy = recorded(arm(), noise=0.1, seed=seed, **MOTION)
    return healthy.replace(tau=healthy.tau + ripple(healthy.q)) if planted else healthy


@cache
def fitted(planted: bool, residual: str | None = "learned") -> sy.Fit:
    return sy.identify(arm(), log(planted), "wls", residual=residual, **FAST)


def states(seed: int = 3) -> tuple[Array, Array, Array]:
    other = log(True, seed)
    return other.q[::20], other.qd[::20], other.qdd[::20]


def test_a_planted_ripple_is_recovered_and_the_held_out_error_falls() -> None:
    fit, plain, other = fitted(True), fitted(True, None), log(True, 5)
    learned = fit.learned_residual
    assert learned is not None
    assert learned.kept == ("joint1", "joint3")
    inside = fit.region.contains(other.q, other.qd, other.qdd)
    assert inside.mean() > 0.3
    part = tuple(x[inside] for x in (other.q, other.qd, other.qdd))
    learned_part = fit.predict(*part).torque - plain.predict(*part).torque
    missing = other.tau[inside] - plain.predict(*part).torque
    for j in (0, 2):
        assert np.corrcoef(learned_part[:, j], missing[:, j])[0, 1] > 0.9
    np.testing.assert_array_equal(learned_part[:, 1], 0.0)
    after, before = (each.validate(other).errors.inside.rms for each in (fit, plain))
    assert np.all(after[[0, 2]] < 0.5 * before[[0, 2]])
    assert after[1] == before[1]
    assert fit.verdict.error < 0.8 * plain.verdict.error
    assert fit.total_relative_error < 0.8 * plain.total_relative_error


def test_the_parameters_do_not_depend_on_it() -> None:
    fit, plain = fitted(True), fitted(True, None)
    np.testing.assert_array_equal(fit.parameters, plain.parameters)
    np.testing.assert_array_equal(fit.covariance, plain.covariance)
    assert fit.verdict.findings == plain.verdict.findings
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)
    q, qd, qdd = states()
    np.testing.assert_array_equal(fit.torque(q, qd, qdd), plain.torque(q, qd, qdd))


def test_it_is_zero_outside_the_region_and_continuous_at_its_edge() -> None:
    fit, plain = fitted(True), fitted(True, None)
    rng, region = np.random.default_rng(0), fit.region
    q = rng.uniform(2 * region.q_low, 2 * region.q_high, (4000, 3))
    qd, qdd = (rng.uniform(-1.3, 1.3, (4000, 3)) * x for x in (region.qd_most, region.qdd_most))
    outside = ~region.contains(q, qd, qdd)
    ours, theirs = fit.predict(q, qd, qdd), plain.predict(q, qd, qdd)
    assert 0.1 < outside.mean() < 0.99
    np.testing.assert_array_equal(ours.torque[outside], theirs.torque[outside])
    np.testing.assert_array_equal(ours.std[outside], theirs.std[outside])
    assert np.all(ours.std[~outside] <= theirs.std[~outside])
    added = learned_torque(fit)
    assert added is not None
    middle = 0.5 * (region.q_low + region.q_high)
    line = middle + np.linspace(0.0, 1.2, 200_001)[:, None] * (region.q_high - middle)
    torque = added(line, 0.3 * region.qd_most + 0.0 * line, 0.0 * line)
    assert np.abs(torque).max() > 0.5
    assert np.abs(np.diff(torque, axis=0)).max() < 0.01
    np.testing.assert_array_equal(torque[-1], 0.0)


def test_a_rigid_robot_with_white_noise_keeps_it_off() -> None:
    fit, plain = fitted(False), fitted(False, None)
    learned = fit.learned_residual
    assert learned is not None
    assert learned.kept == ()
    assert plain.learned_residual is None
    ours, theirs = fit.predict(*states()), plain.predict(*states())
    for name in ("torque", "std", "inside"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert str(fit.verdict) == str(plain.verdict)
    assert fit.verdict.error == plain.verdict.error
    assert [note for note in fit.status if note not in plain.status] == [learned.note]
    assert "not kept" in learned.note
    assert "\n" not in learned.note


def test_the_summary_says_what_does_not_carry_it() -> None:
    line = next(x for x in fitted(True).summary().splitlines() if x.startswith("Learned residual"))
    assert "joint1" in line
    assert "exports (URDF, C and others) do not carry it" in line


def test_the_band_holds_what_was_not_seen() -> None:
    fit, plain, other = fitted(True), fitted(True, None), log(True, 7)
    bands = [each.predict(other.q, other.qd, other.qdd) for each in (fit, plain)]
    covered = [(band.low <= other.tau) & (other.tau <= band.high) for band in bands]
    for j in (0, 2):
        assert bands[0].std[bands[0].inside, j].mean() < 0.6 * bands[1].std[:, j].mean()
        assert covered[0][bands[0].inside, j].mean() > 0.88


def test_a_saved_fit_predicts_the_same_to_the_last_bit(tmp_path: Path) -> None:
    fit = fitted(True)
    fit.to_json(tmp_path / "fit.json")
    loaded = sy.Fit.load(tmp_path)
    assert loaded.learned_residual is not None
    assert loaded.pipeline.learned.to_dict() == fit.pipeline.learned.to_dict()
    assert loaded.options.model.residual == "learned"
    ours, theirs = (learned_torque(each) for each in (loaded, fit))
    assert ours is not None
    assert theirs is not None
    np.testing.assert_array_equal(ours(*states()), theirs(*states()))
    validations = [each.validate(log(True, 5)).relative_error for each in (loaded, fit)]
    np.testing.assert_allclose(*validations, rtol=1e-9)


def test_a_fit_of_an_earlier_version_is_read_without_it(tmp_path: Path) -> None:
    data = fitted(True, None).to_dict()
    del data["model"]["learned"]
    del data["options"]["residual"]
    (tmp_path / "fit.json").write_text(json.dumps(data), encoding="utf-8")
    assert sy.Fit.load(tmp_path).learned_residual is None


def test_units_of_torque_do_not_matter() -> None:
    other = log(True)
    scaled = sy.identify(
        arm(), other.replace(tau=4.0 * other.tau), "ols", residual="learned", **FAST
    )
    fit = sy.identify(arm(), other, "ols", residual="learned", **FAST)
    ours, theirs = (learned_torque(each) for each in (scaled, fit))
    assert ours is not None
    assert theirs is not None
    difference = ours(*states()) - 4.0 * theirs(*states())
    assert np.abs(difference).max() < 0.05 * np.abs(4.0 * theirs(*states())).max()


def test_the_order_of_two_logs_hardly_matters() -> None:
    pair = log(True), log(True, 1)
    fits = [
        sy.identify(arm(), each, "wls", residual="learned", **FAST) for each in (pair, pair[::-1])
    ]
    assert all(fit.pipeline.learned.kept == ("joint1", "joint3") for fit in fits)
    first, second = (fit.predict(*states()).torque for fit in fits)
    assert np.abs(first - second).max() < 0.1 * np.abs(SIZE).max()


def test_a_repeated_motion_is_not_predicted_from_its_repeats() -> None:
    """Residuals that repeat with the motion, and depend on no joint alone, are not learned."""
    motion = {**MOTION, "base": 0.3, "harmonics": 4}
    healthy = recorded(arm(), noise=0.1, **motion)
    q = healthy.q
    crossed = np.sin(4.0 * q[:, [1, 2, 0]] + 5.0 * q[:, [2, 0, 1]])
    fit = sy.identify(
        arm(), healthy.replace(tau=healthy.tau + crossed), "wls", residual="learned", **FAST
    )
    assert fit.learned_residual is not None
    assert fit.learned_residual.kept == ()


def test_what_is_added_keeps_the_memory_of_friction() -> None:
    robot = sy.load("planar_2r").with_friction(presliding=[2.0, 1.0], distance=[0.003, 0.01])
    motion = recorded(sy.load("planar_2r"), **MOTION)
    states = motion.q, motion.qd, motion.qdd
    torque = torque_of(robot)
    added = CorrectedTorque(torque, (lambda q, qd, qdd: q,))
    assert np.abs(torque.along(motion.t, *states) - torque(*states)).max() > 0.1
    np.testing.assert_array_equal(
        added.along(motion.t, *states), torque.along(motion.t, *states) + motion.q
    )
    np.testing.assert_array_equal(added(*states), torque(*states) + motion.q)


def test_a_short_log_keeps_it_off() -> None:
    fit = sy.identify(arm(), log(True)[:150], "wls", residual="learned", **FAST)
    assert fit.learned_residual is not None
    assert fit.learned_residual.kept == ()


def test_another_word_names_the_options() -> None:
    with pytest.raises(CallError, match="residual 'magic' is unknown; known: learned") as raised:
        sy.identify(arm(), log(False), residual="magic")
    assert raised.value.argument == "residual"


def test_an_archive_refuses_it_with_the_remedy() -> None:
    logs = [log(False), log(False, 1)]
    with (
        patch.dict(vars(THRESHOLDS), {"bytes_in_memory": 1}),
        pytest.raises(CallError, match=r"residual= needs all samples in memory: read fewer logs"),
    ):
        sy.identify(arm(), logs, residual="learned", executor=1, keep=False)


def test_a_moving_base_refuses_it() -> None:
    moving = np.zeros((log(False).N, 9))
    moving[:, 2] = 9.81 + 2.0 * np.sin(log(False).t)
    with pytest.raises(CallError, match=r"residual.*moving base"):
        sy.identify(arm(), replace(log(False), base=moving), "wls", residual="learned", **FAST)
