"""What the 3-D view shows, as plain data.

Solids and inertias of the bodies once, poses of the bodies at every position.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...algebra.spatial import at_com
from ...drawing.ellipsoid import inertia_ellipsoid, velocity_ellipsoid
from ...identification import Fit
from ...motion.collision.body_frames import BodyFrames
from ...motion.collision.shapes import link_capsules
from ...motion.solids import Solid, kinematic_solids, robot_solids
from ...robot import Robot
from .window import PageWindow

Array = NDArray[np.float64]
TRIED = 40  # positions to find out how far the robot reaches
FRAMES_PER_SECOND, MOST_FRAMES = 30.0, 6000


def content(window: PageWindow) -> dict[str, Any]:
    """Return the bodies of a window's robot with their drawings, and the robot's size [m]."""
    robot = window.robot
    assert robot is not None
    solids = robot_solids(robot, window.meshes)
    return {
        "bodies": len(robot.tree.bodies) + 1,
        "solids": [
            _solid(each, f"/mesh/{window.key}/{number}") for number, each in enumerate(solids)
        ],
        "ghost": [_solid(each, "") for each in kinematic_solids(robot.tree)],
        "frames": [
            {"body": on + 1, "name": name, **_placed(pose.p, pose.R)}
            for name, (on, pose) in robot.tree.frames.items()
        ],
        "tip": window.frame,
        "reach": reach(robot),
        **inertias(robot, None if window.fitted is None else window.fitted.fit),
    }


def inertias(robot: Robot, fit: Fit | None) -> dict[str, Any]:
    """Return centre of mass and inertia ellipsoid of every body.

    A fit adds two standard deviations of the centre where they are known.
    """
    shown = robot if fit is None else fit.robot
    heaviest = max((float(body.inertia.m) for body in shown.tree.bodies), default=0.0)
    rows = []
    for index, body in enumerate(shown.tree.bodies):
        if not body.inertia.m > 0:
            continue
        m, c, I = at_com(body.inertia)  # noqa: E741
        matrix = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
        shape = inertia_ellipsoid(float(m), matrix)
        row: dict[str, Any] = {
            "body": index + 1,
            "name": body.name,
            "mass": float(m),
            "share": float(m) / heaviest,
        }
        row |= {"axes": shape.axes.tolist(), **_placed(c, shape.R)}
        if (
            fit is not None
            and fit.links.names[index] == body.name
            and np.all(np.isfinite(fit.links.com_std[index]))
        ):
            row["sigma"] = (2 * fit.links.com_std[index]).tolist()
        rows.append(row)
    return {"inertias": rows}


def pose_rows(robot: Robot, q: Array) -> Array:
    """Return the poses (N, B + 1, 7) of base and bodies at positions q (N, n).

    A row is a position [m] and a quaternion (x, y, z, w).
    """
    frames = BodyFrames.compute(robot, np.atleast_2d(q))
    turns = (
        Rotation.from_matrix(frames.R.reshape(-1, 3, 3)).as_quat().reshape(*frames.p.shape[:2], 4)
    )
    return np.concatenate([frames.p, turns], axis=-1)


def tip_ellipsoid(robot: Robot, q: Array, frame: str) -> dict[str, Any]:
    """Return the velocities of a frame as an ellipsoid at it, in the base frame."""
    shape = velocity_ellipsoid(robot.jacobian(q, frame)[:3])
    return {
        "axes": shape.axes.tolist(),
        **_placed(robot.forward_kinematics(q, frame)[:3, 3], shape.R),
    }


def frames_of(robot: Robot, t: Array, q: Array) -> dict[str, Any]:
    """Return a motion q (N, n) over t (N,) [s] as frames to be played.

    About 30 a second, at most MOST_FRAMES, encoded in base64.
    """
    span = float(t[-1] - t[0])
    count = int(min(MOST_FRAMES, max(2, span * FRAMES_PER_SECOND + 1)))
    times = np.linspace(t[0], t[-1], count)
    sampled = np.stack(
        [np.interp(times, t, column) for column in np.where(np.isfinite(q), q, 0.0).T], axis=1
    )
    encoded = base64.b64encode(pose_rows(robot, sampled).astype("<f4").tobytes()).decode()
    return {"start": float(t[0]), "end": float(t[-1]), "count": count, "poses": encoded}


def reach(robot: Robot) -> float:
    """Return how far the robot extends from its base at its farthest, about [m].

    To size the view.
    """
    low, high = (
        np.array([np.clip(x, -np.pi, np.pi) for x in ends])
        for ends in zip(*((e.lower, e.upper) for e in robot.tree.limits), strict=True)
    )
    tried = np.random.default_rng(0).uniform(low, np.maximum(low, high), (TRIED, robot.n))
    frames = BodyFrames.compute(
        robot,
        (
            np.vstack([robot.near_zero, tried])
            if not robot.tree.loops
            else np.atleast_2d(robot.near_zero)
        ),
    )
    ends = [
        frames.points(np.array([each.body]), each.points[None])
        for each in link_capsules(robot.tree)
    ]
    return max((float(np.linalg.norm(points, axis=-1).max()) for points in ends), default=0.05)


def _solid(solid: Solid, address: str) -> dict[str, Any]:
    row = {
        "body": solid.body + 1,
        "kind": solid.kind,
        "sizes": list(solid.sizes),
        "part": solid.part,
        **_placed(solid.p, solid.R),
    }
    return row | ({"mesh": address} if solid.kind == "mesh" else {})


def _placed(p: Any, R: Any) -> dict[str, list[float]]:
    turn = Rotation.from_matrix(np.array(R, dtype=float)).as_quat()
    return {"p": [float(x) for x in p], "q": [float(x) for x in turn]}
