"""The size budget: a file is a noun or one algorithm, a function is a sentence."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

from tests.house.sources import body_lines, cycles, functions, import_graph, modules, parse

MOST_IN_A_FOLDER = 20  # __init__.py apart: beyond it, sub-folders that name a concept


def code_lines(path: Path) -> int:
    """The lines of a file, docstrings apart."""
    tree = parse(path)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = sum(
        (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, owners) and ast.get_docstring(node) is not None
    )
    return len(path.read_text(encoding="utf-8").splitlines()) - docstrings


def test_files_stay_small() -> None:
    lines = {name: code_lines(path) for name, path in modules().items()}
    too_long = {name: n for name, n in lines.items() if n > 400}
    assert not too_long, f"no file above 400 lines, docstrings apart: {too_long}"
    assert median(n for n in lines.values() if n) <= 150


def test_functions_stay_short() -> None:
    lengths = {
        f"{name}:{function.name}": body_lines(function)
        for name, path in modules().items()
        for function in functions(parse(path))
    }
    too_long = {name: n for name, n in lengths.items() if n > 70}
    assert not too_long, f"no function body above 70 lines: {too_long}"
    deciles = quantiles(lengths.values(), n=10)
    assert median(lengths.values()) <= 12, f"median function {median(lengths.values())} lines"
    assert deciles[8] <= 32, (
        f"nine in ten functions must stay within 32 lines, now {deciles[8]}: {_longest(lengths)}"
    )


def test_every_module_says_what_it_is() -> None:
    silent = [
        name
        for name, path in modules().items()
        if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(parse(path))
    ]
    assert not silent, f"a module starts with one line of meaning: {silent}"


def test_no_folder_is_crowded() -> None:
    names = [Path(name) for name in modules() if not name.endswith("__init__.py")]
    counts = Counter(path.parent.as_posix() for path in names)
    crowded = {folder: n for folder, n in counts.items() if n > MOST_IN_A_FOLDER}
    assert not crowded, f"no folder with more than {MOST_IN_A_FOLDER} files: {crowded}"


def test_a_file_name_means_one_thing_in_its_layer() -> None:
    names = [Path(name) for name in modules() if not name.endswith("__init__.py")]
    counts = Counter((path.parts[0], path.name) for path in names)
    assert not [name for name, n in counts.items() if n > 1]


def test_modules_do_not_import_each_other() -> None:
    """Imports go one way, also those inside functions and those for type checking only."""
    result = cycles(import_graph())
    assert not result, f"modules that import each other: {result}"


def test_a_cycle_behind_lazy_imports_is_noticed(tmp_path: Path) -> None:
    texts = {
        "__init__": "from .a import x\n",
        "a": "def f():\n    from .sub import b\n",
        "sub/__init__": "",
        "sub/b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .. import c\n",
        "c": "import house.a\nfrom . import sub\n",
    }
    for name, text in texts.items():
        path = tmp_path / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert cycles(import_graph(tmp_path / "house")) == [["house.a", "house.c", "house.sub.b"]]


def _longest(lengths: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(lengths.items(), key=lambda item: -item[1])[:12]
