"""Prior: details of `prior`."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.excitation.information import FisherInformation
from steelyard.experiments.excitation.prior import fit_inflation, known_information, translation
from steelyard.signals.log import Log
from tests.motions import coloured, fourier


def test_the_variances_of_a_fit_are_those_of_white_noise_times_what_its_memory_makes_of_them() -> (
    None
):
    robot = sy.load("planar_2r").with_friction(viscous=0.5)
    t, q, qd, qdd = fourier(2, 20.0, 100.0, seed=3)
    noise = coloured(q.shape, 0.9, np.random.default_rng(1))
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.2 * noise
    fit = sy.identify(
        robot, Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau), "wls", smoothing=None, delay=0.0, decimate=1
    )
    R = fit.uncertainty.information[: fit.base.n_base, : fit.base.n_base]
    plain = np.diag(np.linalg.inv(R.T @ R))
    result = fit_inflation(fit, R.T @ R)
    assert result == pytest.approx(float(np.median(fit.base_std**2 / plain)))
    assert result > 3.0, "rows with a correlation time of a tenth of a second"
    information = FisherInformation.of(robot, np.full(2, 0.2))
    base = information.base
    T = translation(base.matrix, base.parameter_names, fit.base.matrix, fit.base.parameter_names, R)
    assert T is not None
    np.testing.assert_allclose(
        known_information(information, fit), T.T @ (R.T @ R / result) @ T, rtol=1e-9
    )
