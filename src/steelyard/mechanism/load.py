"""Loading a mechanism from a file, by what is in it, or by the name of a built-in robot."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import ModelError, needs_extra, suggest
from .formats.toml.read_toml import read_toml
from .formats.urdf.read_urdf import read_urdf
from .model import Mechanism, Source

__all__ = ["load", "robots"]

SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".toml")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")


def load(source: str | os.PathLike[str]) -> Mechanism:
    """A mechanism from a file (.urdf, .xacro, .xml or .mjcf, .toml) or by the name of a built-in robot.

    An .xml file is URDF or MJCF by its outermost element. `remarks` says what loading found; an inertia that no real body has, and what
    an MJCF states but is left out, is also a SteelyardWarning.
    """
    if isinstance(source, str) and source.lower() in robots():
        return builtin(source)
    path = Path(source)
    if not path.exists():
        raise ModelError(_absent(path))
    if path.is_dir():
        raise ModelError(f"{path} is a folder; expected a file that ends in {', '.join(SUFFIXES)}")
    return _reader(path)(path)


def _reader(path: Path) -> Callable[[Path], Mechanism]:
    suffix = path.suffix.lower()
    if suffix == ".xml":
        suffix = {"robot": ".urdf", "mujoco": ".mjcf"}.get(_outermost(path), "")
        if not suffix:
            raise ModelError(f"{path}: its outermost element is <{_outermost(path)}>; expected <robot> (URDF) or <mujoco> (MJCF)")
    readers = {".urdf": _urdf, ".toml": _toml, ".mjcf": _mjcf, ".xacro": _xacro}
    if suffix not in readers:
        raise ModelError(f"{path}: files that end in {suffix or 'nothing'!r} are not known; {suggest(suffix, SUFFIXES)}")
    return readers[suffix]


def _urdf(path: Path) -> Mechanism:
    text, encoding = _decoded(path)
    return read_urdf(text, str(path), encoding)


def _toml(path: Path) -> Mechanism:
    return read_toml(_decoded(path)[0], str(path))


def _mjcf(path: Path) -> Mechanism:
    from .formats.mjcf.read_mjcf import read_mjcf

    text, encoding = _decoded(path)
    mechanism = read_mjcf(path)
    return replace(mechanism, source=Source("mjcf", text, str(path), encoding))


def _xacro(path: Path) -> Mechanism:
    """Expanded to URDF by xacrodoc, without ROS. Xacro can read files and the environment: it is only read from a path."""
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise needs_extra("xacrodoc", "xacro", "reading xacro") from None
    try:
        text = XacroDoc.from_file(path).to_urdf_string()
    except Exception as error:  # noqa: BLE001 - xacro evaluates expressions: anything may come out of it
        raise ModelError(f"{path}: xacro could not expand it ({type(error).__name__}: {error})") from None
    mechanism = read_urdf(text, f"{path} (expanded)")
    return replace(mechanism, source=Source("urdf", text))


def _outermost(path: Path) -> str:
    text = re.sub(r"<!--.*?-->", "", _decoded(path)[0], flags=re.DOTALL)
    match = _ROOT.search(text)
    return match.group(1) if match else ""


def _decoded(path: Path) -> tuple[str, str]:
    """The text of a file, with its line ends, and the encoding that it states."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from None
    if not data.strip():
        raise ModelError(f"{path} is empty")
    stated = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else stated.group(1).decode() if stated else "utf-8"
    try:
        return data.decode(encoding), encoding
    except (LookupError, UnicodeDecodeError):
        raise ModelError(f"{path} is no {encoding} text: is it a robot description?") from None


def _absent(path: Path) -> str:
    if path.suffix or len(path.parts) > 1:
        near = [entry.name for entry in path.parent.iterdir() if entry.suffix in SUFFIXES] if path.parent.is_dir() else []
        return f"there is no file {path}" + (f"; {suggest(path.name, near)}" if near else "")
    return f"{path.name!r} is neither a file nor a built-in robot; {suggest(path.name.lower(), robots())}"


def robots() -> list[str]:
    """Names of the built-in robots, sorted."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def builtin(name: str) -> Mechanism:
    """The built-in robot of that name, in upper or lower case."""
    found = name.lower()
    if found not in robots():
        raise ModelError(f"no built-in robot is called {name!r}; {suggest(found, robots())}")
    text = (_folder() / f"{found}.toml").read_text(encoding="utf-8")
    return replace(read_toml(text, f"{found}.toml", warn=False), source=Source("builtin", text))


def _folder() -> Any:
    return resources.files(__package__) / "robots"
