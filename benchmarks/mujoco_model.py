"""A robot's bodies in MuJoCo, built from our numbers."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from steelyard.algebra.spatial import at_com
from steelyard.mechanism.tree import Tree


def model_of(tree: Tree) -> Any:
    """A MuJoCo model built body by body from a tree's numbers. Where an axis passes through the body's origin, so does MuJoCo's."""
    spec = mujoco.MjSpec()
    add_bodies(spec, tree)
    return spec.compile()


def add_bodies(spec: Any, tree: Tree) -> None:
    """Add the bodies and joints of a tree to a specification."""
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    spec.option.gravity = tree.gravity
    made = [spec.worldbody]
    for body in tree.bodies:
        m, c, I = at_com(body.inertia)  # noqa: E741
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, R.flatten())
        full = [I.xx, I.yy, I.zz, I.xy, I.xz, I.yz]
        new = made[body.parent + 1].add_body(
            name=body.name, pos=p, quat=quaternion, mass=m, ipos=c, fullinertia=full, explicitinertial=True
        )
        kind = mujoco.mjtJoint.mjJNT_HINGE if body.kind == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        joint = new.add_joint(name=body.joint, type=kind, axis=body.axis)
        joint.armature = tree.terms[body.coordinate].get("armature", 0.0)
        joint.damping[0] = tree.terms[body.coordinate].get("viscous", 0.0)
        made.append(new)
