"""What controllers and observers need beside the lectures.

The rate of the momentum, and the torque of Slotine and Li.
"""

from __future__ import annotations

import numpy as np

from tests.laws.lectures.calculus import close, rate, times


def test_momentum_rate_is_what_the_momentum_does(robot, state):
    """dp/dt = tau + C^T qd - g - friction.

    The residual of a collision observer is zero without contact.
    """
    q, qd, qdd = state
    tau = robot.inverse_dynamics(q, qd, qdd)
    p = rate(lambda s: robot.momentum(q + s * qd + s * s / 2 * qdd, qd + s * qdd))
    close(robot.momentum_rate(q, qd, tau), p, 1e-7)
    close(
        robot.coriolis_transpose(q, qd),
        np.einsum("...ij,...i->...j", robot.coriolis_matrix(q, qd), qd),
    )


def test_slotine_li_torque_and_regressor(robot, state, rng):
    q, qd, qdd = state
    qrd = rng.uniform(-1, 1, q.shape)
    inertial, coriolis = times(robot.mass_matrix(q), qdd), times(robot.coriolis_matrix(q, qd), qrd)
    by_hand = inertial + coriolis + robot.gravity_torque(q) + robot.friction_torque(qd)
    close(robot.slotine_li_torque(q, qd, qrd, qdd), by_hand)
    close(robot.slotine_li_regressor(q, qd, qrd, qdd) @ robot.parameters, by_hand)
    close(robot.slotine_li_torque(q, qd, qd, qdd), robot.inverse_dynamics(q, qd, qdd))


def test_momentum_regressor(robot, state):
    q, qd, _ = state
    close(robot.momentum_regressor(q, qd) @ robot.parameters, robot.momentum(q, qd))
