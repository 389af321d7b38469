"""Transforms across one joint, between the frames of a body and its parent.

A vector is multiplied by the constant rotation of the placement and by the rotation of the joint.
A placement with entries 0 and +-1 costs nothing; a rotation about x, y or z costs four products
and two sums. Sine and cosine are computed once per body.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra import scalar
from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars
from ..algebra.vector import Matrix, Symmetric, Vector
from ..mechanism.tree import Body, Tree


@dataclass(frozen=True, slots=True)
class JointMotion:
    """A joint at a position: x_parent = up(x_child) + p.

    `placement` is the constant rotation, `p` the child's origin in the parent's frame, `axis` the
    joint's axis in the child's frame, `c` and `s` the cosine and sine of the joint angle (1 and 0
    for a prismatic joint).
    """

    revolute: bool
    placement: Matrix
    p: Vector
    axis: Vector
    c: Scalar
    s: Scalar

    def down(self, v: Vector) -> Vector:
        """Return a vector of the parent's frame in the child's frame."""
        return self._turn(v3.apply(v3.transpose(self.placement), v), -1.0)

    def up(self, v: Vector) -> Vector:
        """Return a vector of the child's frame in the parent's frame."""
        return v3.apply(self.placement, self._turn(v, 1.0))

    def up_symmetric(self, m: Symmetric) -> Symmetric:
        """Return a symmetric matrix of the child's frame in the parent's frame: R m R^T."""
        m, k = self._turn_symmetric(m), oblique(self.placement)
        return (
            v3.congruence(self.placement, m)
            if k is None
            else planar_symmetric(k, *cosine_sine(self.placement, k), m, 1.0)
        )

    def up_matrix(self, m: Matrix) -> Matrix:
        """Return a 3x3 matrix of the child's frame in the parent's frame: R m R^T."""
        m, R, k = self._turn_matrix(m), self.placement, oblique(self.placement)
        return (
            v3.matmul(v3.matmul(R, m), v3.transpose(R))
            if k is None
            else planar_matrix(k, *cosine_sine(R, k), m, 1.0)
        )

    def along(self, amount: Scalar) -> Vector:
        """Return `amount` times the axis."""
        return v3.scale(amount, self.axis)

    def _turn(self, v: Vector, sense: float) -> Vector:
        if not self.revolute:
            return v
        k = principal(self.axis)
        if k is None:
            return rodrigues(self.axis, self.c, self.s, v, sense)
        return rotate_planar(k, self.c, self.s, v, sense * self.axis[k])

    def _turn_matrix(self, m: Matrix) -> Matrix:
        if not self.revolute:
            return m
        k = principal(self.axis)
        if k is not None:
            return planar_matrix(k, self.c, self.s, m, self.axis[k])
        columns = tuple(self._turn(column, 1.0) for column in v3.transpose(m))
        rows = v3.transpose(columns)  # type: ignore[arg-type]
        return tuple(self._turn(row, 1.0) for row in rows)  # type: ignore[return-value]

    def _turn_symmetric(self, m: Symmetric) -> Symmetric:
        if not self.revolute:
            return m
        k = principal(self.axis)
        if k is None:
            ex, ey, ez = (rodrigues(self.axis, self.c, self.s, e, 1.0) for e in v3.IDENTITY)
            return v3.congruence(v3.transpose((ex, ey, ez)), m)
        return planar_symmetric(k, self.c, self.s, m, self.axis[k])


def joint_motions(tree: Tree, q: Scalars) -> list[JointMotion]:
    """Return every joint at q (n scalars [rad|m]); a mimic joint is at multiplier * q + offset."""
    return [
        joint_motion(body, position)
        for body, position in zip(tree.bodies, joint_positions(tree, q), strict=True)
    ]


def joint_motion(body: Body, position: Scalar) -> JointMotion:
    """Return one joint at a position [rad|m].

    Khalil and Dombre 2002, section 3.2 (the same transform in modified DH form).
    """
    R, p = body.placement
    if body.kind == "revolute":
        return JointMotion(
            revolute=True,
            placement=R,
            p=p,
            axis=body.axis,
            c=scalar.cos(position),
            s=scalar.sin(position),
        )
    slide = v3.scale(position, v3.apply(R, body.axis))
    return JointMotion(
        revolute=False, placement=R, p=v3.add(p, slide), axis=body.axis, c=1.0, s=0.0
    )


def joint_positions(tree: Tree, q: Scalars) -> list[Scalar]:
    """Return the position of each body's joint: multiplier * q + offset."""
    return [body.multiplier * q[body.coordinate] + body.offset for body in tree.bodies]


