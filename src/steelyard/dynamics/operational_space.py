"""Quantities of the space that a frame moves in: its inertia, the inverse that belongs to it, its null space, manipulability."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, Scalars, dot, sqrt, where
from ..mechanism.tree import Frame, Tree
from .crba import mass_matrix
from .forward.by_crba import factorise, solve
from .kinematics import carriers, find_frame, forward_kinematics, jacobian

Rows = list[list[Scalar]]
STIFF = 1e-9  # a direction in which the frame gives way less than this, relative to it alone, after those before it, counts as one of them


def task_inertia(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """Lambda(q) = (J M^-1 J^T)^-1, 6 x 6 [kg, kg m, kg m2]: what the frame opposes to force and moment at its origin, in the base frame.

    Directions are taken in the order x, y, z, rx, ry, rz as far as they are independent; rows and columns of the others are zero: the
    inertia of x and y alone for a planar arm of two joints. Khatib 1987, eq. (5).
    """
    return generalised_inverse(_mobility(jacobian(tree, q, frame), _inverse_times(tree, q, jacobian(tree, q, frame))))


def dynamically_consistent_inverse(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """J^-(q) = M^-1 J^T Lambda, n x 6: of all joint accelerations that give the frame one, that which costs the least kinetic energy.

    J J^- J = J; forces J^-^T tau reach the frame, the rest of tau does not. Khatib 1987, eq. (36).
    """
    J = jacobian(tree, q, frame)
    return _consistent(J, _inverse_times(tree, q, J))


def nullspace_projector(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """N(q) = 1 - J^- J, n x n: N qd does not move the frame; torques N^T tau do not accelerate it. N N = N, J N = 0, N M^-1 J^T = 0.

    Khatib 1987, section V.
    """
    J = jacobian(tree, q, frame)
    inverse = _consistent(J, _inverse_times(tree, q, J))
    columns = _columns(J)
    return [[(1.0 if i == j else 0.0) - dot(row, columns[j]) for j in range(tree.n)] for i, row in enumerate(inverse)]


def manipulability(tree: Tree, q: Scalars, frame: str | Frame) -> Scalar:
    """w = sqrt(det(J J^T)) where six joints or more move the frame, sqrt(det(J^T J)) where fewer do: zero at singularities. Yoshikawa 1985.

    Its unit is that of the product of the singular values of J; lengths are in metres, angles in radians.
    """
    J, body = jacobian(tree, q, frame), find_frame(tree, frame).body
    moving = sorted({tree.bodies[i].coordinate for i in carriers(tree, body)})
    if not moving:
        return 0.0
    columns = _columns(J)
    rows = [[row[c] for c in moving] for row in J] if len(moving) >= 6 else [columns[c] for c in moving]
    product: Scalar = 1.0
    for pivot in _factors([[dot(a, b) for b in rows] for a in rows])[1]:
        product = product * where(pivot < 0.0, 0.0, pivot)
    return sqrt(product)


def analytic_jacobian(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """J_A(q), 6 x n: rates of the frame's x, y, z [m] and of its roll, pitch, yaw [rad] (about fixed axes, as in URDF), = J_A qd.

    Infinite where pitch is +-90 deg, at which roll and yaw cannot be told apart. Siciliano et al. 2009, section 3.6.
    """
    J, R = jacobian(tree, q, frame), forward_kinematics(tree, q, frame).R
    x, y = R[0][0], R[1][0]
    level = x * x + y * y  # cos^2 of the pitch
    c = sqrt(level)
    wx, wy, wz = J[3:]
    ahead = [(x * a + y * b) / level for a, b in zip(wx, wy, strict=True)]
    pitch = [(x * b - y * a) / c for a, b in zip(wx, wy, strict=True)]
    return [*J[:3], ahead, pitch, [b - R[2][0] * a for a, b in zip(ahead, wz, strict=True)]]


def _inverse_times(tree: Tree, q: Scalars, J: Sequence[Scalars]) -> Rows:
    """M^-1 J^T, as one list of n for each of the six rows of J."""
    factors = factorise(mass_matrix(tree, q))
    return [solve(factors, row) for row in J]


def _mobility(J: Sequence[Scalars], solved: Sequence[Scalars]) -> Rows:
    """J M^-1 J^T."""
    return [[dot(a, b) for b in solved] for a in J]


def _consistent(J: Sequence[Scalars], solved: Sequence[Scalars]) -> Rows:
    """M^-1 J^T Lambda."""
    inertia = generalised_inverse(_mobility(J, solved))
    return [[dot(row, column) for column in inertia] for row in _columns(solved)]


def generalised_inverse(A: Sequence[Scalars]) -> Rows:
    """G with A G A = A and G A G = G of a symmetric, positive semidefinite A: the inverse of its first independent rows and columns."""
    n = len(A)
    L, pivots = _factors(A)
    inverse = [_reciprocal(pivot, A[i][i]) for i, pivot in enumerate(pivots)]
    columns = []
    for k in range(n):
        x: list[Scalar] = [1.0 if i == k else 0.0 for i in range(n)]
        for i in range(n):
            x[i] = _kept(pivots[i], A[i][i], x[i] - dot(L[i][:i], x[:i]))
        x = [value * d for value, d in zip(x, inverse, strict=True)]
        for i in reversed(range(n)):
            x[i] = _kept(pivots[i], A[i][i], x[i] - dot([L[j][i] for j in range(i + 1, n)], x[i + 1 :]))
        columns.append(x)
    return _columns(columns)


def _factors(A: Sequence[Scalars]) -> tuple[Rows, list[Scalar]]:
    """The unit lower triangle L and the pivots D of A = L D L^T. Directions that depend on those before them have no column in L."""
    n = len(A)
    L: Rows = [[0.0] * n for _ in range(n)]
    pivots: list[Scalar] = []
    inverse: list[Scalar] = []
    for i in range(n):
        u: list[Scalar] = []
        for j in range(i):
            u.append(A[i][j] - dot(u[:j], L[j][:j]))
            L[i][j] = u[j] * inverse[j]
        pivots.append(A[i][i] - dot(u, L[i][:i]))
        inverse.append(_reciprocal(pivots[i], A[i][i]))
    return L, pivots


def _reciprocal(pivot: Scalar, diagonal: Scalar) -> Scalar:
    """1 / pivot, and 0 for a pivot that is zero but for rounding; NaN stays."""
    if isinstance(pivot, float) and pivot == 0.0:
        return 0.0
    stiff = pivot <= STIFF * diagonal
    return where(stiff, 0.0, 1.0 / where(stiff, 2.0, pivot))  # LLVM would divide by the pivot itself where the guard is 1


def _kept(pivot: Scalar, diagonal: Scalar, value: Scalar) -> Scalar:
    """The value where the pivot is not zero, else 0."""
    if isinstance(pivot, float) and pivot == 0.0:
        return 0.0
    return where(pivot <= STIFF * diagonal, 0.0, value)


def _columns(rows: Sequence[Scalars]) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]
