"""Compiling MJCF with MuJoCo, after taking out what dynamics does not need, so that absent meshes and textures never stop it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ....errors import ModelError, needs_extra


def compiled(path: Path) -> tuple[Any, list[str]]:
    """The compiled MjModel of a file and remarks about what was left out of it."""
    mujoco = imported()
    try:
        spec = _parsed(mujoco, path)
        remarks = _slimmed(mujoco, spec)
        bare = [body.name for body in spec.bodies if not body.explicitinertial and any(geom.meshname for geom in body.geoms)]
    except ValueError as error:
        raise ModelError(f"{path}: {_sentence(error)}") from None
    try:
        return spec.compile(), remarks
    except ValueError as error:
        hint = f"; the inertia of {', '.join(map(repr, bare))} is computed from meshes: give them an <inertial>" if bare else ""
        raise ModelError(f"{path}: {_sentence(error)}{hint}") from None


def _parsed(mujoco: Any, path: Path) -> Any:
    if path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))  # MuJoCo reads no other suffix from a file
    spec.modelfiledir = str(path.parent)
    return spec


def imported() -> Any:
    try:
        import mujoco
    except ImportError:
        raise needs_extra("mujoco", "mujoco", "reading MJCF") from None
    return mujoco


def _slimmed(mujoco: Any, spec: Any) -> list[str]:
    remarks = _without_couplings(mujoco, spec)
    for group in (spec.sensors, spec.pairs, spec.keys, spec.skins):
        _delete(spec, group)
    if spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        _delete(spec, [geom for geom in spec.geoms if geom.parent.explicitinertial])
    used = {geom.meshname for geom in spec.geoms if geom.meshname}
    for geom in spec.geoms:
        geom.material = ""
    for site in spec.sites:
        site.material = ""
    _delete(spec, [mesh for mesh in spec.meshes if mesh.name not in used])
    _delete(spec, spec.materials)
    _delete(spec, spec.textures)
    return remarks


def _without_couplings(mujoco: Any, spec: Any) -> list[str]:
    """Takes out tendons and constraints other than between joints; says so."""
    others = [e for e in spec.equalities if e.type != mujoco.mjtEq.mjEQ_JOINT]
    drives = [a for a in spec.actuators if a.trntype != mujoco.mjtTrn.mjTRN_JOINT]
    counts = {"tendon": len(spec.tendons), "equality constraint that is not between joints": len(others)}
    _delete(spec, drives)
    _delete(spec, others)
    _delete(spec, spec.tendons)
    return [f"left out: {count} x {what}" for what, count in counts.items() if count]


def _delete(spec: Any, elements: Any) -> None:
    for element in list(elements):
        spec.delete(element) if hasattr(spec, "delete") else element.delete()


def _sentence(error: ValueError) -> str:
    return re.sub(r"\s+", " ", str(error)).removeprefix("Error: ").strip()
