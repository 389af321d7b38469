"""Torques, momenta and energies are linear in the parameters, which calls may replace."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import steelyard as sy
from steelyard.kernels import ALGORITHMS, kernel
from tests.laws.dynamics import running
from tests.laws.dynamics.law import NEED_MASS, close, law, runs
from tests.zoo import SAMPLES, Case, case, robot

METHODS = {
    name: (
        {"slotine_li": "slotine_li_torque", "friction_torque_at": "friction_torque"}.get(name, name)
    )
    for name in ALGORITHMS
}


def takes_parameters(algorithm: str) -> bool:
    method = getattr(sy.Robot, METHODS[algorithm], None)
    return method is not None and "parameters" in inspect.signature(method).parameters


PARAMETRIC = [name for name in ALGORITHMS if takes_parameters(name)]


def others(x: Case) -> np.ndarray:
    """Parameters of SAMPLES other robots, (SAMPLES, p).

    Every number changed, and no link without mass.
    """
    rng = np.random.default_rng(3)
    heavier = [
        0.5 * (name.endswith((".m", ".Ixx", ".Iyy", ".Izz"))) for name in x.robot.parameter_names
    ]
    return x.robot.parameters * rng.uniform(0.8, 1.2, (SAMPLES, len(heavier))) + heavier


def product(Y: np.ndarray, pi: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", Y, pi)


def as_heavy(x: Case) -> np.ndarray:
    """The same, with masses and centres as they are where friction grows with the load.

    It is linear in the parameters at one load.
    """
    weighs = [
        name.endswith((".m", ".mcx", ".mcy", ".mcz")) and ".Fl" in " ".join(x.robot.parameter_names)
        for name in x.robot.parameter_names
    ]
    return np.where(weighs, x.robot.parameters, others(x))


@law("regressor", "inverse_dynamics")
def test_torques_are_linear_in_the_parameters(name: str) -> None:
    x, state = case(name), (case(name).q, case(name).qd, case(name).qdd)
    Y = x.robot.regressor(*state)
    close(Y @ x.robot.parameters, x.tau)
    close(product(Y, as_heavy(x)), x.robot.inverse_dynamics(*state, parameters=as_heavy(x)))


@law("momentum_regressor", "momentum")
def test_momenta_are_linear_in_the_parameters(name: str) -> None:
    x = case(name)
    Y = x.robot.momentum_regressor(x.q, x.qd)
    close(Y @ x.robot.parameters, x.robot.momentum(x.q, x.qd))
    close(product(Y, others(x)), x.robot.momentum(x.q, x.qd, parameters=others(x)))


@law("momentum_rate_regressor", "momentum_rate")
def test_rates_of_momenta_are_linear_in_the_parameters(name: str) -> None:
    x = case(name)
    Y, still = x.robot.momentum_rate_regressor(x.q, x.qd), np.zeros_like(x.q)
    close(Y @ x.robot.parameters, x.robot.momentum_rate(x.q, x.qd, still))
    close(product(Y, as_heavy(x)), x.robot.momentum_rate(x.q, x.qd, still, parameters=as_heavy(x)))


@law("kinetic_energy_regressor", "potential_energy_regressor", "kinetic_energy", "potential_energy")
def test_energies_are_linear_in_the_parameters(name: str) -> None:
    x, pi = case(name), others(case(name))
    y = x.robot.energy_regressor(x.q, x.qd)
    close(y @ x.robot.parameters, x.robot.kinetic_energy(x.q, x.qd) + x.robot.potential_energy(x.q))
    total = x.robot.kinetic_energy(x.q, x.qd, parameters=pi) + x.robot.potential_energy(
        x.q, parameters=pi
    )
    close(np.sum(y * pi, axis=-1), total)


@law("slotine_li_regressor", "slotine_li")
def test_reference_torques_are_linear_in_the_parameters(name: str) -> None:
    x = case(name)
    state = running.inputs(x, "slotine_li")
    Y = x.robot.slotine_li_regressor(*state)
    close(Y @ x.robot.parameters, x.robot.slotine_li_torque(*state))
    close(product(Y, as_heavy(x)), x.robot.slotine_li_torque(*state, parameters=as_heavy(x)))


@law("regressor", "mass_matrix", "gravity_torque", "friction_torque_at")
def test_a_robot_with_other_parameters_is_that_robot(name: str) -> None:
    """`with_parameters` puts them into links and joints.

    There Lagrange finds what the kernels make of the vector.
    """
    x, pi = case(name), as_heavy(case(name))[0]
    changed = x.robot.with_parameters(pi)
    close(changed.parameters, pi, 1e-14)
    there = type(x.reference)(changed.mechanism, changed.joint_names)
    close(x.robot.regressor(x.q, x.qd, x.qdd) @ pi, there.torques(x.q, x.qd, x.qdd))
    close(x.robot.mass_matrix(x.q, parameters=pi), there.mass_matrix(x.q))
    close(x.robot.gravity_torque(x.q, parameters=pi), there.gravity_torque(x.q))
    close(x.robot.friction_torque(x.qd, x.q, parameters=pi), there.friction_torque(x.qd, x.q))


@law(*PARAMETRIC)
def test_parameters_in_a_call_are_those_of_another_robot(name: str) -> None:
    x, pi = case(name), others(case(name))[0]
    tree = x.robot.with_parameters(pi).tree
    for algorithm in (a for a in PARAMETRIC if runs(a, name)):
        arrays = running.inputs(x, algorithm)
        frame = running.frame_of(x, algorithm)
        result = kernel(x.robot.tree, algorithm, parameters=True, frame=frame)(*arrays, pi)
        expected = running.by_way(tree, algorithm, ALGORITHMS[algorithm].reference, arrays, frame)
        for a, b in zip(result if isinstance(result, tuple) else [result], expected, strict=True):
            close(a, b, 1e-9 if algorithm in NEED_MASS else 1e-11, algorithm)


def test_the_regressor_is_zero_where_a_joint_does_not_carry_the_body() -> None:
    """Block-triangular: on two arms a joint feels the links of its own arm only."""
    x = case("twins")
    Y, bodies = x.robot.regressor(x.q, x.qd, x.qdd), x.robot.tree.bodies
    for i, body in enumerate(bodies):
        carriers = {b.coordinate for b in bodies if body.name in x.reference.carried(b.name)}
        assert not Y[
            :, [k for k in range(x.robot.n) if k not in carriers], 10 * i : 10 * i + 10
        ].any()
        assert Y[:, sorted(carriers), 10 * i : 10 * i + 10].any()


def test_parameters_of_the_wrong_number_are_refused() -> None:
    with pytest.raises(sy.CallError, match=r"pi has 2 numbers; expected"):
        robot("lift").with_parameters([1.0, 2.0])
