"""Loops: closures between two frames or two joints of a tree.

They describe parallel robots, linkages and gear trains. A closure is data. Its residual over
scalars, which is zero where the loop is closed, is in `dynamics.loops.closure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..algebra.rotation import from_rpy
from ..algebra.spatial import Pose
from ..arguments import short_repr
from ..compiler.ir.graph import Graph
from ..compiler.ir.program import Operand, trace
from ..errors import CallError, suggest
from .known_torque import (
    JointPositionAndRate,
    evaluate_expression,
    expression_problems,
    expression_text,
    expression_with_fixed_joints,
    joints_in,
)

FRAME_KINDS: dict[str, tuple[tuple[str, ...], str]] = {  # rows by name, and meaning
    "point": (("x", "y", "z"), "the origins coincide (a ball joint)"),
    "line": (("x", "y"), "the origin of b is on the z-axis of a"),
    "plane": (("z",), "the origin of b is in the xy-plane of a"),
    "axis": (("x", "y", "z", "rx", "ry"), "the z-axes and origins coincide (a hinge)"),
    "cylinder": (
        ("x", "y", "rx", "ry"),
        "the z-axes coincide; b turns about and slides along them",
    ),
    "slider": (("x", "y", "rx", "ry", "rz"), "the z-axes coincide; b only slides along them"),
    "universal": (
        ("x", "y", "z", "r"),
        (
            "the origins coincide, the x-axis of a and the y-axis of b are at right angles (a"
            " Cardan joint)"
        ),
    ),
    "parallel": (("rx", "ry"), "the z-axes have the same direction"),
    "weld": (("x", "y", "z", "rx", "ry", "rz"), "the frames coincide"),
    "distance": (("d",), "the origins are `length` apart (a rod with ball joints)"),
}
JOINT_KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    "gear": (("q",), "q_a = ratio q_b + offset, of two turns or two slides"),
    "rack": (
        ("q",),
        "q_a = ratio q_b + offset, of a slide and a turn; the ratio is the pinion's radius [m]",
    ),
    "residual": ((), "expressions of positions that are zero"),
}
KINDS = (*FRAME_KINDS, *JOINT_KINDS)


@dataclass(frozen=True, slots=True)
class Loop:
    """A closure of the kind `kind` (a key of `FRAME_KINDS` or `JOINT_KINDS`).

    Between frames: `a` and `b` are links, `at_a` and `at_b` the frames in them. Between joints: `a`
    and `b` are joints. `length` [m] belongs to a distance; `expressions` are user-defined
    residuals, arithmetic on q['joint'] as in `known_torque`.
    """

    name: str
    kind: str
    a: str = ""
    b: str = ""
    at_a: Pose = Pose()
    at_b: Pose = Pose()
    length: float = 0.0
    ratio: float = 1.0
    offset: float = 0.0
    expressions: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the scalars of its residual, such as loop.x."""
        if self.kind == "residual":
            return tuple(f"{self.name}.{k}" for k in range(1, len(self.expressions) + 1))
        return tuple(f"{self.name}.{row}" for row in (FRAME_KINDS | JOINT_KINDS)[self.kind][0])

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints whose positions it names."""
        if self.kind == "residual":
            return tuple(
                dict.fromkeys(joint for text in self.expressions for joint in joints_in(text))
            )
        return (self.a, self.b) if self.kind in JOINT_KINDS else ()


def fingerprint_of(loop: Loop) -> tuple[object, ...]:
    """Return the content of a loop for fingerprints.

    Its numbers and names; expressions by the joints they read and the digest of their graph.
    """
    plain = replace(loop, expressions=())
    if not loop.expressions:
        return (plain,)
    joints = loop.joints

    def residual(q: Sequence[object]) -> list[object]:
        states = {joint: JointPositionAndRate(x, 0.0) for joint, x in zip(joints, q, strict=True)}
        return [evaluate_expression(text, states) for text in loop.expressions]

    program = trace(
        "residual",
        residual,
        [Operand("q", (len(joints),))],
        [Operand("r", (len(loop.expressions),))],
    )
    return plain, joints, program.digest


def loops_with_fixed_joints(
    loops: Sequence[Loop], driven: Sequence[str] | None, positions: Mapping[str, float]
) -> dict[str, Any]:
    """Return `loops` and `driven` of a mechanism with some joints fixed at positions [rad|m]."""
    remaining = tuple(
        reduced for loop in loops if (reduced := with_fixed_joints(loop, positions)) is not None
    )
    return {
        "loops": remaining,
        "driven": (
            None if driven is None else tuple(name for name in driven if name not in positions)
        ),
    }


def with_fixed_joints(loop: Loop, positions: Mapping[str, float]) -> Loop | None:
    """Return the loop with some joints fixed at positions [rad|m].

    None where all of its joints are fixed.
    """
    if loop.kind not in JOINT_KINDS or not set(loop.joints) & set(positions):
        return loop
    if loop.kind != "residual":
        text = f"q[{loop.a!r}] - ({loop.ratio!r} * q[{loop.b!r}] + {loop.offset!r})"
        loop = Loop(loop.name, "residual", expressions=(text,))
    if set(loop.joints) <= set(positions):
        return None
    return replace(
        loop,
        expressions=tuple(
            expression_with_fixed_joints(text, positions) for text in loop.expressions
        ),
    )


def loop_problems(
    loops: Sequence[Loop],
    links: Sequence[str],
    joints: Mapping[str, str],
    driven: Sequence[str] | None,
) -> Iterator[tuple[str, str]]:
    """Return the errors of the loops and driven joints of a mechanism: (loop or joint, sentence).

    `joints`: name -> kind.
    """
    names = [loop.name for loop in loops]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield name, f"{names.count(name)} loops are called {name!r}; every loop needs its own name"
    for loop in loops:
        yield from ((loop.name, sentence) for sentence in _loop_problems(loop, links, joints))
    moving = [name for name, kind in joints.items() if kind != "fixed"]
    for name in driven or ():
        if name not in moving:
            yield (
                name,
                f"driven names {name!r}, which is not a moving joint; {suggest(name, moving)}",
            )
        elif list(driven or ()).count(name) > 1:
            yield name, f"driven names {name!r} more than once"


def _loop_problems(loop: Loop, links: Sequence[str], joints: Mapping[str, str]) -> Iterable[str]:
    if loop.kind not in KINDS:
        return [f"unknown kind {loop.kind!r}; {suggest(loop.kind, KINDS)}"]
    numbers = (
        *loop.at_a.p,
        *loop.at_b.p,
        *sum(loop.at_a.R, ()),
        *sum(loop.at_b.R, ()),
        loop.length,
        loop.ratio,
        loop.offset,
    )
    if not all(map(math.isfinite, numbers)):
        return ["its numbers must be finite"]
    if loop.kind in FRAME_KINDS:
        return _frame_problems(loop, links)
    return (
        _residual_problems(loop, joints)
        if loop.kind == "residual"
        else _joint_problems(loop, joints)
    )


def _frame_problems(loop: Loop, links: Sequence[str]) -> Iterator[str]:
    for role, name in (("a", loop.a), ("b", loop.b)):
        if name not in links:
            yield f"{role} = {name!r} is not a link of this robot; {suggest(name, links)}"
    if loop.a == loop.b:
        yield f"it joins {loop.a!r} to itself"
    if loop.kind == "distance" and not loop.length > 0.0:
        yield (
            f"length = {loop.length:g} m; a distance is positive (a loop of kind 'point' has none)"
        )


def _joint_problems(loop: Loop, joints: Mapping[str, str]) -> Iterator[str]:
    yield from _unknown_joints(loop, joints)
    if loop.a == loop.b:
        yield f"it couples joint {loop.a!r} to itself"
    if loop.ratio == 0.0:
        yield "its ratio is 0; expected any finite number but zero"
    slides = [joints.get(name) == "prismatic" for name in (loop.a, loop.b)]
    if loop.a in joints and loop.b in joints and (slides[0] != slides[1]) != (loop.kind == "rack"):
        yield "a gear couples two turns or two slides, a rack a slide and a turn"


def _residual_problems(loop: Loop, joints: Mapping[str, str]) -> Iterator[str]:
    if not loop.expressions:
        yield "it has no expression"
    for text in loop.expressions:
        problems = [
            sentence.replace("a known torque", "a residual")
            for sentence in expression_problems(text)
        ]
        yield from problems
        if not problems and "qd[" in text.replace(" ", ""):
            yield f"the residual {text[:60]!r} reads a velocity; a loop closes positions"
    if not any(True for text in loop.expressions for _ in expression_problems(text)):
        yield from _unknown_joints(loop, joints)
        if loop.expressions and not loop.joints:
            yield "its expressions read no joint"


def _unknown_joints(loop: Loop, joints: Mapping[str, str]) -> Iterator[str]:
    moving = [name for name, kind in joints.items() if kind != "fixed"]
    for name in loop.joints:
        if name not in moving:
            yield f"it names {name!r}, which is not a moving joint; {suggest(name, moving)}"


def residual_texts(function: Callable[..., Any], joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return the residuals of a function of the positions as expressions.

    The positions are n scalars in the order of `joint_names`. The function is run on expression
    nodes: arithmetic and the functions of `algebra.scalar` can be traced.
    """
    (q,) = Graph().inputs(len(joint_names))
    try:
        returned = function(q)
        values = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        texts = tuple(expression_text(x, joint_names, {}) for x in values)
    except Exception as error:  # noqa: BLE001 any error of a user's function: not traceable
        raise CallError(
            "the residual cannot be traced; expected a function of the positions, n scalars, by"
            " arithmetic and sin, cos, sqrt, exp, tanh, absolute, sign and where of"
            f" steelyard.algebra.scalar alone ({type(error).__name__}: {error})"
        ) from None
    return texts


