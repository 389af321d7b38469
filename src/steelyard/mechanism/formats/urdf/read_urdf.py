"""Reader of URDF: links with their inertials, joints with origin, axis, limits, dynamics and mimic. Meshes are never needed.

What URDF has no place for is kept in an element of our own that other programs pass over: inside a <joint>,
`<steelyard armature="0.8" offset="0.1"/>` (rotor inertia Ia, friction offset F0; `viscous`, `coulomb` where they are exactly 0, and
`kind`, `rotation` where type and rpy cannot hold them exactly), and inside <robot>, `<steelyard gravity="0 0 -9.81"/>`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from ....algebra.rotation import from_rpy, unit
from ....algebra.spatial import Pose
from ....algebra.vector import IDENTITY, ZERO, Matrix, Symmetric, Vector
from ....errors import ModelError, choices
from ...check import KINDS, finished
from ...model import STANDARD_GRAVITY, Friction, Joint, Limits, Link, Mechanism, Mimic, Rotor, Source
from .. import decimals as exact
from ..decimals import Notes, bound, decimal, decimals
from .xml_text import Element, parse

OTHER_KINDS = {
    "floating": "hold the base still (make it fixed, or delete the joint and the links above it)",
    "planar": "write it as two prismatic joints and a revolute one",
    "ball": "write it as three revolute joints",
    "spherical": "write it as three revolute joints",
}
MOMENTS = {"ixx": None, "ixy": "0", "ixz": "0", "iyy": None, "iyz": "0", "izz": None}  # and what they are where they are absent
_ROTATION_AGREES = 1e-9


def read_urdf(text: str, path: str | None = None, encoding: str = "utf-8", warn: bool = True) -> Mechanism:
    """A mechanism from the text of a URDF file; the path names it in messages."""
    where = path or "URDF"
    robot = parse(text, where)
    if robot.tag != "robot":
        raise ModelError(f"{where}, line {robot.line}: the outermost element is <{robot.tag}>; a URDF file has <robot>")
    notes = Notes(where)
    links = tuple(_link(element, notes) for element in robot.all("link"))
    joints = tuple(_joint(element, notes) for element in robot.all("joint"))
    gravity = _gravity(robot, notes)
    if notes.problems:
        raise ModelError("\n".join(notes.problems))
    source = Source("urdf", text, path, encoding)
    mechanism = Mechanism(robot.attributes.get("name", ""), links, joints, gravity, source, tuple(notes.remarks))
    return finished(mechanism, _locator(robot, where), warn)


def _locator(robot: Element, where: str) -> Callable[[str, str], str]:
    lines = {(child.tag, child.attributes.get("name")): child.line for child in robot.children}
    return lambda what, name: f"{where}, line {lines.get((what, name), robot.line)}" + (f", {what} {name!r}" if what != "robot" else "")


def _link(element: Element, notes: Notes) -> Link:
    name = _attribute(element, "name", notes)
    inertial = element.first("inertial")
    if inertial is None:
        return Link(name)
    if len(list(element.all("inertial"))) > 1:
        notes.remarks.append(f"{notes.at(inertial.line)}: link {name!r} has several <inertial> elements; the first is used")
    return Link(name, exact.read(_given(inertial, name, notes)))


def _given(inertial: Element, name: str, notes: Notes) -> exact.Given:
    """Mass, centre of mass and inertia about it, in the link's axes: <origin> places the centre in them and turns only the inertia."""
    mass, inertia, origin = inertial.first("mass"), inertial.first("inertia"), inertial.first("origin")
    if mass is None or inertia is None:
        absent = "<mass value=...>" if mass is None else "<inertia ixx=...>"
        notes.problem(inertial.line, f"the <inertial> of link {name!r} has no {absent}")
        return exact.Given(Fraction(0), ZERO, Symmetric(0, 0, 0, 0, 0, 0))
    m = _number(mass, "value", None, notes)
    six = [_number(inertia, key, default, notes) for key, default in MOMENTS.items()]
    return exact.Given(m, _vector(origin, "xyz", notes), exact.turned(Symmetric(*six), _rotation(origin, notes)))


def _joint(element: Element, notes: Notes) -> Joint:
    name, kind = _attribute(element, "name", notes), _attribute(element, "type", notes)
    ours = element.first("steelyard")
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
        origin=_origin(element, ours, notes),
        axis=_axis(element, kind, name, notes),
    )
    if kind == "fixed":
        return joint
    return replace(
        joint,
        limits=_limits(element, kind, name, notes),
        friction=_friction(element, ours, notes),
        armature=_float(ours, "armature", notes),
        rotor=_rotor(ours, joint.parent, notes),
        mimic=_mimic(element, notes),
    )


def unusable(kind: str) -> str:
    """Why a joint of that kind cannot be used, and what to do about it."""
    if kind in OTHER_KINDS:
        return f"a {kind} joint is not supported: {OTHER_KINDS[kind]}"
    return f"unknown joint type {kind!r}; {choices(kind, KINDS)}"


def _link_of(element: Element, role: str, name: str, notes: Notes) -> str:
    child = element.first(role)
    if child is None:
        notes.problem(element.line, f"joint {name!r} has no <{role} link=...>")
        return ""
    return _attribute(child, "link", notes)


