"""A robot's bodies in MuJoCo, built from our numbers."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from steelyard.algebra.spatial import at_com
from steelyard.mechanism.tree import Tree


def model_of(tree: Tree, free: bool = False) -> Any:
    """A MuJoCo model built body by body from a tree's numbers.

    `free`: on a base that nothing holds.

    Where an axis passes through the body's origin, so does MuJoCo's.
    """
    spec = mujoco.MjSpec()
    add_bodies(spec, tree, free)
    return spec.compile()


def add_bodies(spec: Any, tree: Tree, free: bool = False) -> None:
    """Add the bodies and joints of a tree to a specification."""
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    spec.option.gravity = tree.gravity
    results = [_free_base(spec, tree) if free else spec.worldbody]
    for body in tree.bodies:
        m, c, I = at_com(body.inertia)  # noqa: E741
        R, p = np.array(body.placement.R, dtype=float), np.array(body.placement.p)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, R.flatten())
        full = [I.xx, I.yy, I.zz, I.xy, I.xz, I.yz]
        new = results[body.parent + 1].add_body(
            name=body.name,
            pos=p,
            quat=quaternion,
            mass=m,
            ipos=c,
            fullinertia=full,
            explicitinertial=True,
        )
        kind = (
            mujoco.mjtJoint.mjJNT_HINGE if body.kind == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        )
        joint = new.add_joint(name=body.joint, type=kind, axis=body.axis)
        joint.armature = tree.terms[body.coordinate].get("armature", 0.0)
        joint.damping[0] = tree.terms[body.coordinate].get("viscous", 0.0)
        results.append(new)


def _free_base(spec: Any, tree: Tree) -> Any:
    m, c, I = at_com(tree.base_inertia)  # noqa: E741
    full = [I.xx, I.yy, I.zz, I.xy, I.xz, I.yz]
    base = spec.worldbody.add_body(
        name="free base", mass=m, ipos=c, fullinertia=full, explicitinertial=True
    )
    base.add_freejoint()
    return base
