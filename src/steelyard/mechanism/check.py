"""Validation of mechanisms: every reader's result passes through it.

Invalid descriptions raise an error that lists every offender. Values that no real robot has, but
that can be computed with, are remarks.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..algebra.spatial import Inertia, at_com
from ..algebra.vector import full
from ..errors import ModelError, SteelyardWarning, suggest
from ..resource_limits import limits_in_force, too_much
from .joint_terms import BY_KEY, COUPLING_TERMS, JOINT_TERMS, JointTerm, Terms
from .known_torque import expression_problems
from .loops import loop_problems
from .model import Joint, Link, Mechanism
from .near_integers import snapped
from .reduce import reduce

SMALLEST = 1e-60  # kg: of less mass the centre cannot be computed
KINDS = ("revolute", "continuous", "prismatic", "fixed")
Locate = Callable[[str, str], str]  # (what, name) -> "arm.urdf, line 12"


def validated(mechanism: Mechanism, locate: Locate, warn: bool = True) -> Mechanism:
    """Return the mechanism, checked and snapped, with a remark if that changed it.

    Raises ModelError with every problem in it. With `warn`, a physically impossible inertia is a
    SteelyardWarning with its line in the file.
    """
    check_count(locate("robot", mechanism.name), max(len(mechanism.joints), len(mechanism.links)))
    problems = list(_problems(mechanism, locate))
    if problems:
        raise ModelError("\n".join(problems))
    mechanism = snapped(mechanism)
    for link in mechanism.links if warn else ():
        if sentence := inertia_problem(link.inertia):
            warnings.warn(
                f"{locate('link', link.name)}: {sentence}", SteelyardWarning, stacklevel=2
            )
    return mechanism


def check_count(where: str, count: int) -> None:
    """Raise ModelError if a robot has more links or joints than the limit on reading."""
    most = limits_in_force().joints
    if count > most:
        raise ModelError(
            f"{where}: "
            + too_much(
                f"it has {count} links and joints, more than the {most:g} allowed",
                "joints",
                2 * count,
            )
        )


def _problems(mechanism: Mechanism, locate: Locate) -> Iterable[str]:
    links, joints = mechanism.links, mechanism.joints
    if not links:
        yield f"{locate('robot', mechanism.name)}: it has no links"
        return
    structure = [
        *_duplicates("link", links, locate),
        *_duplicates("joint", joints, locate),
        *_unknown(mechanism, locate),
    ]
    yield from structure
    if not structure:
        yield from _tree_problems(mechanism, locate)
        yield from _circles(mechanism, locate)
    for link in links:
        yield from (f"{locate('link', link.name)}: {sentence}" for sentence in _link_problems(link))
    for joint in joints:
        yield from (
            f"{locate('joint', joint.name)}: {sentence}" for sentence in _joint_problems(joint)
        )
    yield from (
        f"{locate('robot', mechanism.name)}: {sentence}"
        for sentence in coupling_problems(mechanism)
    )
    yield from (
        f"{locate('robot', mechanism.name)}: {sentence}" for sentence in known_problems(mechanism)
    )
    kinds = {joint.name: joint.kind for joint in joints}
    for name, sentence in loop_problems(
        mechanism.loops, [link.name for link in links], kinds, mechanism.driven
    ):
        yield f"{locate('loop' if name not in kinds else 'joint', name)}: {sentence}"
    if not all(map(math.isfinite, mechanism.gravity)):
        yield (
            f"{locate('robot', mechanism.name)}: gravity {mechanism.gravity} must be three finite"
            " numbers [m/s2]"
        )


def _duplicates(
    what: str, things: Iterable[Link] | Iterable[Joint], locate: Locate
) -> Iterable[str]:
    for name, count in Counter(thing.name for thing in things).items():
        if count > 1:
            yield (
                f"{locate(what, name)}: {count} {what}s are called {name!r}; every {what} needs its"
                " own name"
            )


def _unknown(mechanism: Mechanism, locate: Locate) -> Iterable[str]:
    links, joints = (
        {link.name: None for link in mechanism.links},
        {joint.name: None for joint in mechanism.joints},
    )
    for joint in mechanism.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                yield (
                    f"{locate('joint', joint.name)}: its {role} {name!r} is not a link of this "
                    f"robot; {suggest(name, links)}"
                )
        if joint.rotor is not None and joint.rotor.mount not in links:
            known = suggest(joint.rotor.mount, links)
            yield (
                f"{locate('joint', joint.name)}: its rotor sits on {joint.rotor.mount!r}, which "
                f"is not a link; {known}"
            )
        if joint.mimic is not None and joint.mimic.joint not in joints:
            yield (
                f"{locate('joint', joint.name)}: it mimics {joint.mimic.joint!r}, which is not a "
                f"joint; {suggest(joint.mimic.joint, joints)}"
            )


def _circles(mechanism: Mechanism, locate: Locate) -> Iterable[str]:
    for joint in mechanism.joints:
        leader = joint
        followed = {joint.name: None}
        while leader.mimic is not None and leader.mimic.joint not in followed:
            leader = mechanism.joint(leader.mimic.joint)
            followed[leader.name] = None
        if leader.mimic is not None:
            yield (
                f"{locate('joint', joint.name)}: mimics go in a circle ({' -> '.join(followed)} ->"
                f" {leader.mimic.joint}): one must lead"
            )


def _tree_problems(mechanism: Mechanism, locate: Locate) -> Iterable[str]:
    carried: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        carried.setdefault(joint.child, []).append(joint)
    for child, by in carried.items():
        if len(by) > 1:
            names = " and ".join(repr(joint.name) for joint in by)
            yield (
                f"{locate('link', child)}: it has {len(by)} parents (joints {names}); a tree"
                " allows one"
            )
    roots = [link.name for link in mechanism.links if link.name not in carried]
    if len(roots) > 1:
        yield (
            f"{locate('link', roots[1])}: {len(roots)} links have no parent"
            f" ({', '.join(roots[:8])}); exactly one may be the base: join the others to it with"
            " fixed joints"
        )
    yield from _loops(mechanism, carried, roots, locate)


def _loops(
    mechanism: Mechanism, carried: dict[str, list[Joint]], roots: list[str], locate: Locate
) -> Iterable[str]:
    safe = set(roots)
    for link in mechanism.links:
        path: list[str] = []
        name = link.name
        while name not in safe and name not in path:
            path.append(name)
            name = carried[name][0].parent
        if name not in safe:
            circle = path[path.index(name) :]
            yield (
                f"{locate('link', name)}: links {' -> '.join([*reversed(circle), circle[-1]])} form"
                " a loop; a tree has none"
            )
        safe.update(path)


def _link_problems(link: Link) -> Iterable[str]:
    if link.inertia is None:
        return
    numbers = (link.inertia.m, *link.inertia.h, *link.inertia.I)
    if not all(map(math.isfinite, numbers)):
        yield "its mass, centre of mass and inertia must be finite numbers"
    elif link.inertia.m < 0:
        yield f"its mass is {link.inertia.m:g} kg; a mass cannot be negative"
    elif 0 < link.inertia.m < SMALLEST:
        yield f"its mass is {link.inertia.m:g} kg; expected 0 or at least {SMALLEST:g} kg"


def _joint_problems(joint: Joint) -> Iterable[str]:
    if joint.kind not in KINDS:
        yield f"unknown joint type {joint.kind!r}; {suggest(joint.kind, KINDS)}"
    if not all(
        map(
            math.isfinite,
            (*joint.origin.p, *joint.origin.R[0], *joint.origin.R[1], *joint.origin.R[2]),
        )
    ):
        yield "its origin must be finite numbers"
    length = math.sqrt(sum(x * x for x in joint.axis))
    if not abs(length - 1.0) < 1e-9:
        yield f"its axis {joint.axis} must be a unit vector"
    yield from _limit_problems(joint)
    yield from term_problems(joint.terms)
    yield from rotor_problems(joint)


def term_problems(values: Terms, table: Sequence[JointTerm] = JOINT_TERMS) -> Iterable[str]:
    """Return sentences about impossible values of joint terms.

    Not finite, a shape that is not positive, outside the valid range, a term without a term that
    it needs.
    """
    for row in table:
        value = values.get(row.key)
        if value is None:
            continue
        if not math.isfinite(value):
            yield (
                f"its {row.meaning} ({row.key}) is {value}; expected a finite number"
                f" [{'|'.join(row.unit)}]"
            )
        elif not row.linear and not value > 0:
            yield (
                f"its friction has {row.key} = {value:g}; expected a positive {row.meaning}"
                f" [{'|'.join(row.unit)}]"
            )
        elif not row.valid[0] <= value < row.valid[1]:
            yield (
                f"its {row.meaning} ({row.key}) is {value:g}; expected a number in"
                f" [{row.valid[0]:g}, {row.valid[1]:g})"
            )
        for needed in row.needs:
            if values.get(needed) is None:
                yield (
                    f"its friction has {row.key} but no {needed}, the {BY_KEY[needed].meaning} that"
                    " it depends on"
                )


def coupling_problems(mechanism: Mechanism) -> Iterable[str]:
    """Return the errors of the couplings of a mechanism."""
    names = {joint.name for joint in mechanism.joints}
    for each in mechanism.couplings:
        where = f"the coupling of {each.joint_a!r} and {each.joint_b!r}"
        if each.joint_a == each.joint_b:
            yield f"{where} needs two joints"
        for name in (each.joint_a, each.joint_b):
            if name not in names:
                yield f"{where}: no joint is called {name!r}; {suggest(name, names)}"
        yield from (f"{where}: {problem}" for problem in term_problems(each.terms, COUPLING_TERMS))
    seconds = [each.joint_b for each in mechanism.couplings]
    for name in sorted({name for name in seconds if seconds.count(name) > 1}):
        yield (
            f"{name!r} is joint_b of several couplings, whose terms are named after it: exchange"
            " joint_a and joint_b of one"
        )


def known_problems(mechanism: Mechanism) -> Iterable[str]:
    """Return the errors of the known torques of a mechanism."""
    names = [joint.name for joint in mechanism.joints]
    for each in mechanism.known:
        if each.joint not in names:
            yield (
                f"a known torque names {each.joint!r}, which is not a joint;"
                f" {suggest(each.joint, names)}"
            )
        yield from (
            f"known torque of {each.joint!r}: {problem}"
            for problem in expression_problems(each.expression)
        )


def rotor_problems(joint: Joint) -> Iterable[str]:
    """Return the errors of a joint's rotor."""
    if joint.rotor is None:
        return
    if not (math.isfinite(joint.rotor.ratio) and joint.rotor.ratio != 0.0):
        yield (
            f"its rotor has a gear ratio of {joint.rotor.ratio:g}; expected any finite number but"
            " zero"
        )
    length = math.sqrt(sum(x * x for x in joint.rotor.axis))
    if not abs(length - 1.0) < 1e-9:
        yield f"its rotor's axis {joint.rotor.axis} has length {length:g}; expected a unit vector"
    if joint.mimic is not None:
        yield (f"it mimics {joint.mimic.joint!r} and cannot have a rotor: give it to that joint")


