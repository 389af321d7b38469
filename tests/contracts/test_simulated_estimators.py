"""Estimators that simulate the closed loop.

Noise of the encoders does not bias them, and they say what they could not do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.checks.states import States
from steelyard.errors import CallError
from steelyard.identification import CLOE, DIDIM, IV, Automatic
from steelyard.identification.estimators.simulated.automatic import is_better
from steelyard.identification.estimators.simulated.linearised import InstrumentProblem
from steelyard.identification.estimators.simulated.simulated_states import (
    is_simulated,
    physical,
    simulated_states,
)
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from steelyard.motion import Trajectory
from steelyard.motion.trajectories.trajectory import trajectory
from steelyard.signals.filters import differences
from steelyard.simulation import PD, ComputedTorque, Sensors, perturbed
from steelyard.simulation.run import Run
from tests.motions import fourier

SIMULATED = ("iv", "didim", "cloe", "auto")
FIXED = {"friction": ("viscous", "coulomb"), "diagnose": False}
GAINS = {"kp": 900.0, "kd": 90.0}
RATE = 200.0


@cache
def robot() -> sy.Robot:
    return sy.load("planar_2r").with_friction(viscous=[0.5, 0.3], coulomb=[0.8, 0.5])


@cache
def described() -> sy.Robot:
    return perturbed(robot(), 3, 0.1)


@cache
def motion() -> Trajectory:
    """A Fourier series from rest."""
    w = 2 * np.pi * 0.25 * np.arange(1, 5)
    a = np.random.default_rng(0).normal(size=(4, 2)) * 0.5 / np.sqrt(np.arange(1, 5))[:, None]

    def states(t: Any) -> States:
        p = np.multiply.outer(np.asarray(t, float), w)
        return States((np.cos(p) - 1) @ a, -(np.sin(p) * w) @ a, -(np.cos(p) * w**2) @ a)

    return trajectory(states, 12.0, RATE)


@cache
def run() -> Run:
    return sy.simulate(
        robot(), PD(motion(), **GAINS, model=described()), motion().q[0], seconds=12.0, every=5
    )


@cache
def log(noise: float) -> sy.Log:
    return run().log(
        Sensors(
            encoder=0.0,
            encoder_noise=noise,
            torque_noise=0.01,
            torque_ripple=0.0,
            bandwidth=0.0,
            delay=0.0,
        )
    )


def law(**gains: float) -> PD:
    return PD(None, **{**GAINS, **gains}, model=described())


def true_error(fit: sy.Fit) -> float:
    _, q, qd, qdd = fourier(2, 10.0, 100.0, seed=8)
    moving = np.abs(qd) > 5e-3
    e = fit.robot.inverse_dynamics(q, qd, qdd) - robot().inverse_dynamics(q, qd, qdd)
    return float(
        np.linalg.norm(e[moving]) / np.linalg.norm(robot().inverse_dynamics(q, qd, qdd)[moving])
    )


@pytest.mark.parametrize("name", SIMULATED)
def test_noise_of_the_encoders_does_not_bias(name: str) -> None:
    plain = true_error(sy.identify(described(), log(1e-2), "wls", **FIXED))
    fit = sy.identify(described(), log(1e-2), name, controller=law(), **FIXED)
    assert true_error(fit) < (0.6 if name == "iv" else 0.25) * plain
    assert true_error(fit) < 0.02
    assert fit.verdict.trusted
    assert true_error(fit) <= 2 * fit.verdict.error
    assert np.all(fit.base_std > 0)
    z = (fit.base_values - fit.base.values(true_parameters(fit))) / fit.base_std
    assert np.sqrt(np.mean(z[np.isfinite(z)] ** 2)) < 3.0
    assert any("closed loop (PD)" in sentence for sentence in fit.status)


@pytest.mark.parametrize(("name", "filtered"), [("didim", "none"), ("auto", "80 Hz")])
def test_the_filter_of_the_positions_does_not_matter(name: str, filtered: str) -> None:
    """Nothing of the positions is in a simulated motion, nor in the rate at which it is looked
    at.
    """
    own = sy.identify(described(), log(1e-2), name, controller=law(), **FIXED)
    qd, qdd = differences(log(1e-2).q, log(1e-2).t)
    argument = log(1e-2).replace(qd=qd, qdd=qdd) if filtered == "none" else log(1e-2)
    options = (
        {"smoothing": None} if filtered == "none" else {"smoothing": "butterworth", "cutoff": 80.0}
    )
    fit = sy.identify(described(), argument, name, controller=law(), **options, **FIXED)
    selected = [next(each for each in x.status if "samples kept" in each) for x in (own, fit)]
    assert selected[0] == selected[1]
    assert true_error(fit) < max(1.5 * true_error(own), 2e-3)


def true_parameters(fit: sy.Fit) -> np.ndarray:
    known = dict(zip(robot().parameter_names, robot().parameters, strict=True))
    return np.array([known.get(name, 0.0) for name in fit.parameter_names])


@pytest.mark.parametrize("name", SIMULATED)
def test_with_good_encoders_they_are_no_worse(name: str) -> None:
    plain = true_error(sy.identify(described(), log(1e-5), "wls", **FIXED))
    assert (
        true_error(sy.identify(described(), log(1e-5), name, controller=law(), **FIXED))
        < plain + 1e-3
    )


def samples_and_model() -> tuple[Any, Any]:
    model = build_model(described())
    return model, (prepare(model.robot, log(1e-3), Preparation()),)


def test_instruments_solve_their_equations_with_their_covariance() -> None:
    """base = (Z^T X)^-1 Z^T tau and cov = (Z^T X)^-1 Z^T Z (X^T Z)^-1, computed with whole
    matrices.
    """
    model, samples = samples_and_model()
    states = simulated_states(model, samples, 1, law())
    assert is_simulated(states.samples[0])
    problem = IV(law()).linearise(Problem(model, states.samples))
    assert isinstance(problem, InstrumentProblem)
    assert IV(law()).linearise(problem) is problem
    blocks = list(Problem(model, problem.samples, 1, problem.columns).blocks())
    b, base, keep = problem.base.n_base, problem.point, problem.samples[0].keep
    rows = np.concatenate([x.Y for x in blocks])
    e = np.concatenate([x.tau + x.known for x in blocks]) - rows[:, :, -1] - rows[:, :, b:-1] @ base
    used = np.ones(e.shape, bool) if keep is None else keep
    W = used / np.sqrt(np.sum(used * e**2, axis=0) / used.sum(axis=0))
    Z, X = ((W[:, :, None] * x).reshape(-1, b) for x in (rows[:, :, :b], rows[:, :, b:-1]))
    tau = (W * (e + rows[:, :, b:-1] @ base)).ravel()
    inverse = np.linalg.inv(Z.T @ X)
    np.testing.assert_allclose(base, inverse @ Z.T @ tau, rtol=1e-4, atol=1e-4 * np.abs(base).max())
    R = problem.total.triangle(1.0 / np.sqrt(np.sum(used * e**2, axis=0) / used.sum(axis=0)))[
        :-1, :-1
    ]
    expected = inverse @ Z.T @ Z @ inverse.T
    np.testing.assert_allclose(
        np.sqrt(np.diag(np.linalg.inv(R.T @ R))), np.sqrt(np.diag(expected)), rtol=1e-3
    )


def test_rows_of_output_error_are_derivatives_of_the_simulated_torque() -> None:
    model, samples = samples_and_model()
    states = simulated_states(model, samples, 1, law())
    problem = Problem(model, states.samples)
    pi = physical(problem, problem.base.values(states.parameters), np.ones(2))
    ends = []
    for sign in (0.0, -1.0, 1.0):
        moved = pi.copy()
        moved[problem.base.columns[0]] += sign * 1e-4
        ends.append(CLOE(law()).linearise_at(problem, moved))
    here, below, above = ends
    assert here is not None
    assert below is not None
    assert above is not None
    change = [np.concatenate([b.known + b.Y @ p.point for b in p.blocks()]) for p in (below, above)]
    derivative = (change[1] - change[0]) / 2e-4
    rows = here.rates[0][:, :, 0]
    # where no joint turns round within a step
    calm = np.all(np.abs(states.samples[0].qd) > 0.05, axis=1)
    assert np.linalg.norm((derivative - rows)[calm]) < 0.1 * np.linalg.norm(rows[calm])


def test_a_command_that_is_not_followed_is_noticed() -> None:
    wrong = log(1e-3).replace(reference=np.full_like(log(1e-3).q, 0.1))
    fit = sy.identify(described(), wrong, controller=law(), **FIXED)
    assert any("measured motion was taken" in sentence for sentence in fit.status)
    plain = sy.identify(described(), wrong, "sdp", **FIXED)
    np.testing.assert_array_equal(fit.base_values, plain.base_values)


def test_without_controller_and_command_it_is_least_squares_and_says_so() -> None:
    alone = log(1e-3).replace(reference=None)
    plain = sy.identify(described(), alone, "wls", **FIXED)
    for name in ("iv", "didim", "cloe"):
        fit = sy.identify(described(), alone, name, **FIXED)
        np.testing.assert_array_equal(fit.base_values, plain.base_values)
        assert (
            sum(
                "no controller= and the log has no commanded positions" in sentence
                for sentence in fit.status
            )
            == 1
        )
    auto = sy.identify(described(), alone, **FIXED)
    np.testing.assert_array_equal(
        auto.base_values, sy.identify(described(), alone, "sdp", **FIXED).base_values
    )


def test_a_robot_that_follows_its_command_needs_no_controller() -> None:
    less_than_two_periods = 7.5  # [s]: what repeats is averaged, whatever the estimator
    stiff = sy.simulate(
        robot(),
        ComputedTorque(motion(), 4e3, 120.0),
        motion().q[0],
        seconds=less_than_two_periods,
        every=5,
    )
    noisy = stiff.log(
        Sensors(
            encoder=0.0,
            encoder_noise=1e-2,
            torque_noise=0.01,
            torque_ripple=0.0,
            bandwidth=0.0,
            delay=0.0,
        )
    )
    assert noisy.reference is not None
    fit = sy.identify(described(), noisy, **FIXED)
    assert any("command followed exactly" in sentence for sentence in fit.status)
    kalman = sy.identify(described(), noisy, "sdp", smoothing="kalman", **FIXED)
    assert true_error(fit) < true_error(kalman) / 3


def test_a_loop_that_diverges_is_said() -> None:
    for name in ("didim", "auto"):
        fit = sy.identify(described(), log(1e-3), name, controller=law(kd=-200.0), **FIXED)
        assert any(
            "diverges" in sentence and "gains of controller=" in sentence for sentence in fit.status
        )


def test_bad_controllers() -> None:
    for options, message in (
        (
            {"estimator": "didim", "controller": "pd"},
            "controller must be one of steelyard.simulation",
        ),
        (
            {"estimator": "didim", "controller": PD},
            "controller must be one of steelyard.simulation",
        ),
        (
            {"estimator": "wls", "controller": law()},
            "not used by the estimator 'wls'; those that use one: auto, iv, didim, cloe",
        ),
        ({"estimator": DIDIM(law()), "controller": law()}, "given twice"),
        (
            {"estimator": "iv", "controller": PD([0.1, 0.2], **GAINS)},
            "its reference must be a Trajectory, or None",
        ),
    ):
        with pytest.raises(CallError, match=message):
            sy.identify(described(), log(1e-3), **options, **FIXED)
    assert replace(Automatic(), controller=None) == Automatic()


def test_the_motion_is_better_that_leaves_less_of_all_parts_joint_by_joint() -> None:
    squares = np.ones((8, 2))
    assert is_better(0.9 * squares, squares)
    assert not is_better(squares, squares)
    # three parts far better, the others a little worse
    few = squares * np.where(np.arange(8) < 3, 0.1, 1.01)[:, None]
    assert is_better(few, squares)
    assert not is_better(squares, few)
    # 10 % less of one joint does not make up for 20 % more of the other
    one_joint = squares * np.array([0.9, 1.2])
    assert not is_better(one_joint, squares)
    assert is_better(one_joint * np.array([1.0, 1e6]), squares * np.array([1.0, 1.3e6])), (
        "units of a joint do not matter"
    )


@pytest.mark.parametrize("name", ["didim", "iv"])
def test_a_clock_that_starts_at_any_time(name: str) -> None:
    late = log(1e-3).replace(t=log(1e-3).t + 64.0)
    results = [
        sy.identify(described(), each, name, controller=law(), **FIXED).base_values
        for each in (log(1e-3), late)
    ]
    np.testing.assert_allclose(
        results[1], results[0], rtol=1e-6, atol=1e-6 * np.abs(results[0]).max()
    )
