"""The lecture "Dynamics: structure and identification", page by page."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from tests.laws.lectures.calculus import close, gradient, rate, skew, times


def test_the_acceleration_of_a_body_has_the_rate_of_the_jacobian(robot, state):
    """v_i = J_i qd and a_i = J_i qdd + dJ_i/dt qd, with dJ_i/dt the change of J_i along the
    motion.
    """
    for body in robot.tree.bodies:
        check_acceleration(robot, body.name, *state)


def check_acceleration(
    robot: sy.Robot, frame: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> None:
    def position(s: float) -> np.ndarray:
        return q + s * qd + s * s / 2 * qdd

    J, Jd = robot.jacobian(q, frame), robot.jacobian_rate(q, qd, frame)
    close(rate(lambda s: robot.jacobian(position(s), frame)), Jd, 1e-8)
    close(
        rate(lambda s: robot.forward_kinematics(position(s), frame)[..., :3, 3]),
        times(J, qd)[..., :3],
        1e-8,
    )
    close(
        rate(lambda s: times(robot.jacobian(position(s), frame), qd + s * qdd)),
        times(J, qdd) + times(Jd, qd),
        1e-8,
    )


def test_mass_coriolis_and_gravity_are_sums_over_the_bodies(robot, state):
    """H = sum of J^T I J, C = sum of J^T (I dJ/dt + ...), tau_g = - sum of m J^T g.

    H rate less twice this C is skew.

    About the centres of mass, in the base frame: C_i = m Jv^T dJv + Jw^T (I dJw + S(w) I Jw).
    """
    q, qd, _ = state
    plain = robot.without_friction().with_rotors(0.0)
    H, C, gravity = (
        np.zeros((16, robot.n, robot.n)),
        np.zeros((16, robot.n, robot.n)),
        np.zeros((16, robot.n)),
    )
    for body in plain.tree.bodies:
        m, I, Jv, Jw, Jvd, Jwd = about_the_centre_of_mass(plain, body, q, qd)  # noqa: E741
        w = times(Jw, qd)
        back = [np.swapaxes(J, -1, -2) for J in (Jv, Jw)]
        H += m * back[0] @ Jv + back[1] @ I @ Jw
        C += m * back[0] @ Jvd + back[1] @ (I @ Jwd + skew(w) @ I @ Jw)
        gravity -= m * times(back[0], np.broadcast_to(plain.gravity, (16, 3)))
    close(H, plain.mass_matrix(q))
    close(times(C, qd), times(plain.coriolis_matrix(q, qd), qd))
    close(gravity, plain.gravity_torque(q))
    S = rate(lambda s: plain.mass_matrix(q + s * qd)) - 2 * C
    close(S, -np.swapaxes(S, -1, -2), 1e-8)


def about_the_centre_of_mass(robot: sy.Robot, body, q, qd):
    """Mass, inertia in the base frame, Jv, Jw and their rates, of a body's centre of mass.

    Of its origin if it has no mass.
    """
    m, c, I = body.inertia.m, np.zeros(3), body.inertia.I  # noqa: E741
    R = robot.forward_kinematics(q, body.name)[..., :3, :3]
    matrix = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]])
    if m:
        c = np.array(body.inertia.h) / m
        matrix = matrix - m * (c @ c * np.eye(3) - np.outer(c, c))
    J, Jd = robot.jacobian(q, body.name), robot.jacobian_rate(q, qd, body.name)
    (Jv, Jw), (Jvd, Jwd) = (np.split(x, 2, axis=-2) for x in (J, Jd))
    arm = R @ c
    swing = np.cross(times(Jw, qd), arm)
    return (
        m,
        R @ matrix @ np.swapaxes(R, -1, -2),
        Jv - skew(arm) @ Jw,
        Jw,
        Jvd - skew(swing) @ Jw - skew(arm) @ Jwd,
        Jwd,
    )


def test_a_column_of_the_regressor_is_the_torque_of_a_unit_parameter(robot, state):
    """y_ik is what the recursion gives for the inertia K_k of body i while all others are zero."""
    Y = robot.regressor(*state)
    for k, unit in enumerate(np.eye(len(robot.parameters))):
        close(robot.inverse_dynamics(*state, parameters=unit), Y[..., k])


def test_torque_is_the_sum_over_bodies_of_j_transpose_f(robot, state):
    """tau = sum of J_i^T (I_i a_i + v_i x I_i v_i).

    Each body's columns of the regressor, taken alone.
    """
    Y = robot.regressor(*state)
    bodies = [
        Y[..., 10 * i : 10 * i + 10] @ robot.parameters[10 * i : 10 * i + 10]
        for i in range(robot.n)
    ]
    smooth = robot.without_friction().with_rotors(0.0)
    close(sum(bodies), smooth.inverse_dynamics(*state))


def test_gravity_is_the_gradient_of_the_potential(robot, state):
    """Exercise: grad V = tau_g, T = qd^T H qd / 2."""
    q, qd, _ = state
    close(gradient(robot.potential_energy, q), robot.gravity_torque(q), 1e-8)
    close(np.sum(qd * times(robot.mass_matrix(q), qd), -1) / 2, robot.kinetic_energy(q, qd))


def test_property_4_christoffel_symbols_give_the_coriolis_matrix(robot, state):
    q, qd, _ = state
    c = robot.christoffel(q)
    close(np.einsum("...ijk,...k->...ij", c, qd), robot.coriolis_matrix(q, qd))
    # dM_ij/dq_k
    derivative = np.stack(
        [rate(lambda s, e=e: robot.mass_matrix(q + s * e)) for e in np.eye(robot.n)], axis=-1
    )
    by_hand = (derivative + np.swapaxes(derivative, -1, -2) - np.moveaxis(derivative, -1, -3)) / 2
    close(c, by_hand, 1e-8)


def test_property_5_every_valid_c_keeps_the_energy(robot, state):
    """qd^T (dH/dt - 2 C) qd = 0 also for a C that is not the Christoffel one."""
    q, qd, _ = state
    C = robot.coriolis_matrix(q, qd)
    # null @ qd = 0
    null = np.eye(robot.n) * np.sum(qd * qd, -1)[:, None, None] - qd[:, :, None] * qd[:, None, :]
    Mdot = rate(lambda s: robot.mass_matrix(q + s * qd))
    for valid in (C, C + null):
        close(times(valid, qd), times(C, qd))
        close(np.sum(qd * times(Mdot - 2 * valid, qd), -1), np.zeros(len(q)), 1e-7)


def test_property_6_only_special_choices_are_skew(robot, state):
    q, qd, _ = state
    C = robot.coriolis_matrix(q, qd)
    null = np.eye(robot.n) * np.sum(qd * qd, -1)[:, None, None] - qd[:, :, None] * qd[:, None, :]
    S = rate(lambda s: robot.mass_matrix(q + s * qd)) - 2 * (C + null)
    assert np.abs(S + np.swapaxes(S, -1, -2)).max() > 1e-3


def test_a_good_model_need_not_have_the_true_parameters(robot, state):
    """Q is only positive semidefinite.

    Parameters can move in the null space of Y and no torque changes.
    """
    rng = np.random.default_rng(1)
    Y = robot.regressor(*rng.uniform(-3, 3, (3, 400, robot.n))).reshape(-1, len(robot.parameters))
    null = np.linalg.svd(Y)[2][-1]
    moved = robot.parameters + null
    close(robot.inverse_dynamics(*state, parameters=moved), robot.inverse_dynamics(*state))


def test_least_squares_is_a_quadratic_program_with_a_semidefinite_matrix(robot, state):
    """1/2 pi^T Q pi + c^T pi with Q = sum of Y^T Y, c = - sum of Y^T tau.

    Any minimiser gives the torques, as many are as Q has zeros.
    """
    rng = np.random.default_rng(2)
    motion = rng.uniform(-3, 3, (3, 300, robot.n))
    Y = robot.regressor(*motion).reshape(-1, len(robot.parameters))
    size = np.linalg.norm(Y, axis=0)
    scale = np.where(size > 1e-9, size, 1.0)  # so that units do not decide the rank
    Q, c = (Y / scale).T @ (Y / scale), -(Y / scale).T @ robot.inverse_dynamics(*motion).ravel()
    values = np.linalg.eigvalsh(Q)
    assert values.min() > -1e-9 * values.max()
    base = sy.base_parameters(robot)
    assert np.sum(values > 1e-12 * values.max()) == base.n_base < len(scale)
    result = -np.linalg.pinv(Q, rcond=1e-11, hermitian=True) @ c / scale
    close(robot.inverse_dynamics(*state, parameters=result), robot.inverse_dynamics(*state), 1e-5)