def _limit_problems(joint: Joint) -> Iterable[str]:
    if joint.kind == "continuous" and (joint.limits.lower, joint.limits.upper) != (
        -math.inf,
        math.inf,
    ):
        yield "a continuous joint has no lower and upper limit; one that has is revolute"
    if not (joint.limits.velocity > 0 and joint.limits.effort > 0):
        yield (
            f"its limits of velocity {joint.limits.velocity:g} and effort {joint.limits.effort:g}"
            " must be positive"
        )
    if joint.kind != "fixed" and not joint.limits.lower <= joint.limits.upper:
        yield (
            f"its lower limit {joint.limits.lower:g} is above its upper limit"
            f" {joint.limits.upper:g}"
        )


def present_remarks(mechanism: Mechanism) -> Iterable[str]:
    """Return remarks on impossible inertias, bodies without mass and joints without friction.

    Edits may change each of them.
    """
    tree = reduce(mechanism)
    massless = [body.name for body in tree.bodies if body.inertia.m == 0.0]
    carrying = [
        body.name
        for body in tree.bodies
        if body.name not in massless and mechanism.link(body.name).inertia is None
    ]
    rubbing = {use.owner for use in tree.joint_terms if not use.row.inertial and use.value}
    idle = [name for name in tree.coordinates if name not in rubbing]
    yield from (
        f"link {link.name!r}: {sentence}"
        for link in mechanism.links
        if (sentence := inertia_problem(link.inertia))
    )
    if massless:
        yield f"moving bodies without mass: {', '.join(massless)}"
    if carrying:
        yield f"moving links without their own inertia: {', '.join(carrying)}"
    if idle:
        yield f"{len(idle)} of {tree.n} joints have no friction: {', '.join(idle)}"


