"""Static poses: where to rest an arm so that gravity shows mass and centre of its load best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, real_number, whole_number
from ...csv_text import csv_text
from ...errors import CallError, ProblemError, refuse_loops, require_robot
from ...floating_point import default_errstate
from ...kernels import kernel
from ...robot import Robot
from .load_columns import load_place, to_body

Array = NDArray[np.float64]
CANDIDATES = 4000
TURN = np.pi  # [rad] range of a joint without limits, to either side
APPROACH = 0.05  # [rad|m] from which a pose is approached
LEAST = 1e-6  # of the largest eigenvalue: what poses must show of mass and centre
SIZES = np.array([1.0, 0.1, 0.1, 0.1])  # [kg, kg m] of a load of 1 kg: mass and first moments are made comparable by them


@dataclass(frozen=True, eq=False)
class StaticPoses:
    """Poses q (count, n) [rad|m], and the standard deviation of mass [kg] and first moments (3,) [kg m] for torques known to `sigma`.

    `waypoints` (2 count, 2, n) are the way to visit them: each pose from both sides, so that friction at rest can be told from weight.
    """

    q: Array
    sigma: Array
    std: Array
    joint_names: tuple[str, ...]
    approach: float

    @property
    def waypoints(self) -> Array:
        """Where to come from and where to rest, in order: (2 count, 2, n) [rad|m]."""
        sides = [self.q + sign * self.approach for sign in (-1.0, 1.0)]
        return np.stack([np.stack([side, self.q], axis=1) for side in sides], axis=1).reshape(-1, 2, self.q.shape[1])

    def csv(self) -> str:
        """Return the visits as CSV: the pose's number, then where to come from and where to rest, joint by joint."""
        header = ["pose", *(f"{word}.{name}" for word in ("from", "q") for name in self.joint_names)]
        return csv_text(header, ([k // 2 + 1, *(f"{x:.6f}" for x in visit.reshape(-1))] for k, visit in enumerate(self.waypoints)))

    def __str__(self) -> str:
        mass, *moment = self.std
        return (
            f"{len(self.q)} poses: each visit to both sides gives the mass to {mass:.2g} kg and m c to {max(moment):.2g} kg m, "
            f"for torques at rest known to {', '.join(f'{s:.2g}' for s in self.sigma)} N m|N"
        )


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
) -> StaticPoses:
    """Choose poses within the joint limits that show mass and centre of a load: greedily the largest det of sum Y^T Y / sigma^2.

    Y (n, 4) are the torques of gravity per kg and kg m of the load; `sigma` [N m|N] is the standard deviation of a torque at rest, one
    number or one per joint; `margin` is the part of every range that is used. The order is that of a short way.
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
    q = _candidates(robot, share, beside, np.random.default_rng(whole_number("static_poses: seed", seed, 0)))
    Y = _gravity_columns(robot, place.body, place.frame, q) / noise[:, None] * SIZES
    chosen, information = _greedy(Y, count)
    values = np.linalg.eigvalsh(information)
    if values[0] <= LEAST * values[-1]:
        raise ProblemError("no poses of this robot show mass and centre of a load by gravity; move it, and use a log of the motion")
    std = np.sqrt(np.diag(np.linalg.inv(2.0 * information))) * SIZES
    return StaticPoses(q[_short_way(q[chosen], chosen)], noise, std, robot.joint_names, beside)


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
