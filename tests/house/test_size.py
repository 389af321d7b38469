"""The size budget: a file is a noun or one algorithm, a function is a sentence."""

from __future__ import annotations

import ast
from statistics import median, quantiles

from tests.house.sources import body_lines, functions, modules, parse


def test_files_stay_small() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    too_long = {name: n for name, n in lines.items() if n > 300}
    assert not too_long, f"no file above 300 lines: {too_long}"
    assert median(n for n in lines.values() if n) <= 150


def test_functions_stay_short() -> None:
    lengths = {f"{name}:{function.name}": body_lines(function) for name, path in modules().items() for function in functions(parse(path))}
    too_long = {name: n for name, n in lengths.items() if n > 60}
    assert not too_long, f"no function body above 60 lines: {too_long}"
    deciles = quantiles(lengths.values(), n=10)
    assert median(lengths.values()) <= 10, f"median function {median(lengths.values())} lines"
    assert deciles[8] <= 30, f"nine in ten functions must stay within 30 lines, now {deciles[8]}: {_longest(lengths)}"


def test_every_module_says_what_it_is() -> None:
    silent = [name for name, path in modules().items() if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(parse(path))]
    assert not silent, f"a module starts with one line of meaning: {silent}"


def _longest(lengths: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(lengths.items(), key=lambda item: -item[1])[:12]
