"""The closed form of an arm as one kernel: pose and preferred position in; all solutions, turned into the limits, out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra import vector as v3
from ...algebra.rotation import from_rpy
from ...algebra.scalar import Scalar, absolute, cos, sin, where
from ...algebra.spatial import Pose
from ...compiler.ir.program import Operand, Program, trace
from ...compiler.ir.schedule import side_by_side
from ...compiler.runtime.kernel import Kernel
from ...mechanism import near_integers
from ...mechanism.model import Limits
from ...mechanism.tree import Body, Tree
from .arms import Branch
from .chain import Chain, Joint, Move, chain_of
from .families import Family, find_family
from .subproblems import AT_REST, Turn

Array = NDArray[np.float64]
ROUNDED_ANGLE = 3e-4  # [rad] 1.571 is meant to be a right angle
ROUNDING = 1e-9  # [rad|m] a position is within a limit that it passes by no more
UNREACHED, OUTSIDE, VALID = 0.0, 1.0, 2.0  # codes of a branch: reach times (1 + inside)
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to an integer
_TWO_PI = 2.0 * math.pi


class Analytic(NamedTuple):
    """A compiled closed form.

    `kernel(pose, q0)` returns q (..., k, n) with NaN where a branch has no solution, its code (..., k), and how far the given pose is from
    a pose (...). `held` are the names of the joints that stay where q0 has them, `places` theirs among all joints. An `inexact` one is that
    of an arm whose right angles the description rounds: its solutions are starts for the arm itself.
    """

    family: str
    branches: tuple[str, ...]
    held: tuple[str, ...]
    places: tuple[int, ...]
    kernel: Kernel
    inexact: bool

    def start(self, q0: Array, held: Array) -> Array:
        """Preferred positions (..., n) with the held joints at theirs, (..., joints)."""
        batch = np.broadcast_shapes(q0.shape[:-1], held.shape[:-1])
        made = np.array(np.broadcast_to(q0, (*batch, q0.shape[-1])))
        made[..., self.places] = held
        return made


@lru_cache(maxsize=64)
def analytic(robot: Any, frame: str, held: tuple[str, ...] | None, limited: bool = True) -> Analytic | None:
    """The closed form of a robot for a frame, with given joints held, or with as many as are too many; None where there is none.

    Without `limited` it knows no joint limits.
    """
    for inexact in (False, True):
        tree = _with_right_angles(robot.tree) if inexact else robot.tree
        tree = tree if limited else replace(tree, limits=(Limits(),) * robot.n)
        chain = chain_of(tree, frame)
        family = None if chain is None else _family(tree, chain, held)
        if chain is not None and family is not None:
            return _compiled(robot, tree, chain, family, inexact)
    return None


def _compiled(robot: Any, tree: Tree, chain: Chain, family: Family, inexact: bool) -> Analytic:
    names = tuple(robot.joint_names[chain.coordinates[at]] for at in family.held)
    branches: list[str] = []
    made = program(tree, chain, family, branches)  # the names of the branches come with the trace, which takes milliseconds
    places = tuple(chain.coordinates[at] for at in family.held)
    return Analytic(family.name, tuple(branches), names, places, Kernel(made), inexact)


def _with_right_angles(tree: Tree) -> Tree:
    """The tree with rotations and axes as they are meant by a description that writes three decimals or more of an angle."""
    return replace(tree, bodies=tuple(_with_right_angle(body) for body in tree.bodies))


def _with_right_angle(body: Body) -> Body:
    placement = Pose(near_integers.matrix(body.placement.R, ROUNDED_ANGLE), body.placement.p)
    return replace(body, placement=placement, axis=near_integers.axis(body.axis, ROUNDED_ANGLE))


def _family(tree: Tree, chain: Chain, held: tuple[str, ...] | None) -> Family | None:
    if held is not None:
        places = tuple(sorted(chain.coordinates.index(tree.coordinates.index(name)) for name in held))
        return find_family(chain.joints, chain.tool, places)
    for places in _candidates(chain):
        family = find_family(chain.joints, chain.tool, places)
        if family is not None:
            return family
    return None


def _candidates(chain: Chain) -> list[tuple[int, ...]]:
    """Which joints to hold where there are more than six: slides first, then the third, the last, and the others from the base on."""
    extra = chain.n - 6
    if extra <= 0:
        return [()]
    slides = tuple(joint.at for joint in chain.joints if not joint.turns)
    order = [*slides, *(at for at in (2, chain.n - 1, *range(chain.n)) if at not in slides)]
    order = list(dict.fromkeys(order))
    if extra == 1:
        return [(at,) for at in order]
    return [tuple(sorted(order[:extra]))] + [tuple(sorted((*order[: extra - 1], at))) for at in order[extra:]]


def program(tree: Tree, chain: Chain, family: Family, names: list[str]) -> Program:
    """Trace the closed form; `names` receives the names of the branches."""

    def run(pose: Any, q0: Any) -> Any:
        R, p = tuple(tuple(row[:3]) for row in pose[:3]), tuple(row[3] for row in pose[:3])
        X = chain.before.compose(Pose(R, p)).compose(chain.after)  # type: ignore[arg-type]
        joints = _rested(chain, q0)
        fixed = [_held(joints[at], chain.multipliers[at], q0[chain.coordinates[at]]) for at in family.held]
        fault, names[:], solved = _fault(R, pose[3]), [], []
        for branch in family.solve(joints, X, fixed):
            names.append(" ".join(branch.name))
            solved.append(_solution(tree, chain, branch, family.held, q0))
        return [q for q, _ in solved], [code for _, code in solved], fault

    inputs = [Operand("pose", (4, 4), "[-|m]"), Operand("q0", (tree.n,), "[rad|m]")]
    count = _count(chain, family)
    outputs = [Operand("q", (count, tree.n), "[rad|m]"), Operand("code", (count,), "[-]"), Operand("fault", (), "[-]")]
    return side_by_side(trace("inverse_kinematics", run, inputs, outputs))


def _count(chain: Chain, family: Family) -> int:
    """How many branches there are, found by solving for a pose, as arrays of one sample."""
    fixed = [_held(chain.joints[at], 1.0, np.array([0.1])) for at in family.held]
    R = tuple(tuple(np.array([x]) for x in row) for row in from_rpy((0.3, 0.5, 0.7)))
    return len(list(family.solve(chain.joints, Pose(R, (np.array([0.3]),) * 3), fixed)))  # type: ignore[arg-type]


def _rested(chain: Chain, q0: Sequence[Scalar]) -> list[Joint]:
    """The joints of the chain, at rest where q0 has them."""
    angles = [m * q0[c] for c, m in zip(chain.coordinates, chain.multipliers, strict=True)]
    return [
        joint._replace(rest=Turn(cos(a), sin(a), _turned(a, 0.0, _TWO_PI), True)) if joint.turns else joint
        for joint, a in zip(chain.joints, angles, strict=True)
    ]


def _held(joint: Joint, multiplier: float, q: Scalar) -> Move:
    by = multiplier * q
    return Move(joint, Turn(cos(by), sin(by), by)) if joint.turns else Move(joint, AT_REST, by)


def _solution(tree: Tree, chain: Chain, branch: Branch, held: Sequence[int], q0: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
    """Positions of all coordinates, NaN where there is no solution, and the code that says why. Joints off the chain stay."""
    q: list[Scalar] = list(q0)
    inside: Scalar = 1.0
    for move, c, m in zip(branch.moves, chain.coordinates, chain.multipliers, strict=True):
        period = _TWO_PI / abs(m) if move.joint.turns and move.joint.at not in held else math.inf
        principal = abs(m) == 1.0 and move.turn.principal
        q[c], within = nearest_turn(move.value / m, q0[c], tree.limits[c], period, principal)
        inside = inside * within
    code = branch.reach * (1.0 + inside)
    return [where(code > 1.5, x, math.nan) for x in q], code


def nearest_turn(q: Scalar, q0: Scalar, limits: Limits, period: float, principal: bool) -> tuple[Scalar, Scalar]:
    """The position that differs from q by whole periods, is within the limits if any is, and nearest to q0; 1 if it is within, else 0.

    A `principal` q is nearest to zero as it is.
    """
    lower, upper = limits.lower - ROUNDING, limits.upper + ROUNDING
    if upper - lower < period and math.isfinite(upper - lower):  # at most one turn lies within: that nearest to the middle
        middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        near = q if principal and middle == 0.0 else _turned(q, middle, period)
        return near, where(absolute(near - middle) > half, 0.0, 1.0)
    if math.isinf(period):
        return q, _below(q, upper) * _below(-q, -lower)
    wanted, half = q0, 0.5 * period  # what is nearest to a place half a turn within the limits lies within them
    wanted = where(wanted < lower + half, lower + half, wanted) if math.isfinite(lower) else wanted
    wanted = where(wanted > upper - half, upper - half, wanted) if math.isfinite(upper) else wanted
    return _turned(q, wanted, period), 1.0


def _turned(q: Scalar, wanted: Scalar, period: float) -> Scalar:
    """q plus the whole periods that bring it nearest to a position."""
    if math.isinf(period):
        return q
    return q + period * (((wanted - q) * (1.0 / period) + _MAGIC) - _MAGIC)


def _below(q: Scalar, most: float) -> Scalar:
    return where(q > most, 0.0, 1.0) if math.isfinite(most) else 1.0


def _fault(R: Any, last: Sequence[Scalar]) -> Scalar:
    """How far a 4x4 matrix is from a pose: x.x - 1, y.y - 1, x.y, z - x cross y of the rows of R, and its last row, all added up."""
    x, y, z = R
    wrong = [v3.dot(x, x) - 1.0, v3.dot(y, y) - 1.0, v3.dot(x, y), *v3.sub(z, v3.cross(x, y)), *last[:3], last[3] - 1.0]
    error: Scalar = 0.0
    for value in wrong:
        error = error + absolute(value)
    return error
