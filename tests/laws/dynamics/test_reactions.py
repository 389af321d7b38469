"""What joints bear, and what wrenches of the environment do."""

from __future__ import annotations

import numpy as np

from tests.laws.dynamics.law import close, law
from tests.reference import finite_difference, shifted
from tests.zoo import Case, case


def wrenches(x: Case) -> np.ndarray:
    """A wrench on every body, (SAMPLES, bodies, 6)."""
    return np.random.default_rng(7).normal(size=(len(x.q), len(x.robot.body_names), 6)) * 5


def virtual_work(x: Case, wrench: np.ndarray) -> np.ndarray:
    """Sum of J^T h over the bodies."""
    J = x.reference.jacobians(x.q)
    return sum(
        np.einsum("...ij,...i->...j", J[body], wrench[:, i])
        for i, body in enumerate(x.robot.body_names)
    )


@law("wrench_torque", "inverse_dynamics")
def test_wrenches_act_through_the_jacobian(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(x.robot.wrench_torque(x.q, wrench), virtual_work(x, wrench))
    close(x.robot.inverse_dynamics(x.q, x.qd, x.qdd, wrench), x.tau - virtual_work(x, wrench))


def at_frames(x: Case) -> dict[str, np.ndarray]:
    """Wrenches at the first and last link, at the base, and at a link fixed to a body."""
    names = x.robot.frame_names
    chosen = [
        names[1],
        names[-1],
        "base",
        *[name for name in names if name.startswith("tool_")][:1],
    ]
    return {
        name: np.random.default_rng(k).normal(size=(len(x.q), 6)) * 5
        for k, name in enumerate(dict.fromkeys(chosen))
    }


@law("wrench_torque", "inverse_dynamics", "joint_reactions", "inverse_dynamics_derivatives")
def test_a_wrench_acts_at_the_frame_that_is_named(name: str) -> None:
    """J^T h of any frame, in torques, reactions and derivatives; the base takes what acts on it."""
    x, h, state = case(name), at_frames(case(name)), (case(name).q, case(name).qd, case(name).qdd)

    def work(q: np.ndarray) -> np.ndarray:
        J = x.reference.jacobians(q)
        return sum(np.einsum("...ij,...i->...j", J[frame], wrench) for frame, wrench in h.items())

    close(x.robot.wrench_torque(x.q, h), work(x.q))
    close(x.robot.inverse_dynamics(*state, h), x.tau - work(x.q))
    on_bodies = wrenches_on_bodies(x, h)
    close(x.robot.joint_reactions(*state, h), x.robot.joint_reactions(*state, on_bodies))
    with_wrench, without = (
        x.robot.inverse_dynamics_derivatives(*state, h),
        x.robot.inverse_dynamics_derivatives(*state),
    )
    close(with_wrench[0] - without[0], -finite_difference(work, x.q), 1e-10)
    close(np.stack(with_wrench[1:]), np.stack(without[1:]))


def wrenches_on_bodies(x: Case, h: dict[str, np.ndarray]) -> np.ndarray:
    """The same wrenches about the origins of the bodies, (SAMPLES, bodies, 6)."""
    X, total = x.reference.poses(x.q), np.zeros((len(x.q), len(x.robot.body_names), 6))
    for frame, wrench in h.items():
        owner = x.robot.tree.frames[frame].body
        if owner >= 0:
            total[:, owner] += shifted(
                wrench, X[frame][..., :3, 3] - X[x.robot.body_names[owner]][..., :3, 3]
            )
    return total


@law(
    "forward_dynamics", "forward_reactions", "forward_dynamics_derivatives", without=("no inertia",)
)
def test_accelerations_under_a_wrench_at_a_frame(name: str) -> None:
    x, h, state = case(name), at_frames(case(name)), (case(name).q, case(name).qd)
    tau = x.robot.inverse_dynamics(*state, x.qdd, h)
    close(x.robot.forward_dynamics(*state, tau, h), x.qdd, 1e-10)
    close(
        x.robot.forward_reactions(*state, tau, h), x.robot.joint_reactions(*state, x.qdd, h), 1e-10
    )
    by_q, by_qd, by_qdd = x.robot.inverse_dynamics_derivatives(*state, x.qdd, h)
    result = x.robot.forward_dynamics_derivatives(*state, tau, h)
    for derivative, expected in zip(
        result, (-by_q, -by_qd, np.broadcast_to(np.eye(x.robot.n), by_q.shape)), strict=True
    ):
        close(derivative, np.linalg.solve(by_qdd, expected), 1e-9)


@law("forward_dynamics", without=("no inertia",))
def test_forward_dynamics_feels_wrenches(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(
        x.robot.forward_dynamics(x.q, x.qd, x.tau - virtual_work(x, wrench), wrench), x.qdd, 1e-10
    )


@law("joint_reactions")
def test_joints_bear_the_rate_of_momentum_less_the_weight(name: str) -> None:
    x = case(name)
    result = x.robot.joint_reactions(x.q, x.qd, x.qdd)
    expected = [x.reference.reaction(x.q, x.qd, x.qdd, body) for body in x.robot.body_names]
    close(result, np.stack(expected, axis=1))


@law("joint_reactions")
def test_joints_need_not_bear_what_the_environment_gives(name: str) -> None:
    x = case(name)
    wrench, X = wrenches(x), x.reference.poses(x.q)
    change = x.robot.joint_reactions(x.q, x.qd, x.qdd) - x.robot.joint_reactions(
        x.q, x.qd, x.qdd, wrench
    )
    names = x.robot.body_names
    for i, body in enumerate(names):
        R, o = X[body][..., :3, :3], X[body][..., :3, 3]
        carried = [k for k, other in enumerate(names) if other in x.reference.carried(body)]
        total = sum(shifted(wrench[:, k], X[names[k]][..., :3, 3] - o) for k in carried)
        close(
            change[:, i],
            np.concatenate(
                [np.einsum("...ji,...j->...i", R, h) for h in np.split(total, 2, -1)], -1
            ),
        )


@law("joint_reactions", "inverse_dynamics", without=("rotor on moving link",))
def test_the_drive_bears_the_reaction_about_its_axis(name: str) -> None:
    """The residual of the torque is friction and what accelerates the rotor."""
    x = case(name)
    result, rigid = x.robot.joint_reactions(x.q, x.qd, x.qdd), np.zeros_like(x.tau)
    for i, body in enumerate(x.robot.tree.bodies):
        part = result[:, i, 3:] if body.kind == "revolute" else result[:, i, :3]
        rigid[:, body.coordinate] += body.multiplier * (part @ body.axis)
    close(rigid, x.tau - x.robot.friction_torque(x.qd, x.q) - x.reference.inertial_torque(x.qdd))


@law("forward_reactions", "joint_reactions", without=("no inertia",))
def test_reactions_under_torques_are_those_of_the_motion(name: str) -> None:
    x = case(name)
    wrench = wrenches(x)
    close(
        x.robot.forward_reactions(x.q, x.qd, x.tau),
        x.robot.joint_reactions(x.q, x.qd, x.qdd),
        1e-10,
    )
    tau = x.robot.inverse_dynamics(x.q, x.qd, x.qdd, wrench)
    close(
        x.robot.forward_reactions(x.q, x.qd, tau, wrench),
        x.robot.joint_reactions(x.q, x.qd, x.qdd, wrench),
        1e-10,
    )
