"""Pinocchio's free-flyer is our base that moves.

Torques, the support's wrench, accelerations, derivatives, regressor.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import steelyard as sy
from tests.laws.simulation.test_simulation_free import POSE, TWIST, satellite
from tests.oracles.test_dynamics_pinocchio import ROBOTS

NAMES = ("ur5", "xarm7", "z1")


@dataclass(frozen=True)
class FreeFlyer:
    """A robot of a URDF on a free-flyer, in Pinocchio and in ours, in some motion."""

    robot: sy.Robot
    model: pin.Model
    q: np.ndarray  # Pinocchio's: position and quaternion of the base, then its joints
    v: np.ndarray
    a: np.ndarray

    @property
    def order(self) -> list[int]:
        """Where each of our coordinates is among Pinocchio's velocities."""
        return [
            self.model.joints[self.model.getJointId(name)].idx_v for name in self.robot.joint_names
        ]

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Our q, qd, qdd."""
        where = [
            self.model.joints[self.model.getJointId(name)].idx_q for name in self.robot.joint_names
        ]
        return self.q[where], self.v[self.order], self.a[self.order]

    @property
    def base(self) -> np.ndarray:
        """Pinocchio's accelerations are spatial: that of the origin is v' + w x v."""
        R = pin.Quaternion(self.q[3:7]).toRotationMatrix()
        v, w = self.v[:3], self.v[3:6]
        return np.r_[self.a[:3] + np.cross(w, v) - R.T @ self.robot.gravity, w, self.a[3:6]]


@pytest.fixture(params=NAMES)
def flyer(request: pytest.FixtureRequest, example_robots: Path) -> FreeFlyer:
    path = example_robots / ROBOTS[request.param]
    robot = sy.load(path).without_friction()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert all(model.joints[k].nq == model.joints[k].nv for k in range(2, model.njoints))
    rng = np.random.default_rng(5)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return FreeFlyer(robot, model, q, rng.normal(size=model.nv), rng.normal(size=model.nv))


def near(ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-10) -> None:
    assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())


def test_torques_and_support(flyer: FreeFlyer) -> None:
    tau = pin.rnea(flyer.model, flyer.model.createData(), flyer.q, flyer.v, flyer.a)
    near(flyer.robot.inverse_dynamics(*flyer.state, base=flyer.base), tau[flyer.order])
    near(flyer.robot.base_wrench(*flyer.state, flyer.base), tau[:6])


def test_accelerations_of_a_free_base(flyer: FreeFlyer) -> None:
    q, qd, _ = flyer.state
    tau = np.random.default_rng(6).normal(size=flyer.robot.n)
    theirs_tau = np.zeros(flyer.model.nv)
    theirs_tau[flyer.order] = tau
    a = pin.aba(flyer.model, flyer.model.createData(), flyer.q, flyer.v, theirs_tau)
    moved = FreeFlyer(flyer.robot, flyer.model, flyer.q, flyer.v, a)
    qdd, base = flyer.robot.free_forward_dynamics(q, qd, tau, flyer.v[3:6])
    near(qdd, a[flyer.order], 1e-8)
    near(base, moved.base, 1e-8)


def test_derivatives_and_regressor(flyer: FreeFlyer) -> None:
    """Of the joints' torques by the joints' positions and velocities.

    The regressor with the columns of moving bodies and of the base.
    """
    data, order = flyer.model.createData(), flyer.order
    by_q, by_v, _ = pin.computeRNEADerivatives(flyer.model, data, flyer.q, flyer.v, flyer.a)
    ours = flyer.robot.inverse_dynamics_derivatives(*flyer.state, base=flyer.base)
    near(ours[0], by_q[np.ix_(order, order)])
    near(ours[1], by_v[np.ix_(order, order)])
    theirs = pin.computeJointTorqueRegressor(
        flyer.model, flyer.model.createData(), flyer.q, flyer.v, flyer.a
    )
    columns = [
        10 * (flyer.model.getJointId(body.joint) - 1) + k
        for body in flyer.robot.tree.bodies
        for k in (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)
    ]
    near(
        flyer.robot.regressor(*flyer.state, flyer.base)[:, : len(columns)],
        theirs[np.ix_(order, columns)],
    )
    near(
        flyer.robot.base_wrench_regressor(*flyer.state, flyer.base)[:, : len(columns)],
        theirs[np.ix_(range(6), columns)],
    )


def test_a_simulated_flight(tmp_path: Path) -> None:
    """Against Pinocchio's accelerations integrated by SciPy.

    Joints, and position and quaternion of the base.
    """
    tau, q0, qd0 = (
        np.array([1.0, -2.0, 0.5]),
        np.array([0.4, -0.3, 0.8]),
        np.array([0.3, -0.6, 0.2]),
    )
    robot = satellite((0.0, 0.0, -9.81))
    robot.to_urdf(tmp_path / "satellite.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "satellite.urdf"), pin.JointModelFreeFlyer())
    data, efforts = model.createData(), np.r_[np.zeros(6), tau]

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, v = x[: model.nq], x[model.nq :]
        turn = 0.5 * (pin.Quaternion(q[3:7]) * pin.Quaternion(np.r_[v[3:6], 0.0])).coeffs()
        return np.r_[
            pin.Quaternion(q[3:7]).toRotationMatrix() @ v[:3],
            turn,
            v[6:],
            pin.aba(model, data, q, v, efforts),
        ]

    R = Rotation.from_quat(POSE[3:]).as_matrix()
    start = np.r_[POSE, q0, R.T @ TWIST[:3], R.T @ TWIST[3:], qd0]
    theirs = solve_ivp(rate, (0.0, 0.5), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    run = sy.simulate(robot, tau, q0, qd0, seconds=0.5, base_pose0=POSE, base_twist0=TWIST)
    near(run.q[-1], theirs[7:10], 1e-9)
    near(run.base_pose[-1], theirs[:7], 1e-9)
    near(
        run.base_twist[-1, 3:], pin.Quaternion(theirs[3:7]).toRotationMatrix() @ theirs[13:16], 1e-8
    )