TOLERANCE = 1e-9  # of the largest moment: a rod or a plate sits exactly on the boundary
# of the moments about the frame, from which those about the centre of mass are a difference
ROUNDING = 1e-14


def inertia_problem(inertia: Inertia | None) -> str:
    """Return a sentence about a physically impossible inertia, empty for a possible one.

    The pseudo-inertia [[tr(I)/2 1 - I, h], [h^T, m]] must be positive semidefinite; about the
    centre of mass that is m > 0 and I1 <= I2 + I3 for the principal moments. Wensing, Kim and
    Slotine 2018, eq. (8).
    """
    if inertia is None or not any((inertia.m, *inertia.h, *inertia.I)):
        return ""
    if inertia.m <= 0.0:
        return (
            f"its mass is {inertia.m:g} kg but it has a first moment or an inertia, which no real"
            " body has"
        )
    small, middle, large = principal_moments(inertia)
    slack = TOLERANCE * abs(large) + ROUNDING * (
        abs(inertia.I.xx) + abs(inertia.I.yy) + abs(inertia.I.zz)
    )
    if small < -slack:
        return (
            f"its smallest principal moment about the centre of mass is {small:.6g} kg m2, which no"
            " real body has"
        )
    if large > small + middle + slack:
        return (
            f"its principal moments about the centre of mass are {small:.6g}, {middle:.6g} and"
            f" {large:.6g} kg m2; no real body has one larger than the sum of the others"
        )
    return ""


def is_physical(inertia: Inertia) -> bool:
    """Return whether a real body can have this inertia; zero inertia counts as possible."""
    return not inertia_problem(inertia)


def principal_moments(inertia: Inertia) -> tuple[float, float, float]:
    """Return the principal moments about the centre of mass, ascending [kg m2]; needs a mass."""
    small, middle, large = np.linalg.eigvalsh(np.array(full(at_com(inertia)[2]), dtype=float))
    return float(small), float(middle), float(large)
