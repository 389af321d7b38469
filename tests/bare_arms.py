"""Arms whose collision meshes are absent, and an independent check of motions.

Forward kinematics is read from the URDF's XML; distances are those of points along the links.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import distribution
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
CLOSE, MOSTLY, THIN = 0.03, 0.95, 0.6  # pairs that are nearer in most positions are built so
POINTS = 9  # along a link
THICKNESS = 0.04
UR10E = {"d1": 0.1807, "a2": -0.6127, "a3": -0.57155, "d4": 0.17415, "d5": 0.11985, "d6": 0.11655}
MASSES = (7.369, 13.051, 3.989, 2.1, 1.98, 0.615)


def ur10e() -> str:
    """Return a UR10e as URDF, from its standard DH parameters; its meshes are nowhere."""
    k = UR10E
    half = np.pi / 2
    rows = [
        ((0, 0, k["d1"]), (half, 0, 0)),
        ((k["a2"], 0, 0), (0, 0, 0)),
        ((k["a3"], 0, k["d4"]), (half, 0, 0)),
        ((0, 0, k["d5"]), (-half, 0, 0)),
        ((0, 0, k["d6"]), (0, 0, 0)),
    ]
    places = [((0, 0, 0), (0, 0, 0)), *rows]
    speeds, efforts = (2.094, 2.094, 3.14, 3.14, 3.14, 3.14), (330, 330, 150, 54, 54, 54)
    text = ['<robot name="ur10e">', _link("base_link", 4.0)]
    for i, (xyz, rpy) in enumerate(places):
        parent, child = ("base_link" if i == 0 else f"link_{i}"), f"link_{i + 1}"
        ends = [xyz for xyz, _ in places[i + 1 : i + 2]] or [(0, 0, 0.03)]
        text.append(_link(child, MASSES[i], tuple(0.5 * float(x) for x in ends[0])))
        text.append(
            f'<joint name="joint_{i + 1}" type="revolute"><parent link="{parent}"/><child'
            f' link="{child}"/><origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/><axis xyz="0 0'
            f' 1"/><limit lower="-3.14" upper="3.14" velocity="{speeds[i]}"'
            f' effort="{efforts[i]}"/></joint>'
        )
    return "\n".join([*text, "</robot>"])


def _link(name: str, mass: float, centre: tuple[float, ...] = (0, 0, 0.02)) -> str:
    inertia = " ".join(f'{axis}="{0.02 * mass}"' for axis in ("ixx", "iyy", "izz"))
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{_text(centre)}"/>'
        f'<inertia {inertia} ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        f'<mesh filename="package://ur_description/meshes/ur10e/{name}.stl"/>'
        "</geometry></collision></link>"
    )


def _text(values: tuple[float, ...]) -> str:
    return " ".join(f"{float(x):.9g}" for x in values)


def installed_text(path: str) -> str:
    """Return a URDF of the package example-robot-data."""
    folder = distribution("example-robot-data").locate_file(
        "cmeel.prefix/share/example-robot-data/robots"
    )
    return (Path(str(folder)) / path).read_text(encoding="utf-8")


class PlacedJoint(NamedTuple):
    """A joint of the URDF: parent, child, pose (4, 4), axis (3,), coordinate and multiplier."""

    parent: str
    child: str
    origin: Array
    kind: str
    axis: Array
    name: str
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True, eq=False)
class PlainArm:
    """An arm as its URDF describes it, for joints in the order of `names`."""

    text: str
    names: tuple[str, ...]

    @cached_property
    def joints(self) -> list[PlacedJoint]:
        """The joints, parents first."""
        rows = {}
        for element in ElementTree.fromstring(self.text).iter("joint"):
            if element.find("parent") is None:
                continue
            origin, axis, mimic = (element.find(tag) for tag in ("origin", "axis", "mimic"))
            X = np.eye(4)
            if origin is not None:
                X[:3, 3] = np.fromstring(origin.get("xyz", "0 0 0"), sep=" ")
                X[:3, :3] = Rotation.from_euler(
                    "xyz", np.fromstring(origin.get("rpy", "0 0 0"), sep=" ")
                ).as_matrix()
            z = np.fromstring("1 0 0" if axis is None else axis.get("xyz", "1 0 0"), sep=" ")
            follows = mimic is not None and (
                mimic.get("joint"),
                float(mimic.get("multiplier", 1)),
                float(mimic.get("offset", 0)),
            )
            parent = element.find("parent").get("link")  # type: ignore[union-attr]
            child = element.find("child").get("link")  # type: ignore[union-attr]
            rows[child] = PlacedJoint(
                parent, child, X, element.get("type"), z, element.get("name"), follows or None
            )  # type: ignore[arg-type]
        ordered: list[PlacedJoint] = []
        while len(ordered) < len(rows):
            known = {row.child for row in ordered}
            ordered += [
                row
                for row in rows.values()
                if row.child not in known and (row.parent in known or row.parent not in rows)
            ]
        return ordered

    def poses(self, q: Array) -> dict[str, Array]:
        """Return the poses (N, 4, 4) of all links at positions q (N, n)."""
        placed: dict[str, Array] = {}
        for joint in self.joints:
            X = placed.setdefault(joint.parent, np.tile(np.eye(4), (len(q), 1, 1))) @ joint.origin
            if joint.kind != "fixed":
                leader, k, offset = joint.mimic or (joint.name, 1.0, 0.0)
                value = (
                    k * q[:, self.names.index(leader)] + offset
                    if leader in self.names
                    else np.full(len(q), offset)
                )
                motion = np.tile(np.eye(4), (len(q), 1, 1))
                if joint.kind == "prismatic":
                    motion[:, :3, 3] = value[:, None] * joint.axis
                else:
                    motion[:, :3, :3] = Rotation.from_rotvec(
                        value[:, None] * joint.axis
                    ).as_matrix()
                X = X @ motion
            placed[joint.child] = X
        return placed

    @property
    def radius(self) -> float:
        """The radius of links that a motion must at least expect [m]: 4 % of their lengths."""
        moving = [joint.origin[:3, 3] for joint in self.joints if joint.kind != "fixed"]
        return THICKNESS * sum(float(np.linalg.norm(p)) for p in moving)

    @cached_property
    def body(self) -> dict[str, str]:
        """The link that moves each link: itself, or what it is fixed to."""
        found: dict[str, str] = {}
        for joint in self.joints:
            found.setdefault(joint.parent, "base")
            found[joint.child] = found[joint.parent] if joint.kind == "fixed" else joint.child
        return found

    @cached_property
    def carrier(self) -> dict[str, str]:
        """The body that carries each body."""
        return {
            joint.child: self.body[joint.parent] for joint in self.joints if joint.kind != "fixed"
        }

    def segments(self) -> list[tuple[str, Array]]:
        """Return links and points (POINTS, 3) from their origin to a joint that they carry."""
        share = np.linspace(0, 1, POINTS)[:, None]
        rows = [(joint.parent, share * joint.origin[:3, 3]) for joint in self.joints]
        return [(name, points) for name, points in rows if np.linalg.norm(points[-1]) > 1e-6]

    def distances(self, q: Array) -> dict[tuple[str, str], Array]:
        """Return the distances (N,) [m] between the axes of links that are not neighbours."""
        placed, found = self.poses(q), {}
        rows = [
            (name, points @ placed[name][:, :3, :3].swapaxes(1, 2) + placed[name][:, None, :3, 3])
            for name, points in self.segments()
        ]
        for (a, one), (b, two) in combinations(rows, 2):
            x, y = self.body[a], self.body[b]
            if x == y or self.carrier.get(x) == y or self.carrier.get(y) == x:
                continue
            gap = np.sqrt(np.sum((one[:, :, None] - two[:, None]) ** 2, axis=-1)).min(axis=(1, 2))
            found[a, b] = np.minimum(gap, found.get((a, b), np.inf))
        return found

    def radii(self, radius: float, lower: Array, upper: Array) -> dict[tuple[str, str], float]:
        """Return the sum of radii [m] of the pairs that can be apart.

        Thin ones where links are built close together.
        """
        q = np.random.default_rng(7).uniform(lower, upper, (400, len(lower)))
        found = {}
        for pair, gap in self.distances(q).items():
            usual = float(np.quantile(gap, MOSTLY))
            sums = [total for total in (2 * radius, 2 * THIN * radius) if usual - total > CLOSE]
            if sums:
                found[pair] = sums[0]
        return found


class Judged(NamedTuple):
    """The lowest origin of a frame [m], and the smallest distance between links [m] with its
    pair.
    """

    lowest: float
    nearest: float
    pair: tuple[str, str]


def judge(arm: PlainArm, lower: Array, upper: Array, q: Array) -> Judged:
    """Judge positions q (N, n) by links as capsules."""
    lowest = min(float(X[:, 2, 3].min()) for X in arm.poses(q).values())
    radii = arm.radii(arm.radius, lower, upper)
    nearest = (np.inf, ("", ""))
    for part in np.array_split(q, max(1, len(q) // 2000)):
        gaps = arm.distances(part)
        nearest = min(
            [nearest, *((float(gaps[pair].min()) - total, pair) for pair, total in radii.items())]
        )
    return Judged(lowest, *nearest)
