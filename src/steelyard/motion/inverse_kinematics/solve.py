"""`inverse_kinematics`: the positions of joints that bring a frame to a pose."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import arguments
from ...dynamics.kinematics import carriers, find_frame
from ...errors import CallError, ProblemError, require_robot, suggest
from .analytic import UNREACHED, VALID, Analytic, analytic
from .numerical import joint_range, search
from .solutions import NO_POSE, Array, Solutions

if TYPE_CHECKING:
    from ...robot import Robot

METHODS = ("auto", "closed form", "numerical")
GRID = 33  # positions of a free joint that are tried where none is given
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

    pose (..., 4, 4) homogeneous [-|m] in the base frame; frame: the end-effector by default; q0 (..., n) [rad|m]: preferred positions, kept
    where a joint is free at a singularity; the middle of the limits nearest zero by default. `free` gives the positions of joints that are
    too many, where there are more than six: one for all, a grid (..., g), or {joint: such}; by default the one nearest to q0 that has a
    solution. `method`: "closed form", "numerical" (one solution), or "auto": the closed form where the arm has one.

    Returns Solutions with q (..., k, n), valid (..., k), branches and status. Pieper 1968; lecture "Special methods for dynamics",
    inverse kinematics. See docs/inverse_kinematics.md.
    """
    require_robot(robot, "inverse_kinematics")
    given = pose if type(pose) is np.ndarray and pose.dtype == np.float64 else arguments.numbers("pose", pose)
    if given.shape[-2:] != (4, 4):
        raise CallError(f"pose has shape {given.shape}; expected (..., 4, 4): homogeneous matrices [R, p; 0, 1]")
    setup = _prepared(robot, robot.end_effector if frame is None else frame, _named(robot, free), method)
    start = setup.rest if q0 is None else _start(robot, q0, given.shape[:-2])
    if setup.closed is None and free is None:
        return _checked(_numerical(robot, setup.frame, given, start))
    if setup.closed is None:
        raise CallError(
            f"free: {robot.name!r} is solved numerically, which holds no joint; leave `free` out, or freeze the joint (robot.freeze)"
        )
    if free is not None and not setup.closed.held:
        raise CallError("free: no joint is free: this arm has no more than six joints, or `free` names none")
    if setup.closed.held:
        return _checked(_with_free(robot, setup, given, start, free))
    with np.errstate(all="ignore"):
        q, code, fault = setup.closed.kernel(given, start)
    return _checked(Solutions(q, code == VALID, setup.closed.branches, "closed form", robot, setup.frame, given, start, code, fault))


class Setup(NamedTuple):
    """What a robot, a frame and a method come to: the closed form if there is one, and the position preferred by default."""

    frame: str
    closed: Analytic | None
    rest: Array


@lru_cache(maxsize=64)
def _prepared(robot: Robot, frame: str, held: tuple[str, ...] | None, method: str) -> Setup:
    arguments.any_of("method", method, METHODS)
    body, _ = find_frame(robot.tree, frame)
    if body < 0:
        raise CallError(f"no joint moves the frame {frame!r}; {suggest(frame, [f for f, at in robot.tree.frames.items() if at.body >= 0])}")
    _require_carriers(robot, frame, body, held)
    closed = None if method == "numerical" else analytic(robot, frame, held)
    if method == "closed form" and closed is None:
        raise ProblemError(
            f"{robot.name!r} has no closed form for {frame!r}: neither three axes that meet at an end nor three parallel ones in the "
            "middle, to 1e-9; method='numerical' solves it"
        )
    if held and closed is None:
        raise CallError(f"free: holding {', '.join(held)} leaves no arm with a closed form; leave `free` out for the numerical solver")
    low, high = joint_range(robot.tree)
    rest = np.clip(np.zeros(robot.n), low, high)
    rest.flags.writeable = False
    return Setup(frame, closed, rest)


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
    start = arguments.numbers("q0", q0)
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


def _checked(s: Solutions) -> Solutions:
    """The solutions, or a CallError where not one of the matrices is a pose."""
    if s.fault.size and not (s.fault <= NO_POSE).any():
        what = (
            "contains NaN or infinity"
            if not np.isfinite(s.pose).all()
            else f"is off a rotation and the last row 0 0 0 1 by {np.nanmin(s.fault):.3g}"
        )
        raise CallError(f"pose {what}; expected homogeneous matrices [R, p; 0, 1] with a rotation R (R R^T = 1, det R = 1)")
    return s


def _with_free(robot: Robot, setup: Setup, pose: Array, start: Array, free: Any) -> Solutions:
    """Solutions over the positions of the joints that are too many."""
    closed = setup.closed
    assert closed is not None
    batch = pose.shape[:-2]
    if free is None:
        return _at_nearest(robot, setup, pose, start)
    held = _positions(closed.held, free, batch)
    return _over(robot, setup, pose, start, held)


