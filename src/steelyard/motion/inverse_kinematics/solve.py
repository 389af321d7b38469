"""`inverse_kinematics`: the positions of joints that bring a frame to a pose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import any_of, brief, numbers
from ...dynamics.kinematics import carriers, find_frame
from ...errors import CallError, ProblemError, require_robot, suggest
from ...floating_point import default_errstate
from .analytic import UNREACHED, VALID, analytic
from .free_joints import complete, keep_others, with_free_joints
from .ik_problem import IkProblem
from .numerical import draw_nearer, joint_range, search, shut
from .solutions import NO_POSE, Array, Context, Solutions, checked

if TYPE_CHECKING:
    from ...robot import Robot

METHODS = ("auto", "closed form", "numerical")
_FLOAT64 = np.dtype(np.float64)
Free = float | ArrayLike | Mapping[str, ArrayLike]


def inverse_kinematics(
    robot: Robot,
    pose: ArrayLike,
    frame: str | None = None,
    q0: ArrayLike | None = None,
    free: Free | None = None,
    method: str = "auto",
) -> Solutions:
    """All joint positions that bring a frame to a pose, T(q) = pose, each joint in the turn within its limits nearest to q0.

    q0 is kept where a joint is free at a singularity. Joints that are too many take the position nearest to q0 that has a solution,
    unless `free` is given. "auto" takes the closed form where the arm has one, and one numerical solution of every pose that it misses.
    See docs/inverse_kinematics.md; Pieper 1968; lecture "Special methods for dynamics", inverse kinematics.

    Example:
        >>> sy.inverse_kinematics(sy.load("elbow_6r"), sy.load("elbow_6r").forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])).q.shape
        (8, 6)
    """
    if q0 is None and type(pose) is np.ndarray and pose.dtype is _FLOAT64 and pose.shape == (4, 4):  # noqa: SIM102
        if (found := _as_before(robot, pose, frame, free, method)) is not None:
            return found
    setup = _setup(robot, frame, free, method)
    given = pose if type(pose) is np.ndarray and pose.dtype is _FLOAT64 else numbers("pose", pose)
    if given.shape[-2:] != (4, 4):
        raise CallError(f"pose has shape {given.shape}; expected (..., 4, 4): homogeneous matrices [R, p; 0, 1]")
    start = setup.rest if q0 is None else _start(robot, q0, given.shape[:-2])
    if setup.closed is None:
        return checked(_numerical(setup.context, given, start, q0 is not None))
    if q0 is None and not setup.closed.inexact:
        _remember(setup, (id(robot), frame, method), free)
    if setup.closed.held:
        return checked(with_free_joints(setup, given, start, free))
    s = Solutions(setup.call(given, start), (given, start, setup.context, None, None))
    return checked(complete(setup, s) if setup.closed.inexact and setup.complete else s)


_known: dict[tuple[Any, ...], tuple[Any, Array, Array, Context, Array | None]] = {}  # ufunc, start, rest, context, held


def _as_before(robot: Robot, pose: Array, frame: str | None, free: Any, method: str) -> Solutions | None:
    """Solutions for one pose (4, 4) where the same was asked of the same robot before; checks take longer than a pose to solve."""
    try:
        known = _known.get((id(robot), frame, method, _asked(free)))
    except TypeError:
        return None
    if known is None or known[3].robot is not robot:
        return None
    ufunc, start, rest, context, held = known
    try:
        made = ufunc(pose, start)
    except FloatingPointError:  # np.seterr of the caller
        return None
    return Solutions(made, (pose, rest, context, held, None)) if made[2] <= NO_POSE else None


def _asked(free: Any) -> tuple[Any, ...]:  # `free` as a key, in which True is not 1.0
    return tuple((name, type(value), value) for name, value in free.items()) if type(free) is dict else (type(free), free)


def _remember(setup: IkProblem, asked: tuple[Any, ...], free: Any) -> None:
    """Remember what `_as_before` needs: where no joint is held, or one at a finite float."""
    assert setup.closed is not None
    joints, start, held = setup.closed.held, setup.rest, None
    if joints:
        value = free.get(joints[0]) if type(free) is dict else free
        if len(joints) > 1 or type(value) is not float or not math.isfinite(value):
            return
        start = setup.closed.start(setup.rest, held := np.array([value]))
        start.flags.writeable = held.flags.writeable = False
    if len(_known) >= _MOST:
        _known.clear()
    _known[(*asked, _asked(free))] = setup.closed.kernel.ufunc, start, setup.rest, setup.context, held


_recent: dict[tuple[Any, ...], IkProblem] = {}  # of the robots that were asked for last, which stay alive meanwhile
_MOST = 64


def _setup(robot: Robot, frame: str | None, free: Any, method: str) -> IkProblem:
    """From memory where the same object was asked before: the fingerprint of a robot takes longer to compare than a pose to solve."""
    held = None if free is None else tuple(free) if type(free) is dict or isinstance(free, Mapping) else ()
    key = id(robot), frame, held, method
    try:
        found = _recent.get(key)
    except TypeError:
        raise CallError(f"frame and method must be names, not {brief(frame)} and {brief(method)}") from None
    if found is None or found.context.robot is not robot:
        require_robot(robot, "inverse_kinematics", known_function=True)
        any_of("method", method, METHODS)
        found = _prepared(robot, robot.end_effector if frame is None else frame, _named(robot, free), method)
        _require_free(robot, found, free)
        if len(_recent) >= _MOST:
            _recent.clear()
        _recent[key] = found
    return found


def _require_free(robot: Robot, setup: IkProblem, free: Any) -> None:
    """Raise CallError where joints are to be held and none can be."""
    if free is None or (setup.closed is not None and setup.closed.held):
        return
    if setup.closed is None:
        hint = "leave `free` out, or freeze the joint (robot.freeze)"
        raise CallError(f"free: {robot.name!r} is solved numerically, which holds no joint; {hint}")
    raise CallError("free: no joint is free: this arm has no more than six joints, or `free` names none")


def _prepared(robot: Robot, frame: str, held: tuple[str, ...] | None, method: str) -> IkProblem:
    body, _ = find_frame(robot.tree, frame)
    if body < 0:
        raise CallError(f"no joint moves the frame {frame!r}; {suggest(frame, [f for f, at in robot.tree.frames.items() if at.body >= 0])}")
    _require_carriers(robot, frame, body, held)
    closed = None if method == "numerical" or robot.tree.loops else analytic(robot, frame, held)
    if method == "closed form" and closed is None:
        why = "neither three axes that meet at an end nor three parallel ones in the middle, to 1e-9"
        why = "its loops are closed numerically" if robot.tree.loops else why
        raise ProblemError(f"{robot.name!r} has no closed form for {frame!r}: {why}; method='numerical' solves it")
    if held and closed is None:
        raise CallError(f"free: holding {', '.join(held)} leaves no arm with a closed form; leave `free` out for the numerical solver")
    rest = np.clip(np.zeros(robot.n), *joint_range(robot.tree))
    rest.flags.writeable = False
    if closed is None:
        return IkProblem(Context(robot, frame, "the numerical solver", ("numerical",)), None, rest)
    how = "the closed form of an arm with right angles, polished" if closed.inexact else "closed form"
    return IkProblem(Context(robot, frame, how, closed.branches, closed.held), closed, rest, method == "auto")


def _require_carriers(robot: Robot, frame: str, body: int, held: tuple[str, ...] | None) -> None:
    moving = [robot.joint_names[robot.tree.bodies[i].coordinate] for i in carriers(robot.tree, body)]
    for name in held or ():
        if name not in moving:
            raise CallError(f"free: no joint between the base and {frame!r} is called {name!r}; {suggest(name, moving)}")


def _named(robot: Robot, free: Any) -> tuple[str, ...] | None:
    """The joints that `free` names, in the order of the robot; None where it names none."""
    if not isinstance(free, Mapping):
        return None
    known = robot.joint_names
    return (*(name for name in known if name in free), *(str(name) for name in free if name not in known)) or None


def _start(robot: Robot, q0: ArrayLike, batch: tuple[int, ...]) -> Array:
    start = numbers("q0", q0)
    if start.shape[-1:] != (robot.n,):
        raise CallError(f"q0 has shape {start.shape}; expected (..., {robot.n}): one position for each of {', '.join(robot.joint_names)}")
    if not np.isfinite(start).all():
        raise CallError("q0 contains NaN or infinity; expected positions [rad|m]")
    if start.ndim > 1:
        try:
            return np.broadcast_to(start, (*batch, robot.n))
        except ValueError:
            raise CallError(f"q0 has shape {start.shape}; expected ({robot.n},) or that of the poses, {(*batch, robot.n)}") from None
    return start


@default_errstate
def _numerical(context: Context, pose: Array, start: Array, preferred: bool) -> Solutions:
    """One solution for each pose; where redundancy leaves a choice and a position is preferred, the one nearest to it that steps reach."""
    batch, n = pose.shape[:-2], context.robot.n
    flat, starts = pose.reshape(-1, 4, 4), np.broadcast_to(start, (*batch, n)).reshape(-1, n)
    fault = _fault(flat)
    proper = fault <= NO_POSE
    whole = search(context.robot, context.frame, np.where(proper[:, None, None], flat, np.eye(4)), starts)
    whole = keep_others(context.robot, context.frame, whole, starts)
    if preferred and n > 6 + len(context.robot.closed_tree.rows):
        whole = draw_nearer(context.robot, context.frame, flat, whole, starts)
    whole = shut(context.robot, context.frame, flat, whole) if context.robot.tree.loops else whole
    reached = whole.reached & proper
    q = np.where(reached[:, None], whole.q, np.nan).reshape(*batch, 1, n)
    code = np.where(reached, VALID, UNREACHED).reshape(*batch, 1)
    return Solutions((q, code, fault.reshape(batch)), (pose, start, context, None, whole))


def _fault(pose: Array) -> Array:
    """How far matrices (N, 4, 4) are from poses; infinite where they contain NaN."""
    with np.errstate(all="ignore"):
        R = pose[:, :3, :3]
        error = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).sum(axis=(1, 2)) + np.abs(np.linalg.det(R) - 1.0)
        error += np.abs(pose[:, 3] - [0.0, 0.0, 0.0, 1.0]).sum(axis=1) + 0.0 * pose.sum(axis=(1, 2))
    return np.where(np.isnan(error), np.inf, error)
