"""Laws of rigid-body dynamics, tested on a robot at random states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from ..arguments import whole_number
from ..drawing.html import card
from ..drawing.table import Column, Table
from ..errors import MissingExtra, ProblemError, require_robot, translate_errors
from ..floating_point import default_errstate
from ..kernels.algorithms import massless_joints
from ..robot import Robot
from .pinocchio import PinocchioModel
from .states import States, random_states

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """A law: its statement, the worst relative violation, and the bound that rounding explains."""

    name: str
    statement: str
    violation: float
    bound: float

    @property
    def ok(self) -> bool:
        return bool(self.violation <= self.bound)  # False for NaN

    def __str__(self) -> str:
        return (
            f"{'holds' if self.ok else 'FAILS'}  {self.name}: {self.statement} (worst"
            f" {self.violation:.1e}, allowed {self.bound:.0e})"
        )


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Result of `check`: all laws, and remarks from loading."""

    robot: str
    samples: int
    laws: tuple[Law, ...]
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(law.ok for law in self.laws)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        broken = [law.name for law in self.laws if not law.ok]
        if broken:
            return (
                f"{self.robot} breaks {len(broken)} of {len(self.laws)} laws: {', '.join(broken)}."
            )
        return f"{self.robot} obeys all {len(self.laws)} laws at {self.samples} random states."

    def table(self) -> Table:
        """Return the laws with statement, worst violation and bound."""
        columns = (
            *(Column(name, numeric=False) for name in ("law", "says", "outcome")),
            Column("worst"),
            Column("allowed"),
        )
        rows = [
            (
                law.name,
                law.statement,
                "holds" if law.ok else "FAILS",
                f"{law.violation:.1e}",
                f"{law.bound:.0e}",
            )
            for law in self.laws
        ]
        data = {
            name: [getattr(law, name) for law in self.laws]
            for name in ("name", "ok", "violation", "bound")
        }
        return Table(
            "Laws",
            columns,
            tuple(rows),
            "worst: the largest violation, relative to the size of the terms",
            data=data,
        )

    def _repr_html_(self) -> str:
        return card(self.verdict, "", (self.table(),), self.remarks)

    def __str__(self) -> str:
        return "\n".join(
            [
                self.verdict,
                *(f"  {law}" for law in self.laws),
                *(f"  remark: {remark}" for remark in self.remarks),
            ]
        )


