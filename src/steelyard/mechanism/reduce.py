"""From links and joints to moving bodies: fixed links merged, mimic joints tied to their coordinate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..algebra.spatial import Inertia, Pose, moved
from ..algebra.vector import apply
from ..errors import ModelError
from .model import Friction, Joint, Limits, Mechanism, Rotor
from .near_integers import displaced
from .tree import Body, Frame, Gear, Tree


class Tie(NamedTuple):
    """A joint's position as a function of a coordinate: multiplier * q(joint) + offset. A multiplier of zero ties it to nothing."""

    joint: str
    multiplier: float
    offset: float


def reduce(mechanism: Mechanism) -> Tree:
    """Moving bodies of a mechanism, depth first from the root, joints in document order.

    A body's inertia is the sum of its link's and of all links fixed to it, about its own frame: I_body = sum of X I X^T.
    Mimic joints q = k q' + q0 become bodies that share a coordinate; their friction and rotors are folded into it.
    Featherstone 2008, section 4.1 (trees), 4.4 (parents before children).
    """
    ties = {joint.name: tie(mechanism, joint) for joint in mechanism.joints if joint.kind != "fixed"}
    walk = walked(mechanism)
    moving = [joint for joint in walk if joint.name in ties and ties[joint.name].multiplier != 0.0]
    coordinates = tuple(joint.name for joint in moving if ties[joint.name].joint == joint.name)
    frames = _frames(mechanism, walk, ties, {joint.name: i for i, joint in enumerate(moving)})
    inertias = _inertias(mechanism, frames, len(moving))
    bodies = tuple(_body(joint, ties[joint.name], coordinates, frames, inertia) for joint, inertia in zip(moving, inertias, strict=True))
    groups = [[(joint, ties[joint.name].multiplier) for joint in moving if ties[joint.name].joint == name] for name in coordinates]
    return Tree(
        bodies=bodies,
        coordinates=coordinates,
        gravity=mechanism.gravity,
        friction=tuple(folded_friction(group) for group in groups),
        armature=tuple(folded_armature(group) for group in groups),
        frames=frames,
        limits=tuple(folded_limits([(joint, *ties[joint.name][1:]) for joint, _ in group]) for group in groups),
        gears=tuple(_gear(joint, joint.rotor, coordinates, bodies, frames) for joint in moving if joint.rotor is not None),
    )


def _gear(joint: Joint, rotor: Rotor, coordinates: tuple[str, ...], bodies: tuple[Body, ...], frames: dict[str, Frame]) -> Gear:
    """The rotor of a joint on the body that carries it, which must not be moved by the joint itself."""
    mount, pose = frames[rotor.mount]
    below = mount
    while below >= 0:
        if bodies[below].joint == joint.name:
            raise ModelError(
                f"joint {joint.name!r}: its rotor sits on {rotor.mount!r}, which the joint itself moves; mount it on an earlier link"
            )
        below = bodies[below].parent
    return Gear(coordinates.index(joint.name), mount, rotor.ratio, apply(pose.R, rotor.axis))


def walked(mechanism: Mechanism) -> list[Joint]:
    """Joints depth first from the root, siblings in document order."""
    below: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        below.setdefault(joint.parent, []).append(joint)
    stack, order = list(reversed(below.get(mechanism.root, []))), []
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(reversed(below.get(joint.child, [])))
    return order


def tie(mechanism: Mechanism, joint: Joint) -> Tie:
    """The coordinate of a joint, through mimics of mimics: k = k1 k2 ..., and offsets accordingly. A fixed leader ties it to nothing."""
    multiplier, offset, seen = 1.0, 0.0, {joint.name}
    leader = joint
    while leader.mimic is not None:
        offset += multiplier * leader.mimic.offset
        multiplier *= leader.mimic.multiplier
        leader = mechanism.joint(leader.mimic.joint)
        if leader.name in seen:
            raise ModelError(f"joint {joint.name!r} mimics itself, through {' and '.join(sorted(seen))}: one of them must lead")
        seen.add(leader.name)
    return Tie(leader.name, 0.0 if leader.kind == "fixed" else multiplier, offset)


def _frames(mechanism: Mechanism, walk: list[Joint], ties: dict[str, Tie], index: dict[str, int]) -> dict[str, Frame]:
    frames = {mechanism.root: Frame(-1, Pose())}
    for joint in walk:
        if joint.name in index:
            frames[joint.child] = Frame(index[joint.name], Pose())
            continue
        body, pose = frames[joint.parent]
        held = ties[joint.name].offset if joint.name in ties else 0.0
        frames[joint.child] = Frame(body, pose.compose(displaced(joint.kind, joint.origin, joint.axis, held)))
    return frames


def _inertias(mechanism: Mechanism, frames: dict[str, Frame], count: int) -> list[Inertia]:
    total = [Inertia()] * count
    for link in mechanism.links:
        body, pose = frames[link.name]
        if body >= 0 and link.inertia is not None:
            total[body] = total[body] + (link.inertia if pose == Pose() else moved(link.inertia, pose))
    return total


def _body(joint: Joint, tied: Tie, coordinates: tuple[str, ...], frames: dict[str, Frame], inertia: Inertia) -> Body:
    parent, pose = frames[joint.parent]
    return Body(
        name=joint.child,
        joint=joint.name,
        parent=parent,
        kind="prismatic" if joint.kind == "prismatic" else "revolute",
        placement=joint.origin if pose == Pose() else pose.compose(joint.origin),
        axis=joint.axis,
        inertia=inertia,
        coordinate=coordinates.index(tied.joint),
        multiplier=tied.multiplier,
        offset=tied.offset,
    )


Member = tuple[Joint, float]  # a joint and its multiplier


def folded_friction(group: Sequence[Member]) -> Friction:
    """Friction at the coordinate: Fv = sum k^2 Fv_i, Fc = sum |k| Fc_i, F0 = sum k F0_i. A term that no joint has stays absent.

    The shapes (width, Stribeck velocity) are those of the leading joint, which is the first.
    """
    weights = (lambda k: k * k, abs, lambda k: k, abs, abs)
    terms = [_total((joint.friction.terms[i], weight(k)) for joint, k in group) for i, weight in enumerate(weights)]
    leader = next(joint for joint, k in group if joint.mimic is None)
    return leader.friction.with_terms(terms)


def folded_armature(group: Sequence[Member]) -> float | None:
    """Rotor inertia at the coordinate [kg m2|kg]: Ia = sum k^2 Ia_i."""
    return _total((joint.armature, k * k) for joint, k in group)


def folded_limits(group: Iterable[tuple[Joint, float, float]]) -> Limits:
    """Limits of the coordinate under which every joint (joint, k, o) respects its own; the effort is that of the leading joint."""
    lower, upper, velocity, effort = Limits().lower, Limits().upper, Limits().velocity, Limits().effort
    for joint, k, o in group:
        ends = sorted(((joint.limits.lower - o) / k, (joint.limits.upper - o) / k))
        lower, upper = max(lower, ends[0]), min(upper, ends[1])
        velocity = min(velocity, joint.limits.velocity / abs(k))
        effort = joint.limits.effort if joint.mimic is None else effort
    return Limits(lower, upper, velocity, effort)


def _total(terms: Iterable[tuple[float | None, float]]) -> float | None:
    present = [value * weight for value, weight in terms if value is not None]
    return sum(present) if present else None
