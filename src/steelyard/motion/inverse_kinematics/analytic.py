"""The closed-form inverse kinematics of an arm as one kernel.

Pose and preferred position in; all solutions, shifted into the limits, out.
"""

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
from ...compiler.ir.schedule import order_by_depth
from ...compiler.runtime.kernel import Kernel
from ...mechanism import near_integers
from ...mechanism.model import Limits
from ...mechanism.tree import Body, Tree
from .arms import Branch
from .chain import Chain, ChainJoint, FrameMove, chain_of
from .families import Family, find_family
from .inverse_kinematics_thresholds import THRESHOLDS
from .subproblems import AT_REST, Turn

Array = NDArray[np.float64]
UNREACHED, OUTSIDE, VALID = 0.0, 1.0, 2.0  # codes of a branch: reach times (1 + inside)
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to an integer
_TWO_PI = 2.0 * math.pi


class Analytic(NamedTuple):
    """A compiled closed form.

    `kernel(pose, q0)` returns q (..., k, n) with NaN where a branch has no solution, its code (...,
    k), and the distance of the matrix from a pose (...). `fixed` names the joints that stay at q0,
    `indices` are their indices. An `inexact` form belongs to an arm whose right angles the
    description rounds: its solutions are starting points for the arm itself.
    """

    family: str
    branches: tuple[str, ...]
    fixed: tuple[str, ...]
    indices: tuple[int, ...]
    kernel: Kernel
    inexact: bool

    def start(self, q0: Array, positions: Array) -> Array:
        """Return preferred positions (..., n) with the fixed joints at `positions`."""
        batch = np.broadcast_shapes(q0.shape[:-1], positions.shape[:-1])
        start = np.array(np.broadcast_to(q0, (*batch, q0.shape[-1])))
        start[..., self.indices] = positions
        return start


@lru_cache(maxsize=64)
def analytic(
    robot: Any, frame: str, fixed: tuple[str, ...] | None, limited: bool = True
) -> Analytic | None:
    """Compile the closed form of a robot for a frame; None where there is none.

    `fixed` names joints with prescribed positions. Without it, the joints in excess of six are
    chosen. Without `limited`, joint limits are ignored.
    """
    for inexact in (False, True):
        tree = _with_right_angles(robot.tree) if inexact else robot.tree
        tree = tree if limited else replace(tree, limits=(Limits(),) * robot.n)
        chain = chain_of(tree, frame)
        family = None if chain is None else _family(tree, chain, fixed)
        if chain is not None and family is not None:
            return _compile(robot, tree, chain, family, inexact)
    return None


def _compile(robot: Any, tree: Tree, chain: Chain, family: Family, inexact: bool) -> Analytic:
    names = tuple(robot.joint_names[chain.coordinates[index]] for index in family.fixed)
    branches: list[str] = []
    # tracing also gives the names of the branches
    traced = closed_form_program(tree, chain, family, branches)
    indices = tuple(chain.coordinates[index] for index in family.fixed)
    return Analytic(
        family=family.name,
        branches=tuple(branches),
        fixed=names,
        indices=indices,
        kernel=Kernel(traced),
        inexact=inexact,
    )


def _with_right_angles(tree: Tree) -> Tree:
    """Round rotations and axes of a description that writes angles to few decimals."""
    return replace(tree, bodies=tuple(_with_right_angle(body) for body in tree.bodies))


def _with_right_angle(body: Body) -> Body:
    placement = Pose(
        near_integers.matrix(body.placement.R, THRESHOLDS.rounded_angle), body.placement.p
    )
    return replace(
        body, placement=placement, axis=near_integers.axis(body.axis, THRESHOLDS.rounded_angle)
    )


def _family(tree: Tree, chain: Chain, fixed: tuple[str, ...] | None) -> Family | None:
    if fixed is not None:
        indices = tuple(
            sorted(chain.coordinates.index(tree.coordinates.index(name)) for name in fixed)
        )
        return find_family(chain.joints, chain.tool, indices)
    for indices in _candidates(chain):
        family = find_family(chain.joints, chain.tool, indices)
        if family is not None:
            return family
    return None


def _candidates(chain: Chain) -> list[tuple[int, ...]]:
    """Return candidates for the joints to fix where there are more than six.

    Prismatic joints first, then the third, the last, and the others from the base on.
    """
    extra = chain.n - 6
    if extra <= 0:
        return [()]
    slides = tuple(joint.number for joint in chain.joints if not joint.turns)
    order = [
        *slides,
        *(index for index in (2, chain.n - 1, *range(chain.n)) if index not in slides),
    ]
    order = list(dict.fromkeys(order))
    if extra == 1:
        return [(index,) for index in order]
    return [tuple(sorted(order[:extra]))] + [
        tuple(sorted((*order[: extra - 1], index))) for index in order[extra:]
    ]