@default_errstate
def check(
    robot: Robot,
    samples: int = 64,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> SelfCheck:
    """Test the laws that every rigid robot obeys, at random states within its limits.

    Siciliano, Sciavicco, Villani and Oriolo 2009, section 7.2 (the properties of the dynamic
    model).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    samples : number of random states.
    seed : number that random draws start from; equal seeds give equal results.
    progress : function of a sentence and of the share of the work that is done.

    Returns
    -------
    A `SelfCheck`: .ok, and laws and findings in sentences.

    Examples
    --------
    >>> sy.check(sy.load("planar_2r"), samples=8).ok
    True
    """
    require_robot(robot, "check")
    samples, seed = whole_number("check: samples", samples, 1), whole_number("check: seed", seed, 0)
    if robot.mechanism.known:  # a torque from outside obeys no law of rigid robots
        robot = robot.without_known_torque()
    states = random_states(robot, samples, seed)
    laws = []
    for number, law in enumerate(LAWS):
        if progress is not None:
            progress(f"testing law {number + 1} of {len(LAWS)}", number / (len(LAWS) + 1))
        laws.append(law(robot, states))
    if not massless_joints(robot.tree):
        laws.append(_forward_derivatives(robot, states))
        if robot.tree.loops:
            laws.append(_loops(robot, samples))
    remarks = findings(robot)
    if find_spec("pinocchio") is not None:
        try:
            laws.append(_agreement(robot, states))
        except (ProblemError, MissingExtra) as error:  # installed, and yet it may not start
            remarks = (*remarks, f"its torques are not compared with Pinocchio's: {error}")
    return SelfCheck(robot.mechanism.name, samples, tuple(laws), remarks)


def _relative(difference: Array, size: Array) -> float:
    """Return the largest difference relative to the largest entry; NaN is passed on and fails."""
    return float(np.abs(difference).max(initial=0.0) / (np.abs(size).max(initial=0.0) or 1.0))


STEP = 1e-3  # [s] of finite differences
# relative to a function: derivatives below this are lost in the rounding of finite differences
NOISE = 1e-5


def _rate(f: Callable[[float], Array], h: float = STEP) -> Array:
    """Return df/ds at s = 0 by the five-point formula, error of order h^4.

    Abramowitz and Stegun 1964, table 25.2.
    """
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def _rate_bound(s: States, harmonics: int) -> float:
    """Return the relative error of `_rate` by rounding and by the formula's error h^4/30 w^4.

    w is the frequency of a product of `harmonics` sines of all angles at once. Abramowitz and
    Stegun 1964, table 25.2.
    """
    fastest = float(np.abs(s.qd).sum(axis=-1).max(initial=0.0))
    return 1e-8 + STEP**4 / 30 * (harmonics * fastest) ** 4


def _finite_differences(f: Callable[..., Array], point: Sequence[Array], h: float) -> list[Array]:
    """Return the partial derivatives of f at a batch of points, by finite differences.

    One (..., n, n) for every argument (..., n).
    """
    rows = [x[..., None, :] for x in point]

    def along(k: int) -> Callable[[float], Array]:
        return lambda h: f(*rows[:k], rows[k] + h * np.eye(rows[k].shape[-1]), *rows[k + 1 :])

    return [np.swapaxes(_rate(along(k), h), -1, -2) for k in range(len(rows))]


def _derivative_law(
    name: str,
    statement: str,
    f: Callable[..., Array],
    point: Sequence[Array],
    exact: Sequence[Array],
    growth: float = 1.0,
) -> Law:
    """Compare exact derivatives with finite differences of f.

    Errors are relative to the derivatives or, if they are smaller, to NOISE times f; `growth`
    multiplies rounding. The change by half the step is the error of the differences, and allowed.
    """
    floor = NOISE * max(growth, 1.0) * np.abs(f(*point)).max(initial=0.0)
    coarse, fine = (_finite_differences(f, point, h) for h in (STEP, STEP / 2))
    sizes = [np.maximum(np.abs(other), floor) for other in fine]
    violation = float(
        np.max(
            [
                _relative(analytic - other, size)
                for analytic, other, size in zip(exact, fine, sizes, strict=True)
            ]
        )
    )
    error = float(
        np.max(
            [
                _relative(one - other, size)
                for one, other, size in zip(coarse, fine, sizes, strict=True)
            ]
        )
    )
    return Law(name, statement, violation, 1e-7 + error)


def _smooth(s: States) -> States:
    """Return some of the states with speeds away from zero, where Coulomb friction is smooth."""
    q, qd, qdd = (x[:16] for x in s)
    return States(q, np.copysign(0.3, qd) + qd, qdd)


def _quadratic(a: Array, M: Array, b: Array) -> Array:
    """Return a' M b of a batch."""
    return np.einsum("...i,...ij,...j->...", a, M, b)


def _symmetry(robot: Robot, s: States) -> Law:
    M = robot.mass_matrix(s.q)
    return Law("symmetry", "M = M'", _relative(M - np.swapaxes(M, -1, -2), M), 1e-14)


def _definiteness(robot: Robot, s: States) -> Law:
    """Test that M is positive definite.

    The violation is how far the smallest eigenvalue falls below zero, relative to the largest. Zero
    itself is a violation too.
    """
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(s.q))
    smallest, largest = eigenvalues.min(), eigenvalues.max()
    violation = (
        0.0 if smallest > 0 else max(float(-smallest / (largest or 1.0)), np.finfo(float).tiny)
    )
    return Law("definiteness", f"M > 0, its least eigenvalue is {smallest:.1e}", violation, 0.0)


