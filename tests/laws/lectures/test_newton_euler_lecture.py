"""The lecture "Newton-Euler formulation and dynamic parameter identification", slide by slide."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from tests.laws.lectures.calculus import axial, close, gradient, rate, times, transposed_times


def test_property_1_the_mass_matrix_is_symmetric_and_positive(robot, state):
    M = robot.mass_matrix(state[0])
    assert np.array_equal(M, np.swapaxes(M, -1, -2))
    assert np.linalg.eigvalsh(M).min() > 0


def test_property_2_b_dot_minus_2c_is_skew(robot, state):
    q, qd, _ = state
    C = robot.coriolis_matrix(q, qd)
    close(rate(lambda s: robot.mass_matrix(q + s * qd)), C + np.swapaxes(C, -1, -2), 1e-8)


def test_energy_is_conserved_without_friction_and_torque(robot, state):
    """dE/dt = qd . tau; with tau = 0 the total energy is constant."""
    q, qd, _ = state
    free = robot.without_friction()
    qdd = free.forward_dynamics(q, qd, np.zeros_like(q))

    def energy(s: float) -> np.ndarray:
        qs = q + s * qd + s * s / 2 * qdd
        return free.kinetic_energy(qs, qd + s * qdd) + free.potential_energy(qs)

    close(rate(energy), np.zeros(len(q)), 1e-6)


def test_wrenches_and_friction_enter_the_energy_balance(robot, state, rng):
    """dE/dt = qd^T (tau - J^T h_e - friction).

    A wrench delivers the product of wrench and twist of the link that it acts on.
    """
    q, qd, tau = state[0], state[1], 20 * state[2]
    wrench = rng.normal(size=(16, len(robot.tree.bodies), 6)) * 30
    qdd = robot.forward_dynamics(q, qd, tau, wrench)
    twists = np.stack([twist(robot, body.name, q, qd) for body in robot.tree.bodies], axis=1)
    delivered = np.sum(wrench * twists, axis=(1, 2))
    close(np.sum(qd * robot.wrench_torque(q, wrench), -1), delivered, 1e-8)
    motors, losses = np.sum(qd * tau, -1), np.sum(qd * robot.friction_torque(qd), -1)

    def energy(s: float) -> np.ndarray:
        qs = q + s * qd + s * s / 2 * qdd
        return robot.kinetic_energy(qs, qd + s * qdd) + robot.potential_energy(qs)

    close(rate(energy), motors + delivered - losses, 1e-7)
    assert np.abs(delivered).min() > 1e-3, "the wrenches must matter"


def twist(robot: sy.Robot, frame: str, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Linear and angular velocity of a frame in the base frame, from its pose alone: (..., 6)."""
    X, Xd = (
        robot.forward_kinematics(q, frame),
        rate(lambda s: robot.forward_kinematics(q + s * qd, frame)),
    )
    return np.concatenate(
        [Xd[..., :3, 3], axial(Xd[..., :3, :3] @ np.swapaxes(X[..., :3, :3], -1, -2))], axis=-1
    )


def test_property_3_torques_are_linear_in_the_parameters(robot, state, rng):
    Y = robot.regressor(*state)
    close(Y @ robot.parameters, robot.inverse_dynamics(*state))
    other = robot.parameters * rng.uniform(0.5, 1.5, len(robot.parameters))
    close(Y @ other, robot.inverse_dynamics(*state, parameters=other))


def test_link_energies_are_linear_in_the_parameters(robot, state):
    """T_i = a_T^T theta_i, U_i = a_U^T theta_i."""
    q, qd, _ = state
    close(
        robot.energy_regressor(q, qd) @ robot.parameters,
        robot.kinetic_energy(q, qd) + robot.potential_energy(q),
    )


def test_lagrange_equations_give_the_torques(robot, state):
    """d/dt dL/dqd - dL/dq = tau, with momentum dL/dqd = M qd."""
    q, qd, qdd = state
    momentum = rate(lambda s: robot.momentum(q + s * qd + s * s / 2 * qdd, qd + s * qdd))
    derivative = gradient(lambda x: robot.kinetic_energy(x, qd) - robot.potential_energy(x), q)
    close(
        momentum - derivative + robot.friction_torque(qd), robot.inverse_dynamics(q, qd, qdd), 1e-7
    )


def test_the_regressor_is_block_triangular(robot, state):
    """y_ij = 0 for j < i: a joint does not feel the links before it."""
    Y = robot.regressor(*state)
    for i in range(robot.n):
        assert not Y[:, i, : 10 * i].any()


