"""The table of algorithms: inputs, outputs with units, and implementations of each quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..compiler.ir.program import Operand, Shape
from ..dynamics.center_of_mass import center_of_mass, com_jacobian
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.crba import mass_matrix
from ..dynamics.energy import kinetic_energy, momentum
from ..dynamics.forward.aba import aba
from ..dynamics.forward.by_crba import forward_by_crba
from ..dynamics.forward.free_base import free_forward_dynamics
from ..dynamics.gravity import gravity_torque, potential_energy
from ..dynamics.implementation import Implementation, select_implementations
from ..dynamics.joint_torques import friction_torque, presliding_state, presliding_torque
from ..dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate
from ..dynamics.long_chains import for_long_chains, for_short_chains
from ..dynamics.long_chains import matrices as long_chains
from ..dynamics.operational_space import (
    analytic_jacobian,
    dynamically_consistent_inverse,
    manipulability,
    nullspace_projector,
    task_inertia,
)
from ..dynamics.reactions import (
    base_wrench,
    forward_reactions,
    forward_reactions_by_aba,
    joint_reactions,
)
from ..dynamics.regressor import (
    base_wrench_regressor,
    momentum_rate_regressor,
    momentum_regressor,
    regressor,
    slotine_li_regressor,
)
from ..dynamics.rnea import bias_torque, inverse_dynamics
from ..dynamics.wrench import wrench_torque
from ..errors import ModelError
from ..mechanism.parameter_vector import parameters, root_parameters
from ..mechanism.tree import Tree
from . import graph_derivatives

TORQUE, ACCELERATION, ENERGY = "[N m|N]", "[rad/s2|m/s2]", "[J]"
INPUTS: dict[str, tuple[str, str]] = {  # size and unit of the inputs of algorithms
    "q": ("n", "[rad|m]"),
    "qd": ("n", "[rad/s|m/s]"),
    "qdd": ("n", ACCELERATION),
    "qrd": ("n", "[rad/s|m/s]"),
    "qrdd": ("n", ACCELERATION),
    "tau": ("n", TORQUE),
    "wrench": ("b6", "[N, N m]"),
    "base": ("9", "[m/s2, rad/s, rad/s2]"),
    "w": ("3", "[rad/s]"),
    "weight": ("d", "[-]"),
    "z": ("n", "[-]"),
    "dq": ("n", "[rad|m]"),
    "parameters": ("p", "[kg, kg m, kg m2, ...]"),
}


def extents(tree: Tree, code: str) -> Shape:
    """Return the shape that letters and digits stand for on a tree.

    n coordinates, p parameters, r parameters including the inertia of the base, b bodies.
    With loops: m closures, k independent closures, d driven and f independent coordinates.
    """
    count = len(parameters(tree))
    sizes = {
        "n": tree.n,
        "p": count,
        "r": count + len(root_parameters(tree)),
        "b": len(tree.bodies),
    }
    sizes |= {
        "m": tree.closures,
        "k": len(tree.rows),
        "d": len(tree.driven),
        "f": len(tree.independent),
    }
    return tuple(sizes[c] if c in sizes else int(c) for c in code)


@dataclass(frozen=True)
class Algorithm:
    """A quantity of a robot: its inputs, its outputs and the implementations that compute it.

    Attributes
    ----------
    inputs : names of its arrays, keys of INPUTS
    outputs : (name, shape in the letters of `extents`, unit) of each result
    implementations : functions that return the same numbers; the kernel is the one with the
        fewest operations
    joint_space : whether the result is independent of the link frames, so that it may be computed
        on the customised tree
    base_frame : whether the result depends on the base frame, which the customised tree then keeps
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str, str], ...]
    implementations: tuple[Implementation, ...]
    joint_space: bool = False
    base_frame: bool = False

    @property
    def reference(self) -> Callable[..., Any]:
        """The function of the first implementation, which supports every tree."""
        return self.implementations[0].function

    @property
    def needs_frame(self) -> bool:
        """Whether its last argument is the name of a frame."""
        return "frame" in signature(self.reference).parameters

    def functions(
        self, tree: Tree, moving_base: bool = False, any_size: bool = False
    ) -> list[Callable[..., Any]]:
        """Return the functions worth tracing on a tree; see `select_implementations`."""
        rows = select_implementations(self.implementations, tree, moving_base, any_size)
        return [row.function for row in rows]

    def operands(self, tree: Tree, extra: Sequence[str]) -> tuple[list[Operand], list[Operand]]:
        """Return inputs, with `extra` ones, and outputs with their shapes on a tree."""
        inputs = [
            Operand(name, extents(tree, INPUTS[name][0]), INPUTS[name][1])
            for name in (*self.inputs, *extra)
        ]
        outputs = [Operand(name, extents(tree, shape), unit) for name, shape, unit in self.outputs]
        return inputs, outputs