def frame_at(frame: Any, argument: str = "at_a") -> Pose:
    """Return a frame in a link from a pose, a point, a point with angles, or a homogeneous matrix.

    Parameters
    ----------
    frame : None (the link's own frame), a Pose, a point (3,) [m], a pair of a point [m] and roll,
        pitch, yaw [rad], a dict {"xyz": point, "rpy": angles}, or a matrix (4, 4)
    argument : name of the argument, for the error
    """
    if frame is None or isinstance(frame, Pose):
        return frame or Pose()
    try:
        if isinstance(frame, Mapping):
            if set(frame) - {"xyz", "rpy"}:
                raise ValueError
            return _from_angles(
                frame.get("xyz", (0.0, 0.0, 0.0)), frame.get("rpy", (0.0, 0.0, 0.0))
            )
        if len(frame) == 4:
            return _from_matrix(frame)
        return _from_angles(*frame) if len(frame) == 2 else _from_angles(frame, (0.0, 0.0, 0.0))
    except (TypeError, ValueError):
        expected = (
            f"a point [m], {argument}=(0.1, 0, 0.2), or with roll, pitch, yaw [rad],"
            f" {argument}=((0.1, 0, 0.2), (0, 0, 1.57))"
        )
        raise CallError(
            f"with_loop: {argument} is {short_repr(frame)}; expected {expected}; or a Pose, or a"
            " matrix (4, 4)"
        ) from None


