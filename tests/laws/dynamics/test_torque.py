"""Torques and accelerations."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from tests.laws.dynamics.law import close, law
from tests.zoo import case


@law("inverse_dynamics")
def test_inverse_dynamics_is_what_lagrange_gives(name: str) -> None:
    x = case(name)
    close(x.tau, x.reference.torques(x.q, x.qd, x.qdd))


@law("friction_torque_at")
def test_friction_is_that_of_each_joint(name: str) -> None:
    """Also at rest, where sign(0) = 0 leaves the offsets, and at one sign of every rate."""
    x = case(name)
    for qd in (x.qd, np.zeros_like(x.qd), np.abs(x.qd), -np.abs(x.qd)):
        close(x.robot.friction_torque(qd, x.q), x.reference.friction_torque(qd, x.q))


@law("friction_torque", "friction_torque_at", without=("gear", "load"))
def test_friction_that_depends_on_rates_alone_needs_no_position(name: str) -> None:
    x = case(name)
    close(x.robot.friction_torque(x.qd), x.robot.friction_torque(x.qd, x.q))


@law("friction_torque", having="gear", refuses=True)
def test_friction_that_depends_on_the_position_asks_for_it(name: str) -> None:
    with pytest.raises(sy.CallError, match=r"friction depends on .*R1s.* give q too"):
        case(name).robot.friction_torque(case(name).qd)


@law("friction_torque", having="load", refuses=True)
def test_friction_that_depends_on_the_load_asks_for_the_position(name: str) -> None:
    with pytest.raises(sy.CallError, match=r"friction depends on load.*arm.Fl.* give q too"):
        case(name).robot.friction_torque(case(name).qd)


@law("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity_torque", "friction_torque_at")
def test_terms_add_up(name: str) -> None:
    """tau = M qdd + C qd + g + friction."""
    x = case(name)
    inertial = np.einsum("...ij,...j->...i", x.robot.mass_matrix(x.q), x.qdd)
    centrifugal = np.einsum("...ij,...j->...i", x.robot.coriolis_matrix(x.q, x.qd), x.qd)
    close(
        x.tau,
        inertial + centrifugal + x.robot.gravity_torque(x.q) + x.robot.friction_torque(x.qd, x.q),
    )


@law("mass_matrix", "inverse_dynamics")
def test_mass_matrix_holds_torques_of_unit_accelerations(name: str) -> None:
    x = case(name)
    rest = x.robot.inverse_dynamics(x.q, x.qd, np.zeros_like(x.q))
    columns = [
        x.robot.inverse_dynamics(x.q, x.qd, np.broadcast_to(e, x.q.shape)) - rest
        for e in np.eye(x.robot.n)
    ]
    close(np.stack(columns, axis=-1), x.robot.mass_matrix(x.q))


@law("forward_dynamics", "inverse_dynamics", without=("no inertia",))
def test_forward_dynamics_undoes_inverse_dynamics(name: str) -> None:
    x = case(name)
    close(x.robot.forward_dynamics(x.q, x.qd, x.tau), x.qdd, 1e-10)
    qdd = x.robot.forward_dynamics(x.q, x.qd, x.qdd)
    close(x.robot.inverse_dynamics(x.q, x.qd, qdd), x.qdd, 1e-10)


@law(
    "forward_dynamics",
    "forward_reactions",
    "forward_dynamics_derivatives",
    "free_forward_dynamics",
    having="no inertia",
    refuses=True,
)
def test_a_joint_that_moves_nothing_is_named(name: str) -> None:
    """M is singular; a rotor makes it regular."""
    x = case(name)
    for method in (
        x.robot.forward_dynamics,
        x.robot.forward_reactions,
        x.robot.forward_dynamics_derivatives,
    ):
        with pytest.raises(sy.ModelError, match="no mass moves with swivel"):
            method(x.q, x.qd, x.tau)
    with pytest.raises(sy.ModelError, match="no mass moves with swivel"):
        x.robot.free_forward_dynamics(x.q, x.qd, x.tau, np.zeros(3))
    driven = x.robot.with_rotors({"swivel": 0.2})
    close(
        driven.forward_dynamics(x.q, x.qd, driven.inverse_dynamics(x.q, x.qd, x.qdd)), x.qdd, 1e-10
    )


@law("slotine_li", "inverse_dynamics")
def test_reference_torque_is_split_by_the_coriolis_matrix(name: str) -> None:
    """M qrdd + C qrd + g + friction(qd), which is inverse dynamics for qrd = qd."""
    x = case(name)
    qrd, qrdd = x.qd[::-1] * 0.7, x.qdd[::-1] * 1.3
    inertial = np.einsum("...ij,...j->...i", x.robot.mass_matrix(x.q), qrdd)
    centrifugal = np.einsum("...ij,...j->...i", x.robot.coriolis_matrix(x.q, x.qd), qrd)
    parts = (
        inertial + centrifugal + x.robot.gravity_torque(x.q) + x.robot.friction_torque(x.qd, x.q)
    )
    close(x.robot.slotine_li_torque(x.q, x.qd, qrd, qrdd), parts)
    close(x.robot.slotine_li_torque(x.q, x.qd, x.qd, x.qdd), x.tau)
