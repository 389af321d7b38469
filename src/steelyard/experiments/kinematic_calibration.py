"""Kinematic calibration: where joints really sit, from measured poses or points of a frame.

measured = base FK(q) tool, where each joint's origin is corrected by a small displacement and turn
in its parent's axes. The corrections have a prior of the tolerance with which links are made. Base
and tool are fitted to the robot as described first, and may move on from there: along axes that are
nearly parallel they could go anywhere for the smallest correction. What the measurements do not
determine stays at the prior.
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
from .calibration_result import Array, KinematicCalibration
from .experiment_thresholds import THRESHOLDS

AXES = ("x", "y", "z", "rx", "ry", "rz")


class CalibrationState(NamedTuple):
    """State of the iteration: accumulated steps (6 joints + 12,), base, tool and mechanism."""

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
) -> KinematicCalibration:
    """Calibrate the joint frames of an arm from measured poses or points of a frame.

    The measurements are poses (N, 4, 4) or points (N, 3) [m] at positions q (N, n) [rad|m]. From
    points, base and tool are found up to the turn of the tool. Gauss-Newton on the pose, weighted
    by the residuals. Roth, Mooring and Ravani, "An overview of robot calibration", IEEE J. Robotics
    and Automation 3 (1987), p. 377.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    q : (N, n) positions of the joints [rad|m].
    measured : (N, 4, 4) poses [-|m] or (N, 3) points [m] of the frame.
    frame : name of a frame, one of `frame_names`; the end-effector by default.
    position : tolerance of the description: standard deviation of each shift [m].
    angle : standard deviation of each turn [rad].
    base : whether the place of the robot before the measuring device is unknown.
    tool : whether the place of the target on the frame is unknown.

    Returns
    -------
    A `KinematicCalibration`.

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> q = np.random.default_rng(0).uniform(-1, 1, (30, 6))
    >>> sy.calibrate(robot, q, robot.forward_kinematics(q)).converged
    True
    """
    instance("calibrate: robot", robot, Robot)
    refuse_loops(robot, "calibrate", "measure one of its arms alone, without_loops()")
    positions, observed = _require_measurements(robot, q, measured)
    prior = (
        real_number("calibrate: position", position, 0.0, unit="m"),
        real_number("calibrate: angle", angle, 0.0, unit="rad"),
    )
    unknown = yes_or_no("calibrate: base", base), yes_or_no("calibrate: tool", tool)
    target = robot.end_effector if frame is None else frame
    if target not in robot.frame_names:
        raise CallError(
            f"calibrate: no frame is called {target!r}; expected one of"
            f" {', '.join(robot.frame_names)}"
        )
    joints = _moving_joints(robot.mechanism, target)
    zero = np.zeros(6 * len(joints) + 12)
    tight = np.repeat([*prior] * len(joints), 3)
    aligned = CalibrationProblem(
        positions,
        observed,
        target,
        joints,
        np.concatenate([0.0 * tight, *(np.full(6, np.inf if free else 0.0) for free in unknown)]),
    )
    described = _solve(aligned, CalibrationState(zero, Pose(), Pose(), robot.mechanism))
    loose = [THRESHOLDS.alignment_tolerances * free * np.repeat(prior, 3) for free in unknown]
    solution = _solve(
        replace(aligned, tolerance=np.concatenate([tight, *loose])),
        described.state._replace(steps=zero),
    )
    names = tuple(f"{joint}.{axis}" for joint in joints for axis in AXES)
    std = np.where(solution.share >= THRESHOLDS.least_information_share, solution.std, np.inf)
    residuals = _deviations(aligned, solution.state)[0].reshape(len(positions), -1)[:, :3]
    return KinematicCalibration(
        robot=type(robot)(solution.state.mechanism),
        base=_matrix(solution.state.base),
        tool=_matrix(solution.state.tool),
        names=names,
        corrections=solution.state.steps[:-12],
        std=std,
        before=described.rms,
        after=solution.rms,
        tolerance=prior[0],
        converged=solution.converged,
        outliers=_outliers(np.linalg.norm(residuals, axis=1)),
    )


def _outliers(distances: Array) -> tuple[int, ...]:
    """Return which of N distances are at least `outlier_medians` times their median."""
    return tuple(
        np.flatnonzero(
            distances
            > THRESHOLDS.outlier_medians
            * max(float(np.median(distances)), THRESHOLDS.least_deviation)
        ).tolist()
    )


@dataclass(frozen=True, eq=False)
class CalibrationProblem:
    """Measurements, joints, and prior standard deviations (6 joints + 12,); 0 for known values."""

    q: Array
    measured: Array
    frame: str
    joints: tuple[str, ...]
    tolerance: Array


class CalibrationSolution(NamedTuple):
    """Solution: state, std (k,), share of the information from measurements (k,), RMS residuals."""

    state: CalibrationState
    std: Array
    share: Array
    rms: tuple[float, float]
    converged: bool


def _solve(task: CalibrationProblem, state: CalibrationState) -> CalibrationSolution:
    """Solve by Gauss-Newton from a state."""
    free = task.tolerance > 0
    precision = 1.0 / task.tolerance[free]
    size = np.inf
    for _ in range(THRESHOLDS.calibration_steps):
        r, J = _deviations(task, state)
        w = 1.0 / _sigmas(task, r, free)
        A = np.vstack([(J * w[:, None])[:, free], np.diag(precision)])
        step = np.zeros(len(free))
        step[free] = np.linalg.lstsq(
            A, np.concatenate([r * w, -precision * state.steps[free]]), rcond=1e-12
        )[0]
        state = _apply_step(task, state, step)
        size = float(np.abs(step).max(initial=0.0))
        if size < THRESHOLDS.calibration_tolerance:
            break
    r, J = _deviations(task, state)
    A = (J / _sigmas(task, r, free)[:, None])[:, free]
    covariance = np.linalg.pinv(A.T @ A + np.diag(precision**2), hermitian=True)
    std, share = np.zeros(len(free)), np.zeros(len(free))
    std[free] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    share[free] = 1.0 - np.diag(covariance) * precision**2
    k = 6 * len(task.joints)
    return CalibrationSolution(state, std[:k], share[:k], _rms(r, task.measured.ndim), size < 1e-9)


def _deviations(task: CalibrationProblem, state: CalibrationState) -> tuple[Array, Array]:
    """Return measured - predicted (rows,) and the Jacobian (rows, 6 joints + 12)."""
    tree = reduce(state.mechanism)
    columns = [task.q[:, tree.coordinates.index(name)] for name in tree.coordinates]
    placed = [_arrays(pose, len(task.q)) for pose in poses(tree, columns)]
    B = _matrix(state.base)
    tip = B @ _frame(tree, placed, task.frame, len(task.q)) @ _matrix(state.tool)
    parents = [
        B @ _frame(tree, placed, state.mechanism.joint(name).parent, len(task.q))
        for name in task.joints
    ]
    whole = [*parents, np.broadcast_to(B, tip.shape), tip]
    J = np.concatenate([_displacement_jacobian(X, tip) for X in whole], axis=2)
    if task.measured.ndim == 2:
        return (task.measured - tip[:, :3, 3]).ravel(), J[:, :3].reshape(-1, J.shape[2])
    turn = Rotation.from_matrix(
        task.measured[:, :3, :3] @ np.swapaxes(tip[:, :3, :3], 1, 2)
    ).as_rotvec()
    return np.hstack([task.measured[:, :3, 3] - tip[:, :3, 3], turn]).ravel(), J.reshape(
        -1, J.shape[2]
    )


def _displacement_jacobian(X: Array, tip: Array) -> Array:
    """Return the Jacobian (N, 6, 6) of the tip by a displacement and turn of frames X (N, 4, 4)."""
    R, arm = X[:, :3, :3], tip[:, :3, 3] - X[:, :3, 3]
    turned = np.cross(np.swapaxes(R, 1, 2), arm[:, None, :]).swapaxes(1, 2)
    return np.asarray(np.block([[R, turned], [np.zeros_like(R), R]]))


def _apply_step(task: CalibrationProblem, state: CalibrationState, step: Array) -> CalibrationState:
    """Apply a step to all unknowns."""
    k = 6 * len(task.joints)
    by_name = {name: _small_pose(step[6 * i : 6 * i + 6]) for i, name in enumerate(task.joints)}

    def placed(joint: Joint) -> Joint:
        return (
            replace(joint, origin=by_name[joint.name].compose(joint.origin))
            if joint.name in by_name
            else joint
        )

    mechanism = replace(
        state.mechanism, joints=tuple(placed(joint) for joint in state.mechanism.joints)
    )
    base, tool = (
        state.base.compose(_small_pose(step[k : k + 6])),
        state.tool.compose(_small_pose(step[k + 6 :])),
    )
    return CalibrationState(state.steps + step, base, tool, mechanism)


def _sigmas(task: CalibrationProblem, r: Array, free: NDArray[np.bool_]) -> Array:
    """Estimate the standard deviation of each residual row: positions [m], turns [rad]."""
    rows = r.reshape(len(task.q), -1)
    freedom = max(1.0 - free.sum() / r.size, 0.1)  # unknowns take their part of the deviations
    sigma = [
        max(float(np.sqrt(np.mean(part**2) / freedom)), THRESHOLDS.least_deviation)
        for part in (rows[:, :3], rows[:, 3:])
        if part.size
    ]
    return np.tile(np.repeat(sigma, 3), len(task.q))


def _rms(r: Array, dimensions: int) -> tuple[float, float]:
    """Compute the RMS distance [m] and turn [rad]."""
    rows = r.reshape(-1, 3 if dimensions == 2 else 6)
    position, turn = (
        float(np.sqrt(np.mean(np.sum(part**2, axis=1)))) for part in (rows[:, :3], rows[:, 3:])
    )
    return position, turn


def _frame(tree: Tree, placed: Sequence[Array], name: str, N: int) -> Array:
    """Return the poses (N, 4, 4) of a link in the base frame."""
    body, pose = tree.frames[name]
    matrix = _matrix(pose)
    return placed[body] @ matrix if body >= 0 else np.broadcast_to(matrix, (N, 4, 4))


def _arrays(pose: Pose, N: int) -> Array:
    """Convert a pose over arrays of N samples, or over numbers, to (N, 4, 4)."""
    X = np.zeros((N, 4, 4))
    for i in range(3):
        X[:, i, 3] = pose.p[i]
        for j in range(3):
            X[:, i, j] = pose.R[i][j]
    X[:, 3, 3] = 1.0
    return X


def _matrix(pose: Pose) -> Array:
    return np.asarray(_arrays(pose, 1)[0])


def _small_pose(step: Array) -> Pose:
    """Return the pose of a displacement and rotation vector, (6,)."""
    x, y, z, *turn = step.tolist()
    a, b, c = (tuple(row) for row in Rotation.from_rotvec(turn).as_matrix().tolist())
    return Pose((a, b, c), (x, y, z))


def _moving_joints(mechanism: Mechanism, frame: str) -> tuple[str, ...]:
    """Return the joints that move between the base and a frame."""
    by_child = {joint.child: joint for joint in mechanism.joints}
    joints, link = [], frame
    while link in by_child:
        joint = by_child[link]
        joints += [joint.name] if joint.kind != "fixed" else []
        link = joint.parent
    if not joints:
        raise ProblemError(f"calibrate: no joint moves the frame {frame!r}")
    return tuple(reversed(joints))


def _require_measurements(robot: Robot, q: ArrayLike, measured: ArrayLike) -> tuple[Array, Array]:
    """Return positions (N, n) and poses (N, 4, 4) or points (N, 3), finite and as many."""
    positions, target = numbers("calibrate: q", q), numbers("calibrate: measured", measured)
    if positions.ndim != 2 or positions.shape[1] != robot.n:
        raise CallError(
            f"calibrate: q has shape {positions.shape}; expected (N, {robot.n}):"
            f" {', '.join(robot.joint_names)}"
        )
    if target.shape not in ((len(positions), 4, 4), (len(positions), 3)):
        raise CallError(
            f"calibrate: measured has shape {target.shape}; expected {len(positions)} poses"
            " (N, 4, 4) or points (N, 3)"
        )
    if not (np.isfinite(positions).all() and np.isfinite(target).all()):
        raise CallError("calibrate: q and measured must be finite; leave out what was not measured")
    if target.ndim == 3:
        R = target[:, :3, :3]
        off = np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(axis=(1, 2)) + np.maximum(
            -np.linalg.det(R), 0.0
        )
        if off.max(initial=0.0) > 1e-6:
            raise CallError(
                f"calibrate: measured[{int(off.argmax())}] is not a valid pose: its rotation is "
                f"off by {off.max():.2g}"
            )
    distinct = len(np.unique(np.round(positions, 6), axis=0))
    if distinct < 4:
        count = f"{len(positions)} measurements at {distinct} different positions"
        raise ProblemError(
            f"calibrate: {count}; at least 4 are needed, and about 30 spread over the workspace to"
            " be of use"
        )
    return positions, target
