"""The cases that the test command runs of a costly test."""

from __future__ import annotations

import json

import pytest

from tests import case_costs


@pytest.mark.parametrize("seconds", [0.1, 0.5, 5.0])
def test_cases_fit_into_the_budget_and_are_never_none(seconds: float) -> None:
    cases = {f"tests/x.py::test[{k}]": seconds for k in range(20)}
    chosen = case_costs.drawn(cases, 3.0)
    assert len(chosen) == max(1, min(20, int(3.0 / seconds + 1e-9)))
    assert chosen == case_costs.drawn(dict(reversed(cases.items())), 3.0)


def test_a_cheap_case_is_drawn_where_a_costly_one_does_not_fit() -> None:
    cases = {"t[a]": 2.9, "t[b]": 2.9, "t[c]": 0.05, "t[d]": 0.05}
    assert {"t[c]", "t[d]"} <= case_costs.drawn(cases, 3.0)


def test_measured_costs_are_of_costly_functions_alone() -> None:
    costs = json.loads(case_costs.COSTS.read_text(encoding="utf-8"))
    for function, cases in costs.items():
        assert len(cases) > 1
        assert sum(cases.values()) > case_costs.BUDGET
        assert all(case_costs.function_of(name) == function for name in cases)


def test_every_costly_function_exists(root) -> None:
    costs = json.loads(case_costs.COSTS.read_text(encoding="utf-8"))
    for function in costs:
        path, _, name = function.partition("::")
        source = (root / path).read_text(encoding="utf-8")
        assert f"def {name.rpartition('::')[2]}(" in source, function