def _over(robot: Robot, setup: Setup, pose: Array, start: Array, held: Array) -> Solutions:
    """Solutions at given positions (..., g, joints) of the held joints."""
    closed = setup.closed
    assert closed is not None
    with np.errstate(all="ignore"):
        q, code, fault = closed.kernel(pose[..., None, :, :], start[..., None, :], held)
    count = held.shape[-2]
    shape = (*pose.shape[:-2], count * len(closed.branches))
    q, code, fault = q.reshape(*shape, robot.n), code.reshape(shape), fault[..., 0]
    held = np.broadcast_to(held, (*pose.shape[:-2], *held.shape[-2:]))
    first = closed.held[0] if len(closed.held) == 1 else "free"
    names = closed.branches if count == 1 else tuple(f"{first}[{i}] {name}" for i in range(count) for name in closed.branches)
    return Solutions(q, code == VALID, names, "closed form", robot, setup.frame, pose, start, code, fault, closed.held, held)


def _positions(names: tuple[str, ...], free: Any, batch: tuple[int, ...]) -> Array:
    """The positions of held joints, (..., g, joints)."""
    given = [free[name] for name in names if name in free] if isinstance(free, Mapping) else [free]
    if len(given) != len(names):
        raise CallError(f"free: {len(names)} joints are free, {', '.join(names)}; expected a dict with the position of each")
    arrays = [arguments.numbers(f"free position of {name}", value) for name, value in zip(names, given, strict=True)]
    arrays = [array[None] if array.ndim == 0 else array for array in arrays]
    for name, array in zip(names, arrays, strict=True):
        if not np.isfinite(array).all():
            raise CallError(f"free position of {name} contains NaN or infinity; expected positions [rad|m]")
    try:
        grid = np.stack(np.broadcast_arrays(*arrays), axis=-1)
        np.broadcast_shapes((*batch, 1), grid.shape[:-1])
        if grid.ndim - 2 > len(batch):
            raise ValueError
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise CallError(f"free has shape {shapes}; expected one position, a grid (g,), or one for each pose, {(*batch, 'g')}") from None
    return grid


def _at_nearest(robot: Robot, setup: Setup, pose: Array, start: Array) -> Solutions:
    """Solutions at the position of the free joints nearest to the preferred one, of a grid over their limits, at which there are any."""
    closed = setup.closed
    assert closed is not None
    places = [robot.joint_names.index(name) for name in closed.held]
    low, high = (side[places] for side in joint_range(robot.tree))
    wanted = np.broadcast_to(np.clip(start[..., places], low, high), (*pose.shape[:-2], len(places)))
    made = _over(robot, setup, pose, start, wanted[..., None, :])
    flat, chosen = pose.reshape(-1, 4, 4), wanted.reshape(-1, len(places)).copy()
    starts = np.broadcast_to(start, (*pose.shape[:-2], robot.n)).reshape(-1, robot.n)
    open_ = np.flatnonzero(~made.solved.ravel() & made.proper.ravel())
    for fraction in _outward(GRID):
        if not len(open_):
            break
        centre = wanted.reshape(-1, len(places))[open_]
        side = centre + fraction * (high - low)
        inside = ((side >= low) & (side <= high)).all(axis=1)
        tried = open_[inside]
        if len(tried):
            found = _over(robot, setup, flat[tried], starts[tried], side[inside][:, None, :]).solved
            chosen[tried[found]] = side[inside][found]
            open_ = np.setdiff1d(open_, tried[found], assume_unique=True)
    return _over(robot, setup, pose, start, chosen.reshape(*pose.shape[:-2], 1, len(places)))


def _outward(count: int) -> list[float]:
    """Fractions of a range, nearest to zero first, on both sides."""
    return [sign * i / (count - 1) for i in range(1, count) for sign in (1.0, -1.0)]


def _numerical(robot: Robot, frame: str, pose: Array, start: Array) -> Solutions:
    """One solution for each pose."""
    batch = pose.shape[:-2]
    flat, starts = pose.reshape(-1, 4, 4), np.broadcast_to(start, (*batch, robot.n)).reshape(-1, robot.n)
    fault = _fault(flat)
    proper = fault <= NO_POSE
    whole = search(robot, frame, np.where(proper[:, None, None], flat, np.eye(4)), starts)
    reached = whole.reached & proper
    q = np.where(reached[:, None], whole.q, np.nan).reshape(*batch, 1, robot.n)
    code = np.where(reached, VALID, UNREACHED).reshape(*batch, 1)
    valid, names = code == VALID, ("numerical",)
    return Solutions(q, valid, names, "the numerical solver", robot, frame, pose, start, code, fault.reshape(batch), found=whole)


def _fault(pose: Array) -> Array:
    """How far matrices (N, 4, 4) are from poses; infinite where they contain NaN."""
    with np.errstate(all="ignore"):
        R = pose[:, :3, :3]
        error = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).sum(axis=(1, 2)) + np.abs(np.linalg.det(R) - 1.0)
        error += np.abs(pose[:, 3] - [0.0, 0.0, 0.0, 1.0]).sum(axis=1) + 0.0 * pose.sum(axis=(1, 2))
    return np.where(np.isnan(error), np.inf, error)
