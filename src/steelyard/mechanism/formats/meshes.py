"""Triangles of mesh files: STL (text or binary), OBJ and COLLADA, without colours and textures."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, suggest, translate_errors
from ...resource_limits import read_regular
from .urdf.xml_text import Element, parse

Triangles = NDArray[np.float32]
RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
MOST = 400_000  # triangles that are taken of a file


def mesh_triangles(path: Path) -> Triangles:
    """Return the corners (T, 3, 3) of the triangles of a mesh file, in its own unit.

    ModelError if it cannot be read.
    """
    collada = partial(dae_triangles, where=f"the mesh {path}")
    readers: dict[str, Callable[[bytes], Triangles]] = {
        ".stl": stl_triangles,
        ".obj": obj_triangles,
        ".dae": collada,
    }
    kind = path.suffix.lower()
    if kind not in readers:
        raise ModelError(
            f"{path}: meshes that end in {kind!r} are not read; {suggest(kind, readers)}"
        )
    data = read_regular(path, "memory", ModelError)
    with translate_errors(f"{path}: not a mesh that can be read", ModelError):
        triangles = readers[kind](data)
    if not len(triangles) or not np.all(np.isfinite(triangles)):
        raise ModelError(f"{path}: expected a mesh with triangles, all of them finite")
    return triangles[:MOST]


def stl_triangles(data: bytes) -> Triangles:
    """Return the triangles of an STL; a binary one is known by its length."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + count * RECORD.itemsize and count:
        return np.frombuffer(data, RECORD, count, 84)["corners"].copy()
    numbers = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
    return np.array(numbers, dtype=np.float32).reshape(-1, 3, 3)


def obj_triangles(data: bytes) -> Triangles:
    """Return the triangles of an OBJ; a face with more corners is a fan."""
    points, faces = list[list[float]](), list[list[int]]()
    for line in data.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(x) for x in rest[:3]])
        elif word == "f":
            corners = [int(x.split("/")[0]) for x in rest]
            corners = [x - 1 if x > 0 else len(points) + x for x in corners]
            faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(points, dtype=np.float32)[np.array(faces, dtype=int).reshape(-1, 3)]


def dae_triangles(data: bytes, where: str = "COLLADA") -> Triangles:
    """Return the triangles of a COLLADA file in metres, z upwards, placed by its scene.

    `where` names the file in messages.
    """
    root = parse(data.decode("utf-8", "replace"), where)
    asset = root.first("asset")
    unit = asset.first("unit") if asset else None
    scale = float(unit.attributes.get("meter", "1")) if unit else 1.0
    meshes = {
        each.attributes.get("id", ""): _dae_mesh(each)
        for group in root.all("library_geometries")
        for each in group.all("geometry")
    }
    placed = [
        _dae_node(node, meshes, np.eye(4))
        for group in root.all("library_visual_scenes")
        for scene in group.all("visual_scene")
        for node in scene.all("node")
    ]
    flat = [each for several in placed for each in several] or list(meshes.values())
    triangles = (
        np.concatenate([each for each in flat if len(each)]) * scale
        if any(len(each) for each in flat)
        else np.empty((0, 3, 3))
    )
    axis = asset.first("up_axis") if asset else None
    if axis is not None and _text(axis) == "Y_UP":
        triangles = np.stack([triangles[..., 0], -triangles[..., 2], triangles[..., 1]], axis=-1)
    return triangles.astype(np.float32)


def _dae_node(
    node: Element, meshes: dict[str, Triangles], above: NDArray[np.float64], depth: int = 0
) -> list[Triangles]:
    """Return the triangles below a node of the scene."""
    if depth > 50:
        return []
    placed = above
    for child in node.children:
        if child.tag == "matrix":
            placed = placed @ np.array(_text(child).split(), dtype=float).reshape(4, 4)
        elif child.tag == "translate":
            shift = np.eye(4)
            shift[:3, 3] = np.array(_text(child).split(), dtype=float)
            placed = placed @ shift
        elif child.tag == "scale":
            placed = placed @ np.diag([*np.array(_text(child).split(), dtype=float), 1.0])
        elif child.tag == "rotate":
            placed = placed @ _turn(np.array(_text(child).split(), dtype=float))
    triangles = [
        meshes.get(each.attributes.get("url", "").removeprefix("#"))
        for each in node.all("instance_geometry")
    ]
    local = [
        (each @ placed[:3, :3].T + placed[:3, 3]).astype(np.float32)
        for each in triangles
        if each is not None
    ]
    return local + [
        mesh for child in node.all("node") for mesh in _dae_node(child, meshes, placed, depth + 1)
    ]


def _turn(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix (4, 4) of an axis and an angle [deg] by Rodrigues' formula."""
    axis, angle = numbers[:3] / np.linalg.norm(numbers[:3]), np.radians(numbers[3])
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return matrix


def _dae_mesh(geometry: Element) -> Triangles:
    """Return the triangles of one geometry; polygons are fans."""
    mesh = geometry.first("mesh")
    if mesh is None:
        return np.empty((0, 3, 3), np.float32)
    sources = {
        each.attributes.get("id", ""): each.first("float_array") for each in mesh.all("source")
    }
    vertices = mesh.first("vertices")
    by_vertex = (
        next((each.attributes.get("source", "") for each in vertices.all("input")), "")
        if vertices
        else ""
    )
    array = sources.get(by_vertex.removeprefix("#"))
    points = np.array(_text(array).split() if array else [], dtype=np.float32).reshape(-1, 3)
    parts = [points[_corners(each)] for tag in ("triangles", "polylist") for each in mesh.all(tag)]
    return np.concatenate([np.empty((0, 3, 3), np.float32), *parts])


def _corners(part: Element) -> NDArray[np.intp]:
    """Return the vertices (T, 3) of a list of triangles or polygons."""
    inputs = list(part.all("input"))
    stride = 1 + max((int(each.attributes.get("offset", "0")) for each in inputs), default=0)
    position = next(
        (
            int(each.attributes.get("offset", "0"))
            for each in inputs
            if each.attributes.get("semantic") == "VERTEX"
        ),
        0,
    )
    listed = part.first("p")
    numbers = np.array(_text(listed).split() if listed else [], dtype=np.intp).reshape(-1, stride)[
        :, position
    ]
    counts = part.first("vcount")
    if counts is None:
        return numbers.reshape(-1, 3)
    corners, start = list[tuple[int, int, int]](), 0
    for count in map(int, _text(counts).split()):
        corners += [
            (int(numbers[start]), int(numbers[start + k]), int(numbers[start + k + 1]))
            for k in range(1, count - 1)
        ]
        start += count
    return np.array(corners, dtype=np.intp).reshape(-1, 3)


def _text(element: Element | None) -> str:
    return "" if element is None else element.text.strip()
