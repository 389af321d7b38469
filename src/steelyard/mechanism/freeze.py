"""Joints that are held, and that move again: what is identified of an arm goes back into the whole robot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.spatial import Inertia, Pose, minus, moved
from ..errors import CallError
from . import near_integers as snap
from .check import is_physical
from .known_torque import KnownTorque, without_joints
from .loops import without_held
from .model import Joint, Link, Mechanism
from .near_integers import displaced
from .parameter_vector import with_joint_values
from .reduce import reduce, tie


def freeze(mechanism: Mechanism, positions: Mapping[str, float]) -> Mechanism:
    """The same mechanism with joints held at positions [rad|m]; what mimics them is held too. Held joints are fixed ones."""
    for name, value in positions.items():
        joint = mechanism.joint(name)
        if joint.kind == "fixed":
            raise CallError(f"joint {name!r} is fixed already")
        if joint.mimic is not None:
            raise CallError(f"joint {name!r} mimics {joint.mimic.joint!r}: freeze that one")
        if not math.isfinite(value):
            raise CallError(f"joint {name!r} cannot be held at {value}; expected a finite position [rad|m]")
    known = tuple(without_joints(torque, positions) for torque in mechanism.known if torque.joint not in positions)
    mechanism = _with_friction_of_held_couplings(mechanism, positions)
    joints = tuple(_held(mechanism, joint, positions) for joint in mechanism.joints)
    return replace(mechanism, joints=joints, known=known, **without_held(mechanism.loops, mechanism.driven, positions))


def _with_friction_of_held_couplings(mechanism: Mechanism, positions: Mapping[str, float]) -> Mechanism:
    """Let a joint keep the Coulomb friction of a motor that it shares with a joint that is held: Fcm sign(qd_a + 0) is its own."""
    for each in mechanism.couplings:
        free = [name for name in (each.joint_a, each.joint_b) if name not in positions]
        if len(free) == 1 and each.terms.get("coulomb"):
            own = reduce(mechanism).terms[reduce(mechanism).coordinates.index(free[0])]
            rubs = "coulomb" in own or "negative" in own or "stiction" in own
            if rubs and (own.get("width"), own.get("stribeck")) != (each.terms.get("width"), None):
                raise CallError(
                    f"joint {free[0]!r} cannot take over the Coulomb friction that it shares with the joint that is held: "
                    "their widths differ, or it has a Stribeck velocity; give them the same width, or take the coupling away first"
                )
            keys = [key for key in ("coulomb", "negative") if key == "coulomb" or key in own]
            wanted = {key: own.get(key, 0.0) + each.terms["coulomb"] for key in keys}
            if "width" in each.terms:
                wanted["width"] = each.terms["width"]
            mechanism = with_joint_values(mechanism, {free[0]: wanted})
    return mechanism


def _held(mechanism: Mechanism, joint: Joint, positions: Mapping[str, float]) -> Joint:
    if joint.kind == "fixed":
        return joint
    leader, multiplier, offset = tie(mechanism, joint)
    if leader not in positions:
        return joint
    pose = displaced(joint.kind, joint.origin, joint.axis, multiplier * float(positions[leader]) + offset)
    return Joint(joint.name, "fixed", joint.parent, joint.child, Pose(snap.matrix(pose.R), pose.p), joint.axis)


def thaw(mechanism: Mechanism, whole: Mechanism) -> Mechanism:
    """The same mechanism with the joints that `whole` can move and this one holds free again, and as they are in `whole`.

    Links keep the inertias of `mechanism`, so that with the joints held again it is what it was. A link behind a joint that was held has
    its inertia of `whole` again, if what is left for the link that carried it is a real body; a remark says so where it is not.
    """
    here = {joint.name: joint for joint in mechanism.joints}
    names = {*here, *(link.name for link in mechanism.links)}
    absent = [name for name in (*(j.name for j in whole.joints), *(k.name for k in whole.links)) if name not in names]
    if absent:
        raise CallError(f"{mechanism.name!r} was not made of {whole.name!r} by holding joints: it has no {absent[0]!r}")
    held = {joint.name for joint in whole.joints if joint.kind != "fixed" and here[joint.name].kind == "fixed"}
    links, remarks = _given_back(mechanism, whole, held)
    joints = tuple(joint if joint.name in held else here[joint.name] for joint in whole.joints)
    known = _known(mechanism.known, whole.known)
    made = replace(mechanism, joints=joints, links=links, known=known, loops=whole.loops, driven=whole.driven)
    return replace(_without_friction_of_couplings(made, held), remarks=(*mechanism.remarks, *remarks))


def _given_back(mechanism: Mechanism, whole: Mechanism, held: set[str]) -> tuple[tuple[Link, ...], list[str]]:
    """Links in which those that were carried through a held joint have their own inertia, taken from the link that carried them."""
    tree, own = reduce(mechanism), {link.name: link.inertia for link in mechanism.links}
    taken = [link for link in whole.links if link.inertia is not None and link.inertia != own[link.name]]
    carried = [link for link in taken if _behind(whole, link.name, held)]
    new, remarks = dict(own), []
    for body in {tree.frames[link.name].body for link in carried}:
        name = tree.bodies[body].name if body >= 0 else whole.root
        mine = [link for link in carried if tree.frames[link.name].body == body and link.name != name]
        theirs = sum((moved(link.inertia, tree.frames[link.name].pose) for link in mine), start=Inertia())  # type: ignore[arg-type]
        rest = minus(own[name] or Inertia(), theirs)
        if is_physical(rest):
            new |= {link.name: link.inertia for link in mine} | {name: rest}
        elif mine:
            names = ", ".join(link.name for link in mine)
            remarks.append(f"link {name!r} holds the inertia of links behind joints that were held; they hold none: {names}")
    return tuple(replace(link, inertia=new[link.name]) for link in mechanism.links), remarks


def _behind(whole: Mechanism, link: str, held: set[str]) -> bool:
    """Whether a held joint comes before any other that moves on the way from a link to the root."""
    above = {joint.child: joint for joint in whole.joints}
    while link in above and above[link].kind == "fixed":
        link = above[link].parent
    return link in above and above[link].name in held


def _known(now: Sequence[KnownTorque], before: Sequence[KnownTorque]) -> tuple[KnownTorque, ...]:
    """Known torques: those of held joints as they were, the others with the scale of now."""
    own = {torque.joint: torque for torque in now}
    kept = [replace(torque, scale=own[torque.joint].scale) if torque.joint in own else torque for torque in before]
    return (*kept, *(torque for torque in now if torque.joint not in {each.joint for each in kept}))


def _without_friction_of_couplings(mechanism: Mechanism, held: set[str]) -> Mechanism:
    """Take from a joint the Coulomb friction of a motor that it shares with a joint that was held: the coupling has it again."""
    for each in mechanism.couplings:
        free = [name for name in (each.joint_a, each.joint_b) if name not in held]
        if len(free) == 1 and each.terms.get("coulomb"):
            own = reduce(mechanism).terms[reduce(mechanism).coordinates.index(free[0])]
            wanted = {key: max(own[key] - each.terms["coulomb"], 0.0) for key in ("coulomb", "negative") if key in own}
            mechanism = with_joint_values(mechanism, {free[0]: wanted})
    return mechanism
