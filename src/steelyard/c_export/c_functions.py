"""Functions of a C module: exported algorithms, their equations, and valid C names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from ..compiler.ir.program import Program
from ..dynamics.kinematics import find_frame
from ..errors import CallError, suggest
from ..kernels import ALGORITHMS, program
from ..mechanism.tree import Tree

# for controllers: feed-forward, gravity compensation, computed torque, adaptation,
# simulation, operational space
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
    "inverse_dynamics": (
        "torques that give a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd)"
    ),
    "forward_dynamics": (
        "accelerations that torques give: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd)"
    ),
    "mass_matrix": "the symmetric, positive definite M(q), rotors included",
    "coriolis_matrix": "the C(q, qd) of the Christoffel symbols: dM/dt - 2 C is skew-symmetric",
    "gravity_torque": "torques that hold the robot still: g(q) = dU/dq",
    "friction_torque": "friction at the joints",
    "presliding_state": (
        "state of friction with memory after a displacement dq: s - (s - z) exp(-|dq| / d), s ="
        " sign(dq)"
    ),
    "presliding_torque": "friction with memory minus its sliding value, for inverse_dynamics",
    "wrench_torque": "joint torques of the wrenches in the list above: J' wrench",
    "momentum": "generalised momentum p = M(q) qd",
    "kinetic_energy": "T = 1/2 qd' M(q) qd",
    "potential_energy": "U = - sum of m g . c",
    "regressor": "Y with Y pi = inverse_dynamics, pi in the order of the list above",
    "forward_kinematics": "pose of frame '{frame}' in the base frame: [R p; 0 1]",
    "jacobian": (
        "Jacobian of frame '{frame}': linear velocity, then angular velocity, in the base frame, ="
        " J qd"
    ),
    "christoffel": "Christoffel symbols of M: C[i][j] = sum over k of c[i][j][k] qd[k]",
    "coriolis_transpose": "C(q, qd)' qd, of the momentum observer",
    "momentum_rate": "rate of the generalised momentum under tau: tau + C' qd - g - friction",
    "slotine_li": "M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), of adaptive control",
    "slotine_li_regressor": "Y with Y pi = slotine_li, pi in the order of the list above",
    "joint_reactions": "force and moment that each joint transmits, as Robot.joint_reactions",
    "inverse_dynamics_derivatives": "derivatives of tau by q, by qd and by qdd",
    "forward_dynamics_derivatives": "derivatives of qdd by q, by qd and by tau",
    "center_of_mass": "centre of mass of all moving bodies, in the base frame",
    "com_jacobian": "velocity of the centre of mass = J qd",
    "jacobian_rate": "time derivative of the Jacobian of frame '{frame}' along qd",
}
# further functions for linkages and parallel robots
LOOP_FUNCTIONS = (
    "closure",
    "closure_jacobian",
    "constrained_torque",
    "constrained_forward_dynamics",
    "freedom_basis",
)
LOOP_EQUATIONS = {
    "closure": "how far the loops are from closed, in the order of the list above: phi(q)",
    "closure_jacobian": "Phi(q) = dphi/dq: Phi qd is the rate at which the loops open",
    "closure_bias": "dPhi/dt qd: the loops stay closed where Phi qdd + bias = 0",
    "constrained_torque": (
        "torques of the drives, of least sum of weight tau^2, multipliers, and the residual of "
        "the equations"
    ),
    "constrained_forward_dynamics": (
        "accelerations that torques give with the loops closed, multipliers, and how fast they open"
        " still"
    ),
    "constrained_regressor": "N' Y, the regressor in the independent coordinates: N' tau = N' Y pi",
    "freedom_basis": (
        "N(q) with qd = N qd_independent, the independent coordinates as in the list above"
    ),
}
FRAMED = tuple(name for name in EQUATIONS if ALGORITHMS[name].needs_frame)  # algorithms of a frame
WRENCHED = (  # algorithms that can take wrenches
    "inverse_dynamics",
    "forward_dynamics",
    "wrench_torque",
    "joint_reactions",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "constrained_torque",
    "constrained_forward_dynamics",
)

# keywords of C and C++, and file names that some systems reserve for devices
RESERVED = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false class new delete template this namespace
    private protected public operator friend virtual typename using try catch throw export
    explicit mutable asm and or not xor nullptr constexpr decltype noexcept main math con prn
    aux nul
"""))  # fmt: skip


def programs(
    tree: Tree,
    prefix: str,
    functions: Sequence[str] | None,
    frame: str | None,
    wrench: Sequence[str] = (),
) -> dict[str, Program]:
    """Return algorithm -> its program, named prefix_algorithm, in the given order.

    The default is FUNCTIONS. Without a frame, functions of a frame are omitted. Functions of
    WRENCHED take a wrench at each frame of `wrench`, (frames, 6).
    """
    usual = (*FUNCTIONS, *(LOOP_FUNCTIONS if tree.loops else ()))
    names = _check_names(usual if functions is None else functions, bool(tree.loops))
    for each in wrench if frame is None else (frame, *wrench):
        find_frame(tree, each)  # raises CallError with the frames that there are
    exported = [name for name in names if frame is not None or name not in FRAMED]
    return {
        name: replace(_program(tree, name, frame, wrench), name=f"{prefix}_{name}")
        for name in exported
    }


def _program(tree: Tree, name: str, frame: str | None, wrench: Sequence[str]) -> Program:
    # of all closures
    tree = replace(tree, rows=tuple(range(tree.closures))) if name.startswith("closure") else tree
    return program(
        tree,
        name,
        frame=frame if name in FRAMED else None,
        wrench=wrench if wrench and name in WRENCHED else None,
    )


def _check_names(functions: Sequence[str], loops: bool) -> tuple[str, ...]:
    """Return the names without repetitions; raise CallError for one that cannot be exported."""
    known = (*EQUATIONS, *(LOOP_EQUATIONS if loops else ()))
    if isinstance(functions, str):
        raise CallError(
            f"functions={functions!r} is one name; expected several, such as [{functions!r}]"
        )
    for name in functions:
        if name in LOOP_EQUATIONS and not loops:
            raise CallError(f"functions: {name!r} is for robots with loops, and this one has none")
        if name not in known:
            raise CallError(
                f"functions: {name!r} cannot be written in C; {suggest(str(name), known)}"
            )
    if not functions:
        raise CallError(f"functions is empty; expected some of {', '.join(known)}")
    return tuple(dict.fromkeys(functions))


def identifier(name: str) -> str:
    """Return a name in small letters, digits and underscores that C and C++ accept.

    'UR-5e (left)' is ur_5e_left, '2r' is robot_2r.

    ISO/IEC 9899:1999, section 6.4.2 (identifiers) and 6.4.1 (keywords).
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return (
        f"robot_{word}".rstrip("_") if not word or word[0].isdigit() or word in RESERVED else word
    )
