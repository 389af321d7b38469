"""Freezing joints at positions, and thawing them with the parameters identified meanwhile."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..algebra.spatial import Inertia, Pose, minus, moved
from ..errors import CallError
from . import near_integers as snap
from .check import is_physical
from .known_torque import KnownTorque, with_fixed_joints
from .loops import loops_with_fixed_joints
from .model import Joint, Link, Mechanism
from .near_integers import displaced
from .parameter_vector import with_joint_values
from .reduce import reduce, tie


def freeze(mechanism: Mechanism, positions: Mapping[str, float]) -> Mechanism:
    """Return the mechanism with joints fixed at positions [rad|m]; their mimics are fixed too."""
    for name, value in positions.items():
        joint = mechanism.joint(name)
        if joint.kind == "fixed":
            raise CallError(f"joint {name!r} is fixed already")
        if joint.mimic is not None:
            raise CallError(f"joint {name!r} mimics {joint.mimic.joint!r}: freeze that one")
        if not math.isfinite(value):
            raise CallError(
                f"joint {name!r} cannot be frozen at {value}; expected a finite position [rad|m]"
            )
    known = tuple(
        with_fixed_joints(torque, positions)
        for torque in mechanism.known
        if torque.joint not in positions
    )
    mechanism = _with_friction_of_frozen_couplings(mechanism, positions)
    joints = tuple(_frozen_joint(mechanism, joint, positions) for joint in mechanism.joints)
    return replace(
        mechanism,
        joints=joints,
        known=known,
        **loops_with_fixed_joints(mechanism.loops, mechanism.driven, positions),
    )


def _with_friction_of_frozen_couplings(
    mechanism: Mechanism, positions: Mapping[str, float]
) -> Mechanism:
    """Keep the Coulomb friction of a motor that a joint shares with a frozen one.

    Fcm sign(qd_a + 0) becomes its own friction.
    """
    for each in mechanism.couplings:
        free = [name for name in (each.joint_a, each.joint_b) if name not in positions]
        if len(free) == 1 and each.terms.get("coulomb"):
            terms = reduce(mechanism).terms[reduce(mechanism).coordinates.index(free[0])]
            has_dry_friction = "coulomb" in terms or "negative" in terms or "stiction" in terms
            if has_dry_friction and (terms.get("width"), terms.get("stribeck")) != (
                each.terms.get("width"),
                None,
            ):
                raise CallError(
                    f"joint {free[0]!r} cannot take over the Coulomb friction that it shares with"
                    " the frozen joint: their widths differ, or it has a Stribeck velocity;"
                    " give them the same width, or remove the coupling first"
                )
            keys = [key for key in ("coulomb", "negative") if key == "coulomb" or key in terms]
            values = {key: terms.get(key, 0.0) + each.terms["coulomb"] for key in keys}
            if "width" in each.terms:
                values["width"] = each.terms["width"]
            mechanism = with_joint_values(mechanism, {free[0]: values})
    return mechanism


def _frozen_joint(mechanism: Mechanism, joint: Joint, positions: Mapping[str, float]) -> Joint:
    if joint.kind == "fixed":
        return joint
    leader, multiplier, offset = tie(mechanism, joint)
    if leader not in positions:
        return joint
    pose = displaced(
        joint.kind, joint.origin, joint.axis, multiplier * float(positions[leader]) + offset
    )
    return Joint(
        name=joint.name,
        kind="fixed",
        parent=joint.parent,
        child=joint.child,
        origin=Pose(snap.matrix(pose.R), pose.p),
        axis=joint.axis,
    )


def thaw(mechanism: Mechanism, whole: Mechanism) -> Mechanism:
    """Return the mechanism with its frozen joints movable again, as they are in `whole`.

    Links keep the inertias of `mechanism`, so that freezing again restores it. A link behind a
    frozen joint has its inertia of `whole` again, if the remainder of the link that carried it is
    physically possible; a remark reports where it is not.
    """
    here = {joint.name: joint for joint in mechanism.joints}
    names = {*here, *(link.name for link in mechanism.links)}
    absent = [
        name
        for name in (*(j.name for j in whole.joints), *(k.name for k in whole.links))
        if name not in names
    ]
    if absent:
        raise CallError(
            f"{mechanism.name!r} was not derived from {whole.name!r} by freezing joints: it has no"
            f" {absent[0]!r}"
        )
    frozen = {
        joint.name
        for joint in whole.joints
        if joint.kind != "fixed" and here[joint.name].kind == "fixed"
    }
    links, remarks = _with_inertias_behind_joints(mechanism, whole, frozen)
    joints = tuple(joint if joint.name in frozen else here[joint.name] for joint in whole.joints)
    known = _known(mechanism.known, whole.known)
    thawed = replace(
        mechanism, joints=joints, links=links, known=known, loops=whole.loops, driven=whole.driven
    )
    return replace(
        _without_friction_of_couplings(thawed, frozen), remarks=(*mechanism.remarks, *remarks)
    )


def _with_inertias_behind_joints(
    mechanism: Mechanism, whole: Mechanism, frozen: set[str]
) -> tuple[tuple[Link, ...], list[str]]:
    """Return links where those behind frozen joints have their own inertia.

    It is subtracted from the link that carried them.
    """
    tree, inertias = reduce(mechanism), {link.name: link.inertia for link in mechanism.links}
    taken = [
        link
        for link in whole.links
        if link.inertia is not None and link.inertia != inertias[link.name]
    ]
    carried = [link for link in taken if _is_behind_frozen_joint(whole, link.name, frozen)]
    new, remarks = dict(inertias), []
    for body in {tree.frames[link.name].body for link in carried}:
        name = tree.bodies[body].name if body >= 0 else whole.root
        mine = [
            link for link in carried if tree.frames[link.name].body == body and link.name != name
        ]
        theirs = sum(
            (moved(link.inertia or Inertia(), tree.frames[link.name].pose) for link in mine),
            start=Inertia(),
        )
        rest = minus(inertias[name] or Inertia(), theirs)
        if is_physical(rest):
            new |= {link.name: link.inertia for link in mine} | {name: rest}
        elif mine:
            names = ", ".join(link.name for link in mine)
            remarks.append(
                f"link {name!r} has the inertia of the links behind frozen joints; these have none:"
                f" {names}"
            )
    return tuple(replace(link, inertia=new[link.name]) for link in mechanism.links), remarks


def _is_behind_frozen_joint(whole: Mechanism, link: str, frozen: set[str]) -> bool:
    """Return whether a frozen joint precedes any moving one on the path from a link to the root."""
    above = {joint.child: joint for joint in whole.joints}
    while link in above and above[link].kind == "fixed":
        link = above[link].parent
    return link in above and above[link].name in frozen


def _known(now: Sequence[KnownTorque], before: Sequence[KnownTorque]) -> tuple[KnownTorque, ...]:
    """Return the known torques: of frozen joints unchanged, the others with their current scale."""
    current = {torque.joint: torque for torque in now}
    remaining = [
        replace(torque, scale=current[torque.joint].scale) if torque.joint in current else torque
        for torque in before
    ]
    return (
        *remaining,
        *(torque for torque in now if torque.joint not in {each.joint for each in remaining}),
    )


def _without_friction_of_couplings(mechanism: Mechanism, frozen: set[str]) -> Mechanism:
    """Take from a joint the Coulomb friction of a motor that it shares with a joint that was held.

    The coupling has it again.
    """
    for each in mechanism.couplings:
        free = [name for name in (each.joint_a, each.joint_b) if name not in frozen]
        if len(free) == 1 and each.terms.get("coulomb"):
            terms = reduce(mechanism).terms[reduce(mechanism).coordinates.index(free[0])]
            values = {
                key: max(terms[key] - each.terms["coulomb"], 0.0)
                for key in ("coulomb", "negative")
                if key in terms
            }
            mechanism = with_joint_values(mechanism, {free[0]: values})
    return mechanism
