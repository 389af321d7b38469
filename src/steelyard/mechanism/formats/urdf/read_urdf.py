"""Reader of URDF: links with their inertials, joints with origin, axis, limits, dynamics and mimic.

Meshes are never needed.

Rotor inertia is read from a <transmission> whose <actuator> states it, as Drake does:
<drake:rotor_inertia value="..."/> with <drake:gear_ratio value="..."/>, or <rotor_inertia
value="..."/> with <mechanicalReduction>. What URDF has no place for stands in an element that other
programs ignore: in a <joint>, `<steelyard armature="0.8" offset="0.1"/>` (any joint term by its
name; `ratio`, `rotor_axis` and `mount` of a rotor; `kind`), and in <robot>, `<steelyard gravity="0
0 -9.81"/>`. Loops are read by `loop_elements`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ....algebra.rotation import from_rpy, unit
from ....algebra.spatial import Inertia, Pose, rotated
from ....algebra.vector import IDENTITY, ZERO, Matrix, Symmetric, Vector
from ....errors import ModelError, suggest
from ...check import KINDS, validated
from ...joint_terms import COUPLING_TERMS, JOINT_TERMS, Terms
from ...known_torque import KnownTorque
from ...model import (
    STANDARD_GRAVITY,
    Coupling,
    Joint,
    Limits,
    Link,
    Mechanism,
    Mimic,
    Rotor,
    Source,
)
from ..inertial import LARGEST, about_frame
from .loop_elements import read_loop_elements
from .xml_text import Element, parse

OTHER_KINDS = {
    "floating": "hold the base still (make it fixed, or delete the joint and the links above it)",
    "planar": "write it as two prismatic joints and a revolute one",
    "ball": "write it as three revolute joints",
    "spherical": "write it as three revolute joints",
}
# with what an absent one means
MOMENTS = {"ixx": None, "ixy": "0", "ixz": "0", "iyy": None, "iyz": "0", "izz": None}
# terms that <dynamics> has a place for
DYNAMICS = {row.key: row.urdf for row in JOINT_TERMS if row.urdf}
_X: Vector = (1.0, 0.0, 0.0)


def read_urdf(
    text: str, path: str | None = None, encoding: str = "utf-8", warn: bool = True
) -> Mechanism:
    """Return a mechanism from the text of a URDF file; the path names it in messages."""
    where = path or "URDF"
    robot = parse(text, where)
    if robot.tag != "robot":
        raise ModelError(
            f"{where}, line {robot.line}: the outermost element is <{robot.tag}>; a URDF file has"
            " <robot>"
        )
    notes = Notes(where)
    motors = actuators(robot)
    links = tuple(_link(element, notes) for element in robot.all("link"))
    joints = tuple(
        _joint(element, motors.get(element.attributes.get("name", "")), notes)
        for element in robot.all("joint")
    )
    ours = robot.first("steelyard")
    loops, driven = read_loop_elements(robot, joints, notes.problems, where)
    gravity, couplings = (
        vector_attribute(ours, "gravity", notes, STANDARD_GRAVITY),
        _couplings(robot, notes),
    )
    if notes.problems:
        raise ModelError("\n".join(notes.problems))
    source = Source("urdf", text, path, encoding)
    name, known = robot.attributes.get("name", ""), _known(robot, notes)
    mechanism = Mechanism(
        name=name,
        links=links,
        joints=joints,
        gravity=gravity,
        couplings=couplings,
        source=source,
        remarks=tuple(notes.remarks),
        known=known,
        loops=loops,
        driven=driven,
    )
    return validated(mechanism, _locator(robot, where), warn)


def _locator(robot: Element, where: str) -> Callable[[str, str], str]:
    lines = {(child.tag, child.attributes.get("name")): child.line for child in robot.children}
    return lambda what, name: (
        f"{where}, line {lines.get((what, name), robot.line)}"
        + (f", {what} {name!r}" if what != "robot" else "")
    )


def _link(element: Element, notes: Notes) -> Link:
    name = name_attribute(element, "name", notes)
    inertials = list(element.all("inertial"))
    if len(inertials) > 1:
        notes.remarks.append(
            f"{notes.at(inertials[0].line)}: link {name!r} has several <inertial> elements; the"
            " first is used"
        )
    return Link(name, _inertia(inertials[0], name, notes)) if inertials else Link(name)


def _inertia(inertial: Element, name: str, notes: Notes) -> Inertia:
    """Return the ten numbers of a link.

    <origin> gives the centre of mass in the link's axes; its rpy rotates only the inertia.
    """
    mass, inertia, origin = (
        inertial.first("mass"),
        inertial.first("inertia"),
        inertial.first("origin"),
    )
    if mass is None or inertia is None:
        absent = "<mass value=...>" if mass is None else "<inertia ixx=...>"
        notes.problem(inertial.line, f"the <inertial> of link {name!r} has no {absent}")
        return Inertia()
    m = float_attribute(mass, "value", None, notes)
    I_c = Symmetric(
        *(float_attribute(inertia, key, default, notes) for key, default in MOMENTS.items())
    )
    R = rpy_rotation(origin, notes)
    return about_frame(
        m, vector_attribute(origin, "xyz", notes), I_c if R == IDENTITY else rotated(I_c, R)
    )


def _joint(element: Element, actuator: Element | None, notes: Notes) -> Joint:
    name, kind = name_attribute(element, "name", notes), name_attribute(element, "type", notes)
    ours, origin = element.first("steelyard"), element.first("origin")
    if kind not in KINDS:
        notes.problem(element.line, f"joint {name!r}: {unusable(kind)}")
        kind = "fixed"
    if ours is not None and kind == "continuous":
        kind = ours.attributes.get("kind", kind)
    joint = Joint(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        parent=_link_of(element, "parent", name, notes),
        child=_link_of(element, "child", name, notes),
        origin=Pose(rpy_rotation(origin, notes), vector_attribute(origin, "xyz", notes)),
        axis=_axis(element, kind, name, notes),
    )
    if kind == "fixed":
        return joint
    joint = replace(
        joint,
        limits=_limits(element, kind, name, notes),
        rotor=_rotor(ours, joint.parent, notes),
        mimic=_mimic(element, notes),
    )
    return replace(joint, terms=_terms(element, actuator, notes))


def unusable(kind: str) -> str:
    """Return why a joint of that kind cannot be used, and the remedy."""
    if kind in OTHER_KINDS:
        return f"a {kind} joint is not supported: {OTHER_KINDS[kind]}"
    return f"unknown joint type {kind!r}; {suggest(kind, KINDS)}"


def _link_of(element: Element, role: str, name: str, notes: Notes) -> str:
    child = element.first(role)
    if child is None:
        notes.problem(element.line, f"joint {name!r} has no <{role} link=...>")
        return ""
    return name_attribute(child, "link", notes)


def _axis(element: Element, kind: str, name: str, notes: Notes) -> Vector:
    axis = element.first("axis")
    direction = unit(vector_attribute(axis, "xyz", notes, _X))
    if axis is not None and direction is None and kind != "fixed":
        notes.problem(axis.line, f"the axis of joint {name!r} is zero; it must be a direction")
    return direction or _X


def _limits(element: Element, kind: str, name: str, notes: Notes) -> Limits:
    """Return the limits of a joint; missing bounds are infinite.

    Zero velocity or effort, which would lock a joint, counts as missing.
    """
    limit = element.first("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.remarks.append(
                f"{notes.at(element.line)}: {kind} joint {name!r} has no <limit>: it is taken as"
                " unlimited"
            )
        return Limits()
    values = {
        key: parse_bound(text)
        for key in ("lower", "upper", "velocity", "effort")
        if (text := limit.attributes.get(key)) is not None
    }
    for key, value in values.items():
        if value is None:
            notes.problem(
                limit.line, f"joint {name!r}: {key}={limit.attributes[key]!r} is not a number"
            )
    lower, upper, velocity, effort = (
        values.get(key) for key in ("lower", "upper", "velocity", "effort")
    )
    if kind == "continuous" or (lower is None and upper is None):
        lower, upper = -math.inf, math.inf
    return Limits(lower or 0.0, upper or 0.0, _stated(velocity), _stated(effort))


def _stated(value: float | None) -> float:
    return value if value is not None and value > 0 else math.inf


def _terms(element: Element, actuator: Element | None, notes: Notes) -> Terms:
    """Return the joint terms of <dynamics>, the actuator and <steelyard>.

    A zero counts as absent, except in <steelyard>.
    """
    ours, dynamics = element.first("steelyard"), element.first("dynamics")
    stated = {term: optional_float(dynamics, key, notes) for term, key in DYNAMICS.items()}
    rotor = rotor_inertia(actuator)
    if rotor is not None:
        stated["armature"] = rotor[1] ** 2 * float_attribute(rotor[0], "value", None, notes)
    return Terms.of(
        {
            row.key: stated.get(row.key) or optional_float(ours, row.key, notes)
            for row in JOINT_TERMS
        }
    )


def _couplings(robot: Element, notes: Notes) -> tuple[Coupling, ...]:
    """Return the shared motors: `coupled_with` and `shared_...` in a joint's <steelyard>."""
    couplings = []
    for element in robot.all("joint"):
        ours = element.first("steelyard")
        if ours is not None and "coupled_with" in ours.attributes:
            values = {
                row.key: optional_float(ours, f"shared_{row.key}", notes) for row in COUPLING_TERMS
            }
            couplings.append(
                Coupling(
                    ours.attributes["coupled_with"],
                    element.attributes.get("name", ""),
                    Terms.of(values),
                )
            )
    return tuple(couplings)


