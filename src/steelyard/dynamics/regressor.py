"""Regressors: joint torques, momentum and base wrench as linear functions of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.spatial import Motion
from ..algebra.vector import IDENTITY, ZERO, Vector
from ..mechanism.parameter_vector import root_parameters
from ..mechanism.tree import Tree
from .energy import propagate_velocity
from .joint import JointMotion, joint_motions, joint_rates
from .joint_torques import term_columns
from .rnea import BodyMotion, base_motion, propagate_motion
from .rotors import rotor_columns, rotor_force_columns, spinning_rotors

Rows = list[list[Scalar]]


def regressor(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Return Y(q, qd, qdd), n x p, with inverse_dynamics = Y pi.

    Columns follow the order of `parameter_vector`: per body m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy,
    Iyz, Izz in its frame, then per coordinate its joint terms. q [rad|m], qd, qdd: n scalars each.
    Joints that do not move a body have the float 0.0 in its columns: Y is block-triangular.
    tau = sum of J_i^T A_i pi_i; lecture "Structure and identification", the regressor matrix;
    Atkeson, An and Hollerbach 1986.
    """
    joints = joint_motions(tree, q)
    motions = propagate_motion(tree, joints, qd, qdd)
    screws = propagate_unit_motions(tree, joints, unit_motions(joints))
    blocks = [
        body_block(tree, screw, motion) for screw, motion in zip(screws, motions, strict=True)
    ]
    return _rows(tree, blocks, joint_columns(tree, q, qd, qdd))


