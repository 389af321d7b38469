"""A fit made by hand, with plain least squares on the exact states of a motion: what the report needs and no more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import steelyard as sy
from steelyard.motion import excite
from steelyard.motion.information import complete
from steelyard.parameters.base import base_parameters
from steelyard.simulate import Sensors, hidden, record


def errors(tau: np.ndarray, predicted: np.ndarray) -> SimpleNamespace:
    left = tau - predicted
    size = np.linalg.norm(tau, axis=0)
    return SimpleNamespace(
        rms=np.sqrt(np.mean(left**2, axis=0)),
        relative_error=np.linalg.norm(left, axis=0) / size,
        total_relative_error=float(np.linalg.norm(left) / np.linalg.norm(tau)),
        r2=1 - np.sum(left**2, axis=0) / np.sum((tau - tau.mean(0)) ** 2, axis=0),
        predicted=predicted,
    )


def fake_fit(name: str = "spatial_3r", seconds: float = 5.0, rate: float = 100.0) -> tuple[Any, sy.Robot]:
    """A fit of a built-in robot and the hidden true robot."""
    robot = complete(sy.load(name))
    truth = hidden(robot, 7)
    motion = excite(robot, seconds=seconds, candidates=10)
    log = record(truth, motion, rate=rate, sensors=Sensors(delay=0.0, bandwidth=0.0))
    states = motion.motion(log.t)
    tau, base = np.asarray(log.tau), base_parameters(robot)
    Y = robot.regressor(*states)[..., list(base.columns)].reshape(-1, base.n_base)
    weight = np.tile(1 / tau.std(axis=0), len(tau))[:, None]
    values, *_ = np.linalg.lstsq(weight * Y, weight[:, 0] * tau.ravel(), rcond=None)
    predicted = (Y @ values).reshape(tau.shape)
    left = weight[:, 0] * (tau - predicted).ravel()
    covariance = np.linalg.pinv((weight * Y).T @ (weight * Y)) * np.var(left)
    pi = robot.parameters + np.linalg.pinv(base.matrix) @ (values - base.values(robot.parameters))
    singular = np.linalg.svd(weight * Y / np.linalg.norm(weight * Y, axis=0), compute_uv=False)
    std = np.sqrt(np.diag(covariance))
    fit = SimpleNamespace(
        robot=robot, parameters=pi, parameter_names=robot.parameter_names, covariance=covariance,
        standard_deviation=np.full(len(pi), np.inf),
        base_standard_deviation=std, base_relative_std=std / np.abs(values), validation=SimpleNamespace(keep=np.ones(tau.shape, bool)),
        provenance={"steelyard": "0"},
        base=base, base_values=values, residuals=tau - predicted, measured=tau, t=log.t, rank=base.n_base, singular_values=singular,
        condition=singular[0] / singular[-1], unseen=(), status=("It went well.",), estimator="wls", options={"smoothing": None},
        initial=robot, before=errors(tau, robot.inverse_dynamics(*states)),
        check=lambda: ["This model can be trusted <for its torques>.", "R & D said so."],
        **vars(errors(tau, predicted)),
    )  # fmt: skip
    return fit, truth