def _known(robot: Element, notes: Notes) -> tuple[KnownTorque, ...]:
    """Return the known torques: `known_torque` and `known_scale` in a joint's <steelyard>."""
    ours = [
        (element.attributes.get("name", ""), element.first("steelyard"))
        for element in robot.all("joint")
    ]
    return tuple(
        KnownTorque(
            name,
            extension.attributes["known_torque"],
            float_attribute(extension, "known_scale", "1", notes),
        )
        for name, extension in ours
        if extension is not None and "known_torque" in extension.attributes
    )


def actuators(robot: Element) -> dict[str, Element]:
    """Return the <actuator> of each joint whose <transmission> has one actuator."""
    actuators_by_joint = {}
    for transmission in robot.all("transmission"):
        joints, motors = list(transmission.all("joint")), list(transmission.all("actuator"))
        if len(joints) == len(motors) == 1:
            actuators_by_joint[joints[0].attributes.get("name", "")] = motors[0]
    return actuators_by_joint


def rotor_inertia(actuator: Element | None) -> tuple[Element, float] | None:
    """Return the element with an actuator's rotor inertia Jm [kg m2|kg] and the gear ratio k.

    Ia = k^2 Jm. None where there is none.
    """
    if actuator is None:
        return None
    for prefix in ("drake:", ""):
        inertia = actuator.first(f"{prefix}rotor_inertia")
        gear = actuator.first(f"{prefix}gear_ratio")
        if inertia is not None:
            reduction = None if prefix else actuator.first("mechanicalReduction")
            ratio = (
                gear.attributes.get("value", "")
                if gear is not None
                else reduction.text
                if reduction is not None
                else "1"
            )
            return inertia, parse_float(ratio.strip()) or 1.0
    return None


