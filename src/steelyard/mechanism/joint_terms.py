"""The table of joint terms: all that a joint adds to the torque beside the rigid bodies. One row is one term.

A linear term adds value * factor(joint's state) to the torque and is a parameter with a column in the regressor. A shape, such as a width,
has no column: it enters the factors of other terms. Inverse and forward dynamics, mass matrix, derivatives, regressor, identification,
files, closed form, C and reports all follow from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..algebra import scalar
from ..algebra.scalar import Scalar
from ..errors import ModelError
from .known_torque import evaluate


class JointState(NamedTuple):
    """What a factor may depend on: scalars at one joint.

    q [rad|m], qd, qdd; `load` is the torque [N m|N] that holds the links against gravity; `signals` are further channels of a log by name,
    such as temperature [degC].
    """

    q: Scalar
    qd: Scalar
    qdd: Scalar
    load: Scalar = 0.0
    signals: Mapping[str, Scalar] = {}


@dataclass(frozen=True)
class Terms(Mapping[str, Any]):
    """The terms that one joint or coupling has, key -> value, in the order of the table. Frozen; what is absent has no key."""

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
    """One row. Units are those of a turning and of a sliding joint.

    `fold(k)` is what a value of a joint that moves k times as fast as its coordinate counts at the coordinate. `otherwise` is the
    counterpart of forward motion: a joint without the term has the value of that in its place, and a negative k exchanges the two.
    `shapes` are the shapes that the factor uses, `needs` what must be given with it, `reads` what it depends on beside qd and qdd: q, load,
    or the name of a signal. `least` is the smallest value that a real joint has, `above` the terms that it is not less than. `between`
    bounds the search for a shape.
    """

    key: str
    symbol: str
    meaning: str
    unit: tuple[str, str]
    latex: str
    factor: Callable[..., Any] | None = None
    fold: Callable[[float], float] = abs
    inertial: bool = False
    least: float = 0.0
    above: tuple[str, ...] = ()
    otherwise: str = ""
    shapes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    between: tuple[float, float] = (0.0, math.inf)
    urdf: str = ""

    @property
    def linear(self) -> bool:
        """Whether the torque is linear in the value: it is a parameter."""
        return self.factor is not None


def direction(values: Terms, rate: Scalar) -> Scalar:
    """sign(rate), or tanh(rate / width) where a width is given."""
    width = values.get("width")
    return scalar.sign(rate) if width is None else scalar.tanh(rate * (1.0 / width))


def fading(values: Terms, rate: Scalar) -> Scalar:
    """exp(-(rate / stribeck)^2), or 0 where there is no Stribeck velocity."""
    if values.get("stribeck") is None:
        return 0.0
    slow = rate * (1.0 / values["stribeck"])
    return scalar.exp(-(slow * slow))


def _sliding(values: Terms, rate: Scalar) -> Scalar:
    """The direction of kinetic friction: what is left of it where stiction has not faded."""
    towards = direction(values, rate)
    return towards - towards * fading(values, rate)


def _coulomb(values: Terms, s: JointState) -> Scalar:
    sliding = _sliding(values, s.qd)
    return sliding if values.get("negative") is None else 0.5 * (sliding + scalar.absolute(sliding))


def _negative(values: Terms, s: JointState) -> Scalar:
    sliding = _sliding(values, s.qd)
    return 0.5 * (sliding - scalar.absolute(sliding))


def _load(values: Terms, s: JointState) -> Scalar:
    return direction(values, s.qd) * scalar.absolute(s.load)


def _wave(function: Callable[[Scalar], Scalar], harmonic: int) -> Callable[[Terms, JointState], Scalar]:
    """sin or cos of the motor angle, gear * q, times the harmonic."""
    return lambda values, s: function((harmonic * values["gear"]) * s.q)


def _shared_direction(values: Terms, a: JointState, b: JointState) -> tuple[Scalar, Scalar]:
    shared = direction(values, a.qd + b.qd)
    return shared, shared


def _known(values: Terms, states: Sequence[JointState]) -> Any:
    torque = evaluate(values["expression"], dict(zip(values["joints"], states, strict=True)))
    return torque if len(states) == 1 else (torque, *(0.0 for _ in states[1:]))


_TORQUE, _DAMPING, _INERTIA, _SPEED = ("N m", "N"), ("N m s/rad", "N s/m"), ("kg m2", "kg"), ("rad/s", "m/s")
_STEP = ("width", "stribeck")
HARMONICS = (1, 2, 6)
"""Of torque ripple, in periods per turn of the motor: eccentric rotors, harmonic drives, commutation."""
_RIPPLE = tuple(
    JointTerm(
        f"{name}{h}", f"R{h}{symbol}", f"torque ripple, {name} of {h} times the motor angle", _TORQUE, f"R_{{{h}{symbol}}}",
        _wave(function, h), least=-math.inf, shapes=("gear",), needs=("gear",), reads=("q",),
    )
    for h in HARMONICS for name, symbol, function in (("sine", "s", scalar.sin), ("cosine", "c", scalar.cos))
)  # fmt: skip

# tau = Ia qdd + Fv qd + Fc s + F0, s = sign(qd); Armstrong-Helouvry, Dupont and Canudas de Wit 1994, section 2.2 for the friction terms.
# Friction that grows with the load: Hamon, Gautier and Garrec, IROS 2010, p. 6187. Torque ripple of geared motors: Hollerbach, Khalil and
# Gautier, Springer Handbook of Robotics, 2nd ed., section 6.3.2.
JOINT_TERMS: tuple[JointTerm, ...] = (
    JointTerm("armature", "Ia", "rotor inertia", _INERTIA, "I_{a}", lambda v, s: s.qdd, _squared, inertial=True),
    JointTerm("viscous", "Fv", "viscous friction", _DAMPING, "F_{v}", lambda v, s: s.qd, _squared, urdf="damping"),
    JointTerm("coulomb", "Fc", "Coulomb friction", _TORQUE, "F_{c}", _coulomb, urdf="friction", shapes=_STEP),
    JointTerm("offset", "F0", "torque offset", _TORQUE, "F_{o}", lambda v, s: 1.0, _ratio, least=-math.inf),
    JointTerm(
        "negative",
        "Fn",
        "Coulomb friction of backward motion",
        _TORQUE,
        "F_{n}",
        _negative,
        otherwise="coulomb",
        shapes=_STEP,
    ),
    JointTerm(
        "stiction",
        "Fs",
        "stiction",
        _TORQUE,
        "F_{s}",
        lambda v, s: direction(v, s.qd) * fading(v, s.qd),
        needs=("stribeck",),
        shapes=_STEP,
        above=("coulomb", "negative"),
    ),
    JointTerm("load", "Fl", "Coulomb friction per load", ("1", "1"), "F_{l}", _load, shapes=("width",), reads=("load",)),
    *_RIPPLE,
    JointTerm("width", "w", "width of the Coulomb step", _SPEED, "w", fold=_inverse, between=(1e-3, 3.0)),
    JointTerm("stribeck", "vs", "Stribeck velocity", _SPEED, "v_{s}", fold=_inverse, between=(0.01, 1.0)),
    JointTerm("gear", "G", "gear ratio", ("1", "rad/m"), "G"),
)
# A motor that two joints a and b share: Gautier, Vandanjon and Presse 1994, the coupled wrist of the Staeubli robots.
COUPLING_TERMS: tuple[JointTerm, ...] = (
    JointTerm("armature", "Iam", "rotor inertia shared with {}", _INERTIA, "I_{am}", lambda v, a, b: (b.qdd, a.qdd), inertial=True),
    JointTerm("viscous", "Fvm", "viscous friction shared with {}", _DAMPING, "F_{vm}", lambda v, a, b: (b.qd, a.qd), least=-math.inf),
    JointTerm("coulomb", "Fcm", "Coulomb friction shared with {}", _TORQUE, "F_{cm}", _shared_direction, shapes=("width",)),
    JointTerm("width", "wm", "width of the shared Coulomb step", _SPEED, "w_{m}", between=(1e-3, 3.0)),
)
# A torque that is known, such as that of a counterbalance; `values` has its expression and the joints that it reads, its own first.
KNOWN_TORQUE = JointTerm(
    "known", "Fk", "factor of the known torque", ("1", "1"), "k_{f}", lambda v, *s: _known(v, s), reads=("q",), least=-math.inf
)
ORDER = tuple(row.key for row in JOINT_TERMS)
FRICTION = tuple(row for row in JOINT_TERMS if not row.inertial)
BY_KEY: Mapping[str, JointTerm] = {row.key: row for row in JOINT_TERMS}
BY_SYMBOL: Mapping[str, JointTerm] = {row.symbol: row for row in (*JOINT_TERMS, *COUPLING_TERMS, KNOWN_TORQUE)}


COUNTERPART: Mapping[str, str] = {
    a: b for row in JOINT_TERMS if row.otherwise for a, b in ((row.key, row.otherwise), (row.otherwise, row.key))
}


def problems(values: Terms, table: Sequence[JointTerm] = JOINT_TERMS) -> Iterator[str]:
    """Sentences about values that no joint can have: not finite, a shape that is not positive, a term without what it needs."""
    for row in table:
        value = values.get(row.key)
        if value is None:
            continue
        if not math.isfinite(value):
            yield f"its {row.meaning} ({row.key}) is {value}; expected a finite number [{'|'.join(row.unit)}]"
        elif not row.linear and not value > 0:
            yield f"its friction has {row.key} = {value:g}; expected a positive {row.meaning} [{'|'.join(row.unit)}]"
        for needed in row.needs:
            if values.get(needed) is None:
                yield f"its friction has {row.key} but no {needed}, the {BY_KEY[needed].meaning} that it depends on"


def folded(group: Sequence[tuple[Terms, float]], owner: str = "") -> Terms:
    """The terms of a coordinate that moves several joints, each k times as fast: value = sum of fold(k) value_i. (terms, k) per joint.

    By virtual work the coordinate feels k times the torque of a joint that moves at k qd. Raises ModelError if the joints' shapes differ.
    """
    completed = [(_completed(values, group), k) for values, k in group]
    total: dict[str, Any] = {}
    for values, k in completed:
        other = {key: COUNTERPART[key] for key in COUNTERPART if k < 0 and _asymmetric(key, values)}
        total |= {key: total.get(key, 0.0) for key in other}
        for row in JOINT_TERMS:
            if row.key in values and row.linear:
                key = other.get(row.key, row.key)
                total[key] = total.get(key, 0.0) + row.fold(k) * values[row.key]
    return Terms.of({**total, **_folded_shapes(completed, owner)})


def _asymmetric(key: str, values: Terms) -> bool:
    """Whether a joint tells the two directions of a term apart."""
    return any(BY_KEY[each].otherwise and each in values for each in (key, COUNTERPART[key]))


def _completed(values: Terms, group: Sequence[tuple[Terms, float]]) -> Terms:
    """A joint's terms, with those that others of the group have and that it has under another name."""
    missing = {
        row.key: values[row.otherwise]
        for row in JOINT_TERMS
        if row.otherwise in values and row.key not in values and any(row.key in other for other, _ in group)
    }
    return values.changed(missing) if missing else values


def _folded_shapes(group: Sequence[tuple[Terms, float]], owner: str) -> dict[str, Any]:
    shapes: dict[str, Any] = {}
    for row in JOINT_TERMS:
        if row.linear:
            continue
        users = [(values, k) for values, k in group if row.key in values or any(row.key in BY_KEY[key].shapes for key in values)]
        found = [None if values.get(row.key) is None else row.fold(k) * values[row.key] for values, k in users]
        if any((x is None) != (found[0] is None) or (x is not None and abs(x - found[0]) > 1e-9 * abs(x)) for x in found):
            raise ModelError(f"joints that move together with {owner!r} differ in the {row.meaning} ({row.key}): give them the same one")
        if found and found[0] is not None:
            shapes[row.key] = found[0]
    return shapes
