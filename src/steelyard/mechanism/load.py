"""Loading of mechanisms from files by their content, or by the name of a built-in robot."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ..arguments import short_repr
from ..errors import ModelError, suggest, translate_errors
from ..resource_limits import exists, names_beside, read_regular
from .model import Mechanism, Source

__all__ = ["load", "robots"]

SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".toml")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")
_BEFORE_TEXT = "\ufeff \t\r\n"


def load(source: str | os.PathLike[str]) -> Mechanism:
    """Load a mechanism from a .urdf, .xacro, .xml, .mjcf or .toml file, XML text or by name.

    A string that starts with "<" is the text of a description. An .xml file and a text are URDF or
    MJCF by their outermost element. `remarks` reports the changes of loading; a physically
    impossible inertia, and elements of an MJCF that are not modelled, are also a SteelyardWarning.
    """
    if isinstance(source, str) and source.lstrip(_BEFORE_TEXT).startswith("<"):
        return _from_text(source.lstrip(_BEFORE_TEXT))
    if isinstance(source, str) and source.lower() in robots():
        return builtin(source)
    if isinstance(source, str) and (not source.strip() or "\n" in source):
        raise ModelError(
            f"{short_repr(source)} is not a robot description; expected a file that ends in"
            f" {', '.join(SUFFIXES)}, the text of a URDF or MJCF file, or one of"
            f" {', '.join(robots())}"
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
    return (
        f"{path.name!r} is neither a file nor a built-in robot;"
        f" {suggest(path.name.lower(), robots())}"
    )


def robots() -> list[str]:
    """Return the names of the built-in robots, sorted.

    Returns
    -------
    A list of names.

    Examples
    --------
    >>> "puma560" in sy.robots()
    True
    """
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".toml")
    )


def builtin(name: str) -> Mechanism:
    """Return the built-in robot of that name, in upper or lower case."""
    from .formats.toml.read_toml import read_toml

    key = name.lower()
    if key not in robots():
        raise ModelError(f"no built-in robot is called {name!r}; {suggest(key, robots())}")
    text = (_folder() / f"{key}.toml").read_text(encoding="utf-8")
    return replace(read_toml(text, f"{key}.toml", warn=False), source=Source("builtin", text))


def _folder() -> Any:
    return resources.files(__package__) / "robots"
