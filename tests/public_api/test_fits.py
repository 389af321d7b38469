"""Fits and monitoring through public names: one verdict, all known torques, possible friction."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.signals import to_csv
from tests.apps.test_cli import Run, run
from tests.lugre_arm import described
from tests.motions import fourier, recorded, rubbing

__all__ = ["run"]  # the fixture

WORDS = ("trusted", "trusted within", "doubtful", "refused")


@cache
def robot() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@cache
def fit() -> sy.Fit:
    log = recorded(sy.perturbed(robot(), 1, 0.05), rate=50.0, noise=0.5)
    return sy.identify(robot(), log, "wls", diagnose=False)


@pytest.mark.parametrize("scale", [1.0, 1.2, 2.0, -1.0])
@pytest.mark.parametrize("size", [0.1, 0.4, 1.5])
def test_a_validation_decides_anew_and_never_raises_confidence(size: float, scale: float) -> None:
    log = recorded(sy.perturbed(robot(), 1, 0.05), 10.0, 50.0, 0.5, 6, size=size)
    before, after = fit().verdict, fit().validate(log.replace(tau=scale * log.tau)).verdict
    assert WORDS.index(after.word) >= WORDS.index(before.word)
    assert [joint.name for joint in after.joints] == list(robot().joint_names)
    for one, other in zip(before.joints, after.joints, strict=True):
        assert WORDS.index(other.word) >= WORDS.index(one.word)
    if scale < 0:
        assert after.word == "refused"


@pytest.mark.parametrize(("scale", "code"), [(1.0, 0), (-3.0, 4)])
def test_identify_and_validate_agree_on_the_same_log(
    scale: float, code: int, run: Run, tmp_path: Path
) -> None:
    """Exit codes are those of the verdict: 4 is refused."""
    robot().to_toml(tmp_path / "arm.toml")
    true = sy.perturbed(robot(), 1, 0.05)
    to_csv(recorded(true, rate=50.0, noise=0.5), tmp_path / "log.csv")
    log = recorded(true, 20.0, 50.0, 0.5, 0)
    to_csv(log.replace(tau=scale * log.tau), tmp_path / "other.csv")
    command = ("identify", tmp_path / "arm.toml", tmp_path / "log.csv", "--estimator", "wls")
    first = run(*command, "--validate", tmp_path / "other.csv", "-o", tmp_path / "out")
    second = run("validate", tmp_path / "out", tmp_path / "other.csv")
    assert (first.code, second.code) == (code, code), first.out + second.out
    assert first.out.split()[0] == second.out.split()[0]


def spring(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return a torque that branches on values, so that it cannot be traced."""
    torque = np.zeros_like(q)
    torque[..., 1] = [12.0 * x if x > 0 else 4.0 * x for x in np.atleast_1d(q[..., 1])]
    return torque


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_the_robot_of_a_fit_has_a_known_torque_that_cannot_be_traced() -> None:
    true = sy.perturbed(robot(), 1, 0.05)
    t, q, qd, qdd = fourier(3, 20.0, 50.0, 2)
    tau = true.inverse_dynamics(q, qd, qdd) + spring(q, qd, qdd)
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)
    result = sy.identify(robot(), log, "wls", known=spring, diagnose=False)
    predicted = result.predict(q, qd, qdd).torque
    np.testing.assert_allclose(result.robot.inverse_dynamics(q, qd, qdd), predicted, atol=1e-6)


def test_a_change_beyond_the_drive_is_not_called_friction() -> None:
    """The drive of the elbow has 60 N m; 120 N m with the sign of the velocity is none."""
    arm = described().with_friction(viscous=1.0, coulomb=0.8, offset=0.2)
    t, q, qd, qdd = fourier(2, 30.0, 100.0, 4, base=0.08, harmonics=6, size=0.5)
    tau = arm.inverse_dynamics(q, qd, qdd) + 0.3 * np.random.default_rng(0).normal(size=q.shape)
    tau[t >= 25.0, 1] += 120.0 * np.sign(qd[t >= 25.0, 1])
    monitor = sy.OnlineIdentifier(arm, rate=100.0, learn=20.0)
    monitor.update(q, qd, qdd, tau)
    assert monitor.change is not None
    assert monitor.change.kind == "unexplained", str(monitor.change)