def _skewness(robot: Robot, s: States) -> Law:
    """Test that dM/dt - 2 C is skew-symmetric.

    dM/dt is a difference of mass matrices. If C nearly vanishes, as for a stretched arm, |M| |qd|
    is the scale.
    """
    C = robot.coriolis_matrix(s.q, s.qd)
    Mdot = _rate(lambda h: robot.mass_matrix(s.q + h * s.qd))
    size = max(
        np.abs(C).max(initial=0.0),
        1e-3 * np.abs(robot.mass_matrix(s.q)).max(initial=0.0) * np.abs(s.qd).max(initial=0.0),
    )
    violation = _relative(Mdot - C - np.swapaxes(C, -1, -2), np.array(size))
    return Law("skewness", "dM/dt - 2C is skew-symmetric", violation, _rate_bound(s, 2))


def _splitting(robot: Robot, s: States) -> Law:
    tau = robot.inverse_dynamics(s.q, s.qd, s.qdd)
    inertial = np.einsum("...ij,...j->...i", robot.mass_matrix(s.q), s.qdd)
    centrifugal = np.einsum("...ij,...j->...i", robot.coriolis_matrix(s.q, s.qd), s.qd)
    parts = inertial + centrifugal + robot.gravity_torque(s.q) + robot.friction_torque(s.qd, s.q)
    return Law("splitting", "tau = M qdd + C qd + g + friction", _relative(tau - parts, tau), 1e-11)


def _linearity(robot: Robot, s: States) -> Law:
    tau = robot.inverse_dynamics(s.q, s.qd, s.qdd)
    return Law(
        "linearity",
        "Y pi = tau",
        _relative(robot.regressor(s.q, s.qd, s.qdd) @ robot.parameters - tau, tau),
        1e-11,
    )


def _inversion(robot: Robot, s: States) -> Law:
    """Test that forward dynamics inverts inverse dynamics.

    Rounding in tau, friction and gravity included, is multiplied by |M^-1|: the bound has
    |M^-1| |tau| / |qdd|.
    """
    if massless_joints(robot.tree):
        return Law(
            "inversion",
            "forward undoes inverse dynamics; M is singular, so there is none",
            float("inf"),
            0.0,
        )
    again = robot.forward_dynamics(s.q, s.qd, robot.inverse_dynamics(s.q, s.qd, s.qdd))
    return Law(
        "inversion",
        "forward undoes inverse dynamics",
        _relative(again - s.qdd, s.qdd),
        1e-11 + 1e-15 * _growth(robot, s),
    )


def _loops(robot: Robot, samples: int) -> Law:
    """Test that forward inverts inverse dynamics on closed loops, and keeps them closed.

    Insufficient drives apply the nearest torques.
    """
    q, qd, qdd = robot.closed_states(samples)
    torque = robot.constrained_inverse_dynamics(q, qd, qdd)
    again, _ = robot.constrained_forward_dynamics(q, qd, torque.tau)
    return Law(
        "loops",
        "M qdd + h = T tau + Phi' lambda, and loops stay closed",
        _relative(again - torque.nearest, qdd),
        1e-7,
    )


def _growth(robot: Robot, s: States) -> float:
    """Return |M^-1| |tau| / |qdd|, the growth of rounding in forward dynamics; 0 if not finite."""
    M, tau = robot.mass_matrix(s.q), robot.inverse_dynamics(s.q, s.qd, s.qdd)
    inverse = np.linalg.cond(M) / np.linalg.norm(M, axis=(-2, -1))
    growth = float(np.max(np.abs(tau).max(axis=-1) * inverse) / np.abs(s.qdd).max())
    return growth if growth < 1e12 else 0.0


