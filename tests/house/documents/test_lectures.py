"""docs/lectures.md names importable functions and existing tests, or a missing item."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.house.sources import ROOT

PAGE = (ROOT / "docs" / "lectures.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" |")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]
ITEMS = [row for row in ROWS if row[0] != "item"]
NAMES = sorted({name for row in ITEMS for name in re.findall(r"`([\w.]+)`", row[1])})
TESTS = sorted({test for row in ITEMS for test in re.findall(r"`([^`]+)`", row[2])})


def find(path: str) -> object:
    """What `steelyard.<path>` is: a module, or an attribute or dataclass field of one."""
    result: object = importlib.import_module("steelyard")
    for name in path.split("."):
        if name in getattr(result, "__dataclass_fields__", {}):
            return result
        if not hasattr(result, name):
            importlib.import_module(f"{result.__name__}.{name}")  # type: ignore[attr-defined]
        result = getattr(result, name)
    return result


@pytest.mark.parametrize("name", NAMES)
def test_a_named_function_can_be_imported(name: str) -> None:
    find(name)


@pytest.mark.parametrize(
    "name", ["Robot.torque", "dynamics.rnea.backward", "closed_form.Symbolic.V"]
)
def test_a_wrong_name_is_noticed(name: str) -> None:
    with pytest.raises((ImportError, AttributeError)):
        find(name)


@pytest.mark.parametrize("name", TESTS)
def test_a_named_test_exists(name: str) -> None:
    file, _, test = name.partition("::")
    assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: row[0][:40])
def test_an_item_has_a_function_and_a_test_or_is_missing(row: list[str]) -> None:
    item, function, test = row
    if function.startswith("**missing**"):
        assert not test
    else:
        assert re.search(r"`[\w.]+`", function), f"{item}: no function"
        assert "::" in test, f"{item}: no test"


def test_every_document_is_there() -> None:
    documents = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert documents == [
        "newton_euler_and_identification_lecture",
        "structure_and_identification_lecture",
        "newton_euler_report",
        "lagrangian_lecture",
        "recursive_direct_dynamics_lecture",
    ]
    assert len(ITEMS) > 60
