"""identify: what it finds, holds, bounds and refuses."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, ProblemError
from steelyard.identification import SDP, cross_validate
from tests.motions import fourier, recorded, rubbing

FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}


@pytest.fixture(scope="module")
def arm():
    return rubbing(sy.load("spatial_3r"))


@pytest.fixture(scope="module")
def fit(arm):
    return sy.identify(arm.with_parameters(1.2 * arm.parameters), recorded(arm, noise=0.3))


def test_a_log_of_positions_and_torques_is_enough(arm):
    log = recorded(arm, seconds=40, rate=200, noise=0.2)
    bare = sy.Log(t=log.t, q=log.q, tau=log.tau, joint_names=log.joint_names)
    new_fit = sy.identify(arm.with_parameters(1.3 * arm.parameters), bare)
    assert new_fit.validate(recorded(arm, seed=4)).total_relative_error < 0.02


def test_logs_may_be_several_and_split_anywhere(arm):
    log = recorded(arm, noise=0.1)
    whole = sy.identify(arm, log, "wls", decimate=1, **FIXED)
    parts = sy.identify(arm, [log[:700], log[700:]], "wls", decimate=1, **FIXED)
    assert np.allclose(whole.base_values, parts.base_values, rtol=1e-8, atol=1e-8)


def test_joints_are_matched_by_name(arm):
    log = recorded(arm, noise=0.1)
    shuffled = log.select(("joint3", "joint1", "joint2"))
    assert np.allclose(
        sy.identify(arm, shuffled, "wls", **FIXED).base_values,
        sy.identify(arm, log, "wls", **FIXED).base_values,
    )


def test_velocities_in_another_unit_are_not_used_although_accelerations_are_logged(arm):
    log = recorded(arm, noise=0.1)
    assert log.qdd is not None
    wrong = log.replace(qd=np.rad2deg(log.qd))
    bare = log.replace(qd=None, qdd=None)
    values = [sy.identify(arm, each, "wls", **FIXED).base_values for each in (wrong, bare)]
    assert np.array_equal(*values)


def test_a_delay_is_found_and_taken_out(arm):
    t, q, qd, qdd = fourier(3, 30, 200)
    tau = arm.inverse_dynamics(q, qd, qdd)
    late = np.column_stack([np.interp(t - 0.0123, t, tau[:, j]) for j in range(3)])
    late += 0.05 * np.random.default_rng(0).normal(size=late.shape)
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=late, joint_names=arm.joint_names)
    new_fit = sy.identify(arm, log)
    assert np.allclose(new_fit.delay, 0.0123, atol=2e-3)
    assert any("Torque delay" in sentence for sentence in new_fit.status)
    assert new_fit.total_relative_error < sy.identify(arm, log, delay=0).total_relative_error


def test_the_width_of_coulomb_friction_is_found(arm):
    t, q, qd, qdd = fourier(3, 30, 100)
    smooth = arm.with_friction(coulomb=0.0).inverse_dynamics(q, qd, qdd) + 3.0 * np.tanh(qd / 0.1)
    log = sy.Log(
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=smooth + 0.02 * np.random.default_rng(1).normal(size=q.shape),
        joint_names=arm.joint_names,
    )
    new_fit = sy.identify(arm, log, delay=0)
    assert np.allclose(new_fit.model.shape("width"), 0.1, rtol=0.3)
    assert new_fit.total_relative_error < 0.2 * sy.identify(arm, log, **FIXED).total_relative_error


def test_the_stribeck_effect_is_found_where_asked_for(arm):
    """Fs is the level of stiction, as in a Robot, and not its excess over the Coulomb friction."""
    t, q, qd, qdd = fourier(3, 40, 100)
    true = arm.with_friction(stiction=[4.0, 3.0, 2.5], stribeck=0.2)
    tau = true.inverse_dynamics(q, qd, qdd) + 0.02 * np.random.default_rng(2).normal(size=q.shape)
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=arm.joint_names)
    new_fit = sy.identify(arm, log, friction=("viscous", "coulomb", "offset", "stribeck"), **FIXED)
    assert new_fit.base.n_base == sy.base_parameters(arm).n_base + 3
    values = dict(zip(new_fit.parameter_names, new_fit.parameters, strict=True))
    assert len(values) == len(new_fit.parameter_names), "every name once"
    assert [values[f"joint{j}.Fs"] for j in (1, 2, 3)] == pytest.approx([4.0, 3.0, 2.5], rel=0.03)
    assert [terms["stribeck"] for terms in new_fit.robot.tree.terms] == pytest.approx(
        [0.2] * 3, rel=0.3
    )
    usual = sy.identify(arm, log, friction=("viscous", "coulomb", "offset"), **FIXED)
    assert new_fit.total_relative_error < 0.3 * usual.total_relative_error
    again = sy.identify(true, log, friction=("viscous", "coulomb", "offset", "stribeck"), **FIXED)
    assert again.parameter_names == new_fit.parameter_names


def test_held_parameters_stay_and_are_not_unknown(arm):
    described = arm.with_parameters(1.2 * arm.parameters)
    new_fit = sy.identify(
        described, recorded(arm), "wls", hold={"joint1.Fv": 2.0, "link3.mcx": None}, **FIXED
    )
    names = new_fit.parameter_names
    assert new_fit.parameters[names.index("joint1.Fv")] == pytest.approx(2.0, abs=1e-9)
    assert new_fit.parameters[names.index("link3.mcx")] == pytest.approx(
        described.parameters[names.index("link3.mcx")], abs=1e-9
    )
    assert "joint1.Fv" not in new_fit.base.names
    assert new_fit.standard_deviation[names.index("joint1.Fv")] == 0


def test_drive_gains_are_found_against_a_known_mass(arm):
    fixed = {
        name: value
        for name, value in zip(arm.parameter_names, arm.parameters, strict=True)
        if name.startswith("link3.")
    }
    true = np.array([1.0, 1.25, 0.8])
    options = {"hold": fixed, "drive_gains": ("joint2", "joint3"), **FIXED}
    clean = recorded(arm)
    new_fit = sy.identify(arm, clean.replace(tau=clean.tau / true), "wls", **options)
    assert np.allclose(new_fit.drive_gains, true, rtol=1e-6)
    assert new_fit.total_relative_error < 1e-6
    noisy = recorded(arm, noise=0.5)
    new_fit = sy.identify(arm, noisy.replace(tau=noisy.tau / true), "wls", **options)
    assert np.allclose(new_fit.drive_gains, true, rtol=0.05)
    assert new_fit.validate(clean.replace(tau=clean.tau / true)).total_relative_error < 0.02


def test_known_torques_are_taken_out(arm):
    log = recorded(arm)
    spring = lambda q, qd, qdd: 5.0 * q  # noqa: E731
    new_fit = sy.identify(arm, log.replace(tau=log.tau + 5.0 * log.q), "wls", known=spring, **FIXED)
    assert new_fit.total_relative_error < 1e-8
    true = arm.with_known_torque(spring)
    assert new_fit.parameter_names == true.parameter_names
    assert np.allclose(new_fit.base_values, new_fit.base.values(true.parameters), atol=1e-7)
    assert np.all(new_fit.parameters[-3:] == 1.0), "the factors of known torques are held"
    again = sy.identify(new_fit.robot, log.replace(tau=log.tau + 5.0 * log.q), "wls", **FIXED)
    assert again.total_relative_error < 1e-8


def test_a_coupled_wrist_has_three_more_parameters(arm):
    log = recorded(arm)
    true = arm.with_coupling("joint1", "joint2", armature=0.02, viscous=0.5, coulomb=0.7)
    tau = true.inverse_dynamics(log.q, log.qd, log.qdd)
    for coupling in (sy.Coupling("joint1", "joint2"), [sy.Coupling(0, 1)]):
        new_fit = sy.identify(arm, log.replace(tau=tau), coupling=coupling, **FIXED)
        assert new_fit.base.n_base == sy.base_parameters(arm).n_base + 3
        values = dict(zip(new_fit.parameter_names, new_fit.parameters, strict=True))
        assert [values[f"joint2.{term}"] for term in ("Iam", "Fvm", "Fcm")] == pytest.approx(
            [0.02, 0.5, 0.7], rel=1e-5
        )
        assert new_fit.robot.parameter_names == new_fit.parameter_names
    with pytest.raises(CallError, match="did you mean 'joint2'"):
        sy.identify(arm, log, coupling=sy.Coupling("joint2x", "joint3"))


def test_bounds_hold(arm):
    log = recorded(arm, noise=0.2)
    bounds = {
        "link2.m": (5.0, 9.0),
        "total_mass": (None, 30.0),
        "link3.com": ((-1, -0.1, -0.1), (1, 0.1, 0.1)),
    }
    new_fit = sy.identify(arm, log, bounds=bounds, **FIXED)
    pi = dict(zip(new_fit.parameter_names, new_fit.parameters, strict=True))
    assert 5.0 - 1e-6 <= pi["link2.m"] <= 9.0 + 1e-6
    assert pi["link1.m"] + pi["link2.m"] + pi["link3.m"] <= 30.0 + 1e-6
    assert abs(pi["link3.mcy"]) <= 0.1 * pi["link3.m"] + 1e-6


def test_bounds_that_no_robot_meets_are_named(arm):
    bounds = {"link2.m": (50.0, 60.0), "total_mass": (0.0, 10.0), "link3.m": (1.0, 9.0)}
    with pytest.raises(
        ProblemError, match=r"link2\.m in \[50.0, 60.0\]; total_mass in \[0.0, 10.0\]"
    ):
        sy.identify(arm, recorded(arm), bounds=bounds, **FIXED)
    with pytest.raises(CallError, match=r"did you mean 'link2\.m'"):
        sy.identify(arm, recorded(arm), bounds={"link2.mm": (0, 1)})


def test_a_seven_link_arm_is_made_consistent_in_a_small_program():
    true = rubbing(sy.load("elbow_6r"))
    noisy = recorded(true, noise=3.0, seconds=5, rate=50)
    fit = sy.identify(
        true.with_parameters(0.7 * true.parameters), noisy, SDP(prior_weight=1e-3), **FIXED
    )
    q = np.random.default_rng(1).uniform(-3, 3, (2000, 6))
    assert np.all(np.linalg.eigvalsh(fit.robot.mass_matrix(q))[:, 0] > 0)
    assert np.all(
        fit.parameters[
            [i for i, n in enumerate(fit.parameter_names) if n.endswith((".Ia", ".Fv", ".Fc"))]
        ]
        >= 0
    )


def test_the_result_says_what_it_is(fit, arm):
    assert fit.residuals.shape == fit.predicted.shape == fit.measured.shape == (len(fit.t), 3)
    assert np.allclose(fit.measured - fit.predicted, fit.residuals)
    assert fit.rms.shape == fit.relative_error.shape == fit.r2.shape == (3,)
    assert fit.total_relative_error < fit.before.total_relative_error
    assert fit.covariance.shape == (fit.base.n_base, fit.base.n_base)
    assert np.all(np.linalg.eigvalsh(fit.covariance) > -1e-12)
    assert fit.standard_deviation.shape == fit.parameters.shape == fit.relative_std.shape
    assert "base parameter" in fit.summary()
    assert all(name in fit.summary() for name in arm.joint_names)
    assert all(isinstance(sentence, str) for sentence in fit.check())
    with pytest.raises(AttributeError):
        fit.robot = arm


def test_a_fit_can_be_kept(fit):
    again = pickle.loads(pickle.dumps(fit))
    q = np.random.default_rng(0).normal(size=(3, 3))
    assert np.array_equal(again.torque(q, q, q), fit.torque(q, q, q))
    assert again.robot == fit.robot


def test_a_description_without_numbers_is_enough(arm):
    new_fit = sy.identify(arm.with_parameters(0 * arm.parameters), recorded(arm))
    assert np.allclose(new_fit.base_values, new_fit.base.values(arm.parameters), atol=1e-6)


def test_a_parameter_that_is_zero_is_not_a_weak_one():
    slider = rubbing(sy.load("planar_rp"))
    findings = sy.doctor(slider, recorded(slider, noise=0.05))
    assert findings.verdict.startswith("This log can identify the robot")
    assert findings.healthy


def test_essential_parameters_are_fewer_and_predict_nearly_as_well(arm):
    fit = sy.identify(arm, recorded(arm, noise=2.0), "wls", **FIXED)
    few = fit.reduced_parameters()
    assert 0 < len(few.names) < fit.base.n_base
    assert set(few.names) | set(few.eliminated) == set(fit.base.names)
    assert few.growth <= 1.03
    assert "joint1.Fv" in few.names
    assert "essential" in str(few)


def test_validation_compares_with_another_model(fit, arm):
    log = recorded(arm, seed=8)
    result = fit.validate(log, other=arm)
    assert (
        result.other.total_relative_error
        < 1e-9
        < result.total_relative_error
        < result.before.total_relative_error
    )
    assert "other" in str(result)
    assert fit.validate(log, other=fit).other.total_relative_error == pytest.approx(
        result.total_relative_error, rel=1e-9
    )
    with pytest.raises(CallError, match="Robot or a Fit"):
        fit.validate(log, other=3)


def test_cross_validation_leaves_each_part_out(arm):
    result = cross_validate(
        arm, recorded(arm, noise=0.3), blocks=3, estimator="wls", delay=0, coulomb_width=0
    )
    assert len(result.fits) == len(result.validations) == 3
    assert 0 < result.total_relative_error < 0.1
    assert "total" in str(result)


def test_json_holds_everything_and_is_never_written_over(fit, tmp_path):
    path = tmp_path / "fit.json"
    fit.to_json(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [row["name"] for row in data["parameters"]] == list(fit.parameter_names)
    assert len(data["base_parameters"]) == fit.base.n_base
    assert [row["unit"] for row in data["parameters"]] == list(fit.robot.parameter_units)
    units = dict(zip(fit.parameter_names, fit.robot.parameter_units, strict=True))
    assert all(row["unit"] == units[row["name"]] for row in data["base_parameters"])
    assert [row["unit"] for row in data["joints"]] == ["N m"] * fit.robot.n
    assert data["region"]["share"] == fit.region.share
    assert [row["q_high"] for row in data["region"]["joints"]] == fit.region.q_high.tolist()
    assert [row["unit"] for row in data["region"]["joints"]] == ["rad"] * fit.robot.n
    assert data["provenance"]["robot"]["fingerprint"] == fit.initial.fingerprint
    assert len(data["provenance"]["logs"][0]["sha256"]) == 64
    with pytest.raises(CallError, match="exists"):
        fit.to_json(path)
    fit.to_json(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.json"]


def test_a_fit_is_small_and_its_short_names_lead_to_views(fit):
    assert len(fields(fit)) <= 10
    properties = {name for name, member in vars(type(fit)).items() if isinstance(member, property)}
    absent = {
        "archive",
        "elasticity",
        "learned_residual",
        "predictor",
    }  # only where they were asked for
    assert len(properties) >= 35
    for name in properties - absent:
        assert getattr(fit, name) is not None
    assert fit.unseen == fit.uncertainty.unexcited
    with pytest.raises(AttributeError, match="unsene"):
        _ = fit.unsene


def test_a_validation_shows_itself_in_one_line(fit):
    assert len(repr(fit.validation)) < 100
    assert "\n" not in repr(fit.validation)
    assert "3 joints, 1000 samples" in repr(fit.validation)
