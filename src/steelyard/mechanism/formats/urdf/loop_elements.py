"""Read and write loops and drives in URDF, which has no elements for them.

The extensions of Drake, Isaac Sim and Gazebo are read; steelyard's own extension is written.

- `<loop_joint name type><link1 link xyz rpy/><link2 link xyz rpy/><axis xyz/></loop_joint>` in
  <robot> (Drake, Isaac Sim);
- `<gazebo><joint name type>..</joint></gazebo>` with `<parent>a</parent><child>b</child>`,
  `<pose>..</pose>` and `<axis><xyz>..</xyz></axis>`, an SDF joint whose frame is given in the child
  at zero (Gazebo);
- `<steelyard><drive joint/><loop name kind a b xyz_a rpy_a xyz_b rpy_b .../></steelyard>` in
  <robot>: any loop of `mechanism.loops`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....algebra.rotation import from_rpy, to_rpy, unit
from ....algebra.spatial import Pose
from ....algebra.vector import IDENTITY, Matrix, Vector, cross
from ....errors import suggest
from ...loops import FRAME_KINDS, KINDS, Loop
from ...model import Joint
from .xml_text import Element, tag

TYPES = {
    "revolute": "axis",
    "continuous": "axis",
    "prismatic": "slider",
    "fixed": "weld",
    "ball": "point",
    "spherical": "point",
    "universal": "universal",
}
_NUMBERS = ("length", "ratio", "offset")


def read_loop_elements(
    robot: Element, joints: Sequence[Joint], problems: list[str], where: str
) -> tuple[tuple[Loop, ...], tuple[str, ...] | None]:
    """Return the loops and the driven joints of a mechanism; errors are added to `problems`."""
    ours = list(robot.all("steelyard"))
    candidates = [_loop_joint(element, problems, where) for element in robot.all("loop_joint")]
    outside = [joint for element in robot.all("gazebo") for joint in element.all("joint")]
    if outside:
        placed = zero_poses(joints)
        candidates += [_sdf_joint(joint, placed, problems, where) for joint in outside]
    candidates += [
        _extension_loop(element, problems, where) for each in ours for element in each.all("loop")
    ]
    drives = tuple(
        drive.attributes.get("joint", "") for each in ours for drive in each.all("drive")
    )
    none = any(each.attributes.get("drives") == "none" for each in ours)
    loops = tuple(loop for loop in candidates if loop is not None)
    return loops, drives if drives or none else None


def zero_poses(joints: Sequence[Joint]) -> dict[str, Pose]:
    """Return the pose of every child link in the root's frame, with all joints at zero."""
    carrying = {joint.child: joint for joint in joints}
    placed: dict[str, Pose] = {}

    def pose(link: str, depth: int = 0) -> Pose:
        if link not in placed:
            joint = carrying.get(link)
            placed[link] = (
                Pose()
                if joint is None or depth > len(joints)
                else pose(joint.parent, depth + 1).compose(joint.origin)
            )
        return placed[link]

    for joint in joints:
        pose(joint.child)
    return placed


def _loop_joint(element: Element, problems: list[str], where: str) -> Loop | None:
    kind = _kind(element, problems, where)
    ends = [element.first(name) for name in ("link1", "link2")]
    if kind is None or ends[0] is None or ends[1] is None:
        problems += (
            [
                f"{where}, line {element.line}: <loop_joint> needs <link1 link=...> and <link2"
                " link=...>"
            ]
            if kind
            else []
        )
        return None
    frames = [
        Pose(from_rpy(_three(end, "rpy", problems, where)), _three(end, "xyz", problems, where))
        for end in ends
        if end
    ]
    axis = element.first("axis")
    turn = _with_z(
        _three(axis, "xyz", problems, where) if axis is not None else (1.0, 0.0, 0.0), kind
    )
    a, b = (frame.compose(Pose(turn)) for frame in frames)
    return Loop(
        name=element.attributes.get("name", ""),
        kind=kind,
        a=ends[0].attributes.get("link", ""),
        b=ends[1].attributes.get("link", ""),
        at_a=a,
        at_b=b,
    )


