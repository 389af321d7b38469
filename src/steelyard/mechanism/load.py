"""Loading of mechanisms from files by their content, or by the name of a known robot."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..arguments import short_repr
from ..errors import CallError, ModelError, suggest, translate_errors
from ..resource_limits import exists, names_beside, read_regular
from .known_robots import (
    BUILT_IN,
    EXAMPLES,
    built_in_names,
    built_in_text,
    description_path,
    example_files,
    in_package,
    require_name,
    robots,
)
from .model import Mechanism, Source

__all__ = ["load", "robots"]

SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".toml")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")
_BEFORE_TEXT = "\ufeff \t\r\n"


def load(source: str | os.PathLike[str]) -> Mechanism:
    """Load a mechanism from a .urdf, .xacro, .xml, .mjcf or .toml file, XML text or by name.

    A string that starts with "<" is the text of a description. An .xml file and a text are URDF or
    MJCF by their outermost element. A name without an ending is a known robot; a remark names a
    file of that name in the folder. `remarks` reports the changes of loading; a physically
    impossible inertia, and elements of an MJCF that are not modelled, are also a SteelyardWarning.
    """
    if isinstance(source, str) and source.lstrip(_BEFORE_TEXT).startswith("<"):
        return _from_text(source.lstrip(_BEFORE_TEXT))
    if not isinstance(source, (str, os.PathLike)):
        raise CallError(_no_description(source), argument="source")
    name = os.fspath(source)
    if isinstance(source, str) and (known := _known(name)) is not None:
        return known
    if isinstance(source, str) and (not source.strip() or "\n" in source):
        raise ModelError(
            f"{short_repr(source)} is not a robot description; expected a file that ends in"
            f" {', '.join(SUFFIXES)}, the text of a URDF or MJCF file, or one of"
            f" {', '.join(built_in_names())}"
        )
    path = Path(source)
    if not exists(path, ModelError):
        raise ModelError(_absent(path))
    if path.is_dir():
        raise ModelError(f"{path} is a folder; expected a file that ends in {', '.join(SUFFIXES)}")
    return _reader(path)(path)


def _reader(path: Path) -> Callable[[Path], Mechanism]:
    suffix = path.suffix.lower()
    if suffix == ".xml":
        suffix = _suffix_of_text(_decoded(path)[0], str(path))
    readers = {".urdf": _urdf, ".toml": _toml, ".mjcf": _mjcf, ".xacro": _xacro}
    if suffix not in readers:
        raise ModelError(
            f"{path}: files that end in {suffix or 'nothing'!r} are not known;"
            f" {suggest(suffix, SUFFIXES)}"
        )
    return readers[suffix]


def _from_text(text: str) -> Mechanism:
    """Return the mechanism of a URDF or MJCF text; an MJCF includes files of the working folder."""
    if _suffix_of_text(text, "the robot description") == ".mjcf":
        from .formats.mjcf.read_mjcf import read_mjcf

        return replace(read_mjcf(Path("MJCF"), text), source=Source("mjcf", text))
    from .formats.urdf.read_urdf import read_urdf

    encoding = _stated_encoding(text.encode("utf-8", errors="replace"))
    with translate_errors(f"URDF: its text cannot be encoded as {encoding}", ModelError):
        text.encode(encoding)
    return read_urdf(text, encoding=encoding)


def _suffix_of_text(text: str, where: str) -> str:
    """Return the suffix of files like this XML text, by its outermost element."""
    root = _outermost(text)
    suffix = {"robot": ".urdf", "mujoco": ".mjcf"}.get(root)
    if suffix is None:
        outermost = f"its outermost element is <{root}>" if root else "it has no XML element"
        raise ModelError(f"{where}: {outermost}; expected <robot> (URDF) or <mujoco> (MJCF)")
    return suffix


def _urdf(path: Path) -> Mechanism:
    from .formats.urdf.read_urdf import read_urdf

    text, encoding = _decoded(path)
    return read_urdf(text, str(path), encoding)


def _toml(path: Path) -> Mechanism:
    from .formats.toml.read_toml import read_toml

    return read_toml(_decoded(path)[0], str(path))


def _mjcf(path: Path) -> Mechanism:
    from .formats.mjcf.read_mjcf import read_mjcf

    text, encoding = _decoded(path)
    return replace(read_mjcf(path, text), source=Source("mjcf", text, str(path), encoding))


def _xacro(path: Path) -> Mechanism:
    from .formats.urdf.read_urdf import read_urdf
    from .formats.xacro import expand_xacro

    text = expand_xacro(path, _decoded(path)[0])
    return replace(read_urdf(text, f"{path} (expanded)"), source=Source("urdf", text))


def _outermost(text: str) -> str:
    """Return the name of the first element that stands in no comment."""
    start = 0
    while (start := text.find("<", start)) >= 0:
        if text.startswith("<!--", start):
            start = text.find("-->", start)
            if start < 0:
                break
        elif match := _ROOT.match(text, start):
            return match.group(1)
        else:
            start += 1
    return ""


def _decoded(path: Path) -> tuple[str, str]:
    """Return the text of a file, with its line ends, and its declared encoding."""
    data = read_regular(path, "text", ModelError)
    if not data.strip():
        raise ModelError(f"{path} is empty")
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    encoding = "utf-16" if utf16 else _stated_encoding(data.removeprefix(b"\xef\xbb\xbf"))
    with translate_errors(f"{path} is not {encoding} text: is it a robot description?", ModelError):
        return data.decode(encoding), encoding


def _stated_encoding(data: bytes) -> str:
    """Return the encoding that an XML declaration states, UTF-8 without one."""
    stated = _ENCODING.match(data)
    return stated.group(1).decode() if stated else "utf-8"


def _absent(path: Path) -> str:
    if path.suffix or len(path.parts) > 1:
        near = [name for name in names_beside(path) if name.endswith(SUFFIXES)]
        return f"there is no file {path}" + (f"; {suggest(path.name, near)}" if near else "")
    if beside := _files_beside(path.name):
        return f"{path.name!r} has no ending; write sy.load({beside[0]!r})"
    return (
        f"{path.name!r} is neither a file nor a known robot; {suggest(path.name.lower(), robots())}"
    )


def _files_beside(name: str) -> list[str]:
    """Return the descriptions in the working folder that are called like a robot."""
    return sorted(
        each
        for each in names_beside(Path(name))
        if Path(each).stem.lower() == name.lower() and Path(each).suffix.lower() in SUFFIXES
    )


def _known(name: str) -> Mechanism | None:
    """Return a robot by its name; None for names that no known robot has."""
    package, robot = in_package(name) or ("", name.lower())
    if package == BUILT_IN or (not package and robot in built_in_names()):
        mechanism = builtin(robot)
        beside = [] if package else _files_beside(robot)
        if not beside:
            return mechanism
        remark = (
            f"{name!r} is the built-in robot; the file in this folder is sy.load({beside[0]!r})"
        )
        return replace(mechanism, remarks=(*mechanism.remarks, remark))
    if package == EXAMPLES:
        return load(example_files()[require_name(robot, example_files(), EXAMPLES)])
    if package:
        return load(description_path(robot))
    is_name = Path(name).suffix.lower() not in SUFFIXES and not _files_beside(robot)
    return load(example_files()[robot]) if is_name and robot in example_files() else None


def _no_description(source: object) -> str:
    """Return what to write in place of an object that does not describe a robot."""
    package = "MjSpec" if hasattr(source, "to_xml") else type(source).__module__.partition(".")[0]
    answers = {
        "pinocchio": "a Pinocchio model has lost its description: load the file that it was built"
        " from, sy.load('robot.urdf')",
        "MjSpec": "load takes the text of a model: sy.load(spec.to_xml())",
        "mujoco": "write a MuJoCo model to a file first: mujoco.mj_saveLastXML('robot.xml', model);"
        " sy.load('robot.xml')",
        "steelyard": f"load takes a name or a file; this is a {type(source).__name__} already",
    }
    return answers.get(
        package,
        f"load takes the name of a robot, a file or the text of a URDF or MJCF file, not"
        f" {short_repr(source)}",
    )


def builtin(name: str) -> Mechanism:
    """Return the built-in robot of that name, in upper or lower case."""
    from .formats.toml.read_toml import read_toml

    key = require_name(name, built_in_names(), "steelyard")
    text = built_in_text(key)
    mechanism = read_toml(text, f"{key}.toml", warn=False)
    return replace(mechanism, source=Source("builtin", text), remarks=())
