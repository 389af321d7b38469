"""Algorithms made into kernels: each is traced on a robot's tree, in the cheapest of the forms that give the same numbers, and compiled.

An algorithm in joint space does not depend on the frames that links are described in, nor on how inertia is shared between the two sides of
a joint that cannot tell: such an algorithm is traced on the tree as it is and on the customised tree, and the shorter program is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from .compiler.kernel import Kernel
from .compiler.program import Operand, Program, Shape, trace
from .dynamics.articulated import articulated
from .dynamics.canonical import canonical
from .dynamics.composite import mass_matrix
from .dynamics.composite_forward import composite_forward
from .dynamics.coriolis import coriolis_matrix
from .dynamics.energy import kinetic_energy
from .dynamics.friction import friction_torque
from .dynamics.gravity import gravity_torque, potential_energy
from .dynamics.inverse import inverse_dynamics
from .dynamics.jacobian import jacobian, jacobian_rate
from .dynamics.kinematics import forward_kinematics
from .dynamics.momentum import momentum
from .dynamics.parametric import parameter_vector, with_scalars
from .dynamics.regressor import regressor
from .dynamics.regroup import regrouped
from .mechanism.tree import Tree

UNITS = {"q": "[rad|m]", "qd": "[rad/s|m/s]", "qdd": "[rad/s2|m/s2]", "tau": "[N m|N]"}
Shaped = Callable[[Tree], Shape]


@dataclass(frozen=True)
class Algorithm:
    """How an algorithm is called: the arrays of n scalars that it takes, what comes out, and the ways to compute it."""

    inputs: tuple[str, ...]
    output: str
    shape: Shaped
    unit: str
    ways: tuple[Callable[..., Any], ...]
    joint_space: bool = False


def _n(tree: Tree) -> Shape:
    return (tree.n,)


def _nn(tree: Tree) -> Shape:
    return (tree.n, tree.n)


def _np(tree: Tree) -> Shape:
    return (tree.n, len(parameter_vector(tree)))


def _pose(tree: Tree, q: Sequence[Any], frame: str) -> Any:
    """The pose as a homogeneous 4x4 matrix."""
    R, p = forward_kinematics(tree, q, frame)
    return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]]


ALGORITHMS: dict[str, Algorithm] = {
    "inverse_dynamics": Algorithm(("q", "qd", "qdd"), "tau", _n, "[N m|N]", (inverse_dynamics,), True),
    "forward_dynamics": Algorithm(("q", "qd", "tau"), "qdd", _n, "[rad/s2|m/s2]", (composite_forward, articulated), True),
    "mass_matrix": Algorithm(("q",), "M", _nn, "[kg m2|kg m|kg]", (mass_matrix,), True),
    "coriolis_matrix": Algorithm(("q", "qd"), "C", _nn, "[N m s/rad|N s/m]", (coriolis_matrix,), True),
    "gravity_torque": Algorithm(("q",), "g", _n, "[N m|N]", (gravity_torque,), True),
    "friction_torque": Algorithm(("qd",), "tau", _n, "[N m|N]", (friction_torque,)),
    "momentum": Algorithm(("q", "qd"), "p", _n, "[kg m2/s|kg m/s]", (momentum,), True),
    "kinetic_energy": Algorithm(("q", "qd"), "T", lambda tree: (), "[J]", (kinetic_energy,), True),
    "potential_energy": Algorithm(("q",), "U", lambda tree: (), "[J]", (potential_energy,)),
    "regressor": Algorithm(("q", "qd", "qdd"), "Y", _np, "[N m or N per unit of the parameter]", (regressor,)),
    "forward_kinematics": Algorithm(("q",), "X", lambda tree: (4, 4), "[-|m]", (_pose,)),
    "jacobian": Algorithm(("q",), "J", lambda tree: (6, tree.n), "[m|rad per rad|m]", (jacobian,)),
    "jacobian_rate": Algorithm(("q", "qd"), "Jd", lambda tree: (6, tree.n), "[1/s]", (jacobian_rate,)),
}


def customised(tree: Tree) -> Tree:
    """The tree whose joint-space dynamics are the same in the fewest constants. Khalil and Kleinfinger 1987."""
    return regrouped(canonical(tree))


def program(tree: Tree, name: str, *, wrench: bool = False, parameters: bool = False, frame: str | None = None) -> Program:
    """The shortest program for an algorithm on a tree.

    With `wrench` it also takes the wrenches on the bodies, (bodies, 6); with `parameters` the vector pi takes the place of the tree's own.
    """
    algorithm = ALGORITHMS[name]
    inputs = [Operand(x, (tree.n,), UNITS[x]) for x in algorithm.inputs]
    if wrench:
        inputs.append(Operand("wrench", (len(tree.bodies), 6), "[N, N m]"))
    if parameters:
        inputs.append(Operand("parameters", (len(parameter_vector(tree)),), "[kg, kg m, kg m2, ...]"))
    output = Operand(algorithm.output, algorithm.shape(tree), algorithm.unit)
    free = algorithm.joint_space and not wrench and not parameters
    tied = any(body.multiplier != 1.0 for body in tree.bodies) or len(tree.bodies) > tree.n
    made = []
    for form in (tree, customised(tree)) if free else (tree,):
        for way in algorithm.ways:
            if not (tied and way is articulated):
                made.append(trace(name, _call(way, form, wrench, parameters, frame), inputs, [output]))
    return min(made, key=cost)


def _call(way: Callable[..., Any], tree: Tree, wrench: bool, parameters: bool, frame: str | None) -> Callable[..., Any]:
    def run(*arrays: Any) -> Any:
        rest = list(arrays)
        model = with_scalars(tree, rest.pop()) if parameters else tree
        extra = {"wrench": rest.pop()} if wrench else {}
        return way(model, *rest, *([] if frame is None else [frame]), **extra)

    return run


def cost(made: Program) -> int:
    """Vector instructions, roughly: a division weighs as much as eight operations, a sine and its cosine as much as thirty."""
    return made.operations + 7 * made.counts["div"] + 15 * (made.counts["sin"] + made.counts["cos"])


_lock = Lock()
_made: OrderedDict[tuple[Any, ...], Kernel] = OrderedDict()
_MOST = 512  # kernels kept in memory; a robot in use holds its own besides


def kernel(fingerprint: str, tree: Tree, name: str, *, wrench: bool = False, parameters: bool = False, frame: str | None = None) -> Kernel:
    """The compiled algorithm for the robot with that fingerprint; made once per process, its object code once per machine."""
    key = fingerprint, name, wrench, parameters, frame
    with _lock:
        if key not in _made:
            _made[key] = Kernel(program(tree, name, wrench=wrench, parameters=parameters, frame=frame))
            if len(_made) > _MOST:
                _made.popitem(last=False)
        _made.move_to_end(key)
        return _made[key]
