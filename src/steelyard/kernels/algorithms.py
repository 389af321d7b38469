"""The table of algorithms: what each takes, what comes out, the ways to compute it, and whether frames matter to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..compiler.ir.program import Operand, Shape
from ..dynamics.base_frame import matrices as base_frame
from ..dynamics.center_of_mass import center_of_mass, com_jacobian
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.crba import mass_matrix
from ..dynamics.energy import kinetic_energy, momentum
from ..dynamics.forward.aba import aba
from ..dynamics.forward.by_crba import forward_by_crba
from ..dynamics.forward.free_base import free_forward_dynamics
from ..dynamics.gravity import gravity_torque, potential_energy
from ..dynamics.joint_torques import friction_torque
from ..dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate
from ..dynamics.operational_space import (
    analytic_jacobian,
    dynamically_consistent_inverse,
    manipulability,
    nullspace_projector,
    task_inertia,
)
from ..dynamics.reactions import base_wrench, forward_reactions, forward_reactions_by_aba, joint_reactions
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
from . import derived

TORQUE, ACCELERATION, ENERGY = "[N m|N]", "[rad/s2|m/s2]", "[J]"
INPUTS: dict[str, tuple[str, str]] = {  # size and unit of what algorithms take
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
    "parameters": ("p", "[kg, kg m, kg m2, ...]"),
}


def extents(tree: Tree, code: str) -> Shape:
    """A shape from its letters: n coordinates, p parameters, r those and the base's own if it has inertia, b bodies, or digits.

    Of loops: m closures, k those that count, d driven coordinates, f independent ones.
    """
    count = len(parameters(tree))
    sizes = {"n": tree.n, "p": count, "r": count + len(root_parameters(tree)), "b": len(tree.bodies)}
    sizes |= {"m": tree.closures, "k": len(tree.rows), "d": len(tree.driven), "f": len(tree.independent)}
    return tuple(sizes[c] if c in sizes else int(c) for c in code)


def mean_depth(tree: Tree) -> float:
    """How many joints move a body, on average."""
    depths: list[int] = []
    for body in tree.bodies:
        depths.append(1 + (depths[body.parent] if body.parent >= 0 else 0))
    return sum(depths) / max(len(depths), 1)


@dataclass(frozen=True)
class Algorithm:
    """`outputs` are (name, shape in letters, unit); `ways` give the same numbers, the shortest is kept.

    `joint_space`: the result does not depend on the links' frames, so that it may be computed on the customised tree; with `base_frame`,
    on the one whose base keeps its frame.
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str, str], ...]
    ways: tuple[Callable[..., Any], ...]
    joint_space: bool = False
    base_frame: bool = False

    @property
    def framed(self) -> bool:
        """Whether it is about a frame, which it then takes last."""
        return "frame" in signature(self.ways[0]).parameters

    def ways_on(self, tree: Tree, base: bool = False, graph: bool = True) -> list[Callable[..., Any]]:
        """The ways that are worth tracing on a tree whose base moves or not, with or without those by differentiating a whole graph."""
        alone = tree.stands_alone and not (base and tree.rotors)
        ways = [way for way in self.ways if (alone or way not in ALONE) and (way not in BY_GRAPH or (graph and tree.n <= SMALL))]
        depth = mean_depth(tree)
        longer = IN_BASE if depth < SHALLOW else IN_BODIES if depth > DEEP else frozenset()
        return [way for way in ways if way not in longer] or ways

    def operands(self, tree: Tree, extra: Sequence[str]) -> tuple[list[Operand], list[Operand]]:
        """Inputs and outputs with their shapes on a tree."""
        taken = [Operand(name, extents(tree, INPUTS[name][0]), INPUTS[name][1]) for name in (*self.inputs, *extra)]
        return taken, [Operand(name, extents(tree, shape), unit) for name, shape, unit in self.outputs]


def _pose(tree: Tree, q: Sequence[Any], frame: str) -> Any:
    """The pose as a homogeneous 4x4 matrix."""
    R, p = forward_kinematics(tree, q, frame)
    return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]


def _friction_at(tree: Tree, q: Sequence[Any], qd: Sequence[Any]) -> Any:
    """Friction where it depends on the position too, and known torques."""
    return friction_torque(tree, qd, q)


def _by_q(unit: str) -> tuple[tuple[str, str, str], ...]:
    return (("by_q", "nn", f"{unit} per [rad|m]"), ("by_qd", "nn", f"{unit} per [rad/s|m/s]"), ("last", "nn", "[kg m2|kg] or its inverse"))


