"""The project's own Python files, parsed, for the tests that look at code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "steelyard"


def modules() -> dict[str, Path]:
    """Path in the package, such as 'algebra/vector.py', to file."""
    return {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file, which tests share and do not change."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body, its docstring apart."""
    body = function.body
    documented = (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )
    body = body[1:] if documented else body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def import_graph(folder: Path = PACKAGE) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports anywhere.

    At its top, inside functions, and for type checking only.
    """
    files = {_module_name(path, folder): path for path in folder.rglob("*.py")}
    return {
        name: {
            target
            for node in ast.walk(parse(path))
            for target in _targets(node, name, path, set(files))
        }
        for name, path in files.items()
    }


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return groups of modules that import each other, directly or through others.

    These are the strongly connected components with an edge. Tarjan, SIAM J. Computing 1 (1972).
    """
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for target in graph[name]:
            if target not in index:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], index[target])
        if lowest[name] == index[name]:
            cut = stack.index(name)
            group = sorted(stack[cut:])
            del stack[cut:]
            if len(group) > 1 or name in graph[name]:
                groups.append(group)

    for name in graph:
        if name not in index:
            visit(name)
    return sorted(groups)


def _module_name(path: Path, folder: Path) -> str:
    parts = (folder.name, *path.relative_to(folder).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(node: ast.AST, module: str, path: Path, known: set[str]) -> set[str]:
    """The modules that an import statement names.

    Of `from a import b`, a.b if that is a module, else a.
    """
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & known
    if not isinstance(node, ast.ImportFrom):
        return set()
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
    origin = ".".join(part for part in (base, node.module) if part)
    named = {f"{origin}.{alias.name}" for alias in node.names}
    return (named & known) | ({origin} & known if named - known else set())
