"""The layers: what the contract in pyproject.toml allows holds, and what it forbids is caught."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import PACKAGE, ROOT, modules, parse

PLANTED = {
    "a lower layer that imports a higher one": (
        "algebra/planted.py",
        "from ..mechanism import tree\n",
    ),
    "a sibling that imports its sibling": ("compiler/planted.py", "from ..algebra import scalar\n"),
    "errors, which are below all": ("errors.py", "from .algebra import scalar\n"),
    "a module that has no place in the contract": ("stranger.py", "x = 1\n"),
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        "--no-cache",
    ]
    command += ["--config", str(folder / "pyproject.toml")]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def copy_of_the_house(folder: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(
        PACKAGE, folder / "src" / "steelyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


def test_the_layers_hold(tmp_path: Path) -> None:
    run = lint_imports(copy_of_the_house(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("what", PLANTED)
def test_a_breach_is_caught(what: str, tmp_path: Path) -> None:
    house = copy_of_the_house(tmp_path)
    name, line = PLANTED[what]
    planted = house / "src" / "steelyard" / name
    planted.write_text(
        (planted.read_text(encoding="utf-8") if planted.exists() else "") + line, encoding="utf-8"
    )
    assert lint_imports(house).returncode != 0, what


def test_only_the_apps_import_the_package_as_a_user_does() -> None:
    """`import steelyard` inside the library would tie a layer to the top one unseen."""
    for name, path in modules().items():
        if name.startswith(("apps/", "__main__")):
            continue
        for node in ast.walk(parse(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += (
                [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            )
            assert "steelyard" not in names, f"{name}:{node.lineno} imports steelyard itself"
