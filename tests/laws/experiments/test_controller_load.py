"""A line for a controller has trusted numbers only, and they are the numbers of every other
output.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.payload_identification.controller_load import CONTROLLERS
from steelyard.experiments.payload_identification.load_fit import safe_numbers
from steelyard.parameters.orders import from_urdf
from steelyard.parameters.pseudo_inertia import pseudo_inertia
from tests.laws.experiments.test_payload import COM, MASS, arm, identified, log, rests, turned

NAMES = sorted(CONTROLLERS)
SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@cache
def moved(load: float, noise: float = 0.2, seed: int = 1) -> sy.PayloadEstimate:
    return sy.payload(identified(), log(load, noise, seed))


@cache
def rested(load: float, friction: float = 0.0, seed: int = 0) -> sy.PayloadEstimate:
    poses = sy.static_poses(arm(), 8).q
    with_load, without = (
        rests(load, poses, friction, seed=seed),
        rests(0.0, poses, friction, seed=seed + 50),
    )
    return sy.payload(arm(), with_load, without, static=True)


def pasted(name: str, text: str) -> np.ndarray:
    """Mass [kg], centre [m] and the six entries of the inertia [kg m2] of a controller's line, read
    back from its text.
    """
    text = text.removeprefix("LOAD_DATA[1]")
    x = np.array([float(each) for each in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", text)])
    if name == "kuka":
        turn = turned(*np.radians(x[4:7]))
        return np.array(
            [x[0], *1e-3 * x[1:4], *(turn @ np.diag(x[7:]) @ turn.T)[tuple(zip(*SIX, strict=True))]]
        )
    order = {"franka": [4, 5, 6, 8, 9, 12], "ur": [4, 7, 8, 5, 9, 6]}[name]
    return np.array([*x[:4], *x[order]])


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_hand_has_no_line_and_one_mass(name: str) -> None:
    for seed in range(1, 6):
        none = moved(0.0, seed=seed)
        asked = none.controller(name)
        assert none.verdict.word == "doubtful"
        assert (asked.text, asked.values) == ("", {})
        assert f"No line for the controller ({name}): the load is doubtful." in str(asked)
        assert f"The mass, {none.mass:.5g} kg," in none.verdict.reasons[0]
        assert none.rows()[0][1] == none.mass == none.fit.numbers[0] >= 0
        assert np.array_equal(none.com, np.zeros(3)), "a load that may not be there has no centre"
        assert np.all(np.isinf(none.std.com))
        assert np.all(np.isinf(none.std.inertia))
        none.robot.gravity_torque(np.zeros(arm().n))


@pytest.mark.parametrize("name", NAMES)
def test_a_light_load_has_a_point_mass_in_the_line(name: str) -> None:
    """140 g: torques show mass and centre; an inertia of 1e-3 kg m2 is below their noise."""
    light = moved(0.05)
    asked = light.controller(name)
    assert light.verdict.word == "trusted within"
    assert {"Ixx", "Iyy", "Izz"} <= set(light.verdict.unseen)
    assert pasted(name, asked.text) == pytest.approx(
        [light.mass, *light.com, *np.zeros(6)], rel=1e-5, abs=1e-9
    )
    assert len(asked.notes) == 1
    assert "the inertia is set to zero, as for a point mass" in asked.notes[0]


@pytest.mark.parametrize("name", NAMES)
def test_one_entry_that_is_not_identified_leaves_the_whole_inertia_out(name: str) -> None:
    load = moved(0.3)
    assert load.verdict.unseen == ("Ixx",)
    assert not np.any(pasted(name, load.controller(name).text)[4:])
    assert "Ixx not identified" in load.controller(name).notes[0]


@pytest.mark.parametrize("name", NAMES)
def test_static_logs_give_mass_and_centre(name: str) -> None:
    still = rested(1.0)
    numbers = pasted(name, still.controller(name).text)
    assert numbers[:4] == pytest.approx([MASS, *COM], abs=0.02)
    assert not np.any(numbers[4:])
    assert "solid ball" in " ".join(still.verdict.reasons)
    ball = still.fit.numbers[4:]
    assert np.allclose(ball, ball[0] * np.array([1, 0, 0, 1, 0, 1])), (
        "the robot's load is a ball at the centre"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_centre_that_is_not_identified_leaves_no_line(name: str) -> None:
    lazy = sy.load("planar_2r")
    t, q, qd, qdd = (np.asarray(x) for x in _swing(lazy.n))
    tau = lazy.with_payload(1.0, (0.1, 0.0, 0.0), 0.01).inverse_dynamics(q, qd, qdd)
    tau = tau + 0.01 * np.random.default_rng(0).normal(size=tau.shape)
    estimate = sy.payload(
        lazy, sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=lazy.joint_names)
    )
    asked = estimate.controller(name)
    assert estimate.verdict.trusted
    assert asked.text == ""
    assert "com z not identified" in asked.notes[0]
    assert estimate.com[2] == 0.0


def _swing(n: int) -> tuple[np.ndarray, ...]:
    from tests.motions import fourier

    return fourier(n, 10.0, 50.0)


def draws() -> list[tuple[str, float, float, int]]:
    rng = np.random.default_rng(7)
    masses = [0.0, *np.geomspace(1e-3, 1.0, 7)]
    moving = [
        ("moving", float(load), float(rng.choice([0.01, 0.2, 1.0])), int(rng.integers(1, 50)))
        for load in masses
        for _ in range(2)
    ]
    return [
        *moving,
        *(
            ("static", float(load), float(rng.choice([0.0, 1.0])), int(rng.integers(40)))
            for load in masses
        ),
    ]


@pytest.mark.parametrize(("kind", "load", "noise", "seed"), draws())
def test_a_line_is_there_only_if_trusted_and_has_the_numbers_of_the_table(
    kind: str, load: float, noise: float, seed: int
) -> None:
    """Also in the other axes of the same link, where seen and unseen numbers mix."""
    result = moved(load, noise, seed) if kind == "moving" else rested(load, noise, seed)
    values, std = (np.array([row[k] for row in result.rows()]) for k in (1, 2))
    assert np.array_equal(values, [result.mass, *result.com, *(result.inertia[i] for i in SIX)])
    assert np.all(np.linalg.eigvalsh(pseudo_inertia(result.fit.parameters)) >= -1e-12)
    identified_numbers = np.isfinite(std)
    for name in NAMES:
        asked = result.controller(name)
        allowed = result.verdict.trusted and bool(np.all(identified_numbers[:4]))
        assert bool(asked.text) is bool(asked.values) is allowed
        if not allowed:
            assert asked.notes
            continue
        numbers = pasted(name, asked.text)
        whole = bool(np.all(identified_numbers[4:]))
        assert bool(asked.notes) is not whole
        checked = slice(0, 10 if whole else 4)
        assert np.all(
            np.abs(numbers - values)[checked] <= 1e-5 * np.abs(values).max() + 1e-3 * std[checked]
        )
        assert whole or not np.any(numbers[4:])
        other = result.controller(name, arm().frame_names[-1])
        assert bool(other.text) is allowed


def test_both_lines_and_none_occur_among_the_draws() -> None:
    texts = [
        bool((moved(*d) if kind == "moving" else rested(*d)).controller("ur").text)
        for kind, *d in draws()
    ]
    assert 0.3 < np.mean(texts) < 0.95


def test_safe_numbers_are_those_of_a_body() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        A = rng.normal(size=(3, 3))
        S = A @ A.T  # second moments, of a physically consistent body
        I = np.trace(S) * np.eye(3) - S  # noqa: E741
        numbers = np.array([rng.uniform(0.1, 3), *rng.normal(size=3), *(I[i] for i in SIX)])
        seen = rng.uniform(size=10) < 0.5
        safe = safe_numbers(numbers, float(rng.normal()), seen)
        assert np.all(np.linalg.eigvalsh(pseudo_inertia(from_urdf(safe))) > -1e-9)
        assert np.array_equal(safe[1:4], np.where(seen[1:4], numbers[1:4], 0.0))
        assert safe[0] == numbers[0] if np.any(seen[1:]) else safe[0] >= 0
