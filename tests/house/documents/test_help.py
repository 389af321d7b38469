"""`help()` of every public name has units, shapes, parameters, returns and an example."""

from __future__ import annotations

import doctest
import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.kernels import ALGORITHMS
from steelyard.signals.schema import rows
from tests.house.documents.public_names import Public, public_names

NAMES = list(public_names())
OWNERS = sorted({public.name.partition(".")[0] for public in NAMES})
ARRAYS = ("ArrayLike", "Array", "NDArray")
SHAPE_OR_UNIT = re.compile(r"\(\.\.\.|\(N|\(n|\(k|\(b|\(p|\(3|\(10|\(0|\[[^\]]+\]|fraction")


def faults(public: Public) -> Iterator[str]:
    """What the help of a name lacks."""
    text = public.help
    if not text.partition("\n")[0].rstrip().endswith((".", ":", ";", ",")) and "\n" not in text:
        yield "a sentence"
    if public.kind == "property":
        numeric = str(
            getattr(getattr(public.thing, "fget", None), "__annotations__", {}).get("return", "")
        )
        if any(numeric.startswith(kind) for kind in ARRAYS) and not SHAPE_OR_UNIT.search(text):
            yield "a shape or a unit"
        return
    if ">>> " not in text.partition("Examples\n--------\n")[2]:
        yield "an example"
    if public.kind == "function" and "\nReturns\n-------\n" not in text:
        yield "what it returns"
    parameters = text.partition("Parameters\n----------\n")[2].partition("\nReturns\n")[0]
    listed = re.findall(r"^\*{0,2}([\w, *]+) : (.+(?:\n .+)*)", parameters, re.MULTILINE)
    explained = {
        name.strip(" *"): meaning for names, meaning in listed for name in names.split(",")
    }
    for argument in public.arguments:
        if argument not in explained:
            yield f"what {argument} is"
    annotations = getattr(inspect.unwrap(public.thing), "__annotations__", {})
    for argument, meaning in explained.items():
        if (
            str(annotations.get(argument, "")).startswith(ARRAYS)
            and argument != "out"
            and not SHAPE_OR_UNIT.search(meaning)
        ):
            yield f"shape and unit of {argument}"


@pytest.mark.parametrize("owner", OWNERS)
def test_help_is_complete(owner: str) -> None:
    lacks = {
        public.name: list(faults(public))
        for public in NAMES
        if public.name.partition(".")[0] == owner
    }
    assert not {name: lack for name, lack in lacks.items() if lack}


@pytest.mark.parametrize("owner", OWNERS)
def test_examples_in_help_run(owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of a class, then those of its methods, which may use what that one made."""
    monkeypatch.chdir(tmp_path)
    space = {"np": np, "sy": sy}
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    messages: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        for public in NAMES:
            if public.name.partition(".")[0] == owner and public.kind != "property":
                test = doctest.DocTestParser().get_doctest(
                    public.help, space, public.name, None, None
                )
                test.globs = space
                runner.run(test, out=messages.append, clear_globs=False)
    assert not messages, "".join(messages)


def test_help_that_lacks_something_is_noticed() -> None:
    def weigh(q: ArrayLike, name: str) -> float:  # type: ignore[name-defined]  # noqa: F821
        """The weight."""

    assert list(faults(Public("weigh", "function", weigh))) == [
        "an example",
        "what it returns",
        "what q is",
        "what name is",
    ]


def described_outputs(name: str) -> list[str]:
    """Return the shape with batch dimensions and the unit of each output of an algorithm."""
    sizes = {"r": "p", "b": "bodies"}
    return [
        f"({', '.join(('...', *(sizes.get(c, c) for c in code)))}) {unit}"
        for _, code, unit in ALGORITHMS[name].outputs
    ]


@pytest.mark.parametrize("name", sorted(name for name in ALGORITHMS if hasattr(sy.Robot, name)))
def test_help_states_shape_and_unit_of_every_output(name: str) -> None:
    returns = " ".join((getattr(sy.Robot, name).__doc__ or "").partition("Returns\n")[2].split())
    assert [part for part in described_outputs(name) if " ".join(part.split()) not in returns] == []


def test_help_of_log_states_unit_and_shapes_of_every_signal() -> None:
    text = " ".join((sy.Log.__doc__ or "").split())
    for name, signal in rows(sy.Log).items():
        shapes = [
            f"({', '.join(('N', *map(str, shape)))}{',' if not shape else ''})"
            for shape in signal.shapes
        ]
        start = text.index(f" {name} : ")
        entry = text[start : text.index(f"[{signal.unit}]", start)]
        assert all(shape in entry for shape in shapes), (name, entry)
