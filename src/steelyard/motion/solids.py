"""Solids to draw a robot with.

The visual shapes of its URDF, else capsules along links and cylinders around joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..mechanism.formats.urdf.collision_shapes import (
    CollisionShape,
    collision_shapes,
    visual_shapes,
)
from ..mechanism.tree import Tree
from ..robot import Robot
from .collision.shapes import link_capsules

Array = NDArray[np.float64]
MESHES = (".stl", ".obj", ".dae")
# radius and length of a joint that turns, edge of one that slides; in radii of the links
BARREL, SLIDER = (1.35, 3.1), 2.6
SLENDER = 0.62  # of the capsules that keep links apart: radius of those that are drawn


@dataclass(frozen=True, eq=False)
class Solid:
    """A box, capsule, cylinder, sphere or mesh of a body; body -1 is the base.

    `sizes` are edges, radius and length along z, or radius [m]; scale factors for a mesh.

    p (3,) [m] and R (3, 3) place it in the frame of the body; `part` is 'link' or 'joint'.
    """

    body: int
    kind: Literal["box", "capsule", "cylinder", "sphere", "mesh"]
    sizes: tuple[float, ...]
    p: Array
    R: Array
    part: Literal["link", "joint"] = "link"
    file: Path | None = None


def robot_solids(robot: Robot, files: bool = True) -> tuple[Solid, ...]:
    """Return the solids to draw a robot with.

    Shapes of its description where any can be drawn, with `files` also meshes. A link whose visual
    mesh cannot be read has its collision shapes. Without any shape all solids come from the
    kinematics.
    """
    looks, hulls = (
        [_solid_of(robot.tree, each) for each in shapes_of(robot.mechanism)]
        for shapes_of in (visual_shapes, collision_shapes)
    )
    drawn = [each for each in looks if each is not None and _drawable(each, files)]
    seen = {each.body for each in drawn}
    drawn += [
        each
        for each in hulls
        if each is not None and each.body not in seen and _drawable(each, files)
    ]
    return tuple(drawn) or kinematic_solids(robot.tree)


def kinematic_solids(tree: Tree) -> tuple[Solid, ...]:
    """Return capsules along the links and cylinders or boxes at the joints, of one thickness."""
    capsules = link_capsules(tree)
    if not capsules:
        return ()
    radius = SLENDER * capsules[0].radius
    solids = [_capsule(each.body, each.points[0], each.points[-1], radius) for each in capsules]
    for index, body in enumerate(tree.bodies):
        axis = rotation_to_axis(np.array(body.axis, dtype=float))
        if body.kind == "prismatic":
            solids.append(
                Solid(
                    body=index,
                    kind="box",
                    sizes=(SLIDER * radius,) * 3,
                    p=np.zeros(3),
                    R=axis,
                    part="joint",
                )
            )
        else:
            solids.append(
                Solid(
                    body=index,
                    kind="cylinder",
                    sizes=(BARREL[0] * radius, BARREL[1] * radius),
                    p=np.zeros(3),
                    R=axis,
                    part="joint",
                )
            )
    return tuple(solids)


def rotation_to_axis(direction: Array) -> Array:
    """Return a rotation (3, 3) whose z axis lies along a direction (3,); any if it is zero."""
    length = float(np.linalg.norm(direction))
    if not length:
        return np.eye(3)
    z = direction / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _capsule(body: int, start: Array, end: Array, radius: float) -> Solid:
    return Solid(
        body,
        "capsule",
        (radius, float(np.linalg.norm(end - start))),
        (start + end) / 2,
        rotation_to_axis(end - start),
    )


def _solid_of(tree: Tree, shape: CollisionShape) -> Solid | None:
    frame = tree.frames.get(shape.link)
    if frame is None:
        return None
    pose = frame.pose.compose(shape.pose)
    return Solid(
        body=frame.body,
        kind=shape.kind,
        sizes=shape.sizes,
        p=np.array(pose.p, dtype=float),
        R=np.array(pose.R, dtype=float),
        part="link",
        file=shape.file,
    )


def _drawable(solid: Solid, files: bool) -> bool:
    return solid.kind != "mesh" or (
        files and solid.file is not None and solid.file.suffix.lower() in MESHES
    )
