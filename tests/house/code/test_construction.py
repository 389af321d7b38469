"""Results are built by keyword: no long positional calls, no lenient zips into dictionaries."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import modules, parse

MOST_POSITIONAL = 5
VECTORS = {"Symmetric"}  # the six entries of a symmetric matrix, row by row, as in formulas
BY_KEYWORD = ("simulation/", "robot/", "mechanism/")  # packages that may not be listed below
POSITIONAL: dict[str, int] = {}
"""Calls by file that still construct more than five fields by position; numbers only fall."""
LENIENT: dict[str, int] = {}
"""Uses of dict(zip(..., strict=False)) by file; numbers only fall."""


def is_record(node: ast.ClassDef) -> bool:
    """Return whether a class is a dataclass or a NamedTuple."""
    decorators = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
    bases = {ast.unparse(each).partition("[")[0] for each in node.bases}
    return bool(decorators & {"dataclass", "dataclasses.dataclass"} or "NamedTuple" in bases)


def field_count(node: ast.ClassDef, parents: dict[str, int]) -> int:
    """Return the number of fields of a record, those of its bases included."""
    own = [
        each
        for each in node.body
        if isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each.annotation)
    ]
    return len(own) + sum(parents.get(ast.unparse(base), 0) for base in node.bases)


def records(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Return the names of dataclasses and NamedTuples with their numbers of fields."""
    counts: dict[str, int] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and is_record(node):
                counts[node.name] = max(counts.get(node.name, 0), field_count(node, counts))
    return counts


def positional_calls(tree: ast.Module, large: set[str]) -> Iterator[str]:
    """Yield calls that construct a large record with more than five positional arguments."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    inside = {node: each.name for each in classes for node in ast.walk(each)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            splat = any(isinstance(each, ast.Starred) for each in node.args)
            name = inside.get(node, name) if name == "cls" else name
            if name in large and (len(node.args) > MOST_POSITIONAL or splat):
                yield f"line {node.lineno}: {name}"


def lenient_zips(tree: ast.Module) -> Iterator[str]:
    """Yield uses of dict(zip(..., strict=False)), which drop values without a word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict" and node.args:
            inner = node.args[0]
            if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "zip":
                strict = {each.arg: ast.unparse(each.value) for each in inner.keywords}
                if strict.get("strict", "False") != "True":
                    yield f"line {node.lineno}: {ast.unparse(node)}"


def check(result: dict[str, list[str]], allowed: dict[str, int]) -> None:
    """Fail for files with more finds than are allowed, and for limits that can fall."""
    counts = Counter({name: len(lines) for name, lines in result.items() if lines})
    more = {name: result[name] for name, n in counts.items() if n > allowed.get(name, 0)}
    assert not more, f"construct by keyword: {more}"
    fewer = {name: counts[name] for name, n in allowed.items() if counts[name] < n}
    assert not fewer, f"lower these limits: {fewer}"


def sources() -> dict[str, ast.Module]:
    return {name: parse(path) for name, path in modules().items()}


def test_large_records_are_built_by_keyword() -> None:
    trees = sources()
    large = {name for name, n in records(trees).items() if n > MOST_POSITIONAL} - VECTORS
    assert {"Run", "State", "StepModel"} <= large
    check({name: list(positional_calls(tree, large)) for name, tree in trees.items()}, POSITIONAL)
    assert not [name for name in POSITIONAL if name.startswith(BY_KEYWORD)]


def test_dictionaries_are_zipped_strictly() -> None:
    check({name: list(lenient_zips(tree)) for name, tree in sources().items()}, LENIENT)
    assert not [name for name in LENIENT if name.startswith(BY_KEYWORD)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("R(1, 2, 3, 4, 5, 6)", 1),
        ("R(1, 2, 3, 4, 5, f=6)", 0),
        ("R(*values)", 1),
        ("m.R(*values, f=6)", 1),
        ("S(1, 2, 3, 4, 5, 6)", 0),
        ("class R:\n    def of(cls): return cls(1, 2, 3, 4, 5, 6)", 1),
        ("dict(zip(a, b, strict=False))", 1),
        ("dict(zip(a, b))", 1),
        ("dict(zip(a, b, strict=True))", 0),
    ],
)
def test_the_check_notices(text: str, count: int) -> None:
    tree = ast.parse(text)
    assert len([*positional_calls(tree, {"R"}), *lenient_zips(tree)]) == count


def test_fields_are_counted_with_those_of_bases(tmp_path: Path) -> None:
    lines = ["@dataclass", "class A:", "    x: int", "    k: ClassVar[int] = 1"]
    lines += [
        "@dataclass(frozen=True)",
        "class B(A):",
        "    y: int",
        "class C(NamedTuple):",
        "    z: int",
    ]
    assert records({"m": ast.parse("\n".join(lines))}) == {"A": 1, "B": 2, "C": 1}
