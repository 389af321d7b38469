"""Regrouping of link inertias into base parameters, which leaves joint torques unchanged."""

from __future__ import annotations

from dataclasses import replace

from ...algebra.spatial import Inertia, Pose, minus, moved
from ...algebra.vector import ZERO, Symmetric
from ...mechanism.tree import Body, Tree
from ..joint import principal


def with_base_inertias(tree: Tree) -> Tree:
    """Return the tree with base inertial parameters: the same torques from fewer numbers.

    Mass on the axis of a revolute joint moves alike with either body, so it is added to the parent:
    for rotation about z the mass, hz and the second moment along z (Ixx + Iyy - Izz) become zero.
    For a prismatic joint all second moments are added to the parent. The results are not inertias
    of real bodies. Mass matrix, bias torque and energy differences do not change. Joints whose axis
    is not x, y or z keep their inertia. Gautier and Khalil 1990; Khalil and Dombre 2002, section
    9.4 (grouping relations).
    """
    # the base is last, at index -1
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        part = joint_invariant_part(body, inertias[i])
        inertias[i] = zero_axis_moment(body, minus(inertias[i], part))
        inertias[body.parent] = inertias[body.parent] + moved(part, pose_in_parent(body, part))
    *regrouped, base = inertias
    bodies = tuple(
        replace(body, inertia=inertia) for body, inertia in zip(tree.bodies, regrouped, strict=True)
    )
    return replace(tree, bodies=bodies, base_inertia=base)


def joint_invariant_part(body: Body, inertia: Inertia) -> Inertia:
    """Return the part of a body's inertia that moves alike with either body of its joint."""
    if body.kind == "prismatic":
        return Inertia(0.0, ZERO, inertia.I)
    k = principal(body.axis)
    if k is None:
        return Inertia()
    x, y, z = (inertia.h[j] if j == k else 0.0 for j in range(3))
    along = inertia.second_moments()[(0, 3, 5)[k]]
    xx, yy, zz = (0.0 if j == k else along for j in range(3))
    return Inertia(inertia.m, (x, y, z), Symmetric(xx, 0.0, 0.0, yy, 0.0, zz))


def pose_in_parent(body: Body, part: Inertia) -> Pose:
    """Return the pose of that part in the parent's frame, at any position of the joint.

    Second moments alone have no position, only directions.
    """
    return body.placement if body.kind == "revolute" else Pose(body.placement.R, ZERO)


def zero_axis_moment(body: Body, rest: Inertia) -> Inertia:
    """Return the rest with a second moment along the axis of exactly zero: Izz = Ixx + Iyy."""
    k = principal(body.axis)
    if body.kind == "prismatic" or k is None:
        return rest
    diagonal = [rest.I.xx, rest.I.yy, rest.I.zz]
    diagonal[k] = diagonal[(k + 1) % 3] + diagonal[(k + 2) % 3]
    return rest._replace(I=rest.I._replace(xx=diagonal[0], yy=diagonal[1], zz=diagonal[2]))
