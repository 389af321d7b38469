"""A robot on a base that moves is the same robot on a gantry.

Three slides and three turns carry what was its root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Pose
from steelyard.errors import CallError, ModelError
from steelyard.mechanism.model import Joint, Link, Mechanism
from tests.laws.dynamics.law import close, law
from tests.reference import finite_difference
from tests.zoo import SAMPLES, Case, case, features

SHORT = 3e-3  # step of differences: none passes a place where a load changes its sign
SLIDES_AND_TURNS = [
    (kind, axis)
    for kind in ("prismatic", "revolute")
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
]


def on_gantry(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its root on the last of six joints without mass."""
    links = ["ground", *(f"gantry{k}" for k in range(5)), mechanism.root]
    origin = Pose(p=(0.1, 0.2, -0.1))
    joints = [
        Joint(f"gantry{k}", kind, links[k], links[k + 1], origin, axis)  # type: ignore[arg-type]
        for k, (kind, axis) in enumerate(SLIDES_AND_TURNS)
    ]
    return replace(
        mechanism,
        links=(*map(Link, links[:-1]), *mechanism.links),
        joints=(*joints, *mechanism.joints),
    )


@dataclass(frozen=True)
class Gantry:
    """The robot on a moving gantry, and the motion of its root as a sensor there measures it."""

    robot: sy.Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    @property
    def turn(self) -> np.ndarray:
        """From the root's frame to the ground's, for forces and moments: (SAMPLES, 6, 6)."""
        return np.kron(
            np.eye(2), self.robot.forward_kinematics(self.q, "base")[..., None, :3, :3]
        ).reshape(SAMPLES, 6, 6)

    @property
    def jacobian(self) -> np.ndarray:
        """Of the root's motion in its own frame to the gantry's: (SAMPLES, 6, 6)."""
        return np.swapaxes(self.turn, -1, -2) @ self.robot.jacobian(self.q, "base")[..., :6]

    def base(self, qdd: np.ndarray | None = None) -> np.ndarray:
        """(SAMPLES, 9)."""
        J, rate = (
            self.robot.jacobian(self.q, "base"),
            self.robot.jacobian_rate(self.q, self.qd, "base"),
        )
        velocity = np.einsum("...ij,...j->...i", J, self.qd)
        acceleration = np.einsum(
            "...ij,...j->...i", J, self.qdd if qdd is None else qdd
        ) + np.einsum("...ij,...j->...i", rate, self.qd)
        parts = acceleration[..., :3] - self.robot.gravity, velocity[..., 3:], acceleration[..., 3:]
        return np.concatenate(
            [np.einsum("...ji,...j->...i", self.turn[..., :3, :3], part) for part in parts], axis=-1
        )

    def of_root(self, efforts: np.ndarray) -> np.ndarray:
        """The wrench on the root that the gantry's efforts (SAMPLES, 6, ...) are."""
        return np.linalg.solve(np.swapaxes(self.jacobian, -1, -2), efforts)


@cache
def gantry(name: str) -> Gantry:
    x, rng = case(name), np.random.default_rng(3)
    own = rng.uniform(-0.9, 0.9, (3, SAMPLES, 6))
    joined = (np.concatenate(pair, axis=-1) for pair in zip(own, (x.q, x.qd, x.qdd), strict=True))
    return Gantry(sy.Robot(on_gantry(x.robot.mechanism)), *joined)


def both(name: str) -> tuple[Case, Gantry, np.ndarray]:
    return case(name), gantry(name), gantry(name).base()


@law("inverse_dynamics", "bias_torque", "base_wrench", without=("load", "twelve joints"))
def test_torques_and_support_are_those_of_the_gantry(name: str) -> None:
    """Except for friction that grows with the load, for which a base's acceleration is weight."""
    x, g, base = both(name)
    tau = g.robot.inverse_dynamics(g.q, g.qd, g.qdd)
    close(x.robot.inverse_dynamics(x.q, x.qd, x.qdd, base=base), tau[:, 6:], 1e-10)
    close(x.robot.base_wrench(x.q, x.qd, x.qdd, base), g.of_root(tau[:, :6, None])[..., 0], 1e-10)


