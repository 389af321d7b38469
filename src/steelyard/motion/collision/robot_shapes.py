"""Collision shapes of all links: from the description where usable, else capsules."""

from __future__ import annotations

from ...errors import MissingExtra, ProblemError, mention
from ...mechanism.formats.urdf.collision_shapes import collision_shapes
from ...robot import Robot
from .link_capsules import capsules_of_links
from .shapes import ConvexShape, coal_module, convex_shape, one_per_body


def robot_shapes(robot: Robot, kind: str = "auto") -> tuple[ConvexShape, ...]:
    """Return the shapes of a robot's links.

    A link whose collision geometry cannot be used (none in the description, a mesh whose file is
    absent, no library for hulls) gets capsules from the kinematics, independent of other links.

    Parameters
    ----------
    robot : the robot
    kind : "auto", "shapes" to raise where the URDF has no shape that can be used, or "capsules" for
        capsules of all links

    Returns
    -------
    Shapes of the moving links and of the base.
    """
    if kind == "capsules":
        return capsules_of_links(robot)
    shapes, unusable = _usable_shapes(robot, must=kind == "shapes")
    if kind == "shapes" and not shapes:
        raise ProblemError(
            f"robot {robot.name!r} has no collision shapes that can be used; give"
            f" {mention('collision', 'capsules')} for capsules around its links"
        )
    links = {link.name for link in robot.mechanism.links} - {shape.name for shape in shapes}
    capsules = capsules_of_links(robot, links | unusable)
    hulls = (
        shape for shape in one_per_body(shapes) if not any(each.holds(shape) for each in capsules)
    )
    return (*hulls, *capsules)


def links_without_shape(robot: Robot, kind: str = "auto") -> tuple[str, ...]:
    """Return the links with mass or collision geometry but without any shape.

    Their extent is unknown: a tool without mass whose mesh is absent, or links of an arm whose
    joints are all in one point. Frames are not bodies and do not count.

    Parameters
    ----------
    robot : the robot
    kind : which shapes are used, as in `robot_shapes`

    Returns
    -------
    Names of the links, in the order of the description.
    """
    geometry = {each.link for each in collision_shapes(robot.mechanism)}
    if kind == "capsules":
        usable: set[str] = set()
    else:
        shapes, unusable = _usable_shapes(robot, must=False)
        usable = {shape.name for shape in shapes} - unusable
    covered = usable | {shape.name for shape in capsules_of_links(robot)}
    bodies = geometry | {
        link.name for link in robot.mechanism.links if link.inertia is not None and link.inertia.m
    }
    return tuple(link.name for link in robot.mechanism.links if link.name in bodies - covered)


def _usable_shapes(robot: Robot, must: bool) -> tuple[list[ConvexShape], set[str]]:
    """Return the usable shapes of the description, and the links of the others.

    With `must`, a missing collision library is an error; otherwise boxes and cylinders are used as
    the capsules around them, and meshes are not used.
    """
    shapes, unusable = [], set()
    for each in collision_shapes(robot.mechanism):
        shape = None
        try:
            shape = convex_shape(robot.tree, each)
            if shape is not None and not shape.capsule:
                coal_module("distances between links")
        except MissingExtra:
            if must:
                raise
            shape = None if shape is None else shape.bounding_capsule()
        if shape is None:
            unusable.add(each.link)
        else:
            shapes.append(shape)
    return shapes, unusable


def absent_meshes(robot: Robot) -> tuple[str, ...]:
    """Return the links with a collision mesh whose file is absent."""
    return tuple(
        dict.fromkeys(
            x.link for x in collision_shapes(robot.mechanism) if x.kind == "mesh" and x.file is None
        )
    )
