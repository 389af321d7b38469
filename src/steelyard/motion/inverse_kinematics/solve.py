"""`inverse_kinematics`: joint positions that bring a frame to a pose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import numbers, one_of, short_repr
from ...dynamics.kinematics import carriers, find_frame
from ...errors import CallError, ProblemError, mention, require_robot, suggest
from ...floating_point import default_errstate
from ...option_groups.kinematics import METHODS, Free
from .analytic import UNREACHED, VALID, analytic
from .free_joints import keep_others, solve_missing, with_free_joints
from .ik_problem import IkProblem
from .inverse_kinematics_thresholds import THRESHOLDS
from .numerical import close_loops, joint_range, move_towards_preferred, search_position
from .solutions import Array, Context, Solutions, require_poses

if TYPE_CHECKING:
    from ...robot import Robot

_FLOAT64 = np.dtype(np.float64)


def inverse_kinematics(
    robot: Robot,
    pose: ArrayLike,
    frame: str | None = None,
    q0: ArrayLike | None = None,
    free: Free | None = None,
    method: str = "auto",
) -> Solutions:
    """Compute all joint positions that bring a frame to a pose, T(q) = pose.

    Each joint takes the turn within its limits that is nearest to q0.

    q0 is kept where a joint is free at a singularity. Joints that are too many take the position
    nearest to q0 that has a solution, unless `free` is given. "auto" takes the closed form where
    the arm has one, and one numerical solution of every pose that it misses. See
    docs/inverse_kinematics.md; Pieper 1968; lecture "Special methods for dynamics", inverse
    kinematics.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    pose : (..., 4, 4) homogeneous pose of the frame in the base frame [-|m].
    frame : name of a frame, one of `frame_names`; the end-effector by default.
    q0 : (..., n) preferred positions [rad|m]; the middle of the limits nearest zero by default.
    free : positions of joints that are too many [rad|m]: one, a grid (..., g), or by joint.
    method : "closed form", "numerical" or "auto".

    Returns
    -------
    `Solutions`: .q (..., k, n) [rad|m], .valid (..., k), .branches, .status.

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> pose = robot.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> sy.inverse_kinematics(robot, pose).q.shape
    (8, 6)
    """
    if (
        q0 is None
        and type(pose) is np.ndarray
        and pose.dtype is _FLOAT64
        and pose.shape == (4, 4)
        and (solutions := _from_memory(robot, pose, frame, free, method)) is not None
    ):
        return solutions
    setup = _problem_of(robot, frame, free, method)
    poses = pose if type(pose) is np.ndarray and pose.dtype is _FLOAT64 else numbers("pose", pose)
    if poses.shape[-2:] != (4, 4):
        raise CallError(
            f"pose has shape {poses.shape}; expected (..., 4, 4): homogeneous matrices [R, p; 0, 1]"
        )
    start = setup.rest if q0 is None else _start(robot, q0, poses.shape[:-2])
    if setup.closed is None:
        return require_poses(_numerical(setup.context, poses, start, q0 is not None))
    if q0 is None and not setup.closed.inexact:
        _remember(setup, (id(robot), frame, method), free)
    if setup.closed.fixed:
        return require_poses(with_free_joints(setup, poses, start, free))
    s = Solutions(setup.call(poses, start), (poses, start, setup.context, None, None))
    return require_poses(solve_missing(setup, s) if setup.closed.inexact and setup.complete else s)


# ufunc, start, rest, context, held
_known: dict[tuple[Any, ...], tuple[Any, Array, Array, Context, Array | None]] = {}


def _from_memory(
    robot: Robot, pose: Array, frame: str | None, free: Any, method: str
) -> Solutions | None:
    """Solve one pose (4, 4) with the arguments of an earlier call, without checks.

    The checks take longer than the solution.
    """
    try:
        known = _known.get((id(robot), frame, method, _free_key(free)))
    except TypeError:
        return None
    if known is None or known[3].robot is not robot:
        return None
    ufunc, start, rest, context, positions = known
    try:
        result = ufunc(pose, start)
    except FloatingPointError:  # np.seterr of the caller
        return None
    return (
        Solutions(result, (pose, rest, context, positions, None))
        if result[2] <= THRESHOLDS.pose_tolerance
        else None
    )


def _free_key(free: Any) -> tuple[Any, ...]:  # `free` as a key, in which True is not 1.0
    return (
        tuple((name, type(value), value) for name, value in free.items())
        if type(free) is dict
        else (type(free), free)
    )


def _remember(setup: IkProblem, asked: tuple[Any, ...], free: Any) -> None:
    """Store what `_from_memory` needs: no joint is fixed, or one at a finite float."""
    assert setup.closed is not None
    joints, start, positions = setup.closed.fixed, setup.rest, None
    if joints:
        value = free.get(joints[0]) if type(free) is dict else free
        if len(joints) > 1 or type(value) is not float or not math.isfinite(value):
            return
        start = setup.closed.start(setup.rest, positions := np.array([value]))
        start.flags.writeable = positions.flags.writeable = False
    if len(_known) >= THRESHOLDS.cached_problems:
        _known.clear()
    _known[(*asked, _free_key(free))] = (
        setup.closed.kernel.ufunc,
        start,
        setup.rest,
        setup.context,
        positions,
    )


# of the robots that were asked for last, which stay alive meanwhile
_recent: dict[tuple[Any, ...], IkProblem] = {}


def _problem_of(robot: Robot, frame: str | None, free: Any, method: str) -> IkProblem:
    """Return the problem, from memory for the same robot object.

    The fingerprint of a robot takes longer to compare than a pose to solve.
    """
    fixed = (
        None
        if free is None
        else tuple(free)
        if type(free) is dict or isinstance(free, Mapping)
        else ()
    )
    key = id(robot), frame, fixed, method
    try:
        problem = _recent.get(key)
    except TypeError:
        raise CallError(
            f"frame and method must be names, not {short_repr(frame)} and {short_repr(method)}"
        ) from None
    if problem is None or problem.context.robot is not robot:
        require_robot(robot, "inverse_kinematics", known_function=True)
        one_of("method", method, METHODS)
        problem = _build_problem(
            robot, robot.end_effector if frame is None else frame, _fixed_names(robot, free), method
        )
        _require_free(robot, problem, free)
        if len(_recent) >= THRESHOLDS.cached_problems:
            _recent.clear()
        _recent[key] = problem
    return problem


def _require_free(robot: Robot, setup: IkProblem, free: Any) -> None:
    """Raise CallError where `free` is given and no joint can be fixed."""
    if free is None or (setup.closed is not None and setup.closed.fixed):
        return
    if setup.closed is None:
        hint = "leave `free` out, or freeze the joint (robot.freeze)"
        raise CallError(f"free: {robot.name!r} is solved numerically, without fixed joints; {hint}")
    raise CallError(
        "free: no joint is free: this arm has no more than six joints, or `free` names none"
    )


def _build_problem(
    robot: Robot, frame: str, fixed: tuple[str, ...] | None, method: str
) -> IkProblem:
    body, _ = find_frame(robot.tree, frame)
    if body < 0:
        moving = [name for name, each in robot.tree.frames.items() if each.body >= 0]
        raise CallError(f"no joint moves the frame {frame!r}; {suggest(frame, moving)}")
    _require_carriers(robot, frame, body, fixed)
    closed = None if method == "numerical" or robot.tree.loops else analytic(robot, frame, fixed)
    if method == "closed form" and closed is None:
        why = (
            "neither three axes that meet at an end nor three parallel ones in the middle, to 1e-9"
        )
        why = "its loops are closed numerically" if robot.tree.loops else why
        raise ProblemError(
            f"{robot.name!r} has no closed form for {frame!r}: {why};"
            f" {mention('method', 'numerical')} solves it"
        )
    if fixed and closed is None:
        raise CallError(
            f"free: with {', '.join(fixed)} fixed the arm has no closed form; leave `free` out for"
            " the numerical solver"
        )
    rest = np.clip(np.zeros(robot.n), *joint_range(robot.tree))
    rest.flags.writeable = False
    if closed is None:
        return IkProblem(Context(robot, frame, "the numerical solver", ("numerical",)), None, rest)
    how = (
        "the closed form of an arm with right angles, polished" if closed.inexact else "closed form"
    )
    return IkProblem(
        Context(robot, frame, how, closed.branches, closed.fixed), closed, rest, method == "auto"
    )


def _require_carriers(robot: Robot, frame: str, body: int, fixed: tuple[str, ...] | None) -> None:
    moving = [
        robot.joint_names[robot.tree.bodies[i].coordinate] for i in carriers(robot.tree, body)
    ]
    for name in fixed or ():
        if name not in moving:
            raise CallError(
                f"free: no joint between the base and {frame!r} is called {name!r};"
                f" {suggest(name, moving)}"
            )


def _fixed_names(robot: Robot, free: Any) -> tuple[str, ...] | None:
    """Return the joints that `free` names, in robot order; None if it names none."""
    if not isinstance(free, Mapping):
        return None
    known = robot.joint_names
    return (
        *(name for name in known if name in free),
        *(str(name) for name in free if name not in known),
    ) or None


def _start(robot: Robot, q0: ArrayLike, batch: tuple[int, ...]) -> Array:
    start = numbers("q0", q0)
    if start.shape[-1:] != (robot.n,):
        raise CallError(
            f"q0 has shape {start.shape}; expected (..., {robot.n}): one position for each of"
            f" {', '.join(robot.joint_names)}"
        )
    if not np.isfinite(start).all():
        raise CallError("q0 contains NaN or infinity; expected positions [rad|m]")
    if start.ndim > 1:
        try:
            return np.broadcast_to(start, (*batch, robot.n))
        except ValueError:
            raise CallError(
                f"q0 has shape {start.shape}; expected ({robot.n},) or the shape of the poses, "
                f"{(*batch, robot.n)}"
            ) from None
    return start


@default_errstate
def _numerical(context: Context, pose: Array, start: Array, preferred: bool) -> Solutions:
    """Solve each pose numerically, one solution each.

    With redundancy and a preferred position, the solution moves towards it.
    """
    batch, n = pose.shape[:-2], context.robot.n
    flat, starts = pose.reshape(-1, 4, 4), np.broadcast_to(start, (*batch, n)).reshape(-1, n)
    fault = _pose_errors(flat)
    proper = fault <= THRESHOLDS.pose_tolerance
    whole = search_position(
        context.robot, context.frame, np.where(proper[:, None, None], flat, np.eye(4)), starts
    )
    whole = keep_others(context.robot, context.frame, whole, starts)
    if preferred and n > 6 + len(context.robot.closed_tree.rows):
        whole = move_towards_preferred(context.robot, context.frame, flat, whole, starts)
    whole = (
        close_loops(context.robot, context.frame, flat, whole)
        if context.robot.tree.loops
        else whole
    )
    reached = whole.reached & proper
    q = np.where(reached[:, None], whole.q, np.nan).reshape(*batch, 1, n)
    code = np.where(reached, VALID, UNREACHED).reshape(*batch, 1)
    return Solutions((q, code, fault.reshape(batch)), (pose, start, context, None, whole))


def _pose_errors(pose: Array) -> Array:
    """Measure how far matrices (N, 4, 4) are from poses; infinite with NaN."""
    with np.errstate(all="ignore"):
        R = pose[:, :3, :3]
        error = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).sum(axis=(1, 2)) + np.abs(
            np.linalg.det(R) - 1.0
        )
        error += np.abs(pose[:, 3] - [0.0, 0.0, 0.0, 1.0]).sum(axis=1) + 0.0 * pose.sum(axis=(1, 2))
    return np.where(np.isnan(error), np.inf, error)