def _power(robot: Robot, s: States) -> Law:
    def energy(h: float) -> Array:
        q, qd = s.q + h * s.qd + h * h / 2 * s.qdd, s.qd + h * s.qdd
        return robot.kinetic_energy(q, qd) + robot.potential_energy(q)

    tau = robot.inverse_dynamics(s.q, s.qd, s.qdd) - robot.friction_torque(s.qd, s.q)
    power = np.einsum("...i,...i->...", tau, s.qd)
    return Law(
        "power",
        "qd' (tau - friction) = d(T + U)/dt",
        _relative(power - _rate(energy), power),
        _rate_bound(s, 2),
    )


def _agreement(robot: Robot, s: States) -> Law:
    """Compare with Pinocchio, without friction and without rotors that spin on moving links.

    Pinocchio has neither.
    """
    rigid = (
        robot.without_rotors() if any(use.row.inertial for use in robot.tree.joint_terms) else robot
    )
    tau = rigid.inverse_dynamics(s.q, s.qd, s.qdd) - rigid.friction_torque(s.qd, s.q)
    with translate_errors("Pinocchio failed on this robot"):
        theirs = PinocchioModel(rigid).torques(s)
    return Law(
        "agreement",
        "Pinocchio gives the same rigid-body torques",
        _relative(tau - theirs, theirs),
        1e-9,
    )


def _momentum(robot: Robot, s: States) -> Law:
    M = robot.mass_matrix(s.q)
    T = robot.kinetic_energy(s.q, s.qd)
    p = robot.momentum(s.q, s.qd)
    errors = (
        _relative(T - _quadratic(s.qd, M, s.qd) / 2, T),
        _relative(p - np.einsum("...ij,...j->...i", M, s.qd), p),
    )
    return Law("momentum", "p = M qd and T = qd' M qd / 2", float(np.max(errors)), 1e-11)


def _inverse_derivatives(robot: Robot, s: States) -> Law:
    statement, point = "d tau / d(q, qd, qdd) are the derivatives of inverse dynamics", _smooth(s)
    return _derivative_law(
        "inverse derivatives",
        statement,
        robot.inverse_dynamics,
        point,
        robot.inverse_dynamics_derivatives(*point),
    )


def _forward_derivatives(robot: Robot, s: States) -> Law:
    """Compare the derivatives of forward dynamics with finite differences.

    Rounding of the torque is multiplied by |M^-1| and divided by the step.
    """
    statement, smooth = "d qdd / d(q, qd, tau) are the derivatives of forward dynamics", _smooth(s)
    point = smooth.q, smooth.qd, robot.inverse_dynamics(*smooth)
    exact = robot.forward_dynamics_derivatives(*point)
    return _derivative_law(
        "forward derivatives",
        statement,
        robot.forward_dynamics,
        point,
        exact,
        _growth(robot, smooth),
    )


def _jacobian_rate(robot: Robot, s: States) -> Law:
    frame = robot.tree.bodies[-1].name if robot.tree.bodies else None
    exact, rate = (
        robot.jacobian_rate(s.q, s.qd, frame),
        _rate(lambda h: robot.jacobian(s.q + h * s.qd, frame)),
    )
    return Law(
        "jacobian rate",
        "dJ/dt is the derivative of J along qd",
        _relative(exact - rate, rate),
        _rate_bound(s, 1),
    )


LAWS = (
    _symmetry, _definiteness, _skewness, _splitting, _linearity, _inversion, _power, _momentum,
    _inverse_derivatives, _jacobian_rate,
)  # fmt: skip


def findings(robot: Robot) -> tuple[str, ...]:
    """Return one sentence per finding: joints that move no mass, and the robot's remarks."""
    joints = massless_joints(robot.tree)
    consequence = "the mass matrix is singular, forward dynamics and its derivatives are refused"
    return (
        *([f"joints that move no mass: {', '.join(joints)}; {consequence}"] if joints else []),
        *robot.remarks,
    )
