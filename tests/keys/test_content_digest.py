"""`content_digest`: every leaf counts, and what cannot be distinguished is refused."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.content_digest import NoDigest, content_digest
from steelyard.mechanism.model import fingerprint
from tests import zoo
from tests.keys.variations import variations, with_field


def known_robots() -> dict[str, sy.Robot]:
    """Robots with frames, loops, couplings, rotors, known torques and friction of every kind."""
    plain = sy.load("planar_2r")
    return {
        "crane": zoo.robot("crane"),
        "crusher": zoo.robot("crusher"),
        "four_bar": sy.load("four_bar"),
        "sprung": (
            plain.with_known_torque({"joint2": "5 * sin(q['joint2'])"}).with_friction(
                viscous=1.0, coulomb=0.5
            )
        ),
        "rotors": plain.with_rotors(0.1),
    }


@pytest.mark.parametrize("name", known_robots())
def test_every_leaf_of_a_tree_and_of_a_mechanism_is_in_its_digest(name: str) -> None:
    """All fields are walked, those that are added later too."""
    robot = known_robots()[name]
    for whole in (robot.tree, robot.mechanism):
        tried = list(variations(whole))
        digests = [content_digest(other) for _, other in tried]
        assert content_digest(whole) not in digests
        assert {where.split(".")[1].split("[")[0].split(" ")[0] for where, _ in tried} == {
            f.name for f in fields(whole) if f.compare
        }


def test_the_fingerprint_has_every_field_of_a_mechanism() -> None:
    """Keys of robots in memory compare fingerprints."""
    robot = known_robots()["four_bar"]
    base = fingerprint(robot.mechanism)
    changed = {
        "name": "x",
        "links": (),
        "joints": (),
        "gravity": (0.0, 0.0, 1.0),
        "couplings": (sy.Coupling("a", "b"),),
    }
    changed |= {
        "known": sy.load("planar_2r").with_known_torque({"joint2": "1.0"}).mechanism.known,
        "loops": (),
        "driven": (),
    }
    assert set(changed) == {f.name for f in fields(robot.mechanism) if f.compare}
    assert base not in {
        fingerprint(replace(robot.mechanism, **{name: value})) for name, value in changed.items()
    }


@dataclass(frozen=True)
class Foreign:
    """A dataclass of another package: its code is in no source digest."""

    x: float = 1.0


@pytest.mark.parametrize(
    "value",
    [
        lambda: 1,
        np.sin,
        Foreign(),
        Path("run.csv"),
        object(),
        np.array([object()]),
        iter(()),
        type,
        print,
    ],
    ids=["lambda", "ufunc", "foreign", "path", "object", "objects", "iterator", "type", "built-in"],
)
def test_what_cannot_be_told_apart_is_refused_at_any_depth(value: Any) -> None:
    for wrapped in (value, (1.0, [value]), {"a": value}, {"a": (value,)}):
        with pytest.raises(NoDigest):
            content_digest(wrapped)


def test_an_attribute_that_is_no_field_is_refused() -> None:
    loop = sy.load("planar_2r").mechanism
    object.__setattr__(changed := replace(loop), "law", print)
    with pytest.raises(NoDigest, match="law"):
        content_digest(changed)


def test_types_lengths_and_places_are_told_apart() -> None:
    values: list[Any] = [
        1,
        1.0,
        True,
        "1",
        b"1",
        None,
        1j,
        (1,),
        [1],
        {"1": 1},
        {1: "1"},
        {1},
        (),
        [],
        {},
        0.0,
        -0.0,
        float("nan"),
    ]
    values += [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ((1,), 2),
        (1, (2,)),
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
    ]
    values += [
        np.array([1, 2], np.int32),
        np.float32(1),
        np.float64(1),
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
    ]
    digests = [content_digest(value) for value in values]
    assert len(set(digests)) == len(values)
    assert [content_digest(value) for value in values] == digests


def test_digests_are_the_same_in_another_process() -> None:
    code = (
        "import steelyard as sy; from steelyard.content_digest import"
        " content_digest;print(content_digest((sy.load('four_bar').tree, sy.load('planar_2r'),"
        " frozenset('abcdef'))))"
    )
    here = content_digest((sy.load("four_bar").tree, sy.load("planar_2r"), frozenset("abcdef")))
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment(PYTHONHASHSEED=seed),
        )
        assert run.stdout.strip() == here


def environment(**more: str) -> dict[str, str]:
    """The environment of this process with some variables."""
    import os

    return {**os.environ, **more}


def test_a_tree_that_was_sent_to_another_process_has_every_field() -> None:
    import pickle

    tree = replace(zoo.robot("crane").tree, rows=(3,), independent=(1,), driven=(0,))
    for f in fields(tree):
        if f.name not in ("frames", "moving"):
            assert getattr(pickle.loads(pickle.dumps(tree)), f.name) == getattr(tree, f.name)
    assert content_digest(pickle.loads(pickle.dumps(tree))) == content_digest(tree)
    assert content_digest(with_field(tree, "load", (tree.base_inertia,))) != content_digest(tree)
