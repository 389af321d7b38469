"""Symbols of the closed form.

What they say of themselves, other names for them, and calls that make no sense.
"""

from __future__ import annotations

import sys

import pytest

import steelyard as sy
from steelyard.closed_form import symbolic
from tests.laws.closed_form.test_closed_form import model_of


def test_symbols_say_what_they_are() -> None:
    model = model_of("planar_2r", parameters="barycentric")
    named = {str(symbol): (x.value, x.unit) for symbol, x in model.symbols.items()}
    assert named["m_1"] == (22.0, "kg")
    assert named["l_1"] == (1.0, "m")
    assert named["l_c2"] == (pytest.approx(0.4), "m")
    assert named["g_0"] == (9.81, "m/s2")
    assert float(model.M[1, 1].subs(model.values)) == pytest.approx(3.34)


def test_symbols_can_be_called_otherwise() -> None:
    model = model_of("planar_2r", names={"l_1": "a_1", "g_0": "G"})
    names = {str(symbol) for symbol in model.symbols}
    assert {"a_1", "G"} <= names
    assert not {"l_1", "g_0"} & names


def test_numeric_has_no_symbols_but_the_motion() -> None:
    model = model_of("spatial_3r", parameters="numeric")
    assert not model.symbols
    assert model.tau.free_symbols <= {*model.q, *model.qd, *model.qdd}


@pytest.mark.parametrize(("options", "words"), [
    ({"parameters": "letters"}, ["parameters='letters'", "'numeric'"]),
    ({"geometry": "round"}, ["geometry='round'", "'symbolic'"]),
    ({"form": "short"}, ["form='short'", "'terms'"]),
    ({"names": {"l_9": "a"}}, ["'l_9'", "l_1"]),
    ({"names": {"l_1": "m_1"}}, ["'m_1'", "several"]),
    ({"names": {"l_1": "q_1"}}, ["'q_1'", "motion"]),
    ({"names": {"l_1": ""}}, ["'l_1'", "''"]),
    ({"names": {"l_1": "50%"}}, ["'50%'", "letters"]),
])  # fmt: skip
@pytest.mark.parametrize("form", ["expanded", "terms"])
def test_bad_calls_are_named(options: dict, words: list[str], form: str) -> None:
    with pytest.raises(sy.CallError) as caught:
        model_of("planar_2r", **{"form": form, **options})
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_massless_link_has_no_centre_of_mass() -> None:
    robot = sy.load("planar_2r")
    pi = robot.parameters.copy()
    pi[:10] = 0.0
    tree = robot.with_parameters(pi).tree
    with pytest.raises(sy.CallError, match=r"'link1' has no mass"):
        symbolic(tree, "light", parameters="barycentric")
    assert str(symbolic(tree, "light").M[1, 1]) == "I_zz2"


def test_bad_questions_are_named() -> None:
    model = model_of("planar_2r")
    with pytest.raises(sy.CallError, match=r"'m'.*M, C"):
        model.to_latex("m")
    with pytest.raises(sy.CallError, match=r"q has shape \(3,\); expected \(2,\)"):
        model.evaluate("M", [1, 2, 3])
    with pytest.raises(sy.CallError, match="named terms"):
        model_of("puma560").euler_lagrange()
    frozen = sy.load("planar_2r").freeze({"joint1": 0.0, "joint2": 0.0})
    with pytest.raises(sy.CallError, match="no joint"):
        symbolic(frozen.tree, "statue")


def test_without_sympy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(sy.MissingExtra, match=r"steelyard\[symbolic\]"):
        model_of("planar_2r")
