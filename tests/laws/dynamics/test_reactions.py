"""What joints bear, and what wrenches of the environment do."""

from __future__ import annotations

import numpy as np

from tests.laws.dynamics.law import close, law
from tests.reference import shifted
from tests.zoo import Case, case


def wrenches(x: Case) -> np.ndarray:
    """A wrench on every body, (SAMPLES, bodies, 6)."""
    return np.random.default_rng(7).normal(size=(len(x.q), len(x.robot.tree.bodies), 6)) * 5


def virtual_work(x: Case, wrench: np.ndarray) -> np.ndarray:
    """Sum of J^T h over the bodies."""
    J = x.reference.jacobians(x.q)
    return sum(np.einsum("...ij,...i->...j", J[body.name], wrench[:, i]) for i, body in enumerate(x.robot.tree.bodies))


@law("wrench_torque", "inverse_dynamics")
def test_wrenches_act_through_the_jacobian(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(x.robot.wrench_torque(x.q, wrench), virtual_work(x, wrench))
    close(x.robot.inverse_dynamics(x.q, x.qd, x.qdd, wrench), x.tau - virtual_work(x, wrench))


@law("forward_dynamics", without=("no inertia",))
def test_forward_dynamics_feels_wrenches(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(x.robot.forward_dynamics(x.q, x.qd, x.tau - virtual_work(x, wrench), wrench), x.qdd, 1e-10)


@law("joint_reactions")
def test_joints_bear_the_rate_of_momentum_less_the_weight(name: str) -> None:
    x = case(name)
    found = x.robot.joint_reactions(x.q, x.qd, x.qdd)
    expected = [x.reference.reaction(x.q, x.qd, x.qdd, body.name) for body in x.robot.tree.bodies]
    close(found, np.stack(expected, axis=1))


@law("joint_reactions")
def test_joints_need_not_bear_what_the_environment_gives(name: str) -> None:
    x = case(name)
    wrench, X = wrenches(x), x.reference.poses(x.q)
    change = x.robot.joint_reactions(x.q, x.qd, x.qdd) - x.robot.joint_reactions(x.q, x.qd, x.qdd, wrench)
    names = [body.name for body in x.robot.tree.bodies]
    for i, body in enumerate(names):
        R, o = X[body][..., :3, :3], X[body][..., :3, 3]
        carried = [k for k, other in enumerate(names) if other in x.reference.carried(body)]
        total = sum(shifted(wrench[:, k], X[names[k]][..., :3, 3] - o) for k in carried)
        close(change[:, i], np.concatenate([np.einsum("...ji,...j->...i", R, h) for h in np.split(total, 2, -1)], -1))


@law("joint_reactions", "inverse_dynamics", without=("rotor on moving link",))
def test_the_drive_bears_the_reaction_about_its_axis(name: str) -> None:
    """What is left of the torque is friction and what accelerates the rotor."""
    x = case(name)
    found, rigid = x.robot.joint_reactions(x.q, x.qd, x.qdd), np.zeros_like(x.tau)
    for i, body in enumerate(x.robot.tree.bodies):
        part = found[:, i, 3:] if body.kind == "revolute" else found[:, i, :3]
        rigid[:, body.coordinate] += body.multiplier * (part @ body.axis)
    armature = np.array([terms.get("armature", 0.0) for terms in x.robot.tree.terms])
    close(rigid, x.tau - x.robot.friction_torque(x.qd) - armature * x.qdd)


@law("forward_reactions", "joint_reactions", without=("no inertia", "mimic", "rotor on moving link"))
def test_reactions_under_torques_are_those_of_the_motion(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(x.robot.forward_reactions(x.q, x.qd, x.tau), x.robot.joint_reactions(x.q, x.qd, x.qdd), 1e-10)
    tau = x.robot.inverse_dynamics(x.q, x.qd, x.qdd, wrench)
    close(x.robot.forward_reactions(x.q, x.qd, tau, wrench), x.robot.joint_reactions(x.q, x.qd, x.qdd, wrench), 1e-10)