def _origin(element: Element, ours: Element | None, notes: Notes) -> Pose:
    origin = element.first("origin")
    x, y, z = _vector(origin, "xyz", notes)
    R = _rotation(origin, notes)
    stated = ours.attributes.get("rotation") if ours is not None else None
    nine = decimals(stated, 9) if stated is not None else None
    if nine is not None:
        a, b, c, d, e, f, g, h, i = map(float, nine)
        better: Matrix = ((a, b, c), (d, e, f), (g, h, i))
        agrees = all(abs(better[r][k] - R[r][k]) < _ROTATION_AGREES for r in range(3) for k in range(3))
        R = better if agrees else R  # someone edited the rpy: it is what counts
    return Pose(R, (float(x), float(y), float(z)))


def _axis(element: Element, kind: str, name: str, notes: Notes) -> Vector:
    axis = element.first("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    x, y, z = (float(value) for value in _vector(axis, "xyz", notes, "1 0 0"))
    direction = unit((x, y, z))
    if direction is None and kind != "fixed":
        notes.problem(axis.line, f"the axis of joint {name!r} is zero; it must be a direction")
    return direction or (1.0, 0.0, 0.0)


def _limits(element: Element, kind: str, name: str, notes: Notes) -> Limits:
    """Bounds that are not stated do not bind; zero velocity or effort, which stops a joint for good, counts as not stated."""
    limit = element.first("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.remarks.append(f"{notes.at(element.line)}: {kind} joint {name!r} has no <limit>: it is taken as unlimited")
        return Limits()
    values = {key: bound(text) for key in ("lower", "upper", "velocity", "effort") if (text := limit.attributes.get(key)) is not None}
    for key, value in values.items():
        if value is None:
            notes.problem(limit.line, f"joint {name!r}: {key}={limit.attributes[key]!r} is no number")
    lower, upper, velocity, effort = (values.get(key) for key in ("lower", "upper", "velocity", "effort"))
    if kind == "continuous" or (lower is None and upper is None):
        lower, upper = -math.inf, math.inf
    return Limits(lower or 0.0, upper or 0.0, _stated(velocity), _stated(effort))


def _stated(value: float | None) -> float:
    return value if value is not None and value > 0 else math.inf


def _friction(element: Element, ours: Element | None, notes: Notes) -> Friction:
    dynamics = element.first("dynamics")
    return Friction(
        viscous=_float(dynamics, "damping", notes) or _float(ours, "viscous", notes),
        coulomb=_float(dynamics, "friction", notes) or _float(ours, "coulomb", notes),
        **{name: _float(ours, name, notes) for name in ("offset", "negative", "stiction", "width", "stribeck")},
    )


def _rotor(ours: Element | None, parent: str, notes: Notes) -> Rotor | None:
    ratio = _float(ours, "ratio", notes)
    if ours is None or ratio is None:
        return None
    x, y, z = _vector(ours, "rotor_axis", notes, "0 0 1")
    return Rotor(ratio, (float(x), float(y), float(z)), ours.attributes.get("mount", parent))


def _mimic(element: Element, notes: Notes) -> Mimic | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    multiplier, offset = _number(mimic, "multiplier", "1", notes), _number(mimic, "offset", "0", notes)
    return Mimic(_attribute(mimic, "joint", notes), float(multiplier), float(offset))


def _gravity(robot: Element, notes: Notes) -> Vector:
    ours = robot.first("steelyard")
    if ours is None or "gravity" not in ours.attributes:
        return STANDARD_GRAVITY
    x, y, z = _vector(ours, "gravity", notes)
    return (float(x), float(y), float(z))


def _rotation(origin: Element | None, notes: Notes) -> Matrix:
    roll, pitch, yaw = _vector(origin, "rpy", notes)
    return from_rpy((float(roll), float(pitch), float(yaw))) if roll or pitch or yaw else IDENTITY


def _attribute(element: Element, key: str, notes: Notes) -> str:
    value = element.attributes.get(key, "")
    if not value:
        notes.problem(element.line, f"<{element.tag}> has no {key}")
    return value


def _vector(element: Element | None, key: str, notes: Notes, default: str = "0 0 0") -> Vector:
    text = default if element is None else element.attributes.get(key, default)
    values = decimals(text, 3) or (decimals(default, 3) if not text.strip() else None)
    if values is None:
        notes.problem(element.line if element else 0, f"<{element.tag if element else ''}> has {key}={text!r}; expected three numbers")
        return ZERO
    return (values[0], values[1], values[2])


def _number(element: Element, key: str, default: str | None, notes: Notes) -> Fraction:
    text = element.attributes.get(key, default)
    value = None if text is None else decimal(text)
    if value is None:
        notes.problem(element.line, f"<{element.tag}> has " + (f"no {key}" if text is None else f"{key}={text!r}; expected a number"))
    return value or Fraction(0)


def _float(element: Element | None, key: str, notes: Notes) -> float | None:
    if element is None or key not in element.attributes:
        return None
    return float(_number(element, key, None, notes))