def momentum_regressor(tree: Tree, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Return Y(q, qd), n x p, with momentum = Y pi.

    It equals the regressor of inverse dynamics at rest without gravity, with qd in place of qdd.
    """
    joints = joint_motions(tree, q)
    screws = propagate_unit_motions(tree, joints, unit_motions(joints))
    blocks = [
        body_block(tree, screw, momentum)
        for screw, momentum in zip(screws, momenta(tree, joints, qd), strict=True)
    ]
    columns = joint_columns(tree, q, [0.0] * tree.n, qd)
    return _rows(
        tree,
        blocks,
        [
            _zero_unless(use.row.inertial, column)
            for use, column in zip(tree.joint_terms, columns, strict=True)
        ],
    )


def momentum_rate_regressor(tree: Tree, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Return Y(q, qd), n x p, with C^T qd - g - friction = Y pi.

    This is the momentum's rate without torque and contact. q [rad|m], qd: n scalars each.
    C^T qd = dT/dq is the power of the bodies' momenta on the rates of the joints' unit motions.
    """
    joints, still = joint_motions(tree, q), [0.0] * tree.n
    velocities = propagate_velocity(tree, joints, qd)
    rates = propagate_unit_motions(
        tree,
        joints,
        [unit_rate(joint, velocity) for joint, velocity in zip(joints, velocities, strict=True)],
    )
    screws = propagate_unit_motions(tree, joints, unit_motions(joints))
    weights = propagate_motion(tree, joints, still, still)
    blocks = []
    for rate, momentum, screw, weight in zip(
        rates, momenta(tree, joints, qd), screws, weights, strict=True
    ):
        blocks.append(_subtract(body_block(tree, rate, momentum), body_block(tree, screw, weight)))
    spins = rotor_force_columns(tree, q, qd)
    columns = []
    for use, column in zip(tree.joint_terms, term_columns(tree, q, qd, still), strict=True):
        spin = (
            spins.get(use.coordinates[0], {})
            if use.row.key == "armature" and len(use.coordinates) == 1
            else {}
        )
        columns.append(
            [
                spin.get(row, 0.0) if use.row.inertial else -column.get(row, 0.0)
                for row in range(tree.n)
            ]
        )
    return _rows(tree, blocks, columns)


def slotine_li_regressor(
    tree: Tree, q: Scalars, qd: Scalars, qrd: Scalars, qrdd: Scalars
) -> list[list[Scalar]]:
    """Return Y, n x p, with M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd) = Y pi.

    n scalars each. C(q, x) x is quadratic in x. With the mean x = (qd + qrd) / 2 and half the
    difference y, C(q, qd) qrd = C(q, x) x - C(q, y) y. Slotine and Li 1987, eq. (6).
    """
    joints, still = joint_motions(tree, q), [0.0] * tree.n
    mean, half = (
        [0.5 * (a + b) for a, b in zip(qd, qrd, strict=True)],
        [0.5 * (a - b) for a, b in zip(qd, qrd, strict=True)],
    )
    motions = propagate_motion(tree, joints, mean, qrdd)
    less = propagate_motion(replace(tree, gravity=ZERO, moving=None), joints, half, still)
    screws = propagate_unit_motions(tree, joints, unit_motions(joints))
    blocks = [
        _subtract(body_block(tree, screw, a), body_block(tree, screw, b))
        for screw, a, b in zip(screws, motions, less, strict=True)
    ]
    moved, taken = joint_columns(tree, q, mean, qrdd), joint_columns(tree, q, half, still)
    columns = []
    for i, column in enumerate(joint_columns(tree, q, qd, still)):
        inertial = tree.joint_terms[i].row.inertial
        columns.append(
            [a - b for a, b in zip(moved[i], taken[i], strict=True)] if inertial else column
        )
    return _rows(tree, blocks, columns)


def base_wrench_regressor(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Return Y, 6 x p, with base_wrench = Y pi, followed by ten columns of a base with inertia.

    q [rad|m], qd, qdd: n scalars each. A component of the wrench is its power on a unit motion of
    the base.
    """
    joints, base = (
        joint_motions(tree, q),
        dict(enumerate([*(Motion(v=e) for e in IDENTITY), *(Motion(w=e) for e in IDENTITY)], -6)),
    )
    carried = [*propagate_unit_motions(tree, joints, (), base), base]
    motions = [*propagate_motion(tree, joints, qd, qdd), base_motion(tree)]
    blocks = [
        [parameter_powers(screw[k], motion) for k in base]
        for screw, motion in zip(carried, motions, strict=True)
    ]
    columns: dict[int, list[Scalar]] = {}
    for rotor in spinning_rotors(tree, q, unit=True, on_base=True):
        c, screw = rotor.mounted.coordinate, carried[rotor.mounted.mount]
        moment = rotor.moment(qd[c], qdd[c], joint_rates(tree, qd))
        columns[c] = [
            a + v3.dot(screw[k].w, moment)
            for a, k in zip(columns.get(c, [0.0] * 6), base, strict=True)
        ]
    terms = [
        columns.get(use.coordinates[0])
        if use.row.key == "armature" and len(use.coordinates) == 1
        else None
        for use in tree.joint_terms
    ]
    rooted = blocks[-1] if root_parameters(tree) else [[] for _ in base]
    drives = [[0.0 if column is None else column[row] for column in terms] for row in range(6)]
    return [
        [*(y for block in blocks[:-1] for y in block[row]), *drives[row], *rooted[row]]
        for row in range(6)
    ]


def unit_motions(joints: Sequence[JointMotion]) -> list[Motion]:
    """Return the motion of each body at unit rate of its joint alone, in its frame."""
    return [Motion(w=joint.axis) if joint.revolute else Motion(v=joint.axis) for joint in joints]


def unit_rate(joint: JointMotion, velocity: Motion) -> Motion:
    """Return the rate of change of a joint's unit motion: v x s of spatial vectors."""
    turned = v3.cross(velocity.w, joint.axis)
    return Motion(turned, v3.cross(velocity.v, joint.axis)) if joint.revolute else Motion(v=turned)


def momenta(tree: Tree, joints: Sequence[JointMotion], qd: Scalars) -> list[BodyMotion]:
    """Return the bodies' velocities as accelerations from rest, whose forces are the momenta."""
    return [
        BodyMotion(ZERO, w, v3.cross_matrix(w), v) for w, v in propagate_velocity(tree, joints, qd)
    ]


def propagate_unit_motions(
    tree: Tree,
    joints: Sequence[JointMotion],
    by_joint: Sequence[Motion],
    base: Mapping[int, Motion] = MappingProxyType({}),
) -> Iterator[dict[int, Motion]]:
    """Yield for every body, in its frame, its motion by each joint that moves it, base first.

    Parameters
    ----------
    tree, joints : the robot and its joints at a position
    by_joint : motion of each body by its own joint; empty for motions of the base alone
    base : motions of the base, by numbers below zero
    """
    result: list[dict[int, Motion]] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        carried = {}
        for j, s in (result[body.parent] if body.parent >= 0 else base).items():
            iteration(s)
            carried[j] = Motion(joint.down(s.w), joint.down(v3.add(s.v, v3.cross(s.w, joint.p))))
        result.append(carried | {i: by_joint[i]} if by_joint else carried)
        yield result[-1]


def body_block(tree: Tree, screws: dict[int, Motion], motion: BodyMotion) -> list[list[Scalar]]:
    """Return the ten columns of one body.

    Row j is the power of its net force on the unit motion of coordinate j, per parameter.
    """
    block: list[list[Scalar]] = [[0.0] * 10 for _ in range(tree.n)]
    for j, screw in screws.items():
        iteration(screw)
        multiplier, row = tree.bodies[j].multiplier, tree.bodies[j].coordinate
        block[row] = [
            a + multiplier * b
            for a, b in zip(block[row], parameter_powers(screw, motion), strict=True)
        ]
    return block


def parameter_powers(screw: Motion, motion: BodyMotion) -> list[Scalar]:
    """Return v . f + w . n of the net force of each unit parameter."""
    return [
        v3.dot(screw.v, motion.a),
        *first_moment_powers(screw, motion),
        *inertia_powers(screw.w, motion),
    ]


def first_moment_powers(screw: Motion, motion: BodyMotion) -> Vector:
    """Return the powers of h: f = U h and n = h x a, hence a x w + U^T v."""
    return v3.add(v3.cross(motion.a, screw.w), v3.apply(v3.transpose(motion.U), screw.v))


def inertia_powers(z: Vector, motion: BodyMotion) -> tuple[Scalar, ...]:
    """Return the powers of Ixx, Ixy, Ixz, Iyy, Iyz, Izz: z . (I dw + w x I w), by entry."""
    w, dw = motion.w, motion.dw
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = motion.U
    wxy, wxz, wyz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (
        z[0] * dw[0] + z[1] * wxz - z[2] * wxy,
        z[1] * zy - z[0] * zx + z[2] * (xx - yy),
        z[0] * yx - z[2] * yz + z[1] * (zz - xx),
        z[1] * dw[1] + z[2] * wxy - z[0] * wyz,
        z[2] * xz - z[1] * xy + z[0] * (yy - zz),
        z[2] * dw[2] + z[0] * wyz - z[1] * wxz,
    )


def _subtract(a: Rows, b: Rows) -> Rows:
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def _zero_unless(condition: bool, column: list[Scalar]) -> list[Scalar]:
    return column if condition else [0.0] * len(column)


def _rows(tree: Tree, blocks: Sequence[Rows], columns: Sequence[Scalars]) -> Rows:
    """Return the rows of a regressor from the blocks of bodies and the columns of joint terms."""
    return [
        [y for block in blocks for y in block[row]] + [column[row] for column in columns]
        for row in range(tree.n)
    ]


def joint_columns(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Return the columns of the joint terms; a rotor's column includes the effect of its spin."""
    columns = []
    spin = rotor_columns(tree, q, qd, qdd)
    for use, column in zip(tree.joint_terms, term_columns(tree, q, qd, qdd), strict=True):
        added = (
            spin.get(use.coordinates[0], {})
            if use.row.key == "armature" and len(use.coordinates) == 1
            else {}
        )
        columns.append([column.get(row, 0.0) + added.get(row, 0.0) for row in range(tree.n)])
    return columns
