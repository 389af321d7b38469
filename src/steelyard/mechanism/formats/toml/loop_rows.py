"""Loops and drives in TOML, read and written.

driven = ["crank"]                  # joints with a drive; all of them where it is absent
[[loops]]
name = "pin"
kind = "point"                      # one of mechanism.loops.KINDS
a = { link = "coupler", xyz = [0.4, 0, 0] }      # and rpy or rotation, as in an origin
b = { link = "rocker", xyz = [0.3, 0, 0] }
length = 0.5                        # of a distance [m]
[[loops]]
name = "wheels"
kind = "gear"                       # or rack: q_a = ratio q_b + offset
joint_a = "large"
joint_b = "small"
ratio = -0.5
[[loops]]
name = "cam"
kind = "residual"
expressions = ["q['follower'] - 0.01 * sin(q['shaft'])"]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....algebra.spatial import Pose
from ....errors import suggest
from ...loops import FRAME_KINDS, KINDS, Loop
from .keys import TomlKeys
from .rows import read_pose_keys


def read_loop_rows(keys: TomlKeys, angle: float) -> tuple[tuple[Loop, ...], tuple[str, ...] | None]:
    """Return the loops and the driven joints of a mechanism; problems are added to the keys."""
    rows = keys.tables("loops") if keys.has("loops") else []
    loops = tuple(_loop(row, angle) for row in rows)
    return loops, _names(keys, "driven") if keys.has("driven") else None


def _names(keys: TomlKeys, key: str) -> tuple[str, ...]:
    value = keys.data[key] if keys.has(key) else []
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        keys.problem(f"{key} = {value!r}; expected a list of strings")
        return ()
    return tuple(value)


def _loop(row: TomlKeys, angle: float) -> Loop:
    name, kind = row.text("name"), row.text("kind")
    if kind not in KINDS:
        row.problem(f"kind = {kind!r}; {suggest(kind, KINDS)}")
        return Loop(name, "residual", expressions=("0.0",))
    loop = Loop(name, kind)
    if kind in FRAME_KINDS:
        (a, at_a), (b, at_b) = _frame(row, "a", angle), _frame(row, "b", angle)
        loop = Loop(
            name=name,
            kind=kind,
            a=a,
            b=b,
            at_a=at_a,
            at_b=at_b,
            length=row.number("length", None) if kind == "distance" else 0.0,
        )
    elif kind == "residual":
        loop = Loop(name, kind, expressions=_names(row, "expressions"))
    else:
        loop = Loop(
            name,
            kind,
            row.text("joint_a"),
            row.text("joint_b"),
            ratio=row.number("ratio", None),
            offset=row.number("offset"),
        )
    row.done()
    return loop


def _frame(row: TomlKeys, key: str, angle: float) -> tuple[str, Pose]:
    keys = row.table(key)
    return keys.text("link"), read_pose_keys(keys, angle)


def loop_keys(loop: Loop, origin: Callable[[Pose], dict[str, Any]]) -> dict[str, Any]:
    """Return a row of [[loops]]; `origin` gives the keys of a pose."""
    row: dict[str, Any] = {"name": loop.name, "kind": loop.kind}
    if loop.kind in FRAME_KINDS:
        row |= {
            "a": {"link": loop.a} | origin(loop.at_a),
            "b": {"link": loop.b} | origin(loop.at_b),
        }
        return row | ({"length": loop.length} if loop.kind == "distance" else {})
    if loop.kind == "residual":
        return row | {"expressions": list(loop.expressions)}
    return (
        row
        | {"joint_a": loop.a, "joint_b": loop.b, "ratio": loop.ratio}
        | ({"offset": loop.offset} if loop.offset else {})
    )
