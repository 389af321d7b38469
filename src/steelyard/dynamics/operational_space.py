"""Operational-space inertia, dynamically consistent inverse, null space and manipulability."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, Scalars, dot, sqrt, where
from ..mechanism.tree import Frame, Tree
from .crba import mass_matrix
from .forward.by_crba import factorise, solve_factored
from .kinematics import carriers, find_frame, forward_kinematics, jacobian

Rows = list[list[Scalar]]
# pivots below this share of the diagonal mark directions that depend on earlier ones
SINGULAR = 1e-9


def task_inertia(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """Return Lambda(q) = (J M^-1 J^T)^-1, 6 x 6 [kg, kg m, kg m2], in the base frame.

    Directions are taken in the order x, y, z, rx, ry, rz as far as they are independent; rows and
    columns of dependent directions are zero. A planar arm of two joints has the inertia of x and y
    alone. Khatib 1987, eq. (5).
    """
    return generalised_inverse(
        _mobility(jacobian(tree, q, frame), _inverse_times(tree, q, jacobian(tree, q, frame)))
    )


def dynamically_consistent_inverse(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """Return J^-(q) = M^-1 J^T Lambda, n x 6.

    Of all joint accelerations with the same acceleration of the frame, it gives the one of least
    kinetic energy. J J^- J = J; only the forces J^-^T tau act on the frame. Khatib 1987, eq. (36).
    """
    J = jacobian(tree, q, frame)
    return _consistent(J, _inverse_times(tree, q, J))


def nullspace_projector(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """Return N(q) = 1 - J^- J, n x n: N qd does not move the frame, N^T tau does not accelerate it.

    N N = N, J N = 0, N M^-1 J^T = 0. Khatib 1987, section V.
    """
    J = jacobian(tree, q, frame)
    inverse = _consistent(J, _inverse_times(tree, q, J))
    columns = _columns(J)
    return [
        [(1.0 if i == j else 0.0) - dot(row, columns[j]) for j in range(tree.n)]
        for i, row in enumerate(inverse)
    ]


def manipulability(tree: Tree, q: Scalars, frame: str | Frame) -> Scalar:
    """Return w = sqrt(det(J J^T)), or sqrt(det(J^T J)) if fewer than six joints move the frame.

    It is zero at singularities. Its unit is the product of the units of the singular values of J,
    with lengths in metres and angles in radians. Yoshikawa 1985.
    """
    J, body = jacobian(tree, q, frame), find_frame(tree, frame).body
    moving = sorted({tree.bodies[i].coordinate for i in carriers(tree, body)})
    if not moving:
        return 0.0
    columns = _columns(J)
    rows = (
        [[row[c] for c in moving] for row in J]
        if len(moving) >= 6
        else [columns[c] for c in moving]
    )
    product: Scalar = 1.0
    for pivot in _factors([[dot(a, b) for b in rows] for a in rows])[1]:
        product = product * where(pivot < 0.0, 0.0, pivot)
    return sqrt(product)


def analytic_jacobian(tree: Tree, q: Scalars, frame: str | Frame) -> Rows:
    """Return J_A(q), 6 x n: J_A qd are the rates of x, y, z [m] and of roll, pitch, yaw [rad].

    Angles are about fixed axes, as in URDF. J_A is infinite at a pitch of +-90 deg, where roll and
    yaw are not unique. Siciliano et al. 2009, section 3.6.
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
    """Return M^-1 J^T, as one list of n scalars for each of the six rows of J."""
    factors = factorise(mass_matrix(tree, q))
    return [solve_factored(factors, row) for row in J]


def _mobility(J: Sequence[Scalars], solved: Sequence[Scalars]) -> Rows:
    """Return J M^-1 J^T."""
    return [[dot(a, b) for b in solved] for a in J]


def _consistent(J: Sequence[Scalars], solved: Sequence[Scalars]) -> Rows:
    """Return M^-1 J^T Lambda."""
    inertia = generalised_inverse(_mobility(J, solved))
    return [[dot(row, column) for column in inertia] for row in _columns(solved)]


def generalised_inverse(A: Sequence[Scalars]) -> Rows:
    """Return G with A G A = A and G A G = G for a symmetric, positive semidefinite A.

    G is the inverse of the first independent rows and columns of A, and zero elsewhere.
    """
    n = len(A)
    L, pivots = _factors(A)
    inverse = [_reciprocal(pivot, A[i][i]) for i, pivot in enumerate(pivots)]
    columns = []
    for k in range(n):
        x: list[Scalar] = [1.0 if i == k else 0.0 for i in range(n)]
        for i in range(n):
            x[i] = _zero_if_singular(pivots[i], A[i][i], x[i] - dot(L[i][:i], x[:i]))
        x = [value * d for value, d in zip(x, inverse, strict=True)]
        for i in reversed(range(n)):
            x[i] = _zero_if_singular(
                pivots[i], A[i][i], x[i] - dot([L[j][i] for j in range(i + 1, n)], x[i + 1 :])
            )
        columns.append(x)
    return _columns(columns)


def _factors(A: Sequence[Scalars]) -> tuple[Rows, list[Scalar]]:
    """Return the unit lower triangle L and the pivots D of A = L D L^T.

    Rows that depend on earlier ones have no column in L.
    """
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
    """Return 1 / pivot, or 0 for a pivot that is zero up to rounding; NaN is passed on."""
    if isinstance(pivot, float) and pivot == 0.0:
        return 0.0
    singular = pivot <= SINGULAR * diagonal
    # LLVM would divide by the pivot itself where the guard is 1
    return where(singular, 0.0, 1.0 / where(singular, 2.0, pivot))


def _zero_if_singular(pivot: Scalar, diagonal: Scalar, value: Scalar) -> Scalar:
    """Return the value where the pivot is not zero, else 0."""
    if isinstance(pivot, float) and pivot == 0.0:
        return 0.0
    return where(pivot <= SINGULAR * diagonal, 0.0, value)


def _columns(rows: Sequence[Scalars]) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]
