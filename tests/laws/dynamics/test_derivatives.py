"""Derivatives of torques and accelerations, against differences of eighth order of the torques and accelerations themselves."""

from __future__ import annotations

from tests.laws.dynamics.law import close, law
from tests.reference import slope
from tests.zoo import case


@law("inverse_dynamics_derivatives", "inverse_dynamics")
def test_derivatives_of_torques_are_slopes_of_torques(name: str) -> None:
    x = case(name)
    by_q, by_qd, by_qdd = x.robot.inverse_dynamics_derivatives(x.q, x.qd, x.qdd)
    tau = x.robot.inverse_dynamics
    close(by_q, slope(lambda q: tau(q, x.qd, x.qdd), x.q), 1e-10)
    close(by_qd, slope(lambda qd: tau(x.q, qd, x.qdd), x.qd), 1e-10)
    close(by_qdd, slope(lambda qdd: tau(x.q, x.qd, qdd), x.qdd), 1e-10)


@law("forward_dynamics_derivatives", "forward_dynamics", without=("no inertia",))
def test_derivatives_of_accelerations_are_slopes_of_accelerations(name: str) -> None:
    x = case(name)
    by_q, by_qd, by_tau = x.robot.forward_dynamics_derivatives(x.q, x.qd, x.tau)
    qdd = x.robot.forward_dynamics
    close(by_q, slope(lambda q: qdd(q, x.qd, x.tau), x.q), 1e-9)
    close(by_qd, slope(lambda qd: qdd(x.q, qd, x.tau), x.qd), 1e-9)
    close(by_tau, slope(lambda tau: qdd(x.q, x.qd, tau), x.tau), 1e-9)