@law("bias_torque", "base_wrench")
def test_bias_is_the_torque_without_acceleration(name: str) -> None:
    x, _, base = both(name)
    close(
        x.robot.bias_torque(x.q, x.qd, base=base),
        x.robot.inverse_dynamics(x.q, x.qd, 0 * x.qdd, base=base),
    )
    close(
        x.robot.base_wrench(x.q, x.qd, x.qdd, np.r_[-x.robot.gravity, np.zeros(6)]),
        x.robot.base_wrench(x.q, x.qd, x.qdd),
    )


@law(
    "forward_dynamics",
    "joint_reactions",
    "forward_reactions",
    without=("no inertia", "twelve joints"),
)
def test_accelerations_and_reactions_are_those_of_the_gantry(name: str) -> None:
    x, g, base = both(name)
    tau = x.robot.inverse_dynamics(x.q, x.qd, x.qdd, base=base)
    reactions = g.robot.joint_reactions(g.q, g.qd, g.qdd)[:, 6:]
    close(x.robot.forward_dynamics(x.q, x.qd, tau, base=base), x.qdd, 1e-9)
    close(x.robot.joint_reactions(x.q, x.qd, x.qdd, base=base), reactions, 1e-10)
    close(x.robot.forward_reactions(x.q, x.qd, tau, base=base), reactions, 1e-9)


@law("regressor", "base_wrench_regressor", without=("twelve joints",))
def test_regressors_give_torques_and_support(name: str) -> None:
    """Linear in all parameters at once, by scaled robots, and equal to what they belong to."""
    x, _, base = both(name)
    state = (x.q, x.qd, x.qdd)
    close(
        x.robot.regressor(*state, base) @ x.robot.parameters,
        x.robot.inverse_dynamics(*state, base=base),
        1e-10,
    )
    Y, pi = x.robot.base_wrench_regressor(*state, base), x.robot.parameters
    close(Y @ np.r_[pi, x.robot.root_parameters], x.robot.base_wrench(*state, base), 1e-10)
    moved = pi * np.random.default_rng(2).uniform(0.5, 1.5, len(pi))
    if "load" in features(name):
        return  # friction that grows with the load is linear at one load only
    close(
        x.robot.regressor(*state, base) @ moved,
        x.robot.inverse_dynamics(*state, base=base, parameters=moved),
        1e-10,
    )
    close(
        Y[..., : len(pi)] @ (moved - pi),
        x.robot.base_wrench(*state, base, parameters=moved) - x.robot.base_wrench(*state, base),
        1e-10,
    )


@law("inverse_dynamics_derivatives", without=("twelve joints",))
def test_derivatives_on_a_moving_base_match_differences(name: str) -> None:
    x, _, base = both(name)
    by_q, by_qd, by_qdd = x.robot.inverse_dynamics_derivatives(x.q, x.qd, x.qdd, base=base)
    close(
        by_q,
        finite_difference(
            lambda q: x.robot.inverse_dynamics(q, x.qd, x.qdd, base=base), x.q, SHORT
        ),
        1e-10,
    )
    close(
        by_qd,
        finite_difference(
            lambda qd: x.robot.inverse_dynamics(x.q, qd, x.qdd, base=base), x.qd, SHORT
        ),
        1e-10,
    )
    close(by_qdd, x.robot.mass_matrix(x.q))


@law("forward_dynamics_derivatives", without=("no inertia", "twelve joints"))
def test_derivatives_of_accelerations_on_a_moving_base_match_differences(name: str) -> None:
    x, _, base = both(name)
    tau = x.robot.inverse_dynamics(x.q, x.qd, x.qdd, base=base)
    by_q, by_qd, by_tau = x.robot.forward_dynamics_derivatives(x.q, x.qd, tau, base=base)
    close(
        by_q,
        finite_difference(lambda q: x.robot.forward_dynamics(q, x.qd, tau, base=base), x.q, SHORT),
        1e-8,
    )
    close(
        by_qd,
        finite_difference(
            lambda qd: x.robot.forward_dynamics(x.q, qd, tau, base=base), x.qd, SHORT
        ),
        1e-8,
    )
    close(by_tau @ x.robot.mass_matrix(x.q), np.broadcast_to(np.eye(x.robot.n), by_tau.shape), 1e-9)


