"""The closed form obeys mechanics symbolically, and is the same robot as the algorithms on plain
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import steelyard as sy
from steelyard.closed_form import Symbolic, symbolic
from steelyard.closed_form.naming import PARAMETERS
from steelyard.closed_form.regressor_columns import sampled_columns
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.energy import kinetic_energy
from steelyard.dynamics.gravity import gravity_torque, potential_energy
from steelyard.dynamics.joint_torques import friction_torque
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.mechanism.tree import Tree
from tests.random_robots import random_tree

ARMS = ["planar_2r", "planar_rp", "spatial_3r"]
ALGORITHMS: dict[str, Callable] = {
    "T": lambda tree, q, qd, qdd: kinetic_energy(tree, q, qd),
    "U": lambda tree, q, qd, qdd: potential_energy(tree, q),
    "M": lambda tree, q, qd, qdd: mass_matrix(tree, q),
    "C": lambda tree, q, qd, qdd: coriolis_matrix(tree, q, qd),
    "g": lambda tree, q, qd, qdd: gravity_torque(tree, q),
    "friction": lambda tree, q, qd, qdd: friction_torque(tree, qd, q),
    "tau": inverse_dynamics,
    "Y": regressor,
}


def model_of(name: str, **options: object) -> Symbolic:
    return symbolic(sy.load(name).tree, name, **options)


def vanishes(expression: sp.Expr) -> bool:
    """Whether an expression is zero, by exponentials.

    They make products of sines and cosines sums of independent functions.
    """
    return sp.expand(sp.expand(expression).rewrite(sp.exp)) == 0


def all_vanish(matrix: sp.Matrix) -> bool:
    return all(vanishes(x) for x in matrix)


def agrees(model: Symbolic, tree: Tree, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, tree.n))
    for quantity, algorithm in ALGORITHMS.items():
        expected = np.array(algorithm(tree, list(q), list(qd), list(qdd)), dtype=float)
        got = model.evaluate(quantity, q, qd, qdd)
        assert got.shape == expected.shape, quantity
        assert np.abs(got - expected).max() <= 1e-11 * max(np.abs(expected).max(), 1.0), quantity


# the same robot
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["expanded", "terms"])
@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("name", ARMS)
def test_closed_form_equals_the_algorithms(
    name: str, parameters: str, form: str, rng: np.random.Generator
) -> None:
    agrees(model_of(name, parameters=parameters, form=form), sy.load(name).tree, rng)


@pytest.mark.parametrize(("source", "parameters"), [
    ("puma560", "symbolic"), ("puma560", "numeric"),
    ("ur_description/urdf/ur5_robot.urdf", "barycentric"),
    ("panda_description/urdf/panda.urdf", "symbolic"),
])  # fmt: skip
def test_named_terms_equal_the_algorithms(
    source: str, parameters: str, example_robots: Path, rng: np.random.Generator
) -> None:
    robot = sy.load(example_robots / source if source.endswith("urdf") else source)
    model = symbolic(robot.tree, robot.name, parameters=parameters)
    assert len(model.terms) < 300 * robot.n, (
        "terms must grow with the arm, not with its expanded form"
    )
    agrees(model, robot.tree, rng)


@pytest.mark.parametrize(
    ("bodies", "tied", "seed"),
    [(1, False, 0), (2, False, 0), (2, False, 1), (3, True, 2), (3, True, 3), (4, True, 4)],
)
def test_random_trees(bodies: int, tied: bool, seed: int, rng: np.random.Generator) -> None:
    """Any axes, branches, slides, ties, rotors and friction."""
    tree = random_tree(np.random.default_rng([bodies, seed]), bodies, tied=tied)
    agrees(symbolic(tree, "random", parameters="all"), tree, rng)


def test_expanding_the_terms_gives_the_expanded_form() -> None:
    terms, expanded = model_of("spatial_3r", form="terms"), model_of("spatial_3r")
    assert terms.terms
    assert not expanded.terms
    for quantity in ("M", "C", "g"):
        assert all_vanish(terms.expand(getattr(terms, quantity)) - getattr(expanded, quantity)), (
            quantity
        )


def test_a_term_needs_only_earlier_ones() -> None:
    model = model_of("puma560")
    known = {*model.q, *model.qd, *model.qdd, *model.symbols}
    for name, value in model.terms.items():
        assert value.free_symbols <= known
        known.add(name)
    assert {str(name) for name in model.terms} >= {
        f"{letter}_{i}" for letter in "sc" for i in range(2, 6)
    }
    few = model.needed_terms(model.g)
    assert 0 < len(few) < len(model.terms) / 4
    assert model.g.free_symbols <= {*few, *model.symbols}


# mechanics, symbolically
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", ["all", "barycentric"])
@pytest.mark.parametrize("name", ARMS)
def test_euler_lagrange_equals_newton_euler(name: str, parameters: str) -> None:
    """Lagrangian lecture, "Let's plug it all together": d/dt dL/dqd - dL/dq = tau."""
    model = model_of(name, parameters=parameters)
    assert all_vanish(model.euler_lagrange() - model.tau)


def test_euler_lagrange_with_friction_and_rotors() -> None:
    robot = (
        sy.load("planar_2r").with_friction(viscous=2.0, coulomb=1.0, offset=0.1).with_rotors(0.3)
    )
    model = symbolic(robot.tree, "rubbing")
    assert all_vanish(model.euler_lagrange() - model.tau)
    assert {"F_v1", "F_c2", "F_o1", "I_a2"} <= {str(s) for s in model.tau.free_symbols}
    assert sp.sign(model.qd[0]) in model.tau[0].atoms(sp.sign)


def test_friction_of_every_form(rng: np.random.Generator) -> None:
    plain = sy.load("planar_2r")
    for options in (
        {"coulomb": 2.0, "negative": 1.0},
        {"coulomb": 2.0, "width": 0.3},
        {"coulomb": 1.0, "stiction": 2.0, "stribeck": 0.4},
    ):
        tree = plain.with_friction(viscous=0.5, **options).tree
        model = symbolic(tree, "rubbing")
        agrees(model, tree, rng)
        agrees(symbolic(tree, "rubbing", form="terms"), tree, rng)
        assert model.columns.independent == sampled_columns(tree).independent


def test_rotors_on_the_links_that_carry_them(rng: np.random.Generator) -> None:
    """Full rotor model: Euler-Lagrange from the energies gives what Newton-Euler gives."""
    robot = sy.load("spatial_3r").with_rotors(
        [0.9, 0.8, 0.7], ratio=[50.0, 40.0, 30.0], axis=[[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    )
    model = symbolic(robot.tree, "geared")
    assert robot.tree.rotors
    agrees(model, robot.tree, rng)
    assert all_vanish(model.euler_lagrange() - model.tau)


@pytest.mark.parametrize("name", ARMS)
def test_condensed_form(name: str) -> None:
    """Lagrangian lecture, "Condensed form": D(q) qdd + C(q, qd) qd + G(q) = tau."""
    model = model_of(name, parameters="all")
    qd, qdd = sp.Matrix(model.qd), sp.Matrix(model.qdd)
    assert all_vanish(model.M * qdd + model.C * qd + model.g - model.tau)


@pytest.mark.parametrize("name", ARMS)
def test_lagrangian_and_its_parts(name: str) -> None:
    """Lagrangian lecture, "Let's plug it in".

    L = T - V with T = qd^T D qd / 2; dL/dqd_k = sum of d_kj qd_j; G = dV/dq.
    """
    model = model_of(name, parameters="all")
    qd = sp.Matrix(model.qd)
    assert vanishes(model.L - ((qd.T * model.M * qd)[0] / 2 - model.U))
    assert all_vanish(sp.Matrix([sp.diff(model.L, rate) for rate in model.qd]) - model.M * qd)
    assert all_vanish(sp.Matrix([sp.diff(model.U, x) for x in model.q]) - model.g)
    assert not any(sp.diff(model.U, rate) for rate in model.qd)
    assert all(sp.diff(model.T, rate) != 0 for rate in model.qd)
    assert any(sp.diff(model.T, x) != 0 for x in model.q)


@pytest.mark.parametrize("name", ARMS)
def test_the_sums_of_the_lecture(name: str) -> None:
    """Lagrangian lecture, "Therefore, everything together is".

    Sum of d_kj qdd_j + sum of (d_kj,i - d_ij,k / 2) qd_i qd_j + V,k = tau_k.
    """
    model = model_of(name, parameters="all")
    M, q, qd, n = model.M, model.q, model.qd, range(model.n)
    for k in n:
        inertial = sum(M[k, j] * model.qdd[j] for j in n)
        fast = sum(
            (sp.diff(M[k, j], q[i]) - sp.diff(M[i, j], q[k]) / 2) * qd[i] * qd[j]
            for i in n
            for j in n
        )
        assert vanishes(inertial + fast + sp.diff(model.U, q[k]) - model.tau[k])


@pytest.mark.parametrize("name", ARMS)
def test_christoffel_symbols(name: str) -> None:
    """Lagrangian lecture, "Christoffel symbols".

    C_kj = sum over i of (d_kj,i + d_ki,j - d_ij,k)/2 qd_i, in n^3 derivatives by SymPy.
    """
    model = model_of(name, parameters="all")
    M, q, n = model.M, model.q, model.n
    for k in range(n):
        for j in range(n):
            c = sum(
                (sp.diff(M[k, j], q[i]) + sp.diff(M[k, i], q[j]) - sp.diff(M[i, j], q[k]))
                / 2
                * model.qd[i]
                for i in range(n)
            )
            assert vanishes(c - model.C[k, j])


@pytest.mark.parametrize("name", ARMS)
def test_mass_matrix_rate_less_twice_coriolis_is_skew(name: str) -> None:
    model = model_of(name, parameters="all")
    rate = sum(
        (model.M.diff(x) * xd for x, xd in zip(model.q, model.qd, strict=True)),
        sp.zeros(model.n, model.n),
    )
    skew = rate - 2 * model.C
    assert all_vanish(skew + skew.T)
    assert all_vanish(model.M - model.M.T)


# the regressor's columns
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", ["symbolic", "all", "barycentric"])
@pytest.mark.parametrize("name", ARMS)
def test_regressor_times_parameters_is_tau(name: str, parameters: str) -> None:
    model = model_of(name, parameters=parameters)
    assert all_vanish(model.Y * model.parameters - model.tau)
    few = model.Y[:, list(model.columns.independent)]
    assert all_vanish(few * model.base_parameters - model.tau)


@pytest.mark.parametrize("name", ARMS)
def test_dependent_columns_exactly(name: str) -> None:
    model = model_of(name)
    assert model.columns.exact
    assert model.dependent
    for j in model.columns.vanishing:
        assert model.Y[:, j].is_zero_matrix
    for j, relation in model.columns.dependent.items():
        result = sum((c * model.Y[:, i] for i, c in relation.items()), sp.zeros(model.n, 1))
        assert all_vanish(model.Y[:, j] - result)


@pytest.mark.parametrize("geometry", ["symbolic", "numeric"])
@pytest.mark.parametrize("name", ARMS)
def test_dependent_columns_are_those_found_by_sampling(name: str, geometry: str) -> None:
    model, sampled = model_of(name, geometry=geometry), sampled_columns(sy.load(name).tree)
    assert model.columns.exact
    assert not sampled.exact
    assert model.columns.independent == sampled.independent
    assert set(model.columns.vanishing) == set(sampled.vanishing)
    for j, relation in model.columns.dependent.items():
        assert set(relation) == set(sampled.dependent[j])
        for i, c in relation.items():
            assert float(c.subs(model.values)) == pytest.approx(
                float(sampled.dependent[j][i]), abs=1e-10
            )


def test_the_two_link_arm_groups_as_books_say() -> None:
    """Lecture "Structure and identification".

    The second mass counts as if it sat at the end of the first link.
    """
    model = model_of("planar_2r")
    l1, m2 = sp.symbols("l_1 m_2", real=True)
    assert model.dependent == {"link2.m": {"link1.mcx": l1, "link1.Izz": l1**2}}
    assert "link1.m" in model.vanishing
    mcx1, Izz1 = sp.symbols("mc_x1 I_zz1", real=True)
    assert mcx1 + l1 * m2 in list(model.base_parameters)
    assert Izz1 + l1**2 * m2 in list(model.base_parameters)
