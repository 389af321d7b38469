"""Names in the documentation can be imported, and files that it names exist."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from tests.house.sources import PACKAGE, ROOT, modules, parse

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"(?<![\w./-])(?:sy|steelyard)((?:\.[A-Za-z_]\w*)+)(?!\.?[\w/-])")
FILE = re.compile(r"`([\w/]+\.py)`")
FROM = re.compile(r"^\s*from (steelyard[\w.]*) import ([^\n(]+)", re.MULTILINE)
SUFFIXES = (".urdf", ".toml", ".csv", ".json", ".py")


def find(dotted: str) -> Any:
    """The object behind a dotted name: modules as far as there are some, then attributes."""
    parts = dotted.split(".")
    result: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        result = (
            getattr(result, part)
            if hasattr(result, part)
            else importlib.import_module(".".join(parts[:i]))
        )
    return result


def exists(dotted: str) -> bool:
    try:
        find(dotted)
    except ImportError:
        return False
    return True


def dotted_names(text: str) -> Iterator[str]:
    for tail in DOTTED.findall(text):
        if not tail.endswith(SUFFIXES):
            yield f"steelyard{tail}"


def imported_names(code: str) -> Iterator[str]:
    """Names of lines such as `from steelyard.x import y, z`; what follows a # is a comment."""
    for module, names in FROM.findall(code):
        yield from (f"{module}.{name.split()[0]}" for name in names.split("#")[0].split(","))


def docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""


def missing(names: Iterator[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if not exists(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_name_on_a_page_can_be_imported(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    absent = missing(dotted_names(text)) + [
        name for code in PYTHON.findall(text) for name in missing(imported_names(code))
    ]
    assert not absent, f"{page.name} names {absent}"


def test_every_name_in_a_docstring_can_be_imported() -> None:
    absent = {
        name: gone
        for name, path in modules().items()
        if (gone := missing(n for text in docstrings(path) for n in dotted_names(text)))
    }
    assert not absent


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_python_file_on_a_page_exists(page: Path) -> None:
    names = dict.fromkeys(FILE.findall(page.read_text(encoding="utf-8")))
    absent = [
        name
        for name in names
        if not any((folder / name).exists() for folder in (ROOT, PACKAGE, ROOT / "tests"))
    ]
    assert not absent, f"{page.name} names files that are not there: {absent}"


def test_everything_public_can_be_imported() -> None:
    assert not [name for name in sy.__all__ if not hasattr(sy, name)]


def test_a_name_that_is_not_there_is_noticed() -> None:
    text = (
        "`sy.idenfity(robot)`, `steelyard.signals.Lag`, `sy.Sensors.perfect()`, `steelyard.toml`"
        " and `arm.sy.x`"
    )
    assert missing(dotted_names(text)) == ["steelyard.idenfity", "steelyard.signals.Lag"]
    assert missing(imported_names("    from steelyard.signals import Log, Lag  # logs\n")) == [
        "steelyard.signals.Lag"
    ]
