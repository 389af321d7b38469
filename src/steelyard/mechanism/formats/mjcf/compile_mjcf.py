"""MJCF files compiled by the package mujoco, without meshes, pictures and sensors, which no dynamics needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ....errors import ModelError, needs_extra
from .left_out import left_out_of_spec


def compiled(path: Path) -> tuple[Any, list[str]]:
    """The compiled MjModel of a file and sentences about what was taken out of it before."""
    mujoco = import_mujoco()
    try:
        spec = _parsed(mujoco, path)
        sentences = left_out_of_spec(mujoco, spec)
        _reduce_spec(mujoco, spec)
        bare = [body.name for body in spec.bodies if not body.explicitinertial and any(geom.meshname for geom in body.geoms)]
    except ValueError as error:
        raise ModelError(f"{path}: {_one_line(error)}") from None
    try:
        return spec.compile(), sentences
    except ValueError as error:
        hint = f"; the inertia of {', '.join(map(repr, bare))} is computed from meshes: give them an <inertial>" if bare else ""
        raise ModelError(f"{path}: {_one_line(error)}{hint}") from None


def _parsed(mujoco: Any, path: Path) -> Any:
    if path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))  # MuJoCo reads no other suffix from a file
    spec.modelfiledir = str(path.parent)
    return spec


def import_mujoco() -> Any:
    """The package mujoco, or an error that names the extra."""
    try:
        import mujoco
    except ImportError:
        raise needs_extra("mujoco", "mujoco", "reading MJCF") from None
    return mujoco


def _reduce_spec(mujoco: Any, spec: Any) -> None:
    """Take out what is not modelled, and all that refers to files that may be absent."""
    others = [e for e in spec.equalities if e.type != mujoco.mjtEq.mjEQ_JOINT]
    drives = [a for a in spec.actuators if a.trntype != mujoco.mjtTrn.mjTRN_JOINT]
    for group in (drives, others, spec.tendons, spec.sensors, spec.pairs, spec.keys, spec.skins):
        _delete(spec, group)
    if spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        _delete(spec, [geom for geom in spec.geoms if geom.parent.explicitinertial])
    used = {geom.meshname for geom in spec.geoms if geom.meshname}
    for shape in (*spec.geoms, *spec.sites):
        shape.material = ""
    for group in ([mesh for mesh in spec.meshes if mesh.name not in used], spec.materials, spec.textures):
        _delete(spec, group)


def _delete(spec: Any, elements: Any) -> None:
    for element in list(elements):
        spec.delete(element) if hasattr(spec, "delete") else element.delete()


def _one_line(error: ValueError) -> str:
    return re.sub(r"\s+", " ", str(error)).removeprefix("Error: ").strip()