def algorithm(
    inputs: tuple[str, ...],
    outputs: tuple[tuple[str, str, str], ...],
    *implementations: Implementation | Callable[..., Any],
    joint_space: bool = False,
    base_frame: bool = False,
) -> Algorithm:
    """Return a row of the table; a plain function is an implementation for all trees."""
    rows = tuple(
        each if isinstance(each, Implementation) else Implementation(each)
        for each in implementations
    )
    return Algorithm(inputs, outputs, rows, joint_space, base_frame)


def _pose(tree: Tree, q: Sequence[Any], frame: str) -> Any:
    """Return the pose of a frame as a homogeneous 4x4 matrix."""
    R, p = forward_kinematics(tree, q, frame)
    return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]


def _friction_at(tree: Tree, q: Sequence[Any], qd: Sequence[Any]) -> Any:
    """Return friction that may depend on the position, and known torques."""
    return friction_torque(tree, qd, q)


def _by_q(unit: str) -> tuple[tuple[str, str, str], ...]:
    return (
        ("by_q", "nn", f"{unit} per [rad|m]"),
        ("by_qd", "nn", f"{unit} per [rad/s|m/s]"),
        ("last", "nn", "[kg m2|kg] or its inverse"),
    )


_MASS = "[kg m2|kg m|kg]"
_STATE, _MOTION = ("q", "qd"), ("q", "qd", "qdd")
ALGORITHMS: dict[str, Algorithm] = {
    "inverse_dynamics": algorithm(
        _MOTION, (("tau", "n", TORQUE),), inverse_dynamics, joint_space=True
    ),
    "bias_torque": algorithm(_STATE, (("tau", "n", TORQUE),), bias_torque, joint_space=True),
    "forward_dynamics": algorithm(
        ("q", "qd", "tau"),
        (("qdd", "n", ACCELERATION),),
        for_short_chains(forward_by_crba),
        Implementation(aba, needs_uncoupled=True),
        joint_space=True,
    ),
    "mass_matrix": algorithm(
        ("q",),
        (("M", "nn", _MASS),),
        for_short_chains(mass_matrix),
        for_long_chains(long_chains.mass_matrix),
        joint_space=True,
    ),
    "coriolis_matrix": algorithm(
        _STATE,
        (("C", "nn", "[N m s/rad|N s/m]"),),
        for_short_chains(coriolis_matrix),
        for_long_chains(long_chains.coriolis_matrix),
        joint_space=True,
    ),
    "christoffel": algorithm(
        ("q",), (("c", "nnn", _MASS),), long_chains.christoffel, joint_space=True
    ),
    "coriolis_transpose": algorithm(
        _STATE, (("c", "n", TORQUE),), graph_derivatives.coriolis_transpose, joint_space=True
    ),
    "gravity_torque": algorithm(("q",), (("g", "n", TORQUE),), gravity_torque, joint_space=True),
    "friction_torque": algorithm(("qd",), (("tau", "n", TORQUE),), friction_torque),
    "friction_torque_at": algorithm(_STATE, (("tau", "n", TORQUE),), _friction_at),
    "presliding_state": algorithm(("z", "dq"), (("next_z", "n", "[-]"),), presliding_state),
    "presliding_torque": algorithm(("qd", "z"), (("tau", "n", TORQUE),), presliding_torque),
    "wrench_torque": algorithm(("q", "wrench"), (("tau", "n", TORQUE),), wrench_torque),
    "momentum": algorithm(_STATE, (("p", "n", "[kg m2/s|kg m/s]"),), momentum, joint_space=True),
    "momentum_rate": algorithm(
        ("q", "qd", "tau"),
        (("rate", "n", TORQUE),),
        graph_derivatives.momentum_rate,
        joint_space=True,
    ),
    "kinetic_energy": algorithm(_STATE, (("T", "", ENERGY),), kinetic_energy, joint_space=True),
    "potential_energy": algorithm(("q",), (("U", "", ENERGY),), potential_energy),
    "slotine_li": algorithm(
        ("q", "qd", "qrd", "qrdd"),
        (("tau", "n", TORQUE),),
        graph_derivatives.slotine_li,
        joint_space=True,
    ),
    "regressor": algorithm(
        _MOTION, (("Y", "np", f"{TORQUE} per unit of the parameter"),), regressor
    ),
    "momentum_regressor": algorithm(
        _STATE, (("Y", "np", "[kg m2/s] per unit"),), momentum_regressor
    ),
    "momentum_rate_regressor": algorithm(
        _STATE, (("Y", "np", f"{TORQUE} per unit"),), momentum_rate_regressor
    ),
    "kinetic_energy_regressor": algorithm(
        _STATE, (("y", "p", "[J] per unit"),), graph_derivatives.parameter_gradient(kinetic_energy)
    ),
    "potential_energy_regressor": algorithm(
        ("q",),
        (("y", "p", "[J] per unit"),),
        graph_derivatives.parameter_gradient(potential_energy),
    ),
    "energy_regressor": algorithm(
        _STATE,
        (("y", "p", "[J] per unit"),),
        graph_derivatives.parameter_gradient(graph_derivatives.energy),
    ),
    "slotine_li_regressor": algorithm(
        ("q", "qd", "qrd", "qrdd"), (("Y", "np", f"{TORQUE} per unit"),), slotine_li_regressor
    ),
    "joint_reactions": algorithm(_MOTION, (("f", "b6", "[N, N m]"),), joint_reactions),
    "forward_reactions": algorithm(
        ("q", "qd", "tau"),
        (("f", "b6", "[N, N m]"),),
        for_short_chains(forward_reactions),
        Implementation(forward_reactions_by_aba, needs_uncoupled=True),
    ),
    "base_wrench": algorithm(
        _MOTION, (("f", "6", "[N, N m]"),), base_wrench, joint_space=True, base_frame=True
    ),
    "base_wrench_regressor": algorithm(
        _MOTION, (("Y", "6r", "[N, N m] per unit"),), base_wrench_regressor
    ),
    "free_forward_dynamics": algorithm(
        ("q", "qd", "tau", "w"),
        (("qdd", "n", ACCELERATION), ("base", "9", "[m/s2, rad/s, rad/s2]")),
        free_forward_dynamics,
        joint_space=True,
        base_frame=True,
    ),
    "inverse_dynamics_derivatives": algorithm(
        _MOTION, _by_q(TORQUE), *graph_derivatives.INVERSE_DYNAMICS_DERIVATIVES, joint_space=True
    ),
    "forward_dynamics_derivatives": algorithm(
        ("q", "qd", "tau"),
        _by_q(ACCELERATION),
        *graph_derivatives.FORWARD_DYNAMICS_DERIVATIVES,
        joint_space=True,
    ),
    "forward_kinematics": algorithm(("q",), (("X", "44", "[-|m]"),), _pose),
    "jacobian": algorithm(("q",), (("J", "6n", "[m|rad] per [rad|m]"),), jacobian),
    "jacobian_rate": algorithm(_STATE, (("Jd", "6n", "[1/s]"),), jacobian_rate),
    "analytic_jacobian": algorithm(
        ("q",), (("J", "6n", "[m|rad] per [rad|m]"),), analytic_jacobian
    ),
    "manipulability": algorithm(("q",), (("w", "", "[-]"),), manipulability),
    "task_inertia": algorithm(("q",), (("Lambda", "66", "[kg, kg m, kg m2]"),), task_inertia),
    "dynamically_consistent_inverse": algorithm(
        ("q",), (("J", "n6", "[rad|m] per [m|rad]"),), dynamically_consistent_inverse
    ),
    "nullspace_projector": algorithm(("q",), (("N", "nn", "[-]"),), nullspace_projector),
    "center_of_mass": algorithm(("q",), (("c", "3", "[m]"),), center_of_mass),
    "com_jacobian": algorithm(("q",), (("J", "3n", "[m] per [rad|m]"),), com_jacobian),
}


