"""The two-link arm's equations are those of the lecture and of textbooks.

`pytest --update` rewrites the text that is kept beside this file.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

import steelyard as sy
from steelyard.closed_form import Symbolic, symbolic
from steelyard.closed_form.latex import document

GOLDEN = Path(__file__).parent / "closed_form"
q1, q2, qd1, qd2, qdd1, qdd2 = sp.symbols("q_1 q_2 qdot_1 qdot_2 qddot_1 qddot_2", real=True)
m1, m2, l1, lc1, lc2, I1, I2, g0 = sp.symbols("m_1 m_2 l_1 l_c1 l_c2 I_czz1 I_czz2 g_0", real=True)


@pytest.fixture(scope="module")
def arm() -> Symbolic:
    return symbolic(sy.load("planar_2r").tree, "planar_2r", parameters="barycentric")


def same(a: sp.Expr, b: sp.Expr) -> bool:
    return sp.expand(sp.expand(a - b).rewrite(sp.exp)) == 0


def test_the_textbook_form_of_the_two_link_arm(arm: Symbolic) -> None:
    """Siciliano et al. 2009, section 7.3.2 (two-link planar arm), without motors."""
    h = -m2 * l1 * lc2 * sp.sin(q2)
    assert same(
        arm.M[0, 0], m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sp.cos(q2)) + I2
    )
    assert same(arm.M[0, 1], m2 * (lc2**2 + l1 * lc2 * sp.cos(q2)) + I2)
    assert same(arm.M[1, 1], m2 * lc2**2 + I2)
    assert all(
        same(x, y) for x, y in zip(arm.C, [h * qd2, h * (qd1 + qd2), -h * qd1, 0], strict=True)
    )
    assert same(arm.g[0], (m1 * lc1 + m2 * l1) * g0 * sp.cos(q1) + m2 * lc2 * g0 * sp.cos(q1 + q2))
    assert same(arm.g[1], m2 * lc2 * g0 * sp.cos(q1 + q2))


def test_it_prints_as_a_person_would_write_it(arm: Symbolic) -> None:
    assert (
        str(arm.M[0, 0])
        == "I_czz1 + I_czz2 + l_1**2*m_2 + 2*l_1*l_c2*m_2*cos(q_2) + l_c1**2*m_1 + l_c2**2*m_2"
    )
    assert str(arm.C[0, 1]) == "-l_1*l_c2*m_2*(qdot_1 + qdot_2)*sin(q_2)"
    assert str(arm.g[1]) == "g_0*l_c2*m_2*cos(q_1 + q_2)"
    numbers = symbolic(sy.load("planar_2r").tree, "planar_2r", parameters="numeric")
    assert str(numbers.M[0, 0]) == "15.2*cos(q_2) + 28.24"
    assert str(numbers.U) == "294.3*sin(q_1) + 74.556*sin(q_1 + q_2)"


def test_potential_energy_of_the_lecture(arm: Symbolic) -> None:
    """Lagrangian lecture, "Potential energy".

    V1 = m1 g l1/2 sin q1, V2 = m2 g (l1 sin q1 + l2/2 sin(q1 + q2)), mass at mid-link.
    """
    l2 = sp.Symbol("l_2", real=True)
    V1 = m1 * g0 * l1 / 2 * sp.sin(q1)
    V2 = m2 * g0 * (l1 * sp.sin(q1) + l2 / 2 * sp.sin(q1 + q2))
    assert same(arm.U.subs({lc1: l1 / 2, lc2: l2 / 2}), V1 + V2)


def test_kinetic_energy_by_the_jacobians_of_the_lecture(arm: Symbolic) -> None:
    """Lagrangian lecture, "Kinetic energy" and "Jacobians".

    T = qd^T sum of (J_u^T m J_u + J_w^T R I R^T J_w) qd / 2.
    """
    z = sp.Matrix([0, 0, 1])

    def turned(angle: sp.Expr, length: sp.Expr) -> sp.Matrix:
        return sp.Matrix([length * sp.cos(angle), length * sp.sin(angle), 0])

    o1, o2 = sp.zeros(3, 1), turned(q1, l1)
    om1, om2 = turned(q1, lc1), o2 + turned(q1 + q2, lc2)
    Ju = [
        sp.Matrix.hstack(z.cross(om1 - o1), sp.zeros(3, 1)),
        sp.Matrix.hstack(z.cross(om2 - o1), z.cross(om2 - o2)),
    ]
    Jw = [sp.Matrix.hstack(z, sp.zeros(3, 1)), sp.Matrix.hstack(z, z)]
    D = sp.zeros(2, 2)
    for m, J, W, angle, Izz in zip((m1, m2), Ju, Jw, (q1, q1 + q2), (I1, I2), strict=True):
        R = sp.rot_axis3(-angle)
        inertia = R * sp.diag(sp.Symbol("Ix"), sp.Symbol("Iy"), Izz) * R.T
        D += m * J.T * J + W.T * inertia * W
    qd = sp.Matrix([qd1, qd2])
    assert all(same(x, y) for x, y in zip(D, arm.M, strict=True))
    assert same((qd.T * D * qd)[0] / 2, arm.T)


def test_inverse_and_forward_dynamics_of_the_lecture(arm: Symbolic) -> None:
    """Lagrangian lecture, "Inverse and forward dynamics": D^-1 (tau - C qd - g) = qdd."""
    qd = sp.Matrix([qd1, qd2])
    adjugate = sp.Matrix([[arm.M[1, 1], -arm.M[0, 1]], [-arm.M[1, 0], arm.M[0, 0]]])
    right = adjugate * (arm.tau - arm.C * qd - arm.g)
    assert all(same(x, arm.M.det() * y) for x, y in zip(right, (qdd1, qdd2), strict=True))


def test_the_row_of_the_report_from_the_closed_form(arm: Symbolic) -> None:
    """M. Macchia's report on recursive Newton-Euler, exercise 2, first instance."""
    tau = arm.evaluate("tau", [sp.rad(20).evalf(), sp.rad(40).evalf()], [0.2, 0.15], [0.1, 0.085])
    assert tau == pytest.approx([318.1937, 38.6735], abs=5e-5)


@pytest.mark.parametrize("name", ["planar_2r", "spatial_3r"])
def test_the_document(name: str, update: bool) -> None:
    changed = document(symbolic(sy.load(name).tree, name, parameters="barycentric")).replace(
        sy.__version__, "VERSION"
    )
    path = GOLDEN / f"{name}.tex"
    if update:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(changed, encoding="utf-8")
    assert changed == path.read_text(encoding="utf-8")
