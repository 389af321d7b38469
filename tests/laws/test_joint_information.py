"""What the doctor sums over joints is the same with the zeros and without them; the gravity of base parameters is that of the robot."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor.mechanics import joint_information
from steelyard.identification.doctor.mechanics.joint_information import JointInformation
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from tests import zoo


@pytest.mark.parametrize("few", [0, 1 << 30])
def test_sums_over_joints(few: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_information, "FEW", few)
    K, used = 7, (np.array([0, 2, 3]), np.array([1, 2, 5, 6]), np.array([4]))
    rows = [rng.normal(size=(9, len(at))) for at in used]
    dense = np.zeros((3, K, K))
    for D, at, A in zip(dense, used, rows, strict=True):
        D[np.ix_(at, at)] = A.T @ A
    made = JointInformation(K, used, tuple(A.T @ A for A in rows))
    precision, u = np.array([2.0, 0.0, 0.5]), rng.normal(size=K)
    np.testing.assert_allclose(made.weighted(precision), np.einsum("j,jkl->kl", precision, dense), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(made.diagonal(), np.einsum("jkk->jk", dense), rtol=1e-14)
    np.testing.assert_allclose(made.quadratic(u), np.einsum("k,jkl,l->j", u, dense, u), rtol=1e-12)
    half = JointInformation(K, used, tuple(0.5 * A.T @ A for A in rows))
    np.testing.assert_allclose((made - half).weighted(precision), half.weighted(precision), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("name", ["puma560", "torso"])
def test_the_gravity_of_base_parameters(name: str, rng: np.random.Generator) -> None:
    """With friction beside the links, and with a moment of mass that is held."""
    robot = sy.load(name) if name in sy.robots() else zoo.robot(name)
    q = rng.normal(size=(5, robot.n))
    second = 11  # m cx of the second link
    for more in (0.0, 0.3):
        pi = robot.parameters.copy()
        pi[second] += more
        model = build_model(robot, ModelOptions(hold={robot.parameter_names[second]: float(pi[second])} if more else ()))
        assert bool(model.held) == bool(more)
        expected = robot.gravity_torque(q, parameters=pi)
        np.testing.assert_allclose(model.gravity_torque(model.base.values(model.start), q), expected, rtol=1e-9, atol=1e-9)