_TASK = ("task_inertia", "dynamically_consistent_inverse", "nullspace_projector")
NEEDS_MASS = frozenset(
    (
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "forward_reactions",
        "free_forward_dynamics",
        *_TASK,
    )
)
_LEAST = 1e-14  # diagonal entries of M below this share of the largest one are rounding errors


def massless_joints(tree: Tree) -> list[str]:
    """Return the coordinates whose row of M is zero at each of a few random poses."""
    samples = 4
    q = list(np.random.default_rng(0).uniform(-1.0, 1.0, (tree.n, samples)))
    M = mass_matrix(tree, q)
    diagonal = [float(np.max(np.broadcast_to(M[i][i], samples))) for i in range(tree.n)]
    largest = max((float(np.max(np.abs(x))) for row in M for x in row), default=0.0)
    return [
        name
        for name, entry in zip(tree.coordinates, diagonal, strict=True)
        if not entry > _LEAST * largest
    ]


def require_mass(tree: Tree, what: str) -> None:
    """Raise a ModelError that names the joints for which the mass matrix is singular."""
    if what == "free_forward_dynamics" and not root_parameters(tree):
        raise ModelError(
            f"{what}: the base has no inertia, so that nothing opposes its acceleration; give the"
            " description's root link mass and inertia"
        )
    joints = massless_joints(tree)
    if joints:
        raise ModelError(
            f"{what}: no mass moves with {', '.join(joints)}, so the mass matrix is singular and no"
            " acceleration follows from the torques. Give the links after it an inertia, or the"
            " joint a rotor inertia (with_rotors); inverse dynamics, gravity, energies and the"
            " regressor work as they are"
        )
