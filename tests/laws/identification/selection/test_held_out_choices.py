"""Choices by held-out torque: smoothing, predictor, and what a caller gave."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.identification.samples.samples import Samples, shuffled_states
from steelyard.identification.selection.choose_predictor import CONSISTENT, contradicts_robot
from steelyard.identification.selection.held_out_torque import HeldOutError
from steelyard.signals.smooth import butterworth

Array = NDArray[np.float64]
ROBOT = sy.load("planar_2r")
FREQUENCIES = np.array([0.37, 0.71, 1.13])
VIBRATION = 35.0  # [Hz]


def motion(t: Array, seed: int = 0) -> tuple[Array, Array, Array]:
    """Sums of sines of both joints: q, qd, qdd, each (N, 2)."""
    rng = np.random.default_rng(seed)
    a, phase = rng.uniform(0.2, 0.5, (3, 2)), rng.uniform(0, 2 * np.pi, (3, 2))
    w = 2 * np.pi * FREQUENCIES[:, None]
    angle = w * t[:, None, None] + phase
    return (
        np.sum(a * np.sin(angle), axis=1),
        np.sum(a * w * np.cos(angle), axis=1),
        np.sum(-a * w**2 * np.sin(angle), axis=1),
    )


def log(
    seconds: float = 20.0, rate: float = 500.0, vibration: float = 0.0, seed: int = 0
) -> sy.Log:
    """A log whose encoders also vibrate at 35 Hz, which no torque shows."""
    t = np.arange(int(seconds * rate)) / rate
    q, qd, qdd = motion(t, seed)
    rng = np.random.default_rng(seed + 1)
    truth = sy.perturbed(ROBOT, seed=3)
    tau = truth.inverse_dynamics(q, qd, qdd) + 0.02 * rng.normal(size=q.shape)
    q = q + vibration * np.sin(2 * np.pi * VIBRATION * t)[:, None]
    return sy.Log(t=t, q=q, tau=tau, joint_names=ROBOT.joint_names)


def error(fit: sy.Fit, seed: int = 5) -> float:
    """|e| / |tau| of predicted torques on the states of another motion."""
    q, qd, qdd = motion(np.arange(2000) / 100, seed)
    tau = sy.perturbed(ROBOT, seed=3).inverse_dynamics(q, qd, qdd)
    return float(np.linalg.norm(fit.predict(q, qd, qdd).torque - tau) / np.linalg.norm(tau))


def test_a_clean_log_keeps_the_automatic_smoothing() -> None:
    fit = sy.identify(ROBOT, log(), diagnose=False)
    assert fit.preparation.smoothing == "auto"
    assert fit.predictor is not None
    assert fit.predictor.is_consistent
    assert error(fit) < 0.01


def test_vibration_of_the_encoders_is_filtered_by_held_out_torque() -> None:
    shaken = log(vibration=2e-3)
    chosen = sy.identify(ROBOT, shaken, diagnose=False)
    kalman = sy.identify(ROBOT, shaken, diagnose=False, smoothing="kalman")
    assert chosen.preparation.smoothing == "butterworth"
    assert chosen.preparation.cutoff is not None
    assert chosen.preparation.cutoff < VIBRATION
    assert any("Butterworth" in note for note in chosen.status)
    assert error(chosen) < 0.03 < error(kalman)


def effort_of_a_controller() -> sy.Log:
    """Effort that falls with speed, as a command that compensates friction: no robot has it."""
    clean = log()
    _, qd, _ = motion(clean.t)
    assert clean.tau is not None
    return clean.replace(tau=clean.tau - 25.0 * qd)


def test_torque_that_no_robot_has_is_predicted_without_constraints() -> None:
    fit = sy.identify(ROBOT, effort_of_a_controller(), diagnose=False)
    assert fit.predictor is not None
    assert not fit.predictor.is_consistent
    assert fit.predictor.errors[fit.predictor.name] < 0.5 * fit.predictor.errors[CONSISTENT]
    assert fit.predictor.cost_of_consistency > 0.05
    assert fit.verdict.word in ("doubtful", "refused")
    assert any("no physical robot" in reason for reason in fit.verdict.reasons)
    values = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    assert all(values[name] >= -1e-9 for name in values if name.endswith(".Fv"))


def test_predictions_validation_and_residuals_are_of_one_predictor() -> None:
    measured = effort_of_a_controller()
    fit = sy.identify(ROBOT, measured, diagnose=False)
    q, qd, qdd = motion(measured.t)
    assert measured.tau is not None
    relative = np.linalg.norm(fit.predict(q, qd, qdd).torque - measured.tau)
    relative /= np.linalg.norm(measured.tau)
    assert relative < 0.02
    assert fit.validate(measured).total_relative_error < 0.02
    assert fit.total_relative_error < 0.02
    robot = np.linalg.norm(fit.torque(q, qd, qdd) - measured.tau) / np.linalg.norm(measured.tau)
    assert robot > 0.05


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"smoothing": "kalman"}, lambda fit: fit.preparation.smoothing == "kalman"),
        ({"estimator": "sdp"}, lambda fit: fit.predictor is None),
        ({"bounds": {"joint1.Fv": (0.0, 10.0)}}, lambda fit: fit.predictor.is_consistent),
        ({"friction": ("viscous",)}, lambda fit: "joint1.Fc" not in fit.parameter_names),
    ],
    ids=["smoothing", "estimator", "bounds", "friction"],
)
def test_what_is_given_is_not_replaced(given: dict[str, Any], kept: Any) -> None:
    options = dict(given)
    estimator = options.pop("estimator", None)
    fit = sy.identify(ROBOT, effort_of_a_controller(), estimator, diagnose=False, **options)
    assert kept(fit)


def test_a_named_estimator_predicts_with_its_robot() -> None:
    fit = sy.identify(ROBOT, effort_of_a_controller(), "wls", diagnose=False)
    states = motion(np.arange(50) / 10)
    assert fit.predictor is None
    np.testing.assert_allclose(
        fit.predict(*states).torque, fit.robot.inverse_dynamics(*states), atol=1e-9
    )


def test_a_short_log_is_not_compared() -> None:
    fit = sy.identify(ROBOT, log(seconds=0.4, rate=100.0), diagnose=False)
    assert fit.preparation.smoothing == "auto"


def squares(*values: float) -> HeldOutError:
    return HeldOutError(np.array(values), np.ones(len(values)))


def test_a_gain_in_most_blocks_is_better_and_a_gain_in_one_is_not() -> None:
    first = squares(0.1, 0.1, 0.1, 0.1)
    assert squares(0.08, 0.09, 0.08, 0.085).is_better(first)
    assert not squares(0.0, 0.105, 0.105, 0.105).is_better(first)  # 21 % less, of one block
    assert squares(0.0, 0.105, 0.105, 0.105).is_less(first)
    assert not first.is_better(first)
    assert not squares(0.0999, 0.0999, 0.0999, 0.0999).is_better(first)  # too small to matter


@pytest.mark.parametrize("scatter", [0.0, 0.1, 0.3])
def test_butterworth_states_at_scattered_stamps_are_those_of_the_motion(scatter: float) -> None:
    rng = np.random.default_rng(2)
    t = (np.arange(4000) + scatter * rng.uniform(-0.5, 0.5, 4000)) / 200.0
    states = motion(t)
    filtered = butterworth(sy.Log(t=t, q=states[0], joint_names=ROBOT.joint_names), 15.0)
    inner = slice(200, -200)
    np.testing.assert_array_equal(filtered.t, t)
    for name, exact, tolerance in zip(("q", "qd", "qdd"), states, (1e-4, 2e-3, 3e-2), strict=True):
        assert np.max(np.abs(getattr(filtered, name)[inner] - exact[inner])) < tolerance, name


def test_a_loaded_fit_predicts_with_the_same_predictor(tmp_path: Path) -> None:
    fit = sy.identify(ROBOT, effort_of_a_controller(), diagnose=False)
    fit.to_json(tmp_path / "fit.json")
    loaded = sy.Fit.load(tmp_path / "fit.json")
    states = motion(np.arange(50) / 10)
    assert loaded.predictor is not None
    assert not loaded.predictor.is_consistent
    np.testing.assert_allclose(
        loaded.predict(*states).torque, fit.predict(*states).torque, rtol=1e-9
    )
    assert loaded.verdict.word == fit.verdict.word


def test_a_log_below_every_cutoff_keeps_its_smoothing() -> None:
    """At 8 Hz no filter of the usual cut-offs is below the Nyquist frequency."""
    robot = sy.load("planar_2r")
    t = np.arange(0.0, 60.0, 0.125)
    q = np.stack([np.sin(0.9 * t) + 0.3 * np.sin(2.1 * t), np.cos(1.3 * t)], axis=1)
    qd = np.stack([0.9 * np.cos(0.9 * t) + 0.63 * np.cos(2.1 * t), -1.3 * np.sin(1.3 * t)], axis=1)
    qdd = np.stack(
        [-0.81 * np.sin(0.9 * t) - 1.323 * np.sin(2.1 * t), -1.69 * np.cos(1.3 * t)], axis=1
    )
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.1 * np.random.default_rng(0).normal(size=q.shape)
    fit = sy.identify(robot, sy.Log(t=t, q=q, tau=tau, joint_names=robot.joint_names))
    assert fit.preparation.smoothing == "auto"
    assert fit.predictor is None


class Shifted:
    """A problem of two joints whose rows are their velocities: states are all that matters."""

    def __init__(self, qd: Array) -> None:
        t = np.arange(len(qd)) / 100.0
        self.samples = (Samples(t, qd, qd, qd, qd),)
        self.model = Stub(
            feasible_states=lambda *states: states,
            rows=lambda q, qd, qdd: np.stack([qd, qd.sum(axis=1, keepdims=True) * qd], axis=2),
        )
        self.base = Stub(values=lambda parameters: parameters)
        self.total = None


@pytest.mark.parametrize(("change", "contradicted"), [(0.01, False), (0.5, True)])
def test_parameters_that_leave_the_robot_elsewhere_do_not_predict(
    change: float, contradicted: bool
) -> None:
    """Joints that moved one at a time: products of their velocities are zero along the log."""
    wave = np.sin(np.arange(400) / 20.0)
    alone = np.where(np.arange(400)[:, None] // 200 == [0, 1], wave[:, None], 0.0)
    errors = {"consistent": squares(1e-4, 1e-4), "wls": squares(5e-5, 5e-5)}
    estimate = Stub(parameters=np.array([1.0, 0.0]))
    result = contradicts_robot(
        Shifted(alone), estimate, lambda rows: np.array([1.0, change]), errors
    )
    assert result is contradicted
    together = shuffled_states((Samples(*[alone] * 5),), 300, 0.02)[1]
    assert np.all(np.abs(together) >= 0.02 * np.abs(alone).max())
