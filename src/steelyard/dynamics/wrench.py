"""Generalised torques of external wrenches on the links."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Force, Pose
from ..mechanism.tree import Frame, Tree
from .joint import to_coordinates
from .kinematics import find_frame, joint_axes, poses


def wrenches_on_bodies(
    tree: Tree, q: Scalars, wrenches: Sequence[Scalars], frames: Sequence[str | Frame]
) -> list[list[Scalar]]:
    """Return wrenches at frames as wrenches on their bodies, (bodies + 1) x 6.

    Parameters
    ----------
    tree, q : the robot and its position, n scalars [rad|m]
    wrenches : six scalars per frame, force [N] then moment [N m], in the base frame about the
        frame's origin
    frames : the frames, by name or as Frame

    Returns
    -------
    Per body f, n + (R_0b p_bf) x f about the body's origin. The last row acts on the base itself.
    Featherstone 2008, section 2.8.
    """
    where = [*poses(tree, q), Pose()]
    total: list[list[Scalar]] = [[0.0] * 6 for _ in where]
    for (body, pose), (fx, fy, fz, nx, ny, nz) in zip(
        (find_frame(tree, frame) for frame in frames), wrenches, strict=True
    ):
        f = (fx, fy, fz)
        n = v3.add((nx, ny, nz), v3.cross(v3.apply(where[body].R, pose.p), f))
        total[body] = [a + b for a, b in zip(total[body], (*f, *n), strict=True)]
    return total


def wrench_torque(tree: Tree, q: Scalars, wrench: Sequence[Scalars]) -> list[Scalar]:
    """Return the generalised torques of external wrenches: sum of J_i(q)^T wrench_i.

    q: n scalars [rad|m]. wrench: per body six scalars, force [N] then moment [N m], in the base
    frame about the body's origin; a further row acts on the base and on no joint. Returns n
    scalars [N m|N]. Featherstone 2008, section 2.2; virtual work.
    """
    where = poses(tree, q)
    total = [Force((w[0], w[1], w[2]), (w[3], w[4], w[5])) for w in wrench[: len(where)]]
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            f, n = total[i]
            total[parent] = total[parent] + Force(
                f, v3.add(n, v3.cross(v3.sub(where[i].p, where[parent].p), f))
            )
    axes = joint_axes(tree, where)
    bodies = zip(tree.bodies, axes, total, strict=True)
    return to_coordinates(
        tree,
        [v3.dot(z, force.n if body.kind == "revolute" else force.f) for body, z, force in bodies],
    )
