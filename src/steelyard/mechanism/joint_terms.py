"""The table of joint terms: all that a joint adds to the torque beside the rigid bodies.

One row is one term.

A linear term adds value * factor(joint's state) to the torque and is a parameter with a column in
the regressor. A shape, such as a width, has no column: it enters the factors of other terms.
Inverse and forward dynamics, mass matrix, derivatives, regressor, identification, files, closed
form, C and reports all follow from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..algebra import scalar
from ..algebra.scalar import Scalar
from .known_torque import evaluate_expression


class JointState(NamedTuple):
    """What a factor may depend on: scalars at one joint.

    q [rad|m], qd, qdd; `load` is the torque [N m|N] that holds the links against gravity; `memory`
    is the presliding state in [-1, 1], None for a joint that slides; `signals` are further channels
    of a log by name, such as temperature [degC].
    """

    q: Scalar
    qd: Scalar
    qdd: Scalar
    load: Scalar = 0.0
    memory: Scalar | None = None
    signals: Mapping[str, Scalar] = {}


@dataclass(frozen=True)
class Terms(Mapping[str, Any]):
    """The terms that one joint or coupling has, key -> value, in the order of the table.

    Frozen; what is absent has no key.
    """

    items_: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Terms:
        """Keep the values that are not None, in the order of the table; unknown keys come last."""
        order = {key: i for i, key in enumerate(ORDER)}
        present = [(key, value) for key, value in values.items() if value is not None]
        return cls(tuple(sorted(present, key=lambda item: order.get(item[0], len(order)))))

    def changed(self, values: Mapping[str, Any]) -> Terms:
        """Replace some values; None removes one."""
        return Terms.of({**self, **values})

    def __getitem__(self, key: str) -> Any:
        for name, value in self.items_:
            if name == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.items_)

    def __len__(self) -> int:
        return len(self.items_)


def _ratio(k: float) -> float:
    return k


def _squared(k: float) -> float:
    return k * k


def _inverse(k: float) -> float:
    return 1.0 / abs(k)


@dataclass(frozen=True)
class JointTerm:
    """One row. Units are for a revolute and for a prismatic joint.

    `fold(k)` is what a value of a joint that moves k times as fast as its coordinate counts at the
    coordinate. `otherwise` is the counterpart of forward motion: a joint without the term has the
    value of that in its place, and a negative k exchanges the two. `shapes` are the shapes that the
    factor uses, `needs` what must be given with it, `reads` what it depends on beside qd and qdd:
    q, load, or the name of a signal. `dry` terms jump where the velocity changes its sign, unless
    the joint has a width: simulation locks such joints at rest. Terms with `memory` depend on the
    presliding state where the joint has the shape of that name, which governs it; a single state
    gives their sliding value. `least` is the smallest value that a real joint has; `above` names
    terms that are at most as large. A joint with a value outside `valid`, lowest and first invalid,
    is refused. `between` bounds the search for a shape.
    """

    key: str
    symbol: str
    meaning: str
    unit: tuple[str, str]
    latex: str
    factor: Callable[..., Any] | None = None
    fold: Callable[[float], float] = abs
    inertial: bool = False
    dry: bool = False
    memory: str = ""
    least: float = 0.0
    above: tuple[str, ...] = ()
    otherwise: str = ""
    shapes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    valid: tuple[float, float] = (-math.inf, math.inf)
    between: tuple[float, float] = (0.0, math.inf)
    urdf: str = ""

    @property
    def linear(self) -> bool:
        """Whether the torque is linear in the value: it is a parameter."""
        return self.factor is not None


def direction(values: Terms, rate: Scalar) -> Scalar:
    """Return sign(rate), or tanh(rate / width) with a width."""
    width = values.get("width")
    return scalar.sign(rate) if width is None else scalar.tanh(rate * (1.0 / width))


def fading(values: Terms, rate: Scalar) -> Scalar:
    """Return exp(-(rate / stribeck)^2), or 0 without a Stribeck velocity."""
    if values.get("stribeck") is None:
        return 0.0
    slow = rate * (1.0 / values["stribeck"])
    return scalar.exp(-(slow * slow))


def _sliding(values: Terms, rate: Scalar) -> Scalar:
    """Return the direction of kinetic friction, reduced while stiction acts."""
    towards = direction(values, rate)
    return towards - towards * fading(values, rate)


def _coulomb(values: Terms, s: JointState) -> Scalar:
    sliding = _sliding(values, s.qd)
    return sliding if values.get("negative") is None else 0.5 * (sliding + scalar.absolute(sliding))


def _negative(values: Terms, s: JointState) -> Scalar:
    sliding = _sliding(values, s.qd)
    return 0.5 * (sliding - scalar.absolute(sliding))


def _presliding(values: Terms, s: JointState) -> Scalar:
    return scalar.sign(s.qd) if s.memory is None else s.memory


def _stiction(values: Terms, s: JointState) -> Scalar:
    remembers = values.get("distance") is not None
    towards = _presliding(values, s) if remembers else direction(values, s.qd)
    return towards * fading(values, s.qd)


def next_presliding_state(state: Scalar, displacement: Scalar, distance: Scalar) -> Scalar:
    """Return the presliding state z after a displacement dq [rad|m] in one direction.

    dz/dq = (1 - z sign(qd)) / d, so that z -> s - (s - z) exp(-|dq| / d) with s = sign(dq): exact
    for any time step. `distance` d [rad|m] is the presliding distance; z is -1 or 1 for a joint
    that slides. P. Dahl, "A solid friction model", Aerospace Corporation TOR-158 (1968).
    """
    towards = scalar.sign(displacement)
    decay = scalar.exp(-(scalar.absolute(displacement) * (1.0 / distance)))
    return towards - (towards - state) * decay


def _load(values: Terms, s: JointState) -> Scalar:
    return direction(values, s.qd) * scalar.absolute(s.load)


def _driving(values: Terms, s: JointState) -> Scalar:
    return 0.5 * (_load(values, s) + _load_towards(values, s))


def _driven(values: Terms, s: JointState) -> Scalar:
    return 0.5 * (_load(values, s) - _load_towards(values, s))


def _load_towards(values: Terms, s: JointState) -> Scalar:
    """Return the load friction that acts along the load: positive where the motor drives it."""
    return scalar.absolute(direction(values, s.qd)) * s.load


def _wave(
    function: Callable[[Scalar], Scalar], harmonic: int
) -> Callable[[Terms, JointState], Scalar]:
    """Return sin or cos of the motor angle, gear * q, times the harmonic."""
    return lambda values, s: function((harmonic * values["gear"]) * s.q)


def _shared_direction(values: Terms, a: JointState, b: JointState) -> tuple[Scalar, Scalar]:
    shared = direction(values, a.qd + b.qd)
    return shared, shared


def _known(values: Terms, states: Sequence[JointState]) -> Any:
    torque = evaluate_expression(
        values["expression"], dict(zip(values["joints"], states, strict=True))
    )
    return torque if len(states) == 1 else (torque, *(0.0 for _ in states[1:]))


_TORQUE, _DAMPING, _INERTIA, _SPEED, _POSITION = (
    ("N m", "N"),
    ("N m s/rad", "N s/m"),
    ("kg m2", "kg"),
    ("rad/s", "m/s"),
    ("rad", "m"),
)
_STEP = ("width", "stribeck")
HARMONICS = (1, 2, 6)
"""Periods of torque ripple per motor turn: eccentric rotors, harmonic drives, commutation."""
_RIPPLE = tuple(
    JointTerm(
        key=f"{name}{h}",
        symbol=f"R{h}{symbol}",
        meaning=f"torque ripple, {name} of {h} times the motor angle",
        unit=_TORQUE,
        latex=f"R_{{{h}{symbol}}}",
        factor=_wave(function, h),
        least=-math.inf,
        shapes=("gear",),
        needs=("gear",),
        reads=("q",),
    )
    for h in HARMONICS
    for name, symbol, function in (("sine", "s", scalar.sin), ("cosine", "c", scalar.cos))
)

# tau = Ia qdd + Fv qd + Fc s + F0, s = sign(qd); Armstrong-Helouvry, Dupont and Canudas de Wit
# 1994, section 2.2 for the friction terms.
# Presliding hysteresis: Canudas de Wit, Olsson, Astrom and Lischinsky 1995, section II.
# Friction that grows with the load: Hamon, Gautier and Garrec, IROS 2010, p. 6187.
# Gear losses by the direction of the power, efficiencies 1 / (1 + Fld) and 1 - Flb: Pelchen,
# Schweiger and Otter, 2nd International Modelica Conference 2002.
# Torque ripple of geared motors: Hollerbach, Khalil and Gautier, Springer Handbook of Robotics,
# 2nd ed., section 6.3.2.
JOINT_TERMS: tuple[JointTerm, ...] = (
    JointTerm(
        key="armature",
        symbol="Ia",
        meaning="rotor inertia",
        unit=_INERTIA,
        latex="I_{a}",
        factor=lambda v, s: s.qdd,
        fold=_squared,
        inertial=True,
    ),
    JointTerm(
        key="viscous",
        symbol="Fv",
        meaning="viscous friction",
        unit=_DAMPING,
        latex="F_{v}",
        factor=lambda v, s: s.qd,
        fold=_squared,
        urdf="damping",
    ),
    JointTerm(
        key="coulomb",
        symbol="Fc",
        meaning="Coulomb friction",
        unit=_TORQUE,
        latex="F_{c}",
        factor=_coulomb,
        dry=True,
        urdf="friction",
        shapes=_STEP,
    ),
    JointTerm(
        key="offset",
        symbol="F0",
        meaning="torque offset",
        unit=_TORQUE,
        latex="F_{o}",
        factor=lambda v, s: 1.0,
        fold=_ratio,
        least=-math.inf,
    ),
    JointTerm(
        key="negative",
        symbol="Fn",
        meaning="Coulomb friction of backward motion",
        unit=_TORQUE,
        latex="F_{n}",
        factor=_negative,
        dry=True,
        otherwise="coulomb",
        shapes=_STEP,
    ),
    JointTerm(
        key="stiction",
        symbol="Fs",
        meaning="stiction",
        unit=_TORQUE,
        latex="F_{s}",
        factor=_stiction,
        dry=True,
        memory="distance",
        needs=("stribeck",),
        shapes=(*_STEP, "distance"),
        above=("coulomb", "negative"),
    ),
    JointTerm(
        key="load",
        symbol="Fl",
        meaning="Coulomb friction per load",
        unit=("1", "1"),
        latex="F_{l}",
        factor=_load,
        dry=True,
        shapes=("width",),
        reads=("load",),
    ),
    JointTerm(
        key="driving",
        symbol="Fld",
        meaning="gear loss per load that the motor drives",
        unit=("1", "1"),
        latex="F_{ld}",
        factor=_driving,
        dry=True,
        shapes=("width",),
        needs=("driven",),
        reads=("load",),
        valid=(0.0, 1.0),
    ),
    JointTerm(
        key="driven",
        symbol="Flb",
        meaning="gear loss per load that drives the motor",
        unit=("1", "1"),
        latex="F_{lb}",
        factor=_driven,
        dry=True,
        shapes=("width",),
        needs=("driving",),
        reads=("load",),
        valid=(0.0, 1.0),
    ),
    JointTerm(
        key="presliding",
        symbol="Fp",
        meaning="Coulomb friction with memory",
        unit=_TORQUE,
        latex="F_{p}",
        factor=_presliding,
        memory="distance",
        shapes=("distance",),
        needs=("distance",),
    ),
    *_RIPPLE,
    JointTerm(
        "width", "w", "width of the Coulomb step", _SPEED, "w", fold=_inverse, between=(1e-3, 3.0)
    ),
    JointTerm(
        "stribeck", "vs", "Stribeck velocity", _SPEED, "v_{s}", fold=_inverse, between=(0.01, 1.0)
    ),
    JointTerm("gear", "G", "gear ratio", ("1", "rad/m"), "G"),
    JointTerm(
        "distance",
        "d",
        "presliding distance",
        _POSITION,
        "d",
        fold=_inverse,
        between=(1e-5, 0.1),
    ),
)
# A motor that two joints a and b share: Gautier, Vandanjon and Presse 1994, the coupled wrist of
# the Staeubli robots.
COUPLING_TERMS: tuple[JointTerm, ...] = (
    JointTerm(
        key="armature",
        symbol="Iam",
        meaning="rotor inertia shared with {}",
        unit=_INERTIA,
        latex="I_{am}",
        factor=lambda v, a, b: (b.qdd, a.qdd),
        inertial=True,
    ),
    JointTerm(
        key="viscous",
        symbol="Fvm",
        meaning="viscous friction shared with {}",
        unit=_DAMPING,
        latex="F_{vm}",
        factor=lambda v, a, b: (b.qd, a.qd),
        least=-math.inf,
    ),
    JointTerm(
        key="coulomb",
        symbol="Fcm",
        meaning="Coulomb friction shared with {}",
        unit=_TORQUE,
        latex="F_{cm}",
        factor=_shared_direction,
        shapes=("width",),
    ),
    JointTerm(
        "width", "wm", "width of the shared Coulomb step", _SPEED, "w_{m}", between=(1e-3, 3.0)
    ),
)
# A known torque, such as the torque of a counterbalance; `values` has its expression and the
# joints that it reads, its own first.
KNOWN_TORQUE = JointTerm(
    key="known",
    symbol="Fk",
    meaning="factor of the known torque",
    unit=("1", "1"),
    latex="k_{f}",
    factor=lambda v, *s: _known(v, s),
    reads=("q",),
    least=-math.inf,
)
ORDER = tuple(row.key for row in JOINT_TERMS)
FRICTION = tuple(row for row in JOINT_TERMS if not row.inertial)
BY_KEY: Mapping[str, JointTerm] = {row.key: row for row in JOINT_TERMS}
BY_SYMBOL: Mapping[str, JointTerm] = {
    row.symbol: row for row in (*JOINT_TERMS, *COUPLING_TERMS, KNOWN_TORQUE)
}


def memory_distance(values: Terms) -> Any:
    """Return the presliding distance [rad|m] of a joint's terms; None for terms without memory."""
    keys = (row.memory for row in JOINT_TERMS if row.memory and row.key in values)
    return next((values.get(key) for key in keys), None)


COUNTERPART: Mapping[str, str] = {
    a: b
    for row in JOINT_TERMS
    if row.otherwise
    for a, b in ((row.key, row.otherwise), (row.otherwise, row.key))
}
