"""Reader of xacro files through the package xacrodoc, without ROS. Xacro can read files and the environment: only from a path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import ModelError, needs_extra
from ..model import Mechanism
from .urdf.read_urdf import read_urdf


def read_xacro(path: Path) -> Mechanism:
    """A mechanism from a xacro file: expanded to URDF, then read as that. An edited one is written as the expanded URDF."""
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise needs_extra("xacrodoc", "xacro", "reading xacro") from None
    try:
        text = XacroDoc.from_file(path).to_urdf_string()
    except Exception as error:  # noqa: BLE001 - xacro evaluates expressions: anything may come out of it
        raise ModelError(f"{path}: xacro could not expand it ({type(error).__name__}: {error})") from None
    mechanism = read_urdf(text, f"{path} (expanded)")
    return replace(mechanism, source=replace(mechanism.source, path=None)) if mechanism.source else mechanism
