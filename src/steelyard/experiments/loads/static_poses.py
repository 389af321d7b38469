"""Static poses: where to rest an arm so that gravity shows mass and centre of its load best."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, real_number, whole_number
from ...csv_text import csv_text
from ...errors import CallError, ProblemError, refuse_loops, require_robot
from ...files import write_whole
from ...floating_point import default_errstate
from ...kernels import kernel
from ...motion.collision.distances_to_keep import CLEARANCE, DistancesToKeep, Ground, distances_to_keep
from ...motion.trajectories.limits import motion_limits
from ...motion.trajectories.motion_check import MotionCheck
from ...robot import Robot
from .clear_poses import check_path, clear_of_home, straight_is_clear
from .load_columns import load_place, to_body

Array = NDArray[np.float64]
CANDIDATES = 4000
DRAWS = 3  # of so many candidates, until enough of them are clear
TURN = np.pi  # [rad] range of a joint without limits, to either side
APPROACH = 0.05  # [rad|m] from which a pose is approached
LEAST = 1e-6  # of the largest eigenvalue: what poses must show of mass and centre
SIZES = np.array([1.0, 0.1, 0.1, 0.1])  # [kg, kg m] of a load of 1 kg: mass and first moments are made comparable by them


@dataclass(frozen=True, eq=False)
class StaticPoses:
    """Poses q (count, n) [rad|m], and the standard deviation of mass [kg] and first moments (3,) [kg m] for torques known to `sigma`.

    `waypoints` (2 count, 2, n) are the way to visit them: each pose from both sides, so that friction at rest can be told from weight.
    `path` has all positions in order, `home` in between where the straight way is not clear; `safety` is its check.
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
        """Whether limits, distances between links and the ground are kept on straight moves through the path."""
        return self.safety.checked

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What was not checked; empty if everything was."""
        return self.safety.unchecked

    @property
    def waypoints(self) -> Array:
        """Where to come from and where to rest, in order: (2 count, 2, n) [rad|m]."""
        sides = [self.q + sign * self.approach for sign in (-1.0, 1.0)]
        return np.stack([np.stack([side, self.q], axis=1) for side in sides], axis=1).reshape(-1, 2, self.q.shape[1])

    @property
    def path(self) -> Array:
        """All positions in order (K, n) [rad|m], from `home` on; the joints move straight from one to the next."""
        rows = [self.home]
        for k, visits in enumerate(self.waypoints.reshape(len(self.q), -1, self.q.shape[1])):
            rows += [self.home, *visits] if k in self.detours else list(visits)
        return np.array(rows)

    def csv(self) -> str:
        """Return the visits as CSV: the pose's number, then where to come from and where to rest, joint by joint.

        Pose 0 is `home`, where the way begins and detours lead. The first line is a comment on what was checked.
        """
        header = ["pose", *(f"{word}.{name}" for word in ("from", "q") for name in self.joint_names)]
        home = _row(0, np.array([self.home, self.home]))
        rows = [home]
        for k, visit in enumerate(self.waypoints):
            if k and not k % 2 and k // 2 in self.detours:
                rows.append(home)
            rows.append(_row(k // 2 + 1, visit))
        return f"# {self.safety.line}\n" + csv_text(header, rows)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False, unchecked: bool = False) -> Path:
        """Write the visits as CSV; poses that are not fully checked only with `unchecked`.

        Parameters:
            path: file to write.
            overwrite: whether an existing file may be replaced.
            unchecked: whether poses that are not fully checked may be written.
        Returns:
            The path.
        Example:
            >>> sy.static_poses(sy.load("elbow_6r"), count=4).write("poses.csv").name
            'poses.csv'
        """
        if not (self.checked or unchecked):
            raise ProblemError(
                f"{os.fspath(path)}: these poses are {self.safety.line}; choose them with ground= and collision= for all of"
                f" their surroundings, or write them as they are, with unchecked=True"
            )
        return write_whole(path, self.csv().encode(), overwrite)

    def __str__(self) -> str:
        mass, *moment = self.std
        return (
            f"{len(self.q)} poses: each visit to both sides gives the mass to {mass:.2g} kg and m c to {max(moment):.2g} kg m, "
            f"for torques at rest known to {', '.join(f'{s:.2g}' for s in self.sigma)} N m|N"
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
    collision: str = "auto",
    clearance: float = CLEARANCE,
    ground: Ground = "base",
) -> StaticPoses:
    """Choose poses within the joint limits that show mass and centre of a load: greedily the largest det of sum Y^T Y / sigma^2.

    Y (n, 4) are the torques of gravity per kg and kg m of the load; `sigma` [N m|N] is the standard deviation of a torque at rest, one
    number or one per joint; `margin` is the part of every range that is used. The order is that of a short way.
    Links keep `clearance` [m] from each other and from the ground in all poses and on straight moves between them, as in `excite`.
    Swevers et al., IEEE Control Systems Magazine 27 (2007), p. 58; greedy choice: Pukelsheim, "Optimal Design of Experiments", 2006,
    section 9.8.

    Returns:
        `StaticPoses`: .q (k, n) [rad|m].
    Example:
        >>> sy.static_poses(sy.load("elbow_6r"), count=4).q.shape
        (4, 6)
    """
    require_robot(robot, "static_poses", known_function=True)
    refuse_loops(robot, "static_poses", "choose poses of one of its arms, without_loops()")
    count = whole_number("static_poses: count", count, 3, 1000)
    share = real_number("static_poses: margin", margin, 0.0, 1.0)
    beside = real_number("static_poses: approach", approach, 0.0, unit="rad|m")
    place, noise = load_place(robot, link, frame), _noise(robot, sigma)
    limits = motion_limits(robot, max(share, 1e-9))
    keep = distances_to_keep(robot, limits, collision, clearance, ground)
    rng = np.random.default_rng(whole_number("static_poses: seed", seed, 0))
    home, q = _clear_candidates(robot, keep, share, beside, count, rng)
    Y = _gravity_columns(robot, place.body, place.frame, q) / noise[:, None] * SIZES
    chosen, information = _greedy(Y, count)
    values = np.linalg.eigvalsh(information)
    if values[0] <= LEAST * values[-1]:
        raise ProblemError("no poses of this robot show mass and centre of a load by gravity; move it, and use a log of the motion")
    std = np.sqrt(np.diag(np.linalg.inv(2.0 * information))) * SIZES
    order = _short_way(q[chosen], chosen)
    detours = tuple(k for k in range(1, count) if not straight_is_clear(keep, np.array([q[order[k - 1]], q[order[k]] - beside])))
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
    return replace(poses, safety=check_path(keep, poses.path))


def _clear_candidates(
    robot: Robot, keep: DistancesToKeep, margin: float, approach: float, count: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return a home (n,) and random poses (M, n) that straight moves from it reach."""
    for _ in range(DRAWS):
        home, q = clear_of_home(keep, _candidates(robot, margin, approach, rng), approach)
        if len(q) >= count:
            return home, q
    raise ProblemError(
        f"fewer than {count} of {CANDIDATES} random poses keep links apart and above the ground; give another ground=, a smaller"
        " clearance=, or ground=None where there is no ground"
    )


