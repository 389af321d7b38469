"""Defects that are planted into the dynamics break a law: the laws would notice."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from steelyard import dynamics, kernels
from steelyard.algebra.spatial import Pose
from steelyard.dynamics import joint_torques, regressor, rotors, wrench
from steelyard.dynamics.forward import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.implementation import Implementation
from steelyard.dynamics.long_chains import articulated
from steelyard.kernels import ALGORITHMS
from steelyard.kernels import graph_derivatives as derived
from steelyard.mechanism import fold_terms, joint_terms
from steelyard.mechanism.joint_terms import COUPLING_TERMS, JOINT_TERMS
from steelyard.mechanism.tree import Tree
from tests import zoo
from tests.laws.dynamics import (
    test_base,
    test_derivatives,
    test_energy,
    test_parameters,
    test_reactions,
    test_torque,
)
from tests.laws.dynamics.implementations import test_renderers

Plant = Callable[[pytest.MonkeyPatch], None]
LAWS = (
    test_torque.test_inverse_dynamics_is_what_lagrange_gives,
    test_torque.test_friction_is_that_of_each_joint,
    test_energy.test_mass_matrix_is_the_sum_over_links,
    test_energy.test_energies_are_those_of_the_links,
    test_energy.test_momentum_changes_at_its_rate,
    test_energy.test_mass_rate_less_twice_coriolis_is_skew,
    test_energy.test_christoffel_symbols_are_derivatives_of_the_mass_matrix,
    test_torque.test_reference_torque_is_split_by_the_coriolis_matrix,
    test_parameters.test_torques_are_linear_in_the_parameters,
    test_parameters.test_rates_of_momenta_are_linear_in_the_parameters,
    test_derivatives.test_derivatives_of_torques_match_differences,
    test_reactions.test_joints_bear_the_rate_of_momentum_less_the_weight,
    test_renderers.test_every_way_on_every_tree_agrees,
    test_base.test_torques_and_support_are_those_of_the_gantry,
    test_base.test_regressors_give_torques_and_support,
    test_base.test_a_free_base_moves_as_the_root_of_a_gantry_that_no_one_drives,
)


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Hide earlier kernels and robots, and remove those of the planted defect afterwards."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    monkeypatch.setattr(kernels, "_kernels", OrderedDict())
    for result in (zoo.robot, zoo.case):
        result.cache_clear()
    yield
    for result in (zoo.robot, zoo.case):
        result.cache_clear()


def broken(name: str) -> str | None:
    """The first law that a robot breaks."""
    return next((law.__name__ for law in LAWS if fails(law, name)), None)


def fails(law: Callable[[str], None], name: str) -> bool:
    try:
        law(name)
    except AssertionError:
        return True
    return False


def without(tree: Tree, key: str, shared: bool) -> Tree:
    """The tree without a term of its joints, or of its couplings."""
    if shared:
        return replace(
            tree,
            couplings=tuple(c._replace(terms=c.terms.changed({key: None})) for c in tree.couplings),
        )
    return replace(tree, terms=tuple(terms.changed({key: None}) for terms in tree.terms))


def users(defined_in: ModuleType, *names: str) -> list[tuple[ModuleType, str, str]]:
    """Every function of the dynamics that calls one of these.

    Its module, its name and what it calls.
    """
    folder = [
        importlib.import_module(result.name)
        for result in pkgutil.walk_packages(dynamics.__path__, f"{dynamics.__name__}.")
    ]
    return [
        (module, caller, name)
        for module in (*folder, derived)
        for caller, function in inspect.getmembers(module, inspect.isfunction)
        for name in names
        if module is not defined_in
        and function.__module__ == module.__name__
        and name in function.__code__.co_names
    ]


def plant(
    monkeypatch: pytest.MonkeyPatch, user: tuple[ModuleType, str, str], spoilt: Callable[..., Any]
) -> None:
    """Put `spoilt` instead of what a user calls, for that caller alone."""
    module, caller, name = user
    real = getattr(module, name)

    def planted(*arguments: Any, **options: Any) -> Any:
        return (spoilt if sys._getframe(1).f_code.co_name == caller else real)(
            *arguments, **options
        )

    monkeypatch.setattr(module, name, planted)


FRICTION_USERS = users(joint_torques, "friction_torque")
INERTIAL_USERS = users(joint_torques, "inertial_torque", "inertial_matrix")
ROTOR_USERS = users(
    rotors, "spinning_rotors", *(name for name in vars(rotors) if name.startswith("rotor_"))
)
TERMS = [(row, False) for row in JOINT_TERMS if row.linear] + [
    (row, True) for row in COUPLING_TERMS if row.linear
]


def label(value: Any) -> str:
    if isinstance(value, tuple):
        return "-".join([value[0].__name__.rpartition(".")[2], *value[1:]])
    return getattr(value, "symbol", str(value))


def place(row: Any) -> str:
    """A robot of the zoo that has a joint term."""
    return "crusher" if "load" in row.reads else "pendulum"


def missing(callers: list[tuple[ModuleType, str, str]], inertial: bool) -> list[tuple[Any, ...]]:
    """Users and terms. Articulated bodies refuse couplings, and a constant has no derivative.

    A joint that slides has constant presliding friction.
    """
    pairs = [
        (user, row, shared) for user in callers for row, shared in TERMS if row.inertial == inertial
    ]
    return [
        (user, row, shared)
        for user, row, shared in pairs
        if not (shared and user[0] in (aba, articulated))
        and (user[1], row.key) not in (("_rate_torque", "offset"), ("_rate_torque", "presliding"))
    ]


def test_users_are_found() -> None:
    results = [
        {user[0].__name__.rpartition(".")[2] for user in each}
        for each in (FRICTION_USERS, INERTIAL_USERS, ROTOR_USERS)
    ]
    assert results[0] >= {"rnea", "aba", "graph_derivatives"}
    assert results[1] >= {"rnea", "aba", "crba", "energy"}
    assert results[2] >= {
        "rnea",
        "crba",
        "coriolis",
        "energy",
        "regressor",
        "reactions",
        "graph_derivatives",
    }


@pytest.mark.parametrize(
    ("user", "row", "shared"), missing(FRICTION_USERS, inertial=False), ids=label
)
def test_friction_missing_from_a_user(
    user: Any, row: Any, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(
        monkeypatch,
        user,
        lambda tree, *rest: joint_torques.friction_torque(without(tree, row.key, shared), *rest),
    )
    assert broken(("crane" if row.key == "coulomb" else "lift") if shared else place(row))


@pytest.mark.parametrize(
    ("user", "row", "shared"), missing(INERTIAL_USERS, inertial=True), ids=label
)
def test_rotor_inertia_missing_from_a_user(
    user: Any, row: Any, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(joint_torques, user[2])
    plant(monkeypatch, user, lambda tree, *rest: real(without(tree, row.key, shared), *rest))
    assert broken("lift" if shared else "pendulum")


@pytest.mark.parametrize(("row", "shared"), TERMS, ids=label)
def test_a_column_missing_from_the_regressor(
    row: Any, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgets(tree: Tree, *state: Any) -> Any:
        columns = zip(tree.joint_terms, joint_torques.term_columns(tree, *state), strict=True)
        return [
            dict.fromkeys(column, 0.0)
            if use.row is row and (len(use.coordinates) > 1) == shared
            else column
            for use, column in columns
        ]

    monkeypatch.setattr(regressor, "term_columns", forgets)
    assert broken("lift" if shared else place(row))


@pytest.mark.parametrize("user", ROTOR_USERS, ids=label)
def test_spin_of_rotors_missing_from_a_user(user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = getattr(rotors, user[2])
    plant(
        monkeypatch,
        user,
        lambda tree, *rest, **options: real(replace(tree, rotors=()), *rest, **options),
    )
    assert broken("lift")


@pytest.mark.parametrize(
    "row", [row for row in JOINT_TERMS if row.linear and not row.reads], ids=label
)
def test_a_mimic_power_wrong_by_one(row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(row, fold=lambda k: row.fold(k) * abs(k))
    monkeypatch.setattr(
        fold_terms, "JOINT_TERMS", tuple(wrong if each is row else each for each in JOINT_TERMS)
    )
    assert broken("hand")


def test_sides_of_friction_not_exchanged_by_a_mimic_joint_that_turns_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fold_terms, "_asymmetric", lambda key, values: False)
    assert broken("hand")


def test_stiction_as_an_excess_over_coulomb_friction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_terms, "_sliding", joint_terms.direction)
    assert broken("pendulum")


def test_a_wrench_on_a_fixed_frame_placed_at_the_origin_of_its_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        wrench, "find_frame", lambda tree, frame: tree.frame(frame)._replace(pose=Pose())
    )
    with pytest.raises(AssertionError, match="differs"):
        test_reactions.test_a_wrench_acts_at_the_frame_that_is_named("lift")


def test_rotor_torque_differentiated_through_the_acceleration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def through(tree: Tree, q: Any, qd: Any, tau: Any) -> Any:
        qdd = forward_by_crba(tree, q, qd, tau)
        by_q, by_qd, M = derived.inverse_dynamics_derivatives_forward(tree, q, qd, qdd)
        factors = derived.factorise(M)
        negative = factors._replace(inverse=[-x for x in factors.inverse])
        return (
            derived._solve_columns(negative, by_q),
            derived._solve_columns(negative, by_qd),
            derived.inverse(factors),
        )

    wrong = replace(
        ALGORITHMS["forward_dynamics_derivatives"], implementations=(Implementation(through),)
    )
    monkeypatch.setitem(ALGORITHMS, "forward_dynamics_derivatives", wrong)
    with pytest.raises(AssertionError, match="differs"):
        test_derivatives.test_derivatives_of_accelerations_match_differences("lift")


def test_without_a_defect_no_law_is_broken() -> None:
    assert broken("pendulum") is None
