"""Energy, momentum and the matrices that belong to them."""

from __future__ import annotations

import numpy as np

from tests.laws.dynamics.law import close, law
from tests.reference import along, finite_difference, rate
from tests.zoo import case, features


@law("kinetic_energy", "potential_energy")
def test_energies_are_those_of_the_links(name: str) -> None:
    x = case(name)
    close(x.robot.kinetic_energy(x.q, x.qd), x.reference.kinetic_energy(x.q, x.qd))
    close(x.robot.potential_energy(x.q), x.reference.potential_energy(x.q))


@law("mass_matrix", "momentum", "kinetic_energy")
def test_mass_matrix_is_the_sum_over_links(name: str) -> None:
    """M = sum of J^T I J, p = M qd, T = qd^T M qd / 2."""
    x = case(name)
    M = x.reference.mass_matrix(x.q)
    close(x.robot.mass_matrix(x.q), M)
    close(x.robot.momentum(x.q, x.qd), np.einsum("...ij,...j->...i", M, x.qd))
    close(x.robot.kinetic_energy(x.q, x.qd), np.einsum("...i,...ij,...j->...", x.qd, M, x.qd) / 2)


@law("mass_matrix")
def test_mass_matrix_is_symmetric_and_positive(name: str) -> None:
    """Positive definite; with a joint that moves nothing only semidefinite."""
    x = case(name)
    M = x.robot.mass_matrix(x.q)
    close(M, np.swapaxes(M, -1, -2), 1e-14)
    least = np.linalg.eigvalsh(M).min()
    assert abs(least) < 1e-12 if "no inertia" in features(name) else least > 0.0


@law("gravity_torque", "potential_energy")
def test_gravity_torque_is_the_gradient_of_potential_energy(name: str) -> None:
    x = case(name)
    close(x.robot.gravity_torque(x.q), x.reference.gravity_torque(x.q))
    close(x.robot.gravity_torque(x.q), finite_difference(x.robot.potential_energy, x.q))


@law("christoffel", "coriolis_matrix")
def test_christoffel_symbols_are_derivatives_of_the_mass_matrix(name: str) -> None:
    x = case(name)
    symbols = x.reference.christoffel(x.q)
    close(x.robot.christoffel(x.q), symbols)
    close(x.robot.coriolis_matrix(x.q, x.qd), np.einsum("...ijk,...k->...ij", symbols, x.qd))


@law("coriolis_matrix", "mass_matrix")
def test_mass_rate_less_twice_coriolis_is_skew(name: str) -> None:
    x = case(name)
    C = x.robot.coriolis_matrix(x.q, x.qd)
    close(rate(lambda s: x.robot.mass_matrix(x.q + s * x.qd)) - C, np.swapaxes(C, -1, -2))


@law("coriolis_transpose", "coriolis_matrix", "kinetic_energy")
def test_coriolis_transpose_is_the_gradient_of_kinetic_energy(name: str) -> None:
    x = case(name)
    result = x.robot.coriolis_transpose(x.q, x.qd)
    close(result, finite_difference(lambda q: x.robot.kinetic_energy(q, x.qd), x.q))
    close(result, np.einsum("...ji,...j->...i", x.robot.coriolis_matrix(x.q, x.qd), x.qd))


@law("momentum_rate", "momentum", "inverse_dynamics")
def test_momentum_changes_at_its_rate(name: str) -> None:
    x = case(name)
    close(x.robot.momentum_rate(x.q, x.qd, x.tau), along(x.q, x.qd, x.qdd, x.robot.momentum))


@law("inverse_dynamics", "kinetic_energy", "potential_energy", "friction_torque_at")
def test_power_is_the_rate_of_energy_and_what_friction_takes(name: str) -> None:
    x = case(name)
    stored = along(
        x.q, x.qd, x.qdd, lambda q, qd: x.robot.kinetic_energy(q, qd) + x.robot.potential_energy(q)
    )
    close(
        np.sum(x.qd * x.tau, axis=-1),
        stored + np.sum(x.qd * x.robot.friction_torque(x.qd, x.q), axis=-1),
    )
