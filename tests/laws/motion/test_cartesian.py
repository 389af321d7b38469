"""Lines and arcs of a frame in space.

Their geometry, limits, the joints that follow them, and bad input.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import PoseTrajectory, arc, follow, line
from tests.laws.dynamics.law import close

Q = np.array([0.3, 0.8, 0.2, 0.5, 0.8, 0.2])


def ends(robot: sy.Robot) -> tuple[np.ndarray, np.ndarray]:
    """A pose, and one 0.15 m beside it, turned by a quarter."""
    start = robot.forward_kinematics(Q)
    end = start.copy()
    end[:3, 3] += [0.05, -0.1, -0.1]
    end[:3, :3] = start[:3, :3] @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return start, end


@pytest.fixture(scope="module")
def puma() -> sy.Robot:
    return sy.load("puma560")


def derivative(
    path: PoseTrajectory, t: np.ndarray, h: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Twist and acceleration by differences."""
    from steelyard.motion.trajectories.cartesian import pose_difference

    a, b = path.motion(t - h), path.motion(t + h)
    return pose_difference(a.pose, b.pose) / (2 * h), (b.twist - a.twist) / (2 * h)


def test_lines_are_straight_and_arcs_round(puma: sy.Robot) -> None:
    start, end = ends(puma)
    via = start[:3, 3] + [0.08, 0.0, 0.0]
    t = np.linspace(0.01, 0.99, 50)
    for path in (line(start, end, 1.0), arc(start, via, end, 1.0, "s-curve")):
        trajectory = path.motion([0.0, 1.0])
        close(trajectory.pose, np.stack([start, end]), 1e-12)
        assert np.abs(trajectory.twist).max() < 1e-12
        twist, acceleration = derivative(path, t)
        close(path.motion(t).twist, twist, 1e-7)
        close(path.motion(t).acceleration, acceleration, 1e-7)
    p = line(start, end, 1.0).motion(t).pose[:, :3, 3] - start[:3, 3]
    assert np.linalg.norm(np.cross(p, end[:3, 3] - start[:3, 3]), axis=1).max() < 1e-15
    fine = arc(start, via, end, 1.0).motion(np.linspace(0, 1, 20001)).pose[:, :3, 3]
    assert np.linalg.norm(fine - via, axis=1).min() < 1e-4
    radius = {
        round(_radius(a, b, c), 9)
        for a, b, c in zip(fine[2000::4000], fine[3000::4000], fine[4000::4000], strict=False)
    }
    assert len(radius) == 1


def _radius(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Of the circle through three points: product of the sides over four times the area."""
    sides = [np.linalg.norm(x) for x in (b - a, c - b, a - c)]
    return float(np.prod(sides) / (2 * np.linalg.norm(np.cross(b - a, c - a))))


def test_the_shortest_time_touches_its_limit(puma: sy.Robot) -> None:
    start, end = ends(puma)
    for limits in ({"speed": 0.1}, {"turning": 0.5}, {"speed": 0.1, "turning": 0.5}):
        path = line(start, end, **limits)
        twist = path.motion(np.linspace(0, path.seconds, 2001)).twist
        used = [
            np.linalg.norm(twist[:, k], axis=1).max() / limits[name]
            for name, k in (("speed", slice(3)), ("turning", slice(3, 6)))
            if name in limits
        ]
        assert 0.999 < max(used) < 1.000001


def test_joints_follow(puma: sy.Robot) -> None:
    start, end = ends(puma)
    path = line(start, end, 0.5)
    result = follow(puma, path, q0=Q)
    close(result.q[0], Q, 1e-9)
    t, h = np.linspace(0.003, 0.497, 60), 1e-5
    point, before, after = result.motion(t), result.motion(t - h), result.motion(t + h)
    close(puma.forward_kinematics(point.q), path.motion(t).pose, 1e-9)
    close(point.qd, (after.q - before.q) / (2 * h), 1e-5)
    close(point.qdd, (after.qd - before.qd) / (2 * h), 1e-5)
    assert np.abs(np.diff(result.q, axis=0)).max() < 0.05  # no change of branch


def test_bad_input(puma: sy.Robot) -> None:
    start, end = ends(puma)
    skew = start.copy()
    skew[0, 0] += 0.1
    for call, message in (
        (lambda: line(start, end), "give seconds, or positive limits"),
        (lambda: line(start, end, speed=-1.0), "positive limits"),
        (lambda: line(start, start, speed=1.0), "an end that is not the start"),
        (lambda: line(start[:3], end, 1.0), "line: start has shape"),
        (lambda: line(start, skew, 1.0), "line: end is not a pose"),
        (lambda: line(start, end, 1.0, "cubic"), "cubic"),
        (lambda: arc(start, [0, 0], end, 1.0), "expected a point"),
        (lambda: arc(start, 0.5 * (start + end)[:3, 3], end, 1.0), "lie on a line"),
        (lambda: follow(puma, start), "path must be a PoseTrajectory"),
    ):
        with pytest.raises(sy.CallError, match=message):
            call()
    far = end.copy()
    far[:3, 3] = [3.0, 0.0, 0.0]
    with pytest.raises(sy.ProblemError, match="leaves the reach"):
        follow(puma, line(start, far, 0.5), q0=Q, rate=100.0)
    with pytest.raises(sy.ProblemError, match="start of the path has no solution"):
        follow(puma, line(far, start, 0.5))
    low = puma.forward_kinematics([0.3, 0.8, 0.2, 0.5, 0.8, 0.2])
    turned = low.copy()
    c, s = np.cos(3.0), np.sin(3.0)
    turned[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ low[:3, :3]
    turned[:3, 3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ low[:3, 3]
    with pytest.raises(sy.ProblemError, match="follow: at"):
        follow(
            puma,
            arc(
                low,
                np.array([[c, 0, 0], [0, c, 0], [0, 0, 1]]) @ low[:3, 3] + [0, 0, 0.05],
                turned,
                2.0,
            ),
            q0=Q,
            rate=100.0,
        )