def _noise(robot: Robot, sigma: ArrayLike) -> Array:
    each = numbers("static_poses: sigma", sigma)
    if each.shape not in ((), (robot.n,)) or not np.all((each > 0) & np.isfinite(each)):
        raise CallError(f"static_poses: sigma must be a positive number [N m|N], or one for each of {robot.n} joints, not {sigma!r}")
    return np.broadcast_to(each, (robot.n,)).copy()


def _candidates(robot: Robot, margin: float, approach: float, rng: np.random.Generator) -> Array:
    """Random poses (CANDIDATES, n) within a part of the joint ranges, away from their ends by the approach."""
    limits = robot.tree.limits
    low = np.array([max(limit.lower, -2 * TURN) if np.isfinite(limit.lower) else -TURN for limit in limits])
    high = np.array([min(limit.upper, 2 * TURN) if np.isfinite(limit.upper) else TURN for limit in limits])
    middle, half = 0.5 * (low + high), np.maximum(0.5 * margin * (high - low) - approach, 0.0)
    return middle + half * rng.uniform(-1.0, 1.0, (CANDIDATES, robot.n))


def _gravity_columns(robot: Robot, body: int, frame: str, q: Array) -> Array:
    """The torque at rest per kg and kg m of a load, (N, n, 4)."""
    columns = tuple(range(10 * body, 10 * body + 10))
    bare = robot.without_friction().without_rotors()
    Y = np.asarray(kernel(bare.tree, "regressor", columns=columns, base=False)(q, 0.0 * q, 0.0 * q))
    return (Y @ to_body(robot, frame))[:, :, :4]


def _greedy(Y: Array, count: int) -> tuple[list[int], Array]:
    """The poses that one by one raise log det most, and their information (4, 4)."""
    each = np.einsum("kna,knb->kab", Y, Y)
    information = 1e-9 * float(np.trace(each.sum(axis=0))) / len(Y) * np.eye(4)
    chosen: list[int] = []
    for _ in range(count):
        gain = np.linalg.slogdet(information + each)[1]
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        information = information + each[chosen[-1]]
    return chosen, information


def _short_way(q: Array, chosen: list[int]) -> list[int]:
    """The poses in an order in which each is near the last."""
    left, way = list(range(1, len(chosen))), [0]
    while left:
        way.append(min(left, key=lambda k: float(np.max(np.abs(q[k] - q[way[-1]])))))
        left.remove(way[-1])
    return [chosen[k] for k in way]
