"""Kinematic calibration: where joints really sit, from measured poses or points of a frame.

measured = base FK(q) tool, where each joint's origin is corrected by a small displacement and turn in its parent's axes. The corrections
have a prior of the tolerance with which links are made. Base and tool are fitted to the robot as described first, and may move on from
there: along axes that are nearly parallel they could go anywhere for the smallest correction. What the measurements do not tell apart
stays at the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from ..algebra.spatial import Pose
from ..arguments import instance, numbers, real_number, yes_or_no
from ..dynamics.kinematics import poses
from ..errors import CallError, ProblemError, refuse_loops
from ..floating_point import default_errstate
from ..mechanism import Joint, Mechanism, Tree, reduce
from ..robot import Robot
from .calibration_result import STEPS, Array, Calibration

AXES = ("x", "y", "z", "rx", "ry", "rz")
SMALL = 1e-13  # [m, rad] of a step: converged
LEAST_SHARE = 0.01  # of the information on a correction that measurements must hold to show it
LEAST_SIGMA = 1e-12  # [m, rad]
FAR = 8.0  # medians of what is left: a distance that noise has once in 1e18
ALIGNED = 10.0  # tolerances of a joint: how far base and tool may go from where they fit the robot as described


class State(NamedTuple):
    """Steps so far of all unknowns (6 joints + 12,), base and tool, and the mechanism with the corrections."""

    steps: Array
    base: Pose
    tool: Pose
    mechanism: Mechanism


@default_errstate
def calibrate(
    robot: Robot,
    q: ArrayLike,
    measured: ArrayLike,
    frame: str | None = None,
    *,
    position: float = 1e-3,
    angle: float = 1e-3,
    base: bool = True,
    tool: bool = True,
) -> Calibration:
    """Find where the joints of an arm sit, from poses (N, 4, 4) or points (N, 3) [m] of a frame measured at positions q (N, n) [rad|m].

    Base and tool of points can be found up to the turn of the tool. Gauss-Newton on the pose, weights from what is left over.
    Roth, Mooring and Ravani, "An overview of robot calibration", IEEE J. Robotics and Automation 3 (1987), p. 377.

    Example:
        >>> robot = sy.load("elbow_6r")
        >>> q = np.random.default_rng(0).uniform(-1, 1, (30, 6))
        >>> sy.calibrate(robot, q, robot.forward_kinematics(q)).converged
        True
    """
    instance("calibrate: robot", robot, Robot)
    refuse_loops(robot, "calibrate", "measure one of its arms alone, without_loops()")
    given, wanted = _checked(robot, q, measured)
    prior = (real_number("calibrate: position", position, 0.0, unit="m"), real_number("calibrate: angle", angle, 0.0, unit="rad"))
    unknown = yes_or_no("calibrate: base", base), yes_or_no("calibrate: tool", tool)
    target = robot.end_effector if frame is None else frame
    if target not in robot.frame_names:
        raise CallError(f"calibrate: no frame is called {target!r}; expected one of {', '.join(robot.frame_names)}")
    joints = _path(robot.mechanism, target)
    zero = np.zeros(6 * len(joints) + 12)
    tight = np.repeat([*prior] * len(joints), 3)
    aligned = Task(given, wanted, target, joints, np.concatenate([0.0 * tight, *(np.full(6, np.inf if free else 0.0) for free in unknown)]))
    described = _solved(aligned, State(zero, Pose(), Pose(), robot.mechanism))
    loose = [ALIGNED * free * np.repeat(prior, 3) for free in unknown]
    found = _solved(replace(aligned, tolerance=np.concatenate([tight, *loose])), described.state._replace(steps=zero))
    names = tuple(f"{joint}.{axis}" for joint in joints for axis in AXES)
    std = np.where(found.share >= LEAST_SHARE, found.std, np.inf)
    left = _deviations(aligned, found.state)[0].reshape(len(given), -1)[:, :3]
    return Calibration(
        robot=type(robot)(found.state.mechanism),
        base=_matrix(found.state.base),
        tool=_matrix(found.state.tool),
        names=names,
        corrections=found.state.steps[:-12],
        std=std,
        before=described.rms,
        after=found.rms,
        tolerance=prior[0],
        converged=found.converged,
        outliers=_far_off(np.linalg.norm(left, axis=1)),
    )


def _far_off(distances: Array) -> tuple[int, ...]:
    """Which of N distances are FAR times their median or more."""
    return tuple(np.flatnonzero(distances > FAR * max(float(np.median(distances)), LEAST_SIGMA)).tolist())


@dataclass(frozen=True, eq=False)
class Task:
    """What was measured, along which joints, and the standard deviations (6 joints + 12,) of all unknowns before: 0 for what is known."""

    q: Array
    measured: Array
    frame: str
    joints: tuple[str, ...]
    tolerance: Array


class Solved(NamedTuple):
    """A state, the standard deviation and the share of the measurements of each correction (k,), what is left, and whether it converged."""

    state: State
    std: Array
    share: Array
    rms: tuple[float, float]
    converged: bool


def _solved(task: Task, state: State) -> Solved:
    """Gauss-Newton from a state."""
    free = task.tolerance > 0
    precision = 1.0 / task.tolerance[free]
    size = np.inf
    for _ in range(STEPS):
        r, J = _deviations(task, state)
        w = 1.0 / _sigmas(task, r, free)
        A = np.vstack([(J * w[:, None])[:, free], np.diag(precision)])
        step = np.zeros(len(free))
        step[free] = np.linalg.lstsq(A, np.concatenate([r * w, -precision * state.steps[free]]), rcond=1e-12)[0]
        state = _moved(task, state, step)
        size = float(np.abs(step).max(initial=0.0))
        if size < SMALL:
            break
    r, J = _deviations(task, state)
    A = (J / _sigmas(task, r, free)[:, None])[:, free]
    covariance = np.linalg.pinv(A.T @ A + np.diag(precision**2), hermitian=True)
    std, share = np.zeros(len(free)), np.zeros(len(free))
    std[free] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    share[free] = 1.0 - np.diag(covariance) * precision**2
    k = 6 * len(task.joints)
    return Solved(state, std[:k], share[:k], _rms(r, task.measured.ndim), size < 1e-9)


def _deviations(task: Task, state: State) -> tuple[Array, Array]:
    """Measured less predicted (rows,), and their derivatives (rows, 6 joints + 12) by all unknowns."""
    tree = reduce(state.mechanism)
    columns = [task.q[:, tree.coordinates.index(name)] for name in tree.coordinates]
    placed = [_arrays(pose, len(task.q)) for pose in poses(tree, columns)]
    B = _matrix(state.base)
    tip = B @ _frame(tree, placed, task.frame, len(task.q)) @ _matrix(state.tool)
    parents = [B @ _frame(tree, placed, state.mechanism.joint(name).parent, len(task.q)) for name in task.joints]
    whole = [*parents, np.broadcast_to(B, tip.shape), tip]
    J = np.concatenate([_carried(X, tip) for X in whole], axis=2)
    if task.measured.ndim == 2:
        return (task.measured - tip[:, :3, 3]).ravel(), J[:, :3].reshape(-1, J.shape[2])
    turn = Rotation.from_matrix(task.measured[:, :3, :3] @ np.swapaxes(tip[:, :3, :3], 1, 2)).as_rotvec()
    return np.hstack([task.measured[:, :3, 3] - tip[:, :3, 3], turn]).ravel(), J.reshape(-1, J.shape[2])


def _carried(X: Array, tip: Array) -> Array:
    """How a displacement and a turn in the axes of frames X (N, 4, 4) move and turn the tip, (N, 6, 6)."""
    R, arm = X[:, :3, :3], tip[:, :3, 3] - X[:, :3, 3]
    turned = np.cross(np.swapaxes(R, 1, 2), arm[:, None, :]).swapaxes(1, 2)
    return np.asarray(np.block([[R, turned], [np.zeros_like(R), R]]))


def _moved(task: Task, state: State, step: Array) -> State:
    """The state after a step in all unknowns."""
    k = 6 * len(task.joints)
    by_name = {name: _small(step[6 * i : 6 * i + 6]) for i, name in enumerate(task.joints)}

    def placed(joint: Joint) -> Joint:
        return replace(joint, origin=by_name[joint.name].compose(joint.origin)) if joint.name in by_name else joint

    mechanism = replace(state.mechanism, joints=tuple(placed(joint) for joint in state.mechanism.joints))
    base, tool = state.base.compose(_small(step[k : k + 6])), state.tool.compose(_small(step[k + 6 :]))
    return State(state.steps + step, base, tool, mechanism)


def _sigmas(task: Task, r: Array, free: NDArray[np.bool_]) -> Array:
    """The standard deviation of each row of what is left, from all of its kind: positions [m], turns [rad]."""
    rows = r.reshape(len(task.q), -1)
    left = max(1.0 - free.sum() / r.size, 0.1)  # unknowns take their part of the deviations
    sigma = [max(float(np.sqrt(np.mean(part**2) / left)), LEAST_SIGMA) for part in (rows[:, :3], rows[:, 3:]) if part.size]
    return np.tile(np.repeat(sigma, 3), len(task.q))


def _rms(r: Array, dimensions: int) -> tuple[float, float]:
    """Root mean square distance [m] and turn [rad]."""
    rows = r.reshape(-1, 3 if dimensions == 2 else 6)
    position, turn = (float(np.sqrt(np.mean(np.sum(part**2, axis=1)))) for part in (rows[:, :3], rows[:, 3:]))
    return position, turn


def _frame(tree: Tree, placed: Sequence[Array], name: str, N: int) -> Array:
    """The poses (N, 4, 4) of a link in the base frame."""
    body, pose = tree.frames[name]
    own = _matrix(pose)
    return placed[body] @ own if body >= 0 else np.broadcast_to(own, (N, 4, 4))


def _arrays(pose: Pose, N: int) -> Array:
    """A pose over arrays of N samples, or over numbers, as (N, 4, 4)."""
    X = np.zeros((N, 4, 4))
    for i in range(3):
        X[:, i, 3] = pose.p[i]
        for j in range(3):
            X[:, i, j] = pose.R[i][j]
    X[:, 3, 3] = 1.0
    return X


def _matrix(pose: Pose) -> Array:
    return np.asarray(_arrays(pose, 1)[0])


def _small(step: Array) -> Pose:
    """The pose of a displacement and a turn vector, (6,)."""
    x, y, z, *turn = step.tolist()
    a, b, c = (tuple(row) for row in Rotation.from_rotvec(turn).as_matrix().tolist())
    return Pose((a, b, c), (x, y, z))


def _path(mechanism: Mechanism, frame: str) -> tuple[str, ...]:
    """The joints that move between the base and a frame."""
    by_child = {joint.child: joint for joint in mechanism.joints}
    found, link = [], frame
    while link in by_child:
        joint = by_child[link]
        found += [joint.name] if joint.kind != "fixed" else []
        link = joint.parent
    if not found:
        raise ProblemError(f"calibrate: no joint moves the frame {frame!r}")
    return tuple(reversed(found))


def _checked(robot: Robot, q: ArrayLike, measured: ArrayLike) -> tuple[Array, Array]:
    """Positions (N, n) and poses (N, 4, 4) or points (N, 3), finite and as many."""
    given, wanted = numbers("calibrate: q", q), numbers("calibrate: measured", measured)
    if given.ndim != 2 or given.shape[1] != robot.n:
        raise CallError(f"calibrate: q has shape {given.shape}; expected (N, {robot.n}): {', '.join(robot.joint_names)}")
    if wanted.shape not in ((len(given), 4, 4), (len(given), 3)):
        raise CallError(f"calibrate: measured has shape {wanted.shape}; expected {len(given)} poses (N, 4, 4) or points (N, 3)")
    if not (np.isfinite(given).all() and np.isfinite(wanted).all()):
        raise CallError("calibrate: q and measured must be finite; leave out what was not measured")
    if wanted.ndim == 3:
        R = wanted[:, :3, :3]
        off = np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(axis=(1, 2)) + np.maximum(-np.linalg.det(R), 0.0)
        if off.max(initial=0.0) > 1e-6:
            raise CallError(f"calibrate: measured[{int(off.argmax())}] is no pose: its rotation is off by {off.max():.2g}")
    distinct = len(np.unique(np.round(given, 6), axis=0))
    if distinct < 4:
        told = f"{len(given)} measurements at {distinct} different positions"
        raise ProblemError(f"calibrate: {told}; at least 4 are needed, and about 30 spread over the workspace to be of use")
    return given, wanted