def _sdf_joint(
    element: Element, placed: Mapping[str, Pose], problems: list[str], where: str
) -> Loop | None:
    kind = _kind(element, problems, where)
    texts = {
        name: child.text.strip() if (child := element.first(name)) is not None else ""
        for name in ("parent", "child", "pose")
    }
    axis = element.first("axis")
    xyz = axis.first("xyz") if axis is not None else None
    numbers = _numbers(texts["pose"] or "0 0 0 0 0 0", 6, element, "pose", problems, where)
    direction = _numbers(
        xyz.text if xyz is not None else "0 0 1", 3, element, "axis", problems, where
    )
    if kind is None:
        return None
    pose = Pose(
        from_rpy((numbers[3], numbers[4], numbers[5])), (numbers[0], numbers[1], numbers[2])
    )
    b = pose.compose(Pose(_with_z((direction[0], direction[1], direction[2]), kind)))
    a = (
        placed.get(texts["parent"], Pose())
        .inverse()
        .compose(placed.get(texts["child"], Pose()).compose(b))
    )
    return Loop(
        name=element.attributes.get("name", ""),
        kind=kind,
        a=texts["parent"],
        b=texts["child"],
        at_a=a,
        at_b=b,
    )


def _extension_loop(element: Element, problems: list[str], where: str) -> Loop | None:
    attributes = element.attributes
    kind = attributes.get("kind", "")
    if kind not in KINDS:
        problems.append(
            f"{where}, line {element.line}: <loop> has kind={kind!r}; {suggest(kind, KINDS)}"
        )
        return None
    numbers: dict[str, Any] = {
        key: _numbers(attributes[key], 1, element, key, problems, where)[0]
        for key in _NUMBERS
        if key in attributes
    }
    places: dict[str, Any] = {}
    for end in ("a", "b"):
        xyz, rpy = (_three(element, f"{what}_{end}", problems, where) for what in ("xyz", "rpy"))
        places[f"at_{end}"] = Pose(from_rpy(rpy) if any(rpy) else IDENTITY, xyz)
    texts = tuple(child.attributes.get("value", "") for child in element.all("residual"))
    return Loop(
        attributes.get("name", ""),
        kind,
        attributes.get("a", ""),
        attributes.get("b", ""),
        **places,
        **numbers,
        expressions=texts,
    )


def _kind(element: Element, problems: list[str], where: str) -> str | None:
    kind = element.attributes.get("type", "")
    if kind not in TYPES:
        name = element.attributes.get("name", "")
        problems.append(
            f"{where}, line {element.line}: loop joint {name!r} has type {kind!r};"
            f" {suggest(kind, TYPES)}"
        )
    return TYPES.get(kind)


def _three(element: Element, key: str, problems: list[str], where: str) -> Vector:
    x, y, z = _numbers(element.attributes.get(key, "0 0 0"), 3, element, key, problems, where)
    return (x, y, z)


def _numbers(
    text: str, count: int, element: Element, key: str, problems: list[str], where: str
) -> list[float]:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or any(abs(x) > 1e60 or x != x for x in values):
        problems.append(
            f"{where}, line {element.line}: <{element.tag}> has {key}={text!r}; expected {count}"
            " numbers"
        )
        return [0.0] * count
    return values


def _with_z(axis: Vector, kind: str) -> Matrix:
    """Return a rotation that brings z onto an axis, where the kind of loop has one."""
    z = unit(axis)
    if z is None or kind in ("point", "weld") or z == (0.0, 0.0, 1.0):
        return IDENTITY
    x = unit(cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z))
    assert x is not None
    y = cross(z, x)
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


def loop_lines(loops: Sequence[Loop], driven: Sequence[str] | None) -> list[str]:
    """Return the children of the <steelyard> element in <robot>."""
    lines = [tag("drive", {"joint": name}) for name in driven or ()]
    for loop in loops:
        opening = tag("loop", _attributes(loop))
        inner = [tag("residual", {"value": text}) for text in loop.expressions]
        lines += (
            [opening]
            if not inner
            else [opening.removesuffix("/>") + ">", *(f"  {line}" for line in inner), "</loop>"]
        )
    return lines


def _attributes(loop: Loop) -> dict[str, str]:
    attributes = {"name": loop.name, "kind": loop.kind}
    if loop.kind in FRAME_KINDS:
        attributes |= {"a": loop.a, "b": loop.b}
        for end, pose in (("a", loop.at_a), ("b", loop.at_b)):
            attributes |= {f"xyz_{end}": _decimals(pose.p), f"rpy_{end}": _decimals(to_rpy(pose.R))}
    elif loop.kind != "residual":
        attributes |= {"a": loop.a, "b": loop.b}
    return attributes | {
        key: repr(getattr(loop, key))
        for key in _NUMBERS
        if getattr(loop, key) != getattr(Loop("", ""), key)
    }


def _decimals(values: Sequence[float]) -> str:
    return " ".join(repr(x + 0.0) for x in values)