def _rotor(ours: Element | None, parent: str, notes: Notes) -> Rotor | None:
    ratio = optional_float(ours, "ratio", notes)
    if ours is None or ratio is None:
        return None
    return Rotor(
        ratio,
        vector_attribute(ours, "rotor_axis", notes, (0.0, 0.0, 1.0)),
        ours.attributes.get("mount", parent),
    )


def _mimic(element: Element, notes: Notes) -> Mimic | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    multiplier, offset = (
        float_attribute(mimic, "multiplier", "1", notes),
        float_attribute(mimic, "offset", "0", notes),
    )
    return Mimic(name_attribute(mimic, "joint", notes), multiplier, offset)


_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_INFINITE = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}


@dataclass
class Notes:
    """Problems and remarks of a reader, each with file and line."""

    where: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        return f"{self.where}, line {line}"

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(f"{self.at(line)}: {sentence}")


def parse_float(text: str) -> float | None:
    """Parse a decimal number; None for NaN, infinity, numbers beyond 1e60 and other text."""
    value = float(text) if len(text) < 400 and _DECIMAL.fullmatch(text) else None
    return value if value is not None and abs(value) < LARGEST else None


def parse_bound(text: str) -> float | None:
    """Parse a decimal number, inf or -inf."""
    word = text.strip().lower()
    return (
        _INFINITE[word]
        if word in _INFINITE
        else float(word)
        if len(word) < 400 and _DECIMAL.fullmatch(word)
        else None
    )


def name_attribute(element: Element, key: str, notes: Notes) -> str:
    """Return a required string."""
    value = element.attributes.get(key, "")
    if not value:
        notes.problem(element.line, f"<{element.tag}> has no {key}")
    return value


def float_attribute(element: Element, key: str, default: str | None, notes: Notes) -> float:
    """Return a number; required where the default is None."""
    text = element.attributes.get(key, default)
    value = None if text is None else parse_float(text.strip())
    if value is None:
        notes.problem(
            element.line,
            f"<{element.tag}> has "
            + (f"no {key}" if text is None else f"{key}={text!r}; expected a number"),
        )
    return value or 0.0


def optional_float(element: Element | None, key: str, notes: Notes) -> float | None:
    """Return a number, None where the element or the attribute is absent."""
    return (
        None
        if element is None or key not in element.attributes
        else float_attribute(element, key, None, notes)
    )


def vector_attribute(
    element: Element | None, key: str, notes: Notes, default: Vector = ZERO
) -> Vector:
    """Return three numbers; the default where the element or the attribute is absent or blank."""
    text = "" if element is None else element.attributes.get(key, "")
    if element is None or not text.strip():
        return default
    values = [value for word in text.split() if (value := parse_float(word)) is not None]
    if len(values) != 3 or len(text.split()) != 3:
        notes.problem(element.line, f"<{element.tag}> has {key}={text!r}; expected three numbers")
        return default
    return (values[0], values[1], values[2])


def rpy_rotation(origin: Element | None, notes: Notes) -> Matrix:
    """Return the rotation of an <origin rpy="roll pitch yaw">."""
    rpy = vector_attribute(origin, "rpy", notes)
    return from_rpy(rpy) if any(rpy) else IDENTITY
