"""MJCF compiled by the package mujoco in a separate process.

A description can ask for any number of bodies and any size of memory.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import ModelError, require_package, translate_errors
from ....isolation.child import call_isolated
from ....resource_limits import included_file, read_regular
from .unsupported_elements import couples_joints, is_loop, unsupported_in_model, unsupported_in_spec

FAILURE = "MuJoCo cannot compile it"
_BEGIN = re.compile(r"<(?:include|model)\b")  # elements that read another description
_INCLUDE = re.compile(r"""<(?:include|model)\b((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*)/?>""")
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')""")


def compiled(path: Path, text: str) -> tuple[Any, list[str]]:
    """Return the compiled MjModel of a file's text, and sentences about removed elements."""
    mujoco = import_mujoco()
    check_includes(path, text)
    binary, sentences = call_isolated(
        binary_model, (str(path), text), f"{path}: {FAILURE}", ModelError, ("mujoco",), len(text)
    )
    with translate_errors(f"{path}: {FAILURE}", ModelError):
        return mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": binary}), sentences


def check_includes(path: Path, text: str) -> None:
    """Raise ModelError if a file includes, even indirectly, one outside its folder.

    Includes in comments count too: other parsers may end comments elsewhere.
    """
    todo, known = [(path, text)], {path.resolve()}
    while todo:
        source, content = todo.pop()
        includes = _INCLUDE.findall(content)
        if len(includes) < len(_BEGIN.findall(content)):
            raise ModelError(f"{source}: it has an <include> or <model> that cannot be understood")
        names = [
            html.unescape(value[1:-1])
            for attributes in includes
            for key, value in _ATTRIBUTE.findall(attributes)
            if key == "file"
        ]
        for name in names:
            with translate_errors(
                f"{source}: it includes a file of a name that the system refuses", ModelError
            ):
                files = {
                    included_file(folder / name, path, ModelError)
                    for folder in (path.parent, source.parent)
                }
                files = {file for file in files if file.is_file()}
            for file in files - known:
                known.add(file)
                todo.append(
                    (file, read_regular(file, "text", ModelError).decode("utf-8", errors="replace"))
                )


def binary_model(name: str, text: str) -> tuple[bytes, list[str]]:
    """Return a file's compiled model in MuJoCo's binary form, and sentences about omitted parts.

    Runs in a separate process.
    """
    mujoco, path = import_mujoco(), Path(name).absolute()
    if hasattr(mujoco, "set_mju_user_warning"):
        mujoco.set_mju_user_warning(lambda _: None)  # else it writes a file into the folder
    with translate_errors(f"{name}: {FAILURE}", ModelError):
        try:
            spec = _parsed(mujoco, path, text)
            sentences = unsupported_in_spec(mujoco, spec)
            _reduce_spec(mujoco, spec)
        except ValueError as error:
            raise ModelError(f"{name}: {_one_line(error)}") from None
        model = _compiled(spec, name)
        sentences += unsupported_in_model(mujoco, model)
        buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes(), sentences


def _compiled(spec: Any, name: str) -> Any:
    bare = [
        body.name
        for body in spec.bodies
        if not body.explicitinertial and any(geom.meshname for geom in body.geoms)
    ]
    try:
        return spec.compile()
    except ValueError as error:
        hint = (
            f"; the inertia of {', '.join(map(repr, bare))} is computed from meshes: give them an"
            " <inertial>"
            if bare
            else ""
        )
        raise ModelError(f"{name}: {_one_line(error)}{hint}") from None


def _parsed(mujoco: Any, path: Path, text: str) -> Any:
    if path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    before = os.getcwd()
    try:
        # MuJoCo reads no other suffix from a file, and finds what a text includes from the working
        # directory
        os.chdir(path.parent)
        spec = mujoco.MjSpec.from_string(text)
    finally:
        os.chdir(before)
    spec.modelfiledir = str(path.parent)
    return spec


def import_mujoco() -> Any:
    """Return the package mujoco; raise an error that names the extra where it is missing."""
    require_package("mujoco", "mujoco", "reading MJCF")
    import mujoco

    return mujoco


def _reduce_spec(mujoco: Any, spec: Any) -> None:
    """Remove elements that are not modelled, and all that refers to files that may be absent."""
    coupling = {tendon.name for tendon in spec.tendons if couples_joints(mujoco, tendon)}
    others = [e for e in spec.equalities if not is_loop(mujoco, e, coupling)]
    drives = [a for a in spec.actuators if a.trntype != mujoco.mjtTrn.mjTRN_JOINT]
    used = {
        name
        for e in spec.equalities
        if e.type == mujoco.mjtEq.mjEQ_TENDON
        for name in (e.name1, e.name2)
    } & coupling
    tendons = [tendon for tendon in spec.tendons if tendon.name not in used]
    for group in (drives, others, tendons, spec.sensors, spec.pairs, spec.keys, spec.skins):
        _delete(spec, group)
    if spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        _delete(spec, [geom for geom in spec.geoms if geom.parent.explicitinertial])
    meshes = {geom.meshname for geom in spec.geoms if geom.meshname}
    for shape in (*spec.geoms, *spec.sites):
        shape.material = ""
    for group in (
        [mesh for mesh in spec.meshes if mesh.name not in meshes],
        spec.materials,
        spec.textures,
    ):
        _delete(spec, group)


def _delete(spec: Any, elements: Any) -> None:
    for element in list(elements):
        spec.delete(element) if hasattr(spec, "delete") else element.delete()


def _one_line(error: ValueError) -> str:
    return re.sub(r"\s+", " ", str(error)).removeprefix("Error: ").strip()