def test_some_columns_vanish_and_some_depend_on_others(robot, rng):
    """Base parameters: the rank is below the number of columns."""
    Y = robot.regressor(*rng.uniform(-3, 3, (3, 400, robot.n))).reshape(-1, len(robot.parameters))
    assert np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y, 2)) < Y.shape[1]


def test_friction_adds_two_parameters_a_joint(robot, state):
    rubbing = robot.without_friction().with_friction(viscous=0.5, coulomb=0.7)
    close(rubbing.friction_torque(state[1]), 0.5 * state[1] + 0.7 * np.sign(state[1]))
    names = [name for name in rubbing.parameter_names if name.split(".")[1] in ("Fv", "Fc")]
    assert len(names) == 2 * robot.n


def test_a_payload_changes_the_last_link_by_its_own_parameters():
    """m -> m + m_L, m r -> m r + m_L r_L, I -> I + I_L in the same frame."""
    robot = sy.load("elbow_6r")
    link = robot.tree.bodies[-1].name
    loaded = robot.with_payload(
        2.0, com=(0.1, -0.05, 0.2), inertia=np.diag([0.02, 0.03, 0.04]), frame=link
    )
    change = loaded.parameters - robot.parameters
    x, y, z = 0.1, -0.05, 0.2
    turned = [
        0.02 + 2 * (y * y + z * z),
        -2 * x * y,
        -2 * x * z,
        0.03 + 2 * (x * x + z * z),
        -2 * y * z,
        0.04 + 2 * (x * x + y * y),
    ]
    expected = [2, 2 * x, 2 * y, 2 * z, *turned]
    np.testing.assert_allclose(change[50:60], expected, atol=1e-12)
    assert not change[:50].any()
    assert not change[60:].any()


def test_newton_euler_gives_every_term(robot, state):
    """g = NE(q, 0, 0; g0), C qd = NE(q, qd, 0; 0), B_i = NE(q, 0, e_i; 0), p = NE(q, 0, qd; 0)."""
    q, qd, _ = state
    smooth = robot.without_friction()
    weightless, zero = smooth.with_gravity((0.0, 0.0, 0.0)), np.zeros_like(q)
    close(smooth.inverse_dynamics(q, zero, zero), robot.gravity_torque(q))
    close(weightless.inverse_dynamics(q, qd, zero), times(robot.coriolis_matrix(q, qd), qd))
    columns = [
        weightless.inverse_dynamics(q, zero, np.broadcast_to(e, q.shape)) for e in np.eye(robot.n)
    ]
    close(np.stack(columns, axis=-1), robot.mass_matrix(q))
    close(weightless.inverse_dynamics(q, zero, qd), robot.momentum(q, qd))


def test_the_end_effector_wrench_costs_j_transpose_h(robot, state, rng):
    """B qdd + C qd + g + friction = tau - J^T h_e, where h_e is what the robot applies.

    The environment gives -h_e.
    """
    h = rng.normal(size=(16, 6))
    last = robot.tree.bodies[-1].name
    wrench = np.zeros((16, robot.n, 6))
    wrench[:, -1] = -h
    J = robot.jacobian(state[0], last)
    extra = transposed_times(J, h)
    close(robot.inverse_dynamics(*state, wrench), robot.inverse_dynamics(*state) + extra)
    close(robot.wrench_torque(state[0], wrench), -extra)


def test_direct_dynamics_undoes_inverse_dynamics(robot, state):
    q, qd, qdd = state
    close(robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, qdd)), qdd, 1e-9)


def test_reactions_hold_the_torque_and_the_weight(robot, state):
    """tau_i = mu_i . z (or f_i . z) + rotor + friction.

    At rest the first joint bears the robot's weight.
    """
    q, qd, qdd = state
    f = robot.joint_reactions(q, qd, qdd)
    axes = np.array([body.axis for body in robot.tree.bodies])
    turning = np.array([body.kind == "revolute" for body in robot.tree.bodies])
    along = np.where(turning, np.sum(f[..., 3:] * axes, -1), np.sum(f[..., :3] * axes, -1))
    rotors = np.array([terms.get("armature", 0.0) for terms in robot.tree.terms])
    close(along + rotors * qdd + robot.friction_torque(qd), robot.inverse_dynamics(q, qd, qdd))
    zero = np.zeros_like(q)
    weight = sum(body.inertia.m for body in robot.tree.bodies) * np.linalg.norm(robot.gravity)
    close(np.linalg.norm(robot.joint_reactions(q, zero, zero)[:, 0, :3], axis=-1), weight)
