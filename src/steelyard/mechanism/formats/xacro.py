"""Xacro expanded to URDF by xacrodoc, without ROS, in a separate process with a time limit.

Xacro reads other files (`<xacro:include>`, `load_yaml`) and the environment. Relative names are
relative to the file that has them, and only files in the folder of `included_file` are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import ModelError, require_package, translate_errors
from ...isolation.child import call_isolated
from ...resource_limits import check_size, folder_of_includes, require_inside

FAILURE = "xacro could not expand it"


def expand_xacro(path: Path, text: str) -> str:
    """Return the URDF that a xacro file, whose text is given, expands to."""
    require_package("xacrodoc", "xacro", "reading xacro")
    arguments = str(path), text, str(folder_of_includes(path))
    urdf = str(
        call_isolated(
            expanded_text,
            arguments,
            f"{path}: {FAILURE}",
            ModelError,
            ("xacrodoc", "yaml"),
            len(text),
        )
    )
    check_size(path, len(urdf), "text", ModelError, what="it expands to")
    return urdf


def expanded_text(name: str, text: str, folder: str) -> str:
    """Return the expanded text; runs in a separate process."""
    from xacrodoc import packages, xacrodoc

    path, xacro = Path(name).absolute(), xacrodoc.xacro

    def open_inside(file: str, mode: str = "r", **options: Any) -> Any:
        if mode not in ("r", "rb"):
            raise ModelError(
                f"{name}: a description may read files and write none; it opens {file!r} with mode"
                f" {mode!r}"
            )
        source = require_inside(Path(file), Path(folder), path, ModelError)
        return open(source, "rb", **options) if mode == "rb" else open(source, **options)

    with translate_errors(f"{name}: {FAILURE}", ModelError):
        packages.reset()
        packages.walk_up_from(path)
        xacro.open = open_inside  # what its functions call to open a file
        xacro.init_stacks(str(path))
        return str(xacrodoc.XacroDoc.from_string(text, rootdir=path.parent).to_urdf_string())