def joint_rates(tree: Tree, qd: Scalars) -> list[Scalar]:
    """Return the velocity (or acceleration) of each body's joint: multiplier * qd."""
    return [body.multiplier * qd[body.coordinate] for body in tree.bodies]


def to_coordinates(tree: Tree, efforts: Scalars) -> list[Scalar]:
    """Return joint efforts as n generalised efforts.

    Mimic joints add up, each times its multiplier (virtual work).
    """
    tau: list[Scalar] = [0.0] * tree.n
    for body, effort in zip(tree.bodies, efforts, strict=True):
        tau[body.coordinate] = tau[body.coordinate] + body.multiplier * effort
    return tau


def principal(axis: Vector) -> int | None:
    """Return 0, 1 or 2 for an axis along +-x, +-y or +-z, else None."""
    return next((k for k in range(3) if abs(axis[k]) == 1.0), None)


def oblique(R: Matrix) -> int | None:
    """Return the coordinate axis about which R rotates, None for right angles and other axes.

    Entries of right angles are 0 and +-1 and vanish one by one.
    """
    k = next((k for k in range(3) if R[k][k] == 1.0), None)
    return None if k is None or any(x in (0.0, 1.0, -1.0) for x in cosine_sine(R, k)) else k


def cosine_sine(R: Matrix, k: int) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of a rotation about the k-th coordinate axis."""
    return R[(k + 1) % 3][(k + 1) % 3], R[(k + 2) % 3][(k + 1) % 3]


def rotate_planar(k: int, c: Scalar, s: Scalar, v: Vector, sense: float) -> Vector:
    """Rotate v about the k-th coordinate axis, about its negative for a negative sense."""
    i, j = (k + 1) % 3, (k + 2) % 3
    out = [v[k]] * 3
    if sense > 0:
        out[i], out[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
    else:
        out[i], out[j] = c * v[i] + s * v[j], c * v[j] - s * v[i]
    return (out[0], out[1], out[2])


def rodrigues(axis: Vector, c: Scalar, s: Scalar, v: Vector, sense: float) -> Vector:
    """Rotate v about any unit axis (Rodrigues' formula)."""
    along = v3.scale(v3.dot(axis, v), axis)
    across = v3.sub(v, along)
    return v3.add(
        along, v3.add(v3.scale(c, across), v3.scale(s, v3.cross(v3.scale(sense, axis), v)))
    )


def planar_symmetric(k: int, c: Scalar, s: Scalar, m: Symmetric, sense: float) -> Symmetric:
    """Return R m R^T for a rotation about the k-th coordinate axis, in 16 operations.

    The 2x2 block of the plane follows from c d - 2 s m_ij, with d the difference of its diagonal.
    """
    full = v3.full(m)
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b, h = full[i][i], full[j][j], full[i][j]
    out = [list(row) for row in full]
    s = s if sense > 0 else -s
    key = c * (a - b) - s * (h + h)
    out[i][i], out[j][j] = b + c * key, a - c * key
    out[i][j] = out[j][i] = s * key + h
    x, y = full[i][k], full[j][k]
    out[i][k] = out[k][i] = c * x - s * y
    out[j][k] = out[k][j] = s * x + c * y
    return v3.symmetric((v3.vector(out[0]), v3.vector(out[1]), v3.vector(out[2])))


def planar_matrix(k: int, c: Scalar, s: Scalar, m: Matrix, sense: float) -> Matrix:
    """Return R m R^T for a rotation about the k-th coordinate axis; see `planar_symmetric`.

    The skew part of the plane's block does not change.
    """
    i, j = (k + 1) % 3, (k + 2) % 3
    out = [list(row) for row in m]
    s = s if sense > 0 else -s
    key = c * (m[i][i] - m[j][j]) - s * (m[i][j] + m[j][i])
    out[i][i], out[j][j] = m[j][j] + c * key, m[i][i] - c * key
    out[i][j], out[j][i] = s * key + m[i][j], s * key + m[j][i]
    out[i][k], out[j][k] = c * m[i][k] - s * m[j][k], s * m[i][k] + c * m[j][k]
    out[k][i], out[k][j] = c * m[k][i] - s * m[k][j], s * m[k][i] + c * m[k][j]
    return (v3.vector(out[0]), v3.vector(out[1]), v3.vector(out[2]))