def closed_form_program(tree: Tree, chain: Chain, family: Family, names: list[str]) -> Program:
    """Trace the closed form; `names` receives the names of the branches."""

    def run(pose: Any, q0: Any) -> Any:
        R, p = tuple(tuple(row[:3]) for row in pose[:3]), tuple(row[3] for row in pose[:3])
        X = chain.before.compose(Pose(R, p)).compose(chain.after)  # type: ignore[arg-type]
        joints = _with_rest_positions(chain, q0)
        fixed = [
            _fixed_move(joints[index], chain.multipliers[index], q0[chain.coordinates[index]])
            for index in family.fixed
        ]
        fault, names[:], solved = _pose_error(R, pose[3]), [], []
        for branch in family.solve(joints, X, fixed):
            names.append(" ".join(branch.name))
            solved.append(_solution(tree, chain, branch, family.fixed, q0))
        return [q for q, _ in solved], [code for _, code in solved], fault

    inputs = [Operand("pose", (4, 4), "[-|m]"), Operand("q0", (tree.n,), "[rad|m]")]
    count = _count(chain, family)
    outputs = [
        Operand("q", (count, tree.n), "[rad|m]"),
        Operand("code", (count,), "[-]"),
        Operand("fault", (), "[-]"),
    ]
    return order_by_depth(trace("inverse_kinematics", run, inputs, outputs))


def _count(chain: Chain, family: Family) -> int:
    """Count the branches by solving one pose, as arrays of one sample."""
    fixed = [_fixed_move(chain.joints[index], 1.0, np.array([0.1])) for index in family.fixed]
    R = tuple(tuple(np.array([x]) for x in row) for row in from_rpy((0.3, 0.5, 0.7)))
    pose = Pose(R, (np.array([0.3]),) * 3)  # type: ignore[arg-type]
    return len(list(family.solve(chain.joints, pose, fixed)))


def _with_rest_positions(chain: Chain, q0: Sequence[Scalar]) -> list[ChainJoint]:
    """Return the joints of the chain with their rest positions at q0."""
    angles = [m * q0[c] for c, m in zip(chain.coordinates, chain.multipliers, strict=True)]
    return [
        (
            joint._replace(rest=Turn(cos(a), sin(a), _shift_by_periods(a, 0.0, _TWO_PI), True))
            if joint.turns
            else joint
        )
        for joint, a in zip(chain.joints, angles, strict=True)
    ]


def _fixed_move(joint: ChainJoint, multiplier: float, q: Scalar) -> FrameMove:
    by = multiplier * q
    return (
        FrameMove(joint, Turn(cos(by), sin(by), by))
        if joint.turns
        else FrameMove(joint, AT_REST, by)
    )


def _solution(
    tree: Tree, chain: Chain, branch: Branch, fixed: Sequence[int], q0: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """Return all positions, NaN without a solution, and the code of the branch.

    Joints off the chain keep q0.
    """
    q: list[Scalar] = list(q0)
    inside: Scalar = 1.0
    for move, c, m in zip(branch.moves, chain.coordinates, chain.multipliers, strict=True):
        period = (
            _TWO_PI / abs(m) if move.joint.turns and move.joint.number not in fixed else math.inf
        )
        principal = abs(m) == 1.0 and move.turn.principal
        q[c], within = nearest_turn(move.value / m, q0[c], tree.limits[c], period, principal)
        inside = inside * within
    code = branch.reach * (1.0 + inside)
    return [where(code > 1.5, x, math.nan) for x in q], code


def nearest_turn(
    q: Scalar, q0: Scalar, limits: Limits, period: float, principal: bool
) -> tuple[Scalar, Scalar]:
    """Shift q by whole periods into the limits, nearest to q0; return it and 1 if inside, else 0.

    A `principal` q is already within [-pi, pi].
    """
    lower = limits.lower - THRESHOLDS.limit_rounding
    upper = limits.upper + THRESHOLDS.limit_rounding
    # at most one shifted value is inside: the one nearest to the middle
    if upper - lower < period and math.isfinite(upper - lower):
        middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        near = q if principal and middle == 0.0 else _shift_by_periods(q, middle, period)
        return near, where(absolute(near - middle) > half, 0.0, 1.0)
    if math.isinf(period):
        return q, _below(q, upper) * _below(-q, -lower)
    # the value nearest to a position at least half a turn inside the limits is inside them
    preferred, half = q0, 0.5 * period
    preferred = (
        where(preferred < lower + half, lower + half, preferred)
        if math.isfinite(lower)
        else preferred
    )
    preferred = (
        where(preferred > upper - half, upper - half, preferred)
        if math.isfinite(upper)
        else preferred
    )
    return _shift_by_periods(q, preferred, period), 1.0


def _shift_by_periods(q: Scalar, preferred: Scalar, period: float) -> Scalar:
    """Add the whole periods to q that bring it nearest to the preferred position."""
    if math.isinf(period):
        return q
    return q + period * (((preferred - q) * (1.0 / period) + _MAGIC) - _MAGIC)


def _below(q: Scalar, most: float) -> Scalar:
    return where(q > most, 0.0, 1.0) if math.isfinite(most) else 1.0


def _pose_error(R: Any, last: Sequence[Scalar]) -> Scalar:
    """Measure how far a 4x4 matrix is from a pose.

    The sum of |x.x - 1|, |y.y - 1|, |x.y|, |z - x cross y| over the rows of R, and of the last
    row's error.
    """
    x, y, z = R
    wrong = [
        v3.dot(x, x) - 1.0,
        v3.dot(y, y) - 1.0,
        v3.dot(x, y),
        *v3.sub(z, v3.cross(x, y)),
        *last[:3],
        last[3] - 1.0,
    ]
    error: Scalar = 0.0
    for value in wrong:
        error = error + absolute(value)
    return error
