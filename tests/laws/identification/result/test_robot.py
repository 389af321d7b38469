"""The robot that a fit returns predicts what the fit predicts, for all requested quantities.

And so does the robot in its file.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import ESTIMATORS
from tests.motions import recorded, rubbing

ALL = ("viscous", "coulomb", "offset", "stribeck")
OPTIONS = {
    "nothing": {},
    "no friction": {"friction": ()},
    "viscous": {"friction": ("viscous",), "rotor": False},
    "stribeck": {"friction": ALL},
    "stribeck and a width": {"friction": ALL, "coulomb_width": 0.05},
    "backward friction": {"friction": ("viscous", "coulomb", "offset", "negative")},
    "every friction term": {"friction": (*ALL, "negative")},
    "a sharp step": {"coulomb_width": 0.0},
    "given widths": {"coulomb_width": [0.1, 0.0, 0.02]},
    "coupling": {"coupling": sy.Coupling("joint2", "joint3")},
    "coupling with widths": {
        "coupling": [sy.Coupling("joint2", "joint3")],
        "coulomb_width": [0.1, 0.0, 0.02],
    },
    "drive gains": {"hold": ["link3"], "drive_gains": ("joint1",)},
    "held": {"hold": {"joint1.Fv": 2.0, "link3.mcx": None}},
    "known torque": {"known": lambda q, qd, qdd: 5.0 * np.sin(q)},
    "known torque of several joints": {
        "known": lambda q, qd, qdd: np.stack([0.0 * q[:, 0], q[:, 1] * q[:, 2], qd[:, 0]], axis=1)
    },
    "bounds": {"bounds": {"link2.m": (5.0, 9.0)}},
    "decimated and masked": {"decimate": 3, "mask": 0.05, "delay": 0.002},
    **{name: {"estimator": name} for name in sorted(ESTIMATORS)},
}


@cache
def case() -> tuple[sy.Robot, sy.Log]:
    true = rubbing(sy.load("spatial_3r"))
    true = true.with_friction(
        negative=[1.5, 1.0, 0.8], stiction=[3.0, 2.5, 2.0], stribeck=0.15, width=0.03
    )
    true = true.with_coupling("joint2", "joint3", armature=0.02, viscous=0.3, coulomb=0.2)
    return sy.load("spatial_3r").with_friction(viscous=1.0, coulomb=0.5, width=0.1), recorded(
        true, noise=0.05
    )


@cache
def fitted(name: str) -> sy.Fit:
    return sy.identify(*case(), **OPTIONS[name], diagnose=False)


EVERY = pytest.mark.parametrize("name", OPTIONS)


def states(seed: int = 3) -> tuple[np.ndarray, ...]:
    return tuple(
        np.random.default_rng(seed).normal(size=(3, 500, 3))
        * np.array([1.0, 0.3, 2.0])[:, None, None]
    )


def near(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> bool:
    return float(np.linalg.norm(a - b)) <= tolerance * float(np.linalg.norm(a))


@EVERY
def test_the_robot_predicts_what_the_fit_predicts(name):
    fit = fitted(name)
    tau = fit.robot.inverse_dynamics(*states())
    assert near(tau, fit.torque(*states()))
    assert np.allclose(fit.robot.parameters, fit.parameters, rtol=1e-9, atol=1e-12)
    assert fit.robot.parameter_names == fit.parameter_names
    assert len(set(fit.parameter_names)) == len(fit.parameter_names)
    assert all(fit.robot.parameter_units)


@EVERY
def test_a_fit_predicts_with_its_predicting_base_parameters(name):
    fit = fitted(name)
    tau = fit.model.rows(*states()) @ fit.prediction_base + fit.model.known_torque(*states())
    assert near(fit.predict(*states()).torque, tau, 1e-8)
    if fit.predictor is not None and fit.predictor.is_consistent:
        assert near(fit.predict(*states()).torque, fit.robot.inverse_dynamics(*states()))


@EVERY
def test_the_robot_predicts_what_the_columns_of_the_identification_predict(name):
    fit = fitted(name)
    own = fit.model.rows(*states()) @ fit.base.values(fit.parameters) + fit.model.known_torque(
        *states()
    )
    assert near(fit.robot.inverse_dynamics(*states()), own, 1e-8)


@EVERY
@pytest.mark.filterwarnings("ignore:URDF has no element")
def test_the_robot_in_its_file_predicts_the_same(name, tmp_path):
    fit = fitted(name)
    fit.robot.to_toml(tmp_path / "found.toml")
    fit.robot.to_urdf(tmp_path / "found.urdf")
    for file in ("found.toml", "found.urdf"):
        assert near(
            fit.robot.inverse_dynamics(*states()),
            sy.load(tmp_path / file).inverse_dynamics(*states()),
        ), file


def test_a_known_torque_that_cannot_be_traced_is_called_by_the_robot():
    robot, log = case()

    def table(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return np.interp(q, [-9.0, 9.0], [-90.0, 90.0])

    fit = sy.identify(robot, log.replace(tau=log.tau + 10.0 * log.q), known=table)
    plain = fit.robot.without_known_function()
    assert near(fit.torque(*states()), fit.robot.inverse_dynamics(*states()))
    assert near(
        fit.robot.inverse_dynamics(*states()) - plain.inverse_dynamics(*states()),
        10.0 * states()[0],
    )
    assert any("is a Python function that cannot be traced" in sentence for sentence in fit.status)


@pytest.mark.parametrize("name", ["nothing", "stribeck", "coupling", "drive gains"])
def test_the_torques_of_the_samples_are_those_of_the_robot(name):
    """On the fit's own samples, by the estimator's base parameters, in the units of the log and not
    of the drive gains.
    """
    fit = fitted(name)
    again = fit.validate(case()[1])
    assert near(again.predicted * fit.drive_gains, fit.predicted, 1e-6)
    assert near(again.measured * fit.drive_gains, fit.measured, 1e-9)
    np.testing.assert_allclose(again.relative_error, fit.relative_error, rtol=1e-5)
    np.testing.assert_allclose(again.before.relative_error, fit.before.relative_error, rtol=1e-9)