BY_GRAPH = frozenset((derived.inverse_dynamics_derivatives_forward, derived.inverse_dynamics_derivatives_reverse))
SMALL = 8  # joints beyond which the ways BY_GRAPH are never the shortest, and take long to trace
IN_BODIES = frozenset(
    (
        mass_matrix,
        coriolis_matrix,
        forward_by_crba,
        forward_reactions,
        derived.inverse_dynamics_derivatives,
        derived.forward_dynamics_derivatives,
    )
)
IN_BASE = frozenset(
    (
        base_frame.mass_matrix,
        base_frame.coriolis_matrix,
        derived.inverse_dynamics_derivatives_in_base,
        derived.forward_dynamics_derivatives_in_base,
        derived.forward_dynamics_derivatives_articulated,
    )
)
SHALLOW, DEEP = 5, 10  # mean number of joints that move a body, below which IN_BASE and above which IN_BODIES are never the shortest
ALONE = frozenset(
    (aba, forward_reactions_by_aba, derived.forward_dynamics_derivatives_articulated)
)  # ways that need joints coupled by the bodies between them alone
_MASS = "[kg m2|kg m|kg]"
_STATE, _MOTION = ("q", "qd"), ("q", "qd", "qdd")
_DERIVATIVES = (
    derived.inverse_dynamics_derivatives,
    derived.inverse_dynamics_derivatives_forward,
    derived.inverse_dynamics_derivatives_reverse,
    derived.inverse_dynamics_derivatives_in_base,
)
_FORWARD_DERIVATIVES = (
    derived.forward_dynamics_derivatives,
    derived.forward_dynamics_derivatives_in_base,
    derived.forward_dynamics_derivatives_articulated,
)

ALGORITHMS: dict[str, Algorithm] = {
    "inverse_dynamics": Algorithm(_MOTION, (("tau", "n", TORQUE),), (inverse_dynamics,), True),
    "bias_torque": Algorithm(_STATE, (("tau", "n", TORQUE),), (bias_torque,), True),
    "forward_dynamics": Algorithm(("q", "qd", "tau"), (("qdd", "n", ACCELERATION),), (forward_by_crba, aba), True),
    "mass_matrix": Algorithm(("q",), (("M", "nn", _MASS),), (mass_matrix, base_frame.mass_matrix), True),
    "coriolis_matrix": Algorithm(_STATE, (("C", "nn", "[N m s/rad|N s/m]"),), (coriolis_matrix, base_frame.coriolis_matrix), True),
    "christoffel": Algorithm(("q",), (("c", "nnn", _MASS),), (base_frame.christoffel,), True),
    "coriolis_transpose": Algorithm(_STATE, (("c", "n", TORQUE),), (derived.coriolis_transpose,), True),
    "gravity_torque": Algorithm(("q",), (("g", "n", TORQUE),), (gravity_torque,), True),
    "friction_torque": Algorithm(("qd",), (("tau", "n", TORQUE),), (friction_torque,)),
    "friction_torque_at": Algorithm(_STATE, (("tau", "n", TORQUE),), (_friction_at,)),
    "wrench_torque": Algorithm(("q", "wrench"), (("tau", "n", TORQUE),), (wrench_torque,)),
    "momentum": Algorithm(_STATE, (("p", "n", "[kg m2/s|kg m/s]"),), (momentum,), True),
    "momentum_rate": Algorithm(("q", "qd", "tau"), (("rate", "n", TORQUE),), (derived.momentum_rate,), True),
    "kinetic_energy": Algorithm(_STATE, (("T", "", ENERGY),), (kinetic_energy,), True),
    "potential_energy": Algorithm(("q",), (("U", "", ENERGY),), (potential_energy,)),
    "slotine_li": Algorithm(("q", "qd", "qrd", "qrdd"), (("tau", "n", TORQUE),), (derived.slotine_li,), True),
    "regressor": Algorithm(_MOTION, (("Y", "np", f"{TORQUE} per unit of the parameter"),), (regressor,)),
    "momentum_regressor": Algorithm(_STATE, (("Y", "np", "[kg m2/s] per unit"),), (momentum_regressor,)),
    "momentum_rate_regressor": Algorithm(_STATE, (("Y", "np", f"{TORQUE} per unit"),), (momentum_rate_regressor,)),
    "kinetic_energy_regressor": Algorithm(_STATE, (("y", "p", "[J] per unit"),), (derived.row_of(kinetic_energy),)),
    "potential_energy_regressor": Algorithm(("q",), (("y", "p", "[J] per unit"),), (derived.row_of(potential_energy),)),
    "energy_regressor": Algorithm(_STATE, (("y", "p", "[J] per unit"),), (derived.row_of(derived.energy),)),
    "slotine_li_regressor": Algorithm(("q", "qd", "qrd", "qrdd"), (("Y", "np", f"{TORQUE} per unit"),), (slotine_li_regressor,)),
    "joint_reactions": Algorithm(_MOTION, (("f", "b6", "[N, N m]"),), (joint_reactions,)),
    "forward_reactions": Algorithm(("q", "qd", "tau"), (("f", "b6", "[N, N m]"),), (forward_reactions, forward_reactions_by_aba)),
    "base_wrench": Algorithm(_MOTION, (("f", "6", "[N, N m]"),), (base_wrench,), True, True),
    "base_wrench_regressor": Algorithm(_MOTION, (("Y", "6r", "[N, N m] per unit"),), (base_wrench_regressor,)),
    "free_forward_dynamics": Algorithm(
        ("q", "qd", "tau", "w"),
        (("qdd", "n", ACCELERATION), ("base", "9", "[m/s2, rad/s, rad/s2]")),
        (free_forward_dynamics,),
        True,
        True,
    ),
    "inverse_dynamics_derivatives": Algorithm(_MOTION, _by_q(TORQUE), _DERIVATIVES, True),
    "forward_dynamics_derivatives": Algorithm(("q", "qd", "tau"), _by_q(ACCELERATION), _FORWARD_DERIVATIVES, True),
    "forward_kinematics": Algorithm(("q",), (("X", "44", "[-|m]"),), (_pose,)),
    "jacobian": Algorithm(("q",), (("J", "6n", "[m|rad] per [rad|m]"),), (jacobian,)),
    "jacobian_rate": Algorithm(_STATE, (("Jd", "6n", "[1/s]"),), (jacobian_rate,)),
    "analytic_jacobian": Algorithm(("q",), (("J", "6n", "[m|rad] per [rad|m]"),), (analytic_jacobian,)),
    "manipulability": Algorithm(("q",), (("w", "", "[-]"),), (manipulability,)),
    "task_inertia": Algorithm(("q",), (("Lambda", "66", "[kg, kg m, kg m2]"),), (task_inertia,)),
    "dynamically_consistent_inverse": Algorithm(("q",), (("J", "n6", "[rad|m] per [m|rad]"),), (dynamically_consistent_inverse,)),
    "nullspace_projector": Algorithm(("q",), (("N", "nn", "[-]"),), (nullspace_projector,)),
    "center_of_mass": Algorithm(("q",), (("c", "3", "[m]"),), (center_of_mass,)),
    "com_jacobian": Algorithm(("q",), (("J", "3n", "[m] per [rad|m]"),), (com_jacobian,)),
}