def link_and_frame(link: Any, frame: Any, argument: str) -> tuple[str, Pose]:
    """Return a link's name and the frame in it, from both, a pair (link, frame) or a dict.

    Parameters
    ----------
    link : name of a link or joint, (name, frame), or {"link": name, "xyz": point, "rpy": angles}
    frame : as for `frame_at`; None where the link has it
    argument : "a" or "b", for the error
    """
    if frame is None and isinstance(link, Mapping) and "link" in link:
        link, frame = link["link"], {key: value for key, value in link.items() if key != "link"}
    elif frame is None and isinstance(link, (tuple, list)) and len(link) == 2:
        link, frame = link
    if not isinstance(link, str):
        line = f'{argument}="link1", at_{argument}=(0.1, 0, 0.2)'
        raise CallError(
            f"with_loop: {argument} is {short_repr(link)}; expected the name of a link or joint:"
            f" {line}"
        )
    return link, frame_at(frame, f"at_{argument}")


def _from_angles(point: Any, angles: Any) -> Pose:
    x, y, z = (float(value) for value in point)
    roll, pitch, yaw = (float(value) for value in angles)
    R = from_rpy((roll, pitch, yaw)) if any((roll, pitch, yaw)) else Pose().R
    return Pose(R, (x, y, z))


def _from_matrix(rows: Any) -> Pose:
    """Return the pose of a homogeneous matrix; raises ValueError where it is none."""
    first, second, third, last = ([float(value) for value in row] for row in rows)
    R = [row[:3] for row in (first, second, third)]
    unit = [
        [sum(a * b for a, b in zip(p, q, strict=True)) - (i == j) for j, q in enumerate(R)]
        for i, p in enumerate(R)
    ]
    right_handed = (
        sum(R[0][i] * (R[1][i - 2] * R[2][i - 1] - R[1][i - 1] * R[2][i - 2]) for i in range(3)) > 0
    )
    if (
        last != [0.0, 0.0, 0.0, 1.0]
        or max(abs(x) for row in unit for x in row) > 1e-6
        or not right_handed
    ):
        raise ValueError
    rows = tuple(tuple(row) for row in R)
    return Pose(rows, (first[3], second[3], third[3]))
