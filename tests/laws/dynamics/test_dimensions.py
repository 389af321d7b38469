"""A scalar that carries only its unit runs through every algorithm.

A sum of metres and kilograms would be caught.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import with_base_inertias
from steelyard.dynamics.derivatives import rigid_derivatives
from steelyard.dynamics.energy import kinetic_energy, momentum
from steelyard.dynamics.forward.aba import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.forward.free_base import free_forward_dynamics
from steelyard.dynamics.gravity import gravity_torque, potential_energy
from steelyard.dynamics.joint_torques import friction_torque
from steelyard.dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate
from steelyard.dynamics.long_chains import matrices as base_frame
from steelyard.dynamics.long_chains.matrices import christoffel
from steelyard.dynamics.reactions import base_wrench
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.mechanism.joint_terms import COUPLING_TERMS, JOINT_TERMS, JointTerm, Terms
from steelyard.mechanism.parameter_vector import parameters
from steelyard.mechanism.tree import BaseMotion, Body, Tree
from tests import zoo
from tests.zoo import ZOO


@dataclass(frozen=True)
class Unit:
    """kg^a m^b s^c.

    A float is a pure number; the float 0.0 has any unit, as a zero of the structure does.
    """

    kg: int = 0
    m: int = 0
    s: int = 0

    def _sum(self, other):
        if isinstance(other, float) and other == 0.0:
            return self
        assert of(other) == self, f"{self} and {of(other)} cannot be added"
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = _sum

    def __mul__(self, other):
        if isinstance(other, float) and other == 0.0:
            return 0.0
        o = of(other)
        return Unit(self.kg + o.kg, self.m + o.m, self.s + o.s)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * of(other).inverse()

    def __rtruediv__(self, other):
        return self.inverse() * other

    def absolute(self):
        return self

    def inverse(self):
        return Unit(-self.kg, -self.m, -self.s)

    def __neg__(self):
        return self

    def sin(self):
        assert self == Unit(), f"a function of a quantity in {self}"
        return self

    cos = exp = tanh = sin

    def sign(self):
        return Unit()


def of(x):
    return x if isinstance(x, Unit) else Unit()


ONE, KG, M, S = Unit(), Unit(kg=1), Unit(m=1), Unit(s=1)
NEWTON, JOULE = KG * M / S / S, KG * M * M / S / S
INERTIA = Inertia(KG, (KG * M,) * 3, Symmetric(*(KG * M * M,) * 6))
BASE = BaseMotion((M / S / S,) * 3, (ONE / S,) * 3, (ONE / S / S,) * 3)


def with_units(tree: Tree) -> Tree:
    """The tree whose numbers are only their units. Rotations and axes are pure numbers."""
    kinds, a = coordinate_kinds(tree), M / S / S
    return replace(
        tree,
        bodies=tuple(body_units(body, kinds[body.coordinate]) for body in tree.bodies),
        gravity=(a, a, a),
        base_inertia=INERTIA,
        terms=tuple(
            term_units(own, kind, JOINT_TERMS) for own, kind in zip(tree.terms, kinds, strict=True)
        ),
        frames={
            name: frame._replace(pose=Pose(frame.pose.R, (M, M, M)))
            for name, frame in tree.frames.items()
        },
        rotors=tuple(
            rotor._replace(ratio=ONE / position(kinds[rotor.coordinate])) for rotor in tree.rotors
        ),
        couplings=tuple(
            c._replace(terms=term_units(c.terms, kinds[c.coordinates[0]], COUPLING_TERMS))
            for c in tree.couplings
        ),
    )


def body_units(body: Body, leads: str) -> Body:
    """A body whose coordinate is of the kind `leads`.

    A mimic joint may slide while its leader turns.
    """
    tied = (body.multiplier, body.offset) != (1.0, 0.0)
    tie = (
        {"multiplier": position(body.kind) / position(leads), "offset": position(body.kind)}
        if tied
        else {}
    )
    return replace(body, placement=Pose(body.placement.R, (M, M, M)), inertia=INERTIA, **tie)


def coordinate_kinds(tree: Tree) -> list[str]:
    return [next(body.kind for body in tree.bodies if body.coordinate == k) for k in range(tree.n)]


def position(kind: str) -> Unit:
    return ONE if kind == "revolute" else M


def effort_unit(kind: str) -> Unit:
    return JOULE / position(kind)


def term_units(terms: Terms, kind: str, table: tuple[JointTerm, ...]) -> Terms:
    """The units that a table of joint terms states, as scalars."""
    return Terms.of(
        {row.key: stated_unit(row.unit[kind == "prismatic"]) for row in table if row.key in terms}
    )


def stated_unit(text: str) -> Unit:
    """A unit such as 'N m s/rad' or 'kg m2'."""
    known = {"1": ONE, "N": NEWTON, "m": M, "m2": M * M, "kg": KG, "s": S, "rad": ONE}
    above, _, below = text.partition("/")
    unit = ONE
    for word in above.split():
        unit = unit * known[word]
    return unit / known[below] if below else unit


def expect(values, units):
    """Every value has its unit, or is a zero of the structure."""
    assert len(values) == len(units)
    assert any(isinstance(x, Unit) for x in values)
    for value, unit in zip(values, units, strict=True):
        assert value == 0.0 or of(value) == unit, f"{value}, expected {unit}"


@pytest.fixture(params=[(name, regroup) for name in ZOO for regroup in (False, True)], ids=str)
def robot(request: pytest.FixtureRequest) -> tuple[Tree, list[Unit], list[Unit], list[Unit]]:
    """A tree, its coordinate units and state, all of units.

    As it is, and with the inertias that are regrouped for speed.
    """
    name, regroup = request.param
    tree = with_units(zoo.robot(name).tree)
    tree = with_base_inertias(tree) if regroup else tree
    x = [position(kind) for kind in coordinate_kinds(tree)]
    return tree, x, [u / S for u in x], [u / S / S for u in x]


def test_torques(robot):
    tree, q, qd, qdd = robot
    efforts = [JOULE / u for u in q]
    wrench = [[NEWTON] * 3 + [JOULE] * 3 for _ in tree.bodies]
    expect(inverse_dynamics(tree, q, qd, qdd, wrench), efforts)
    expect(gravity_torque(tree, q), efforts)
    expect(friction_torque(tree, qd, q), efforts)
    Y, pi = regressor(tree, q, qd, qdd), parameters(tree)
    for row, unit in zip(Y, efforts, strict=True):
        expect([y * p for y, p in zip(row, pi, strict=True)], [unit] * len(pi))


def test_accelerations(robot):
    tree, q, qd, qdd = robot
    tau = [JOULE / u for u in q]
    wrench = [[NEWTON] * 3 + [JOULE] * 3 for _ in tree.bodies]
    if tree.is_uncoupled:
        expect(aba(tree, q, qd, tau, wrench), qdd)
    expect(forward_by_crba(tree, q, qd, tau, wrench), qdd)


def test_a_base_that_moves(robot):
    tree, q, qd, qdd = robot
    wrench = [[NEWTON] * 3 + [JOULE] * 3 for _ in [*tree.bodies, "base"]]
    moving, tau = replace(tree, moving=BASE), [JOULE / u for u in q]
    expect(inverse_dynamics(moving, q, qd, qdd, wrench), tau)
    expect(base_wrench(moving, q, qd, qdd, wrench), [NEWTON] * 3 + [JOULE] * 3)
    if not any("load" in use.row.reads for use in tree.joint_terms):
        accelerations, base = free_forward_dynamics(tree, q, qd, tau, BASE.w, wrench)
        expect(accelerations, qdd)
        expect(base, [unit for part in BASE for unit in part])


def test_matrices(robot):
    tree, q, qd, _ = robot
    pairs = [JOULE / a / b for a in q for b in q]
    for method in (mass_matrix, base_frame.mass_matrix):
        expect([x for row in method(tree, q) for x in row], [unit * S * S for unit in pairs])
    for method in (coriolis_matrix, base_frame.coriolis_matrix):
        expect([x for row in method(tree, q, qd) for x in row], [unit * S for unit in pairs])


def test_derivatives(robot):
    tree, q, qd, qdd = robot
    units = [JOULE / a / b for a in q for b in q]
    for method in (rigid_derivatives, base_frame.derivatives):
        by_q, by_qd, M = ([x for row in rows for x in row] for rows in method(tree, q, qd, qdd))
        expect(by_q, units)
        expect(by_qd, [unit * S for unit in units])
        expect(M, [unit * S * S for unit in units])


def test_christoffel_symbols(robot):
    """All of a single joint are zeros of the structure."""
    tree, q, _, _ = robot
    values = [x for plane in christoffel(tree, q) for row in plane for x in row]
    if tree.n > 1:
        expect(values, [JOULE * S * S / a / b / c for a in q for b in q for c in q])


def test_energies_and_momenta(robot):
    tree, q, qd, _ = robot
    expect([kinetic_energy(tree, q, qd), potential_energy(tree, q)], [JOULE, JOULE])
    expect(momentum(tree, q, qd), [JOULE * S / u for u in q])


def test_kinematics(robot):
    tree, q, qd, _ = robot
    for frame in tree.frames:
        expect(forward_kinematics(tree, q, frame).p, [M] * 3)
        J, Jd = jacobian(tree, q, frame), jacobian_rate(tree, q, qd, frame)
        for row in range(6):
            unit = M if row < 3 else ONE
            assert all(x == 0.0 or of(x) == unit / u for x, u in zip(J[row], q, strict=True))
            assert all(x == 0.0 or of(x) == unit / u / S for x, u in zip(Jd[row], q, strict=True))


def test_a_wrong_unit_is_caught():
    with pytest.raises(AssertionError, match="cannot be added"):
        _ = M + S
