"""No public function has more than twelve parameters; options are grouped in dataclasses."""

from __future__ import annotations

import ast

from tests.house.sources import ROOT

MOST = 12
TOO_MANY: set[str] = set()
"""Functions that still have more; the set may only become smaller."""


def long_signatures() -> set[str]:
    """The public functions and methods with more than MOST parameters, signatures of commands
    excepted.
    """
    names = set()
    root = ROOT / "src" / "steelyard"
    for path in sorted(root.rglob("*.py")):
        if (root / "apps" / "commands") in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            args = node.args
            every = [
                *args.posonlyargs,
                *args.args,
                *args.kwonlyargs,
                args.vararg,
                args.kwarg,
            ]
            count = sum(each is not None and each.arg not in ("self", "cls") for each in every)
            if count > MOST and not node.name.startswith("_"):
                names.add(f"{path.relative_to(root).as_posix()}: {node.name}")
    return names


def test_public_functions_have_few_parameters() -> None:
    result = long_signatures()
    assert result <= TOO_MANY, f"group the options of {sorted(result - TOO_MANY)} in a dataclass"
    assert result >= TOO_MANY, f"{sorted(TOO_MANY - result)} can leave TOO_MANY"
