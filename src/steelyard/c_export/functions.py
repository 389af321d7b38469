"""The functions of a C module: which algorithms, as programs whose names are C identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..compiler.program import Program
from ..dynamics.kinematics import find_frame
from ..errors import CallError, choices
from ..kernels import ALGORITHMS, program
from ..mechanism.tree import Tree

# what a controller asks for: feed-forward, gravity compensation, computed torque, adaptation, simulation, operational space
FUNCTIONS = (
    "inverse_dynamics",
    "gravity_torque",
    "mass_matrix",
    "coriolis_matrix",
    "regressor",
    "forward_dynamics",
    "forward_kinematics",
    "jacobian",
)
EQUATIONS = {
    "inverse_dynamics": "torques that give a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd)",
    "forward_dynamics": "accelerations that torques give: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd)",
    "mass_matrix": "the symmetric, positive definite M(q), rotors included",
    "coriolis_matrix": "the C(q, qd) of the Christoffel symbols: dM/dt - 2 C is skew-symmetric",
    "gravity_torque": "torques that hold the robot still: g(q) = dU/dq",
    "friction_torque": "friction at the joints",
    "momentum": "generalised momentum p = M(q) qd",
    "kinetic_energy": "T = 1/2 qd' M(q) qd",
    "potential_energy": "U = - sum of m g . c",
    "regressor": "Y with Y pi = inverse_dynamics, pi in the order of the list above",
    "forward_kinematics": "pose of frame '{frame}' in the base frame: [R p; 0 1]",
    "jacobian": "Jacobian of frame '{frame}': linear velocity, then angular velocity, in the base frame, = J qd",
    "christoffel": "Christoffel symbols of M: C[i][j] = sum over k of c[i][j][k] qd[k]",
    "coriolis_transpose": "C(q, qd)' qd, of the momentum observer",
    "momentum_rate": "rate of the generalised momentum under tau: tau + C' qd - g - friction",
    "slotine_li": "M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), of adaptive control",
    "slotine_li_regressor": "Y with Y pi = slotine_li, pi in the order of the list above",
    "joint_reactions": "force and moment that each joint bears, as Robot.joint_reactions has it",
    "inverse_dynamics_derivatives": "derivatives of tau by q, by qd and by qdd",
    "forward_dynamics_derivatives": "derivatives of qdd by q, by qd and by tau",
    "jacobian_rate": "time derivative of the Jacobian of frame '{frame}' along qd",
}
FRAMED = ("forward_kinematics", "jacobian", "jacobian_rate")


def programs(tree: Tree, prefix: str, wanted: Sequence[str] | None, frame: str) -> dict[str, Program]:
    """Algorithm name -> its program, named prefix_algorithm, in the order wanted (`FUNCTIONS` where nothing is said)."""
    names = _known(FUNCTIONS if wanted is None else wanted)
    find_frame(tree, frame)  # says which frames there are when there is no such one
    made = {name: program(tree, name, frame=frame if name in FRAMED else None) for name in names}
    return {name: replace(p, name=f"{prefix}_{name}") for name, p in made.items()}


def _known(wanted: Sequence[str]) -> tuple[str, ...]:
    if isinstance(wanted, str):
        raise CallError(f"functions={wanted!r} is one name; expected several, such as [{wanted!r}]")
    for name in wanted:
        if name not in EQUATIONS or name not in ALGORITHMS:
            raise CallError(f"functions: {name!r} cannot be written in C; {choices(str(name), [n for n in EQUATIONS if n in ALGORITHMS])}")
    if not wanted:
        raise CallError(f"functions is empty; expected some of {', '.join(EQUATIONS)}")
    return tuple(dict.fromkeys(wanted))