def described_outputs(algorithm: Algorithm) -> str:
    """What an algorithm returns, for help: shapes with batch dimensions, and units."""
    sizes = {"r": "p", "b": "bodies"}
    parts = [f"({', '.join(('...', *(sizes.get(c, c) for c in code)))}) {unit}" for _, code, unit in algorithm.outputs]
    return f"{' and '.join(parts)}." if len(parts) < 3 else f"A tuple of {', '.join(parts)}."


_TASK = ("task_inertia", "dynamically_consistent_inverse", "nullspace_projector")
NEEDS_MASS = frozenset(("forward_dynamics", "forward_dynamics_derivatives", "forward_reactions", "free_forward_dynamics", *_TASK))
_LEAST = 1e-14  # of the largest entry of M: below it a diagonal entry is rounding


def massless_joints(tree: Tree) -> list[str]:
    """The coordinates whose motion moves no mass, at any of a few random poses: their row of M is zero."""
    samples = 4
    q = list(np.random.default_rng(0).uniform(-1.0, 1.0, (tree.n, samples)))
    M = mass_matrix(tree, q)
    diagonal = [float(np.max(np.broadcast_to(M[i][i], samples))) for i in range(tree.n)]
    largest = max((float(np.max(np.abs(x))) for row in M for x in row), default=0.0)
    return [name for name, entry in zip(tree.coordinates, diagonal, strict=True) if not entry > _LEAST * largest]


def require_mass(tree: Tree, what: str) -> None:
    """A ModelError that names the joints where the equations of motion cannot be solved for accelerations."""
    if what == "free_forward_dynamics" and not root_parameters(tree):
        raise ModelError(
            f"{what}: the base has no inertia, so that nothing opposes its acceleration; give the description's root link mass and inertia"
        )
    joints = massless_joints(tree)
    if joints:
        raise ModelError(
            f"{what}: no mass moves with {', '.join(joints)}, so the mass matrix is singular and no acceleration follows from the torques. "
            "Give the links after it an inertia, or the joint a rotor inertia (with_rotors); inverse dynamics, gravity, energies and the "
            "regressor work as they are"
        )
