"""Reduction of links and joints to moving bodies: fixed links merged, mimic joints tied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..algebra.spatial import Inertia, Pose, moved
from ..algebra.vector import apply
from ..errors import CallError, ModelError, suggest
from .fold_terms import folded
from .joint_terms import BY_KEY, Terms
from .known_torque import KnownTorque, joints_in
from .loops import JOINT_KINDS, Loop
from .model import Coupling, Joint, Limits, Mechanism, Rotor
from .near_integers import displaced
from .tree import Body, Frame, MountedRotor, Tree, TreeCoupling, TreeKnown, TreeLoop


class Tie(NamedTuple):
    """A joint's position as a function of a coordinate: multiplier * q(joint) + offset.

    A multiplier of zero means a constant position.
    """

    joint: str
    multiplier: float
    offset: float


def reduce(mechanism: Mechanism) -> Tree:
    """Return the moving bodies of a mechanism, depth first from the root, in document order.

    A body's inertia is the sum of its link's and of all links fixed to it, about its own frame:
    I_body = sum of X I X^T. Mimic joints q = k q' + q0 become bodies that share a coordinate; their
    friction and rotors are folded into it. Featherstone 2008, section 4.1 (trees), 4.4 (parents
    before children).
    """
    ties = {
        joint.name: tie(mechanism, joint) for joint in mechanism.joints if joint.kind != "fixed"
    }
    walk = depth_first_joints(mechanism)
    moving = [joint for joint in walk if joint.name in ties and ties[joint.name].multiplier != 0.0]
    coordinates = tuple(joint.name for joint in moving if ties[joint.name].joint == joint.name)
    frames = _frames(mechanism, walk, ties, {joint.name: i for i, joint in enumerate(moving)})
    # the base's own is the last, as its index -1 has it
    *inertias, base_inertia = _inertias(mechanism, frames, len(moving) + 1)
    places = {name: c for c, name in enumerate(coordinates)}
    bodies = tuple(
        _body(joint, ties[joint.name], places, frames, inertia)
        for joint, inertia in zip(moving, inertias, strict=True)
    )
    _refuse_shared_rotors(moving, ties)
    _refuse_followers(moving)
    grouped: dict[str, list[tuple[Joint, float]]] = {name: [] for name in coordinates}
    for joint in moving:
        grouped[ties[joint.name].joint].append((joint, ties[joint.name].multiplier))
    groups = list(grouped.values())
    return Tree(
        bodies=bodies,
        coordinates=coordinates,
        gravity=mechanism.gravity,
        terms=tuple(
            folded([(joint.terms, k) for joint, k in group], name)
            for name, group in zip(coordinates, groups, strict=True)
        ),
        frames=frames,
        limits=tuple(
            folded_limits([(joint, *ties[joint.name][1:]) for joint, _ in group])
            for group in groups
        ),
        rotors=tuple(
            _rotor(joint, joint.rotor, coordinates, bodies, frames)
            for joint in moving
            if joint.rotor is not None
        ),
        couplings=tuple(
            sorted(
                (
                    _coupling(coupling, coordinates)
                    for coupling in mechanism.couplings
                    if _moves(coupling, ties)
                ),
                key=lambda element: element.coordinates[::-1],
            )
        ),
        known=tuple(
            sorted(
                (_known(torque, coordinates) for torque in mechanism.known if torque.joint in ties),
                key=lambda element: element.coordinates[0],
            )
        ),
        base_inertia=base_inertia,
        loops=(loops := tuple(_loop(loop, coordinates, ties, frames) for loop in mechanism.loops)),
        driven=_driven(mechanism, coordinates, ties),
        rows=tuple(range(sum(len(each.loop.rows) for each in loops))),
    )


def _driven(
    mechanism: Mechanism, coordinates: tuple[str, ...], ties: dict[str, Tie]
) -> tuple[int, ...]:
    """Return the coordinates that have a drive; a mimic joint drives its leader."""
    named = (
        set(coordinates)
        if mechanism.driven is None
        else {ties[name].joint for name in mechanism.driven}
    )
    return tuple(c for c, name in enumerate(coordinates) if name in named)


def _loop(
    loop: Loop, coordinates: tuple[str, ...], ties: dict[str, Tie], frames: dict[str, Frame]
) -> TreeLoop:
    if loop.kind in JOINT_KINDS:
        tied = [(name, ties[name]) for name in loop.joints]
        for name, leader in tied:
            if leader.joint not in coordinates:
                raise ModelError(
                    f"loop {loop.name!r} names joint {name!r}, which is tied to a joint that is"
                    " fixed"
                )
        positions = tuple(
            (name, coordinates.index(t.joint), t.multiplier, t.offset) for name, t in tied
        )
        return TreeLoop(loop, Frame(-1, Pose()), Frame(-1, Pose()), positions)
    a, b = (
        Frame(frames[link].body, frames[link].pose.compose(frame))
        for link, frame in ((loop.a, loop.at_a), (loop.b, loop.at_b))
    )
    return TreeLoop(loop, a, b, ())


def _refuse_followers(moving: Iterable[Joint]) -> None:
    """Raise ModelError if a mimic joint has friction that depends on its own position or load."""
    for joint in moving:
        terms = [key for key in joint.terms if key in BY_KEY and BY_KEY[key].reads]
        if joint.mimic is not None and terms:
            what = f"friction that depends on position or load ({', '.join(terms)})"
            raise ModelError(
                f"joint {joint.name!r} mimics {joint.mimic.joint!r} and has {what}: give it to"
                f" {joint.mimic.joint!r}"
            )


def _refuse_shared_rotors(moving: list[Joint], ties: dict[str, Tie]) -> None:
    """Raise ModelError if a joint that mimics one with a spinning rotor has a rotor inertia too.

    One parameter Ia would stand for both.
    """
    spinning = {joint.name for joint in moving if joint.rotor is not None}
    for joint in moving:
        leader = ties[joint.name].joint
        if joint.name != leader and leader in spinning and joint.terms.get("armature"):
            raise ModelError(
                f"joint {joint.name!r} mimics {leader!r}, whose rotor spins on a link, and has an"
                f" armature: their inertias cannot share one parameter; give {leader!r}"
                " the whole armature, or remove its rotor's ratio"
            )


def _rotor(
    joint: Joint,
    rotor: Rotor,
    coordinates: tuple[str, ...],
    bodies: tuple[Body, ...],
    frames: dict[str, Frame],
) -> MountedRotor:
    """Return the rotor of a joint on the body that carries it, which the joint must not move."""
    mount, pose = frames[rotor.mount]
    below = mount
    while below >= 0:
        if bodies[below].joint == joint.name:
            raise ModelError(
                f"joint {joint.name!r}: its rotor sits on {rotor.mount!r}, which the joint itself"
                " moves; mount it on an earlier link"
            )
        below = bodies[below].parent
    return MountedRotor(
        coordinates.index(joint.name), mount, rotor.ratio, apply(pose.R, rotor.axis)
    )


def _coupling(coupling: Coupling, coordinates: tuple[str, ...]) -> TreeCoupling:
    for name in (coupling.joint_a, coupling.joint_b):
        if name not in coordinates:
            raise ModelError(
                f"a coupling names {name!r}, which is not an independent moving joint;"
                f" {suggest(name, coordinates)}"
            )
    a, b = coordinates.index(coupling.joint_a), coordinates.index(coupling.joint_b)
    return TreeCoupling(coupling.joint_b, (a, b), coupling.terms)


def _known(torque: KnownTorque, coordinates: tuple[str, ...]) -> TreeKnown:
    joints = tuple(dict.fromkeys((torque.joint, *joints_in(torque.expression))))
    for name in joints:
        if name not in coordinates:
            raise ModelError(
                f"a known torque names {name!r}, which is not an independent moving joint;"
                f" {suggest(name, coordinates)}"
            )
    values = Terms((("known", torque.scale), ("expression", torque.expression), ("joints", joints)))
    return TreeKnown(torque.joint, tuple(coordinates.index(name) for name in joints), values)


def _moves(coupling: Coupling, ties: dict[str, Tie]) -> bool:
    """Return whether both joints of a coupling move."""
    return coupling.joint_a in ties and coupling.joint_b in ties


def depth_first_joints(mechanism: Mechanism) -> list[Joint]:
    """Return joints depth first from the root, siblings in document order."""
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
    """Return the coordinate of a joint, through mimics of mimics: k = k1 k2 ..., with offsets.

    With a fixed leader the position is constant.
    """
    multiplier, offset, seen = 1.0, 0.0, {joint.name}
    leader = joint
    while leader.mimic is not None:
        offset += multiplier * leader.mimic.offset
        multiplier *= leader.mimic.multiplier
        leader = mechanism.joint(leader.mimic.joint)
        if leader.name in seen:
            raise ModelError(
                f"joint {joint.name!r} mimics itself, through {' and '.join(sorted(seen))}: one of"
                " them must lead"
            )
        seen.add(leader.name)
    return Tie(leader.name, 0.0 if leader.kind == "fixed" else multiplier, offset)


def _frames(
    mechanism: Mechanism, walk: list[Joint], ties: dict[str, Tie], index: dict[str, int]
) -> dict[str, Frame]:
    frames = {mechanism.root: Frame(-1, Pose())}
    for joint in walk:
        if joint.name in index:
            frames[joint.child] = Frame(index[joint.name], Pose())
            continue
        body, pose = frames[joint.parent]
        offset = ties[joint.name].offset if joint.name in ties else 0.0
        frames[joint.child] = Frame(
            body, pose.compose(displaced(joint.kind, joint.origin, joint.axis, offset))
        )
    return frames


def _inertias(mechanism: Mechanism, frames: dict[str, Frame], count: int) -> list[Inertia]:
    total = [Inertia()] * count
    for link in mechanism.links:
        body, pose = frames[link.name]
        if link.inertia is not None:
            total[body] = total[body] + (
                link.inertia if pose == Pose() else moved(link.inertia, pose)
            )
    return total


def _body(
    joint: Joint, tied: Tie, places: dict[str, int], frames: dict[str, Frame], inertia: Inertia
) -> Body:
    parent, pose = frames[joint.parent]
    return Body(
        name=joint.child,
        joint=joint.name,
        parent=parent,
        kind="prismatic" if joint.kind == "prismatic" else "revolute",
        placement=joint.origin if pose == Pose() else pose.compose(joint.origin),
        axis=joint.axis,
        inertia=inertia,
        coordinate=places[tied.joint],
        multiplier=tied.multiplier,
        offset=tied.offset,
    )


def folded_limits(group: Iterable[tuple[Joint, float, float]]) -> Limits:
    """Return limits of the coordinate within which every joint (joint, k, o) respects its own.

    The effort is the effort limit of the leading joint.
    """
    lower, upper, velocity, effort = (
        Limits().lower,
        Limits().upper,
        Limits().velocity,
        Limits().effort,
    )
    for joint, k, o in group:
        ends = sorted(((joint.limits.lower - o) / k, (joint.limits.upper - o) / k))
        lower, upper = max(lower, ends[0]), min(upper, ends[1])
        velocity = min(velocity, joint.limits.velocity / abs(k))
        effort = joint.limits.effort if joint.mimic is None else effort
    return Limits(lower, upper, velocity, effort)


def tips(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the last link of every arm.

    On each body without children it is the last fixed link. Where several of those have a mass,
    such as the fingers of a rigid hand, each of them is one.
    """
    tree = reduce(mechanism)
    carrying, parents = (
        {body.parent for body in tree.bodies},
        {joint.parent for joint in mechanism.joints},
    )
    fixed: dict[int, list[str]] = {}
    for joint in depth_first_joints(mechanism):
        fixed.setdefault(tree.frames[joint.child].body, []).append(joint.child)
    frames: list[str] = []
    for body, links in fixed.items():
        if body >= 0 and body not in carrying:
            heavy = [link for link in links if link not in parents and _has_mass(mechanism, link)]
            frames += heavy if len(heavy) > 1 else links[-1:]
    return tuple(frames)


def tip(mechanism: Mechanism) -> str:
    """Return the end-effector: the only one of `tips`.

    Raises CallError with the candidates where there are several.
    """
    candidates = tips(mechanism)
    if len(candidates) != 1:
        what = (
            "has no moving body"
            if not candidates
            else f"ends in {len(candidates)} bodies: {', '.join(candidates)}"
        )
        raise CallError(f"{mechanism.name!r} {what}; name the frame")
    return candidates[0]


def _has_mass(mechanism: Mechanism, name: str) -> bool:
    inertia = mechanism.link(name).inertia
    return inertia is not None and inertia.m > 0.0
