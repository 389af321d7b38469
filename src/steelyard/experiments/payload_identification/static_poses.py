"""Static poses: where gravity shows mass and centre of an arm's load best."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, real_number, whole_number
from ...csv_text import csv_text
from ...errors import CallError, ProblemError, mention, refuse_loops, require_robot
from ...files import write_atomic
from ...floating_point import default_errstate
from ...kernels import kernel
from ...motion.collision.distances_to_keep import DistancesToKeep, distances_to_keep
from ...motion.trajectories.limits import motion_limits
from ...motion.trajectories.motion_check import MotionCheck
from ...option_groups.collision import CollisionKeywords, CollisionOptions
from ...option_groups.payload import APPROACH
from ...options import from_keywords
from ...robot import Robot
from .clear_poses import check_straight_path, clear_of_home, straight_is_clear
from .load_columns import load_frame, to_body
from .payload_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from ...motion.collision.walls import HalfSpace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StaticPoses:
    """Poses q (count, n) [rad|m] that weigh a load, and the expected standard deviations.

    `std` (4,) are the standard deviations of mass [kg] and first moments [kg m], for torques with
    the standard deviation `sigma`. `waypoints` (2 count, 2, n) visit each pose from both sides, so
    that friction at rest is separated from weight. `path` has all positions in order, with `home`
    in between where the straight move is not clear; `safety` is its check.
    """

    q: Array
    sigma: Array
    std: Array
    joint_names: tuple[str, ...]
    approach: float
    home: Array
    detours: tuple[int, ...]
    safety: MotionCheck

    @property
    def checked(self) -> bool:
        """Whether limits, distances between links and the ground hold on the whole path."""
        return self.safety.checked

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What was not checked; empty if everything was."""
        return self.safety.unchecked

    @property
    def waypoints(self) -> Array:
        """Position before and at each pose, in order: (2 count, 2, n) [rad|m]."""
        sides = [self.q + sign * self.approach for sign in (-1.0, 1.0)]
        return np.stack([np.stack([side, self.q], axis=1) for side in sides], axis=1).reshape(
            -1, 2, self.q.shape[1]
        )

    @property
    def path(self) -> Array:
        """All positions in order (K, n) [rad|m], from `home` on.

        The joints move straight from one to the next.
        """
        rows = [self.home]
        for k, visits in enumerate(self.waypoints.reshape(len(self.q), -1, self.q.shape[1])):
            rows += [self.home, *visits] if k in self.detours else list(visits)
        return np.array(rows)

    def csv(self) -> str:
        """Return the visits as CSV: pose number, position before and at the pose, joint by joint.

        Pose 0 is `home`, where the path begins and detours lead. The first line is a comment on
        what was checked.
        """
        header = [
            "pose",
            *(f"{word}.{name}" for word in ("from", "q") for name in self.joint_names),
        ]
        home = _row(0, np.array([self.home, self.home]))
        rows = [home]
        for k, visit in enumerate(self.waypoints):
            if k and not k % 2 and k // 2 in self.detours:
                rows.append(home)
            rows.append(_row(k // 2 + 1, visit))
        return f"# {self.safety.line}\n" + csv_text(header, rows)

    def write(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, unchecked: bool = False
    ) -> Path:
        """Write the visits as CSV; poses that are not fully checked only with `unchecked`.

        Parameters
        ----------
        path : file to write.
        overwrite : whether an existing file may be replaced.
        unchecked : whether poses that are not fully checked may be written.

        Returns
        -------
        The path.

        Examples
        --------
        >>> sy.static_poses(sy.load("elbow_6r"), count=4).write("poses.csv").name
        'poses.csv'
        """
        if not (self.checked or unchecked):
            raise ProblemError(
                f"{os.fspath(path)}: these poses are {self.safety.line}; choose them with"
                f" {mention('ground')} and {mention('collision')} for all of their surroundings, or"
                f" write them as they are, with {mention('unchecked', True)}"
            )
        return write_atomic(path, self.csv().encode(), overwrite)

    def __str__(self) -> str:
        mass, *moment = self.std
        return (
            f"{len(self.q)} poses: each visit to both sides gives the mass to {mass:.2g} kg and m c"
            f" to {max(moment):.2g} kg m, for torques at rest known to"
            f" {', '.join(f'{s:.2g}' for s in self.sigma)} N m|N"
        )


def _row(pose: int, visit: Array) -> list[object]:
    """Return the cells of a visit: the pose's number and its positions."""
    return [pose, *(f"{x:.6f}" for x in visit.reshape(-1))]


@default_errstate
def static_poses(
    robot: Robot,
    count: int = 12,
    *,
    link: str | None = None,
    frame: str | None = None,
    sigma: ArrayLike = 1.0,
    margin: float = 0.9,
    approach: float = APPROACH,
    seed: int = 0,
    **keywords: Unpack[CollisionKeywords],
) -> StaticPoses:
    """Choose poses within the joint limits that show mass and centre of a load.

    A greedy choice maximises det(sum Y^T Y / sigma^2). Y (n, 4) are the gravity torques per kg and
    kg m of the load. The poses come in the order of a short path. Links keep `clearance` [m] from
    each other and from the ground in all poses and on straight moves between them, as in `excite`.
    Swevers et al., IEEE Control Systems Magazine 27 (2007), p. 58; greedy choice: Pukelsheim,
    "Optimal Design of Experiments", 2006, section 9.8.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    count : number of poses.
    link : name of the link that carries the load; the link of the end-effector by default.
    frame : name of a frame, one of `frame_names`; the end-effector by default.
    sigma : standard deviation of a torque at rest [N m|N]: one or (n,).
    margin : fraction of every joint's range that is used [-].
    approach : distance from which each pose is approached from either side [rad|m].
    seed : number that random draws start from; equal seeds give equal results.
    keywords : options of `CollisionOptions`, as follows.
    collision : "shapes", "capsules", "auto" or "none".
    clearance : distance that links keep [m].
    ground : what moving links stay above: "base", the plane z = 0 of the base frame, a height [m],
        or None.
    workspace : frame or link -> (low, high) corners (3,) of a box [m].
    half_spaces : further walls, n . x <= offset [m].

    Returns
    -------
    `StaticPoses`: .q (k, n) [rad|m].

    Examples
    --------
    >>> sy.static_poses(sy.load("elbow_6r"), count=4).q.shape
    (4, 6)
    """
    require_robot(robot, "static_poses", known_function=True)
    refuse_loops(robot, "static_poses", "choose poses of one of its arms, without_loops()")
    options = from_keywords(CollisionOptions, keywords, "static_poses")
    count = whole_number("static_poses: count", count, 3, 1000)
    share = real_number("static_poses: margin", margin, 0.0, 1.0)
    beside = real_number("static_poses: approach", approach, 0.0, unit="rad|m")
    carrier, noise = load_frame(robot, link, frame), _noise(robot, sigma)
    limits = motion_limits(robot, max(share, 1e-9))
    keep = distances_to_keep(
        robot,
        limits,
        options.collision,
        options.clearance,
        options.ground,
        options.workspace,
        cast("Sequence[HalfSpace]", options.half_spaces),
    )
    rng = np.random.default_rng(whole_number("static_poses: seed", seed, 0))
    home, q = _clear_candidates(robot, keep, share, beside, count, rng)
    Y = (
        _gravity_columns(robot, carrier.body, carrier.frame, q)
        / noise[:, None]
        * THRESHOLDS.load_sizes
    )
    chosen, information = _greedy(Y, count)
    values = np.linalg.eigvalsh(information)
    if values[0] <= THRESHOLDS.least_information * values[-1]:
        raise ProblemError(
            "mass and centre of a load cannot be identified from static poses of this robot; use a"
            " log of a motion"
        )
    std = np.sqrt(np.diag(np.linalg.inv(2.0 * information))) * THRESHOLDS.load_sizes
    order = _short_path(q[chosen], chosen)
    detours = tuple(
        k
        for k in range(1, count)
        if not straight_is_clear(keep, np.array([q[order[k - 1]], q[order[k]] - beside]))
    )
    poses = StaticPoses(
        q=q[order],
        sigma=noise,
        std=std,
        joint_names=robot.joint_names,
        approach=beside,
        home=home,
        detours=detours,
        safety=MotionCheck(),
    )
    return replace(poses, safety=check_straight_path(keep, poses.path))


def _clear_candidates(
    robot: Robot,
    keep: DistancesToKeep,
    margin: float,
    approach: float,
    count: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Return a home (n,) and random poses (M, n) that straight moves from it reach."""
    for _ in range(THRESHOLDS.candidate_draws):
        home, q = clear_of_home(keep, _candidates(robot, margin, approach, rng), approach)
        if len(q) >= count:
            return home, q
    raise ProblemError(
        f"fewer than {count} of {THRESHOLDS.candidate_poses} random poses keep links apart and"
        f" above the ground; give another {mention('ground')}, a smaller {mention('clearance')}, or"
        f" {mention('ground', None)} where there is no ground"
    )


def _noise(robot: Robot, sigma: ArrayLike) -> Array:
    each = numbers("static_poses: sigma", sigma)
    if each.shape not in ((), (robot.n,)) or not np.all((each > 0) & np.isfinite(each)):
        raise CallError(
            f"static_poses: sigma must be a positive number [N m|N], or one for each of {robot.n}"
            f" joints, not {sigma!r}",
            argument="sigma",
        )
    return np.broadcast_to(each, (robot.n,)).copy()


def _candidates(robot: Robot, margin: float, approach: float, rng: np.random.Generator) -> Array:
    """Return random poses (`candidate_poses`, n) within a fraction of the joint ranges.

    They keep the approach [rad|m] from the ends of the range.
    """
    limits = robot.tree.limits
    low = np.array(
        [
            max(limit.lower, -2 * THRESHOLDS.free_range)
            if np.isfinite(limit.lower)
            else -THRESHOLDS.free_range
            for limit in limits
        ]
    )
    high = np.array(
        [
            min(limit.upper, 2 * THRESHOLDS.free_range)
            if np.isfinite(limit.upper)
            else THRESHOLDS.free_range
            for limit in limits
        ]
    )
    middle, half = 0.5 * (low + high), np.maximum(0.5 * margin * (high - low) - approach, 0.0)
    return middle + half * rng.uniform(-1.0, 1.0, (THRESHOLDS.candidate_poses, robot.n))


def _gravity_columns(robot: Robot, body: int, frame: str, q: Array) -> Array:
    """Return the torque at rest per kg and kg m of a load, (N, n, 4)."""
    columns = tuple(range(10 * body, 10 * body + 10))
    bare = robot.without_friction().without_rotors()
    Y = np.asarray(kernel(bare.tree, "regressor", columns=columns, base=False)(q, 0.0 * q, 0.0 * q))
    return (Y @ to_body(robot, frame))[:, :, :4]


def _greedy(Y: Array, count: int) -> tuple[list[int], Array]:
    """Return the poses that raise log det most, one by one, and their information (4, 4)."""
    each = np.einsum("kna,knb->kab", Y, Y)
    information = 1e-9 * float(np.trace(each.sum(axis=0))) / len(Y) * np.eye(4)
    chosen: list[int] = []
    for _ in range(count):
        gain = np.linalg.slogdet(information + each)[1]
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        information = information + each[chosen[-1]]
    return chosen, information


def _short_path(q: Array, chosen: list[int]) -> list[int]:
    """Return the poses in an order in which each is near the one before."""
    remaining, order = list(range(1, len(chosen))), [0]
    while remaining:
        order.append(min(remaining, key=lambda k: float(np.max(np.abs(q[k] - q[order[-1]])))))
        remaining.remove(order[-1])
    return [chosen[k] for k in order]