@law("free_forward_dynamics", without=("no inertia", "load", "twelve joints"))
def test_a_free_base_moves_as_the_root_of_a_gantry_that_no_one_drives(name: str) -> None:
    x, g, base = both(name)
    tau = np.concatenate([np.zeros((SAMPLES, 6)), x.tau], axis=-1)
    qdd = g.robot.forward_dynamics(g.q, g.qd, tau)
    result, felt = x.robot.free_forward_dynamics(x.q, x.qd, x.tau, base[:, 3:6])
    close(result, qdd[:, 6:], 1e-8)
    close(felt, g.base(qdd), 1e-8)
    close(x.robot.inverse_dynamics(x.q, x.qd, result, base=felt), x.tau, 1e-8)
    close(x.robot.base_wrench(x.q, x.qd, result, felt), np.zeros((SAMPLES, 6)), 1e-8)


@law("free_forward_dynamics", without=("no inertia", "load", "twelve joints"))
def test_a_wrench_moves_a_free_base(name: str) -> None:
    """A thruster on the root and a push at the last frame: what the support gave before."""
    x, _, base = both(name)
    h = {
        "base": np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2]),
        x.robot.frame_names[-1]: np.array([1.0, 2.0, -4.0, 0.1, 0.6, -0.5]),
    }
    qdd, felt = x.robot.free_forward_dynamics(x.q, x.qd, x.tau, base[:, 3:6], h)
    close(x.robot.inverse_dynamics(x.q, x.qd, qdd, h, felt), x.tau, 1e-8)
    close(x.robot.base_wrench(x.q, x.qd, qdd, felt, h), np.zeros((SAMPLES, 6)), 1e-8)
    on_root = x.robot.base_wrench(x.q, x.qd, qdd, felt) - x.robot.base_wrench(
        x.q, x.qd, qdd, felt, {"base": h["base"]}
    )
    close(on_root, np.broadcast_to(h["base"], (SAMPLES, 6)))


@law("inverse_dynamics", "regressor")
def test_gravity_can_be_given_at_run_time(name: str) -> None:
    x, g = case(name), np.array([1.0, -7.0, 4.0])
    base = np.r_[-g, np.zeros(6)]
    other = x.robot.with_gravity(g)
    close(
        x.robot.inverse_dynamics(x.q, x.qd, x.qdd, base=base),
        other.inverse_dynamics(x.q, x.qd, x.qdd),
        1e-10,
    )
    close(x.robot.regressor(x.q, x.qd, x.qdd, base), other.regressor(x.q, x.qd, x.qdd), 1e-10)


@law("free_forward_dynamics", having="load", refuses=True)
def test_load_on_a_free_base_is_refused(name: str) -> None:
    x = case(name)
    with pytest.raises(ModelError, match="load"):
        x.robot.free_forward_dynamics(x.q, x.qd, x.tau, np.zeros(3))


def test_a_base_that_is_no_motion_is_refused_in_words() -> None:
    x = case("lift")
    with pytest.raises(CallError, match=r"base.*\(\.\.\., 9\)|base.*9"):
        x.robot.inverse_dynamics(x.q, x.qd, x.qdd, base=np.zeros(6))
    light = sy.Robot(replace(x.robot.mechanism, links=(Link("base"), *x.robot.mechanism.links[1:])))
    with pytest.raises(ModelError, match="base has no inertia"):
        light.free_forward_dynamics(x.q, x.qd, x.tau, np.zeros(3))
    assert light.root_parameters.shape == (0,)
    assert light.base_wrench_regressor(x.q, x.qd, x.qdd).shape == (
        SAMPLES,
        6,
        len(light.parameters),
    )
