"""A joint that stands exactly still.

The rest is identified, and no solver's panic reaches a user.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import ProblemError, translate_errors
from tests.motions import fourier, rubbing


def still_log(true: sy.Robot, joints: tuple[int, ...], noise: float) -> sy.Log:
    t, q, qd, qdd = fourier(true.n, 20, 100)
    q[:, joints], qd[:, joints], qdd[:, joints] = 0.3, 0.0, 0.0
    tau = true.inverse_dynamics(q, qd, qdd) + noise * np.random.default_rng(1).normal(size=q.shape)
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)


@pytest.mark.parametrize("estimator", ["sdp", "wls", "ols"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(
    ("name", "joints"),
    [("spatial_3r", (0,)), ("planar_2r", (1,)), ("puma560", (1,)), ("puma560", (0, 4))],
)
def test_the_rest_is_identified_and_the_still_joint_stays_as_described(
    name, joints, noise, estimator
):
    true = rubbing(sy.load(name))
    described = true.with_parameters(1.2 * true.parameters)
    fit = sy.identify(described, still_log(true, joints, noise), estimator)
    assert fit.total_relative_error < 0.03
    values = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    arguments = dict(zip(described.parameter_names, described.parameters, strict=True))
    for j, joint in enumerate(true.joint_names):
        if j in joints:
            assert f"{joint}.Fv" in fit.unseen
            assert values[f"{joint}.Fv"] == pytest.approx(arguments[f"{joint}.Fv"], rel=1e-6)
        else:
            assert values[f"{joint}.Fv"] == pytest.approx(arguments[f"{joint}.Fv"] / 1.2, rel=0.2)


def test_whatever_a_foreign_library_throws_becomes_one_of_our_errors():
    class Panic(BaseException):
        pass

    with (
        pytest.raises(ProblemError, match=r"the solver failed \(Panic: Eigen\)"),
        translate_errors("the solver failed"),
    ):
        raise Panic("Eigen\nstack")
    with pytest.raises(KeyboardInterrupt), translate_errors("the solver failed"):
        raise KeyboardInterrupt
    with pytest.raises(sy.CallError, match="mine"), translate_errors("the solver failed"):
        raise sy.CallError("mine")


def test_a_torque_that_is_exactly_zero_ends_the_search_for_the_prior():
    true = rubbing(sy.load("spatial_3r"))
    log = still_log(true, (0,), 0.1)
    fit = sy.identify(true, log.replace(tau=log.tau * [1.0, 1.0, 0.0]), diagnose=False)
    assert np.all(np.isfinite(fit.parameters))
