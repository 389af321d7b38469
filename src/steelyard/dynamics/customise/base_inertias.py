"""Inertias regrouped to base parameters: what does not move relative to a joint goes to the parent, and the torques stay the same."""

from __future__ import annotations

from dataclasses import replace

from ...algebra.spatial import Inertia, Pose, minus, moved
from ...algebra.vector import ZERO, Symmetric
from ...mechanism.tree import Body, Tree
from ..joint import principal


def with_base_inertias(tree: Tree) -> Tree:
    """The tree with inertias that give the same torques in fewer numbers; no longer those of real bodies.

    A rod of mass on a turning joint's axis moves alike on either side of the joint, so it goes to the parent: of a body that turns about z
    the mass, hz and the second moment along z (Ixx + Iyy - Izz) vanish. Of a body that slides, all second moments go.
    Mass matrix, bias and energy differences stay the same. Needs axes along x, y or z: others keep their inertia.
    Gautier and Khalil 1990; Khalil and Dombre 2002, section 9.4 (grouping relations).
    """
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]  # the base's own is the last, as its index -1 has it
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        part = movable(body, inertias[i])
        inertias[i] = without(body, minus(inertias[i], part))
        inertias[body.parent] = inertias[body.parent] + moved(part, at_rest(body, part))
    *own, base = inertias
    bodies = tuple(replace(body, inertia=inertia) for body, inertia in zip(tree.bodies, own, strict=True))
    return replace(tree, bodies=bodies, base_inertia=base)


def movable(body: Body, inertia: Inertia) -> Inertia:
    """The part of a body's inertia that moves alike on either side of its joint."""
    if body.kind == "prismatic":
        return Inertia(0.0, ZERO, inertia.I)
    k = principal(body.axis)
    if k is None:
        return Inertia()
    x, y, z = (inertia.h[j] if j == k else 0.0 for j in range(3))
    along = inertia.second_moments()[(0, 3, 5)[k]]
    xx, yy, zz = (0.0 if j == k else along for j in range(3))
    return Inertia(inertia.m, (x, y, z), Symmetric(xx, 0.0, 0.0, yy, 0.0, zz))


def at_rest(body: Body, part: Inertia) -> Pose:
    """Where the part is in the parent's frame, at any position of the joint; second moments alone have no place, only directions."""
    return body.placement if body.kind == "revolute" else Pose(body.placement.R, ZERO)


def without(body: Body, rest: Inertia) -> Inertia:
    """The rest, with Izz = Ixx + Iyy (or its like for x and y) to the last bit: the second moment along the axis is exactly zero."""
    k = principal(body.axis)
    if body.kind == "prismatic" or k is None:
        return rest
    diagonal = [rest.I.xx, rest.I.yy, rest.I.zz]
    diagonal[k] = diagonal[(k + 1) % 3] + diagonal[(k + 2) % 3]
    return rest._replace(I=rest.I._replace(xx=diagonal[0], yy=diagonal[1], zz=diagonal[2]))
