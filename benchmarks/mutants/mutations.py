"""Mutations: what one planted bug changes in a file, found by walking its syntax tree.

Kinds follow DeMillo, Lipton and Sayward, "Hints on test data selection", IEEE Computer 11 (1978),
p. 34, and what has slipped through here before: operators, signs, constants, dropped terms, swapped
arguments, turned conditions, missing ingredients of a key.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.FloorDiv: "*",
    ast.Mod: "*", ast.MatMult: "+",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
NAMES = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "sum": "mean",
    "sin": "cos", "cos": "sin", "any": "all", "all": "any", "sqrt": "square",
    "vstack": "hstack", "triu": "tril", "argmax": "argmin", "argmin": "argmax",
}  # fmt: skip
KINDS = (
    "operator",
    "sign",
    "constant",
    "dropped term",
    "swapped arguments",
    "condition",
    "comparison",
    "function",
    "missing ingredient",
)


@dataclass(frozen=True)
class Mutation:
    """A planted bug: file below `src`, line, text from `begin` to `end`, and its replacement.

    `within` is the function or class that it is in, `number` which of several of the same name it
    is.
    """

    path: str
    line: int
    begin: int
    end: int
    kind: str
    before: str
    after: str
    within: str = ""
    number: int = 1

    @property
    def name(self) -> str:
        """What identifies it, and tells what it does.

        Lines that are added elsewhere do not change it.
        """
        which = f" #{self.number}" if self.number > 1 else ""
        return f"{self.path}:{self.within} {self.kind}: {self.before} -> {self.after}{which}"

    def into(self, source: str) -> str:
        """The source with the bug."""
        return source[: self.begin] + self.after + source[self.end :]


def mutations(path: str, source: str) -> list[Mutation]:
    """All bugs that can be planted into a file.

    Annotations, text and what is raised as an error are left alone.
    """
    walker = Walker(path, source)
    walker.visit(ast.parse(source))
    return numbered([each for each in walker.found if is_python(each.into(source))])


def numbered(result: Sequence[Mutation]) -> list[Mutation]:
    """Return the same with numbered names."""
    many: Counter[str] = Counter()
    results = []
    for each in result:
        many[each.name] += 1
        results.append(replace(each, number=many[each.name]))
    return results


def is_python(source: str) -> bool:
    """Whether a mutated file can be compiled."""
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class Walker(ast.NodeVisitor):
    """Walks a file and notes what can be changed."""

    def __init__(self, path: str, source: str):
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.encoded = source.encode()
        self.found: list[Mutation] = []
        self.inside: list[str] = []

    def note(self, kind: str, node: ast.AST, after: str) -> None:
        """Note that the text of a node may be replaced."""
        self.replace(kind, node.lineno, self.span(node), after)  # type: ignore[attr-defined]

    def replace(self, kind: str, line: int, span: tuple[int, int], after: str) -> None:
        """Note that the text between two places of a line may be replaced."""
        before = self.source[slice(*span)]
        if before != after and "\n" not in before:
            self.found.append(
                Mutation(self.path, line, *span, kind, before, after, ".".join(self.inside))
            )

    def span(self, node: Any) -> tuple[int, int]:
        """Where the text of a node begins and ends, in characters."""
        places = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        begin, end = (
            len(self.encoded[: self.starts[line - 1] + column].decode()) for line, column in places
        )
        return begin, end

    def text(self, node: ast.AST) -> str:
        begin, end = self.span(node)
        return self.source[begin:end]

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Another operator, and one of the two terms left out."""
        left, right = self.text(node.left), self.text(node.right)
        if not any(
            isinstance(side, ast.Constant) and isinstance(side.value, str)
            for side in (node.left, node.right)
        ):
            if type(node.op) in OPERATORS:
                self.note("operator", node, f"({left}) {OPERATORS[type(node.op)]} ({right})")
            if isinstance(node.op, (ast.Add, ast.Sub)):
                self.note("dropped term", node, f"({left})")
            if isinstance(node.op, ast.Mult):
                self.note("dropped term", node, f"({right})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """A sign or a `not` left out."""
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.note("sign", node, f"({self.text(node.operand)})")
        elif isinstance(node.op, ast.Not):
            self.note("condition", node, f"bool({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A number that is another."""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            return
        self.note(
            "constant",
            node,
            (
                f"{2 * node.value + 1}"
                if isinstance(node.value, int)
                else f"{2 * node.value or 1.0!r}"
            ),
        )

    def visit_Compare(self, node: ast.Compare) -> None:
        """The opposite of a comparison."""
        if len(node.ops) == 1:
            self.note(
                "comparison",
                node,
                f"({self.text(node.left)}) {COMPARISONS[type(node.ops[0])]}"
                f" ({self.text(node.comparators[0])})",
            )
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """A condition that is turned round."""
        if not any(isinstance(part, ast.Raise) for part in node.body):
            self.note("condition", node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Two arguments exchanged, or another function of the same shape."""
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if name in NAMES:
                self.note("function", node.func, self.text(node.func)[: -len(name)] + NAMES[name])
        if len(node.args) >= 2 and not any(
            isinstance(each, (ast.Starred, ast.Constant)) for each in node.args[:2]
        ):
            (begin, _), (_, end) = self.span(node.args[0]), self.span(node.args[1])
            after = f"{self.text(node.args[1])}, {self.text(node.args[0])}"
            self.replace("swapped arguments", node.args[0].lineno, (begin, end), after)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """A tuple of three or more, as keys are, without its last part."""
        if isinstance(node.ctx, ast.Load) and len(node.elts) >= 3:
            self.note(
                "missing ingredient",
                node,
                f"({', '.join(self.text(each) for each in node.elts[:-1])})",
            )
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Do not mutate the text of an error."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """So is text."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """And annotations."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Bodies and defaults, without annotations and decorators."""
        self.inside.append(node.name)
        for each in (
            *node.args.defaults,
            *(x for x in node.args.kw_defaults if x is not None),
            *node.body,
        ):
            self.visit(each)
        self.inside.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """What is in a class."""
        self.inside.append(node.name)
        for each in node.body:
            self.visit(each)
        self.inside.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        """Values; names that are types or lists of names are left alone."""
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"):
            self.visit(node.value)


def drawn(sources: dict[str, str], count: int, seed: int) -> Iterator[Mutation]:
    """So many bugs, spread over all files by their length and over all kinds.

    Everything follows from the seed.

    The order follows a digest of the names: a change of the source leaves the bugs drawn
    elsewhere as they were.
    """
    by_kind: dict[str, list[Mutation]] = {kind: [] for kind in KINDS}
    for path, source in sources.items():
        for each in mutations(path, source):
            by_kind[each.kind].append(each)
    for pool in by_kind.values():
        pool.sort(
            key=lambda each: hashlib.sha256(f"{seed} {each.name}".encode()).digest(), reverse=True
        )
    for number in range(count):
        if pool := by_kind[KINDS[number % len(KINDS)]]:
            yield pool.pop()
