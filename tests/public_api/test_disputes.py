"""Doctor and collision observer through public names.

A description rescales no sensor, and free motion is no collision.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.signals import to_csv
from tests.apps.test_cli import Run, run
from tests.lugre_arm import described, simulate
from tests.motions import fourier

__all__ = ["run"]  # the fixture

PANDA = Path(__file__).parents[2] / "docs" / "formats" / "panda.toml"
POSTURE = np.array([0, 0, 0, -1.8, 0, 1.8, 0])


def panda_log(urdf: Path) -> sy.Log:
    """Return 20 s of a Panda with friction and rotors; the torques are correct."""
    whole = sy.load(urdf)
    arm = whole.freeze(dict.fromkeys(whole.joint_names[7:], 0.0))
    viscous, coulomb = [0.5, 0.5, 0.4, 0.4, 0.3, 0.2, 0.1], [0.6, 0.8, 0.6, 0.6, 0.5, 0.3, 0.3]
    arm = arm.with_friction(viscous=viscous, coulomb=coulomb)
    arm = arm.with_rotors([0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05])
    t, q, qd, qdd = fourier(7, 20.0, 100.0, 3, base=0.05, size=0.25)
    rng = np.random.default_rng(3)
    q = q + POSTURE
    tau = arm.inverse_dynamics(q, qd, qdd)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return sy.Log(t=t, q=q + 1e-5 * rng.normal(size=q.shape), tau=tau, joint_names=arm.joint_names)


@pytest.mark.parametrize("factor", [0.6, 1.6])
def test_a_heavy_or_light_description_rescales_no_torque(
    factor: float, example_robots: Path, run: Run, tmp_path: Path
) -> None:
    robot = sy.load(PANDA)
    pi = robot.parameters.copy()
    pi[: 10 * robot.n] *= factor
    robot.with_parameters(pi).to_toml(tmp_path / "panda.toml")
    log = panda_log(example_robots / "panda_description/urdf/panda.urdf")
    to_csv(log, tmp_path / "log.csv")
    diagnosis = sy.doctor(sy.load(tmp_path / "panda.toml"), log)
    assert diagnosis.correction is None, str(diagnosis)
    ran = run("doctor", tmp_path / "panda.toml", tmp_path / "log.csv", "--fix")
    assert "Traceback" not in ran.err
    assert not (tmp_path / "fix.toml").exists()


@pytest.mark.parametrize("seed", [21, 31])
def test_free_motion_of_a_plant_with_lugre_friction_is_no_collision(seed: int) -> None:
    """The plant's equations are not those of the package; the fit's own log is free motion too."""
    robot = described()
    t, q, qd, tau = simulate(25.0, seed)
    log = sy.Log(t=t, q=q, qd=qd, tau=tau, joint_names=robot.joint_names)
    fit = sy.identify(robot, log, diagnose=False)
    runs = [(t, q, qd, tau), simulate(12.0, seed + 1), simulate(12.0, seed + 2)]
    alarms = [sy.CollisionObserver(fit).update(q, qd, tau, t) for t, q, qd, tau in runs]
    assert alarms == [None] * 3
