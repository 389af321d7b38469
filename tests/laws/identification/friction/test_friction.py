"""Friction is chosen by evidence.

What is planted is found at its joint, and nothing is added where nothing is.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
import pytest
from scipy.stats import wilcoxon

import steelyard as sy
from benchmarks.generated_c import compile_c
from steelyard.errors import CallError
from steelyard.identification.estimators.least_squares import weighted
from steelyard.identification.friction.candidates import (
    Columns,
    FrictionCandidate,
    joint_candidates,
)
from steelyard.identification.friction.term_search import (
    FrictionTermSearch,
    Gain,
    make_search,
    signed_ranks,
)
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_thresholds import THRESHOLDS
from steelyard.identification.model.problem import Problem
from steelyard.identification.nuisance.friction_shape import between
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from tests.motions import recorded, rubbing
from tests.oracles.test_c_export import STRICT

USUAL = ("viscous", "coulomb", "offset")


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r")).with_friction(offset=0.0, width=0.03)


PLANTED = {
    "stribeck": (
        {"stiction": {"joint2": 4.0}, "stribeck": {"joint2": 0.15}},
        {"joint2": {"stiction", "stribeck"}},
        {},
    ),
    "backward friction": ({"negative": {"joint1": 0.5}}, {"joint1": {"negative"}}, {}),
    "load": ({"load": {"joint3": 0.12}}, {"joint3": {"load"}}, {}),
    "losses": (
        {"driving": {"joint3": 0.1}, "driven": {"joint3": 0.4}},
        {"joint3": {"driving", "driven"}},
        {},
    ),
    "ripple": (
        {"sine2": {"joint1": 0.6}, "cosine2": {"joint1": 0.5}, "gear": {"joint1": 80.0}},
        {"joint1": {"sine2", "cosine2", "gear"}},
        {"gear_ratio": {"joint1": 80.0}},
    ),
    "two terms": (
        {"stiction": {"joint2": 4.0}, "stribeck": {"joint2": 0.15}, "load": {"joint2": 0.03}},
        {"joint2": {"stiction", "stribeck", "load"}},
        {},
    ),
    "nothing": ({}, {}, {"gear_ratio": 80.0}),
}


@cache
def fitted(name: str) -> tuple[sy.Robot, sy.Log, sy.Fit]:
    planted, _, options = PLANTED[name]
    true = arm().with_friction(**planted) if planted else arm()
    log = recorded(true, seconds=40, rate=200, noise=0.2)
    return (
        true,
        log,
        sy.identify(arm().with_parameters(1.2 * arm().parameters), log, "wls", **options),
    )


def told(fit: sy.Fit) -> str:
    return next(note for note in fit.status if note.startswith("Friction"))


EVERY = pytest.mark.parametrize("name", PLANTED)


@EVERY
def test_what_is_planted_is_found_at_its_joint_and_nothing_else(name):
    _, _, fit = fitted(name)
    expected = PLANTED[name][1]
    for joint, before, after in zip(
        fit.robot.joint_names, arm().tree.terms, fit.robot.tree.terms, strict=True
    ):
        assert set(after) - set(before) == expected.get(joint, set()), joint
        assert set(before) - set(after) == ({"offset"} if "negative" in after else set()), joint
    words = {"stiction": "stribeck", "sine2": "ripple", "driving": "losses"}
    for joint, keys in expected.items():
        for word in {words.get(key, key) for key in keys} & {
            "stribeck",
            "negative",
            "load",
            "losses",
            "ripple",
        }:
            assert word in told(fit)
        assert joint in told(fit)
    assert expected or "no further term" in told(fit)


@EVERY
def test_what_is_found_has_its_value_and_predicts_better(name):
    true, log, fit = fitted(name)
    plain = sy.identify(arm(), log, "wls", friction=USUAL)
    unseen = recorded(true, seed=7, seconds=20)
    assert (
        fit.validate(unseen).total_relative_error
        <= (0.6 if PLANTED[name][1] else 1.01) * plain.validate(unseen).total_relative_error
    )
    truth = dict(zip(true.parameter_names, true.parameters, strict=True))
    results = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    for joint in PLANTED[name][1]:
        for symbol in ("Fc", "Fs", "Fn", "Fl", "Fld", "Flb", "R2s", "R2c"):
            if f"{joint}.{symbol}" in truth:
                assert results[f"{joint}.{symbol}"] == pytest.approx(
                    truth[f"{joint}.{symbol}"], rel=0.2
                ), symbol


@EVERY
@pytest.mark.filterwarnings("ignore:URDF has no element")
def test_the_robot_carries_what_was_chosen_and_so_does_its_file(name, tmp_path):
    _, log, fit = fitted(name)
    states = np.random.default_rng(3).normal(size=(3, 200, 3))
    tau = fit.robot.inverse_dynamics(*states)
    assert np.allclose(tau, fit.predict(*states).torque, rtol=1e-9, atol=1e-9)
    own = fit.model.rows(*states) @ fit.base.values(fit.parameters) + fit.model.known_torque(
        *states
    )
    assert np.allclose(tau, own, rtol=1e-8, atol=1e-8)
    fit.robot.to_toml(tmp_path / "found.toml")
    fit.robot.to_urdf(tmp_path / "found.urdf")
    for file in ("found.toml", "found.urdf"):
        assert np.allclose(
            sy.load(tmp_path / file).inverse_dynamics(*states), tau, rtol=1e-9, atol=1e-9
        )
    assert fit.validate(log).total_relative_error == pytest.approx(
        fit.total_relative_error, rel=1e-5
    )


@EVERY
def test_exported_c_has_the_friction_that_was_chosen(name, tmp_path):
    """Compiled without a warning, for states that go both ways and stand."""
    robot = fitted(name)[2].robot
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 20, robot.n))
    qd[::5], qd[1::5] = 0.0, 0.01 * qd[1::5]
    _, source = robot.to_c(tmp_path, functions=["inverse_dynamics"])
    compile_c([source], tmp_path / "robot.so", STRICT)
    function = ctypes.CDLL(str(tmp_path / "robot.so"))[f"{source.stem}_inverse_dynamics"]
    function.restype, result = None, np.empty((20, robot.n))
    for states in zip(q, qd, qdd, result, strict=True):
        function(*(state.ctypes.data_as(ctypes.c_void_p) for state in states))
    assert np.allclose(result, robot.inverse_dynamics(q, qd, qdd), rtol=1e-12, atol=1e-12)
    plain = robot.without_friction().inverse_dynamics(q, qd, qdd)
    assert np.all(np.max(np.abs(result - plain), axis=0) > 0.1), "every joint has friction"


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_added_where_nothing_is(seed):
    true = sy.perturbed(arm(), seed=seed)
    fit = sy.identify(
        arm(),
        recorded(true, noise=0.5, seed=seed + 1, seconds=10 + 5 * seed),
        "wls",
        gear_ratio=80.0,
    )
    assert "no further term" in told(fit)
    assert fit.parameter_names == arm().parameter_names


def test_gear_ratios_of_the_description_serve():
    true = arm().with_friction(sine1={"joint2": 1.0}, gear={"joint2": 60.0})
    geared = arm().with_rotors([0.3, 0.15, 0.1], ratio=[-80.0, -60.0, 50.0])
    log = recorded(
        geared.with_friction(sine1={"joint2": 1.0}, gear={"joint2": 60.0}),
        seconds=40,
        rate=200,
        noise=0.2,
    )
    assert "ripple (joint2" in told(sy.identify(geared, log, "wls"))
    assert "no further term" in told(
        sy.identify(arm(), recorded(true, seconds=40, rate=200, noise=0.2), "wls")
    ), "without a gear ratio"


@pytest.mark.parametrize("signal", ["time", "temperature"])
def test_what_drifts_is_taken_out_and_is_no_part_of_the_robot(signal):
    log = recorded(arm(), seconds=40, rate=100, noise=0.2)
    warm = 40.0 - 15.0 * np.exp(-log.t / 15.0)
    clock = warm - warm.mean() if signal == "temperature" else log.t - log.t.mean()
    add = np.zeros_like(log.tau)
    add[:, 1] = -2.0 * clock / np.abs(clock).max() * log.qd[:, 1]
    drifting = log.replace(tau=log.tau + add, temperature=warm if signal == "temperature" else None)
    fit = sy.identify(arm(), drifting, "wls")
    assert "drift of the viscous friction (joint2" in told(fit)
    assert "not part of the robot" in told(fit)
    assert fit.drift == pytest.approx(np.sqrt(np.mean(add**2, axis=0)), rel=0.1, abs=1e-9)
    assert fit.parameter_names == arm().parameter_names
    plain = sy.identify(arm(), drifting, "wls", friction=USUAL)
    assert fit.total_relative_error < 0.5 * plain.total_relative_error
    assert fit.validate(drifting).total_relative_error == pytest.approx(
        plain.validate(drifting).total_relative_error, rel=0.2
    )
    values = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    assert values["joint2.Fv"] == pytest.approx(1.0, rel=0.05), "the value at the mean"


def test_drift_is_taken_out_in_the_units_of_the_drive_gains():
    log = recorded(arm(), seconds=40, rate=100, noise=0.1)
    add = np.zeros_like(log.tau)
    add[:, 0] = -0.1 * (log.t - log.t.mean()) * log.qd[:, 0]
    gains = np.array([1.25, 1.0, 1.0])
    fit = sy.identify(arm(), log.replace(tau=(log.tau + add) / gains), "wls", drive_gains="joint1")
    assert fit.drive_gains == pytest.approx(gains, rel=1e-2)
    assert fit.drift[0] == pytest.approx(np.sqrt(np.mean(add[:, 0] ** 2)), rel=0.1)
    remaining = np.sqrt(np.mean(fit.residuals**2, axis=0))
    assert remaining[0] == pytest.approx(remaining[1], rel=0.2), (
        "noise alone is left, as in a joint without drift"
    )


def test_terms_that_are_asked_for_are_taken_whatever_the_evidence():
    log = recorded(arm(), noise=0.2)
    fit = sy.identify(arm(), log, "wls", friction=(*USUAL, "load"))
    assert [name for name in fit.parameter_names if name.endswith(".Fl")] == [
        "joint1.Fl",
        "joint2.Fl",
        "joint3.Fl",
    ]
    assert not any(note.startswith("Friction:") for note in fit.status)
    fit = sy.identify(arm(), log, "wls", friction=(*USUAL, "ripple"), gear_ratio={"joint2": 30.0})
    assert [name for name in fit.parameter_names if ".R" in name] == [
        f"joint2.R{h}{w}" for h in (1, 2, 6) for w in "sc"
    ]


def test_words_that_make_no_sense_are_named():
    log = recorded(arm())
    with pytest.raises(CallError, match=r"friction 'ripple' needs gear ratios: gear_ratio="):
        sy.identify(arm(), log, friction=(*USUAL, "ripple"))
    with pytest.raises(CallError, match=r"friction 'auto' is unknown"):
        sy.identify(arm(), log, friction=("auto", "load"))
    with pytest.raises(CallError, match=r"friction 'strbeck' is unknown; did you mean 'stribeck'"):
        sy.identify(arm(), log, friction="strbeck")
    with pytest.raises(CallError, match="gear_ratio: no joint is called 'joint9'"):
        sy.identify(arm(), log, gear_ratio={"joint9": 100.0})


def test_joints_that_are_held_get_nothing():
    _, log, _ = fitted("stribeck")
    fit = sy.identify(arm(), log, "wls", hold=["joint2"])
    assert "no further term" in told(fit)


@pytest.mark.parametrize(
    ("share", "consistency", "information", "passes"),
    [
        (0.03, 0.95, 8.0, True),
        (0.015, 0.95, 8.0, False),
        (0.03, 0.6, 8.0, False),
        (0.03, 0.95, 4.0, False),
    ],
)
def test_a_term_needs_a_gain_in_nearly_all_parts_and_strong_evidence(
    share, consistency, information, passes
):
    """Half or twice a threshold changes one of these."""
    assert (
        Gain(joint_candidates(0, False, None)[0], share, consistency, information, (1.0,)).passes
        == passes
    )


@pytest.mark.parametrize("best", [0.09, 0.1, 0.13])
def test_the_best_shape_lies_between_candidates(best):
    values = np.geomspace(0.01, 1.0, 15)
    costs = (np.log(values / best) ** 2).tolist()
    assert between(values.tolist(), costs, int(np.argmin(costs))) == pytest.approx(best)
    assert between(values.tolist(), costs[::-1], 0) == values[0], "the end of the range"
    assert between([1.0, 2.0, 4.0], [3.0, 3.0, 3.0], 1) == 2.0, "costs that do not tell"


def test_signed_ranks_are_those_of_wilcoxon():
    for seed in range(20):
        x = np.random.default_rng(seed).normal(0.5, 1.0, 8)
        assert signed_ranks(x) == pytest.approx(wilcoxon(x, alternative="greater").statistic / 36.0)


def brute_force(
    problem: Problem, candidate: FrictionCandidate, search: FrictionTermSearch
) -> np.ndarray:
    """Held-out squares (F, n) with one candidate, from the rows themselves and rows of the
    description.
    """
    weights = search.weights
    blocks = list(problem.blocks())
    Y, tau = np.concatenate([b.Y for b in blocks]), np.concatenate([b.tau for b in blocks])
    moving = np.abs(Y[:, :, -1]) > 5e-3
    Y, tau = Y * moving[:, :, None], tau * moving
    b = problem.base.n_base
    X = np.zeros((*tau.shape, b + len(candidate.columns)))
    X[:, :, :b] = Y[:, :, :b]
    X[:, candidate.joint, b:] = Y[:, candidate.joint, b + np.array(candidate.columns)]
    part = np.minimum(THRESHOLDS.folds - 1, np.arange(len(tau)) * THRESHOLDS.folds // len(tau))
    results = []
    known = np.linalg.cholesky(search.precision).T
    more = np.hstack([known, np.zeros((b, len(candidate.columns)))])
    for f in range(THRESHOLDS.folds):
        rows, right = (
            (X * weights[:, None])[part != f].reshape(-1, X.shape[2]),
            (tau * weights)[part != f].ravel(),
        )
        x = np.linalg.lstsq(
            np.vstack([rows, more]), np.append(right, known @ search.start), rcond=None
        )[0]
        results.append(np.sum((tau[part == f] - X[part == f] @ x) ** 2, axis=0))
    return np.array(results)


def search_of(name: str) -> tuple[Problem, FrictionTermSearch]:
    """The search over all candidates for the log of a case."""
    samples = (prepare(arm(), fitted(name)[1], Preparation()),)
    model = build_model(arm())
    trial = Problem(model, samples, 4)
    base, _ = weighted(trial.total, trial.prior)
    columns = Columns.of(model, base, np.full(3, 50.0), samples)
    problem = Problem(model, samples, 4, columns)
    return problem, make_search(problem, columns)


def test_a_term_pays_for_its_unknowns():
    """Where nothing is planted the information criterion falls by about chance less the price, k
    (log N + 2 log M).
    """
    _, search = search_of("nothing")
    results = {
        candidate: search.information(candidate)
        for candidate in search.candidates
        if search.shown(candidate)
    }
    price = np.log(search.total.counts.min()) + 2 * np.log(
        len({(c.joint, c.word, c.keys) for c in search.candidates})
    )
    real = {c: x for c, x in results.items() if np.isfinite(x)}
    assert len(real) > 20
    assert all(x < 0 for x in real.values())
    assert np.median([x / c.unknowns for c, x in real.items()]) == pytest.approx(-price, rel=0.2)


@pytest.mark.parametrize("place", [3, 9, 10, 12, 18])
def test_held_out_errors_are_those_of_fits_without_the_part(place):
    problem, search = search_of("load")
    candidate = next(c for c in joint_candidates(1, True, None) if place in c.columns)
    assert np.allclose(
        search.held_out(candidate), brute_force(problem, candidate, search), rtol=1e-4
    )
