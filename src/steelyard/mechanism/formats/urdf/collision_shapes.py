"""Collision and visual shapes of a URDF: boxes, cylinders, spheres and meshes of its links."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ....algebra.spatial import Pose
from ....errors import ModelError
from ...model import Mechanism
from .read_urdf import Notes, rpy_rotation, vector_attribute
from .xml_text import Element, parse

Kind = Literal["box", "cylinder", "sphere", "mesh"]


class CollisionShape(NamedTuple):
    """A shape at a pose in its link's frame.

    `sizes` are edges of a box, radius and length of a cylinder, radius of a sphere [m], factors of
    a mesh; `file` is the file of a mesh, None where it is not found.
    """

    link: str
    kind: Kind
    pose: Pose
    sizes: tuple[float, ...]
    file: Path | None = None


def collision_shapes(mechanism: Mechanism) -> tuple[CollisionShape, ...]:
    """Return the collision shapes of every link of the mechanism; None if it is not from a URDF."""
    return _shapes(mechanism, "collision")


def visual_shapes(mechanism: Mechanism) -> tuple[CollisionShape, ...]:
    """Return the visual shapes of every link of the mechanism; None if it is not from a URDF."""
    return _shapes(mechanism, "visual")


def _shapes(mechanism: Mechanism, tag: str) -> tuple[CollisionShape, ...]:
    source = mechanism.source
    if source is None or source.format != "urdf":
        return ()
    notes = Notes(source.path or "URDF")
    names = {link.name for link in mechanism.links}
    links = (
        element
        for element in parse(source.text, notes.where).all("link")
        if element.attributes.get("name") in names
    )
    shapes = [
        _shape(element, link.attributes["name"], source.path, notes)
        for link in links
        for element in link.all(tag)
    ]
    if notes.problems:
        raise ModelError(notes.problems[0])
    return tuple(shape for shape in shapes if shape is not None)


def _shape(element: Element, link: str, path: str | None, notes: Notes) -> CollisionShape | None:
    origin, geometry = element.first("origin"), element.first("geometry")
    pose = Pose(rpy_rotation(origin, notes), vector_attribute(origin, "xyz", notes))
    for child in geometry.children if geometry else ():
        if child.tag == "box":
            return CollisionShape(link, "box", pose, vector_attribute(child, "size", notes))
        if child.tag in ("cylinder", "capsule"):
            return CollisionShape(
                link, "cylinder", pose, _sizes(child, ("radius", "length"), notes)
            )
        if child.tag == "sphere":
            return CollisionShape(link, "sphere", pose, _sizes(child, ("radius",), notes))
        if child.tag == "mesh":
            factors = vector_attribute(child, "scale", notes, (1.0, 1.0, 1.0))
            return CollisionShape(
                link, "mesh", pose, factors, mesh_file(child.attributes.get("filename", ""), path)
            )
    return None


def _sizes(element: Element, keys: tuple[str, ...], notes: Notes) -> tuple[float, ...]:
    sizes = []
    for key in keys:
        text = element.attributes.get(key, "")
        try:
            sizes.append(float(text))
        except ValueError:
            notes.problem(element.line, f"<{element.tag}> has {key}={text!r}; expected a number")
    return tuple(sizes)


def mesh_file(name: str, path: str | None) -> Path | None:
    """Return the file of a mesh, None if it is absent.

    package://PACKAGE/REST is searched in the folders above the URDF, other names beside it.
    """
    if path is None:
        return None
    here = Path(path).resolve().parent
    if not name.startswith("package://"):
        direct = here / name.removeprefix("file://")
        return direct if _is_file(direct) else None
    package, _, rest = name.removeprefix("package://").partition("/")
    above = (here, *here.parents)
    places = [
        *(folder / package / rest for folder in above),
        *(folder / rest for folder in above if folder.name == package),
    ]
    return next((candidate for candidate in places if _is_file(candidate)), None)


def _is_file(path: Path) -> bool:
    """Return whether it is a file; False also for a name that the system refuses."""
    with suppress(OSError, ValueError):
        return path.is_file()
    return False
