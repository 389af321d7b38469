"""The optimiser of excitation.

Exact gradients, limits at every instant, better than a search, the same for the same seed.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.excitation.barrier import LogBarrier, TorqueLimit, box_constraints
from steelyard.experiments.excitation.criteria import CRITERIA
from steelyard.experiments.excitation.excitation_thresholds import THRESHOLDS
from steelyard.experiments.excitation.information import FisherInformation
from steelyard.experiments.excitation.interior_point import InteriorPointState
from steelyard.experiments.excitation.multi_start import StartPool
from steelyard.experiments.excitation.random_motions import RandomMotions
from steelyard.motion.trajectories.certificate import certify
from steelyard.motion.trajectories.fourier import Fourier, FourierBasis
from steelyard.motion.trajectories.limits import TrajectoryLimits, motion_limits

ROBOT = sy.load("spatial_3r")
EFFORT = [40.0, 90.0, 40.0]
BASIS = FourierBasis(4, 0.2)
LIMITED = {"acceleration": 6.0, "jerk": 60.0, "effort": EFFORT}


def limits() -> TrajectoryLimits:
    return motion_limits(ROBOT, 0.9, **LIMITED)  # type: ignore[arg-type]


@cache
def some_motion(shrink: float = 0.8) -> Fourier:
    motions = RandomMotions(limits(), BASIS, FisherInformation.of(ROBOT))
    best = list(motions.search(60, np.random.default_rng(3)))[-1]
    assert best is not None
    result = best[0].scaled(shrink)
    assert isinstance(result, Fourier)
    return result


def design(criterion: str = "D") -> InteriorPointState:
    information = FisherInformation.of(ROBOT, criterion=criterion)
    rows = BASIS.rows(np.arange(48) * 5.0 / 48)
    return InteriorPointState(
        information,
        LogBarrier(
            rows, box_constraints(limits()), (TorqueLimit(information.robot, limits().effort),)
        ),
    )


def central(f: object, x: np.ndarray, d: np.ndarray, h: float = 2e-3) -> float:
    f1, f2, f3, f4 = (f(x + k * h * d) for k in (-2, -1, 1, 2))  # type: ignore[operator]
    return float((f1 - 8 * f2 + 8 * f3 - f4) / (12 * h))


def test_coefficients_are_those_of_the_motion() -> None:
    motion = some_motion()
    x = BASIS.coefficients(motion)
    t = np.linspace(0, 5, 7)
    for rows, expected in zip(BASIS.rows(t), (*motion(t), motion.jerk(t)), strict=True):
        np.testing.assert_allclose(rows @ x.T, expected, atol=1e-12)
    np.testing.assert_allclose(BASIS.motion(x).a, motion.a, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradients_are_those_of_finite_differences(
    criterion: str, rng: np.random.Generator
) -> None:
    outcome, x = design(criterion), BASIS.coefficients(some_motion())
    gradient = outcome.gradient(outcome.states(x))
    for _ in range(3):
        d = rng.normal(size=x.shape)
        result = central(lambda y: -outcome.information.value(outcome.states(y)[:3]), x, 1e-2 * d)
        assert np.sum(gradient * d) * 1e-2 == pytest.approx(
            result, abs=1e-8 * np.linalg.norm(gradient) * np.linalg.norm(d)
        )


def test_known_information_counts(rng: np.random.Generator) -> None:
    outcome, x = design(), BASIS.coefficients(some_motion())
    half = rng.normal(size=(len(outcome.information.columns),) * 2)
    richer = InteriorPointState(
        replace(outcome.information, known=half @ half.T, samples=96.0, quiet=2.0), outcome.barrier
    )
    states, d = outcome.states(x), 1e-2 * rng.normal(size=x.shape)
    # of 48 samples in units of twice the noise: 96 recorded ones tell 2 * G / 4
    G = outcome.information.gram(states[:3])
    assert richer.information.value(states[:3]) == pytest.approx(
        np.linalg.slogdet(G + 2 * half @ half.T)[1]
    )
    np.testing.assert_allclose(
        richer.information.whole(states[:3]), G / 2 + half @ half.T, rtol=1e-12
    )
    result = central(lambda y: -richer.information.value(richer.states(y)[:3]), x, d)
    assert np.sum(richer.gradient(states) * d) == pytest.approx(result, rel=1e-6)


def test_the_barrier_has_the_derivative_of_finite_differences_and_ends_at_the_limits(
    rng: np.random.Generator,
) -> None:
    barrier, x = design().barrier, BASIS.coefficients(some_motion())
    states = barrier.rows @ x.T
    gradient, curvature, J = barrier.derivatives(states)
    d = 1e-3 * rng.normal(size=x.shape)
    assert np.sum(gradient * d) == pytest.approx(
        central(lambda y: barrier.value(barrier.rows @ y.T), x, d), rel=1e-6
    )
    assert np.linalg.eigvalsh(curvature)[0] > -1e-9 * np.linalg.eigvalsh(curvature)[-1]
    (torque,) = barrier.others
    slack, there = (torque.slack(barrier.rows @ y.T) for y in (x, x + 1e-4 * d))
    np.testing.assert_allclose(
        J @ d.ravel(),
        (1e4 * (np.log(there) - np.log(slack)))[slack < THRESHOLDS.near_slack],
        rtol=1e-3,
        atol=1e-6,
    )
    linear = replace(barrier, others=())
    step = linear.longest_step(states, barrier.rows @ x.T, np.zeros(0))
    assert np.isfinite(linear.value((1 + 0.999 * step) * states))
    assert np.isinf(linear.value((1 + 1.001 * step) * states))
    assert np.isinf(barrier.value(barrier.rows @ (4 * x).T))


def test_certificates_hold_between_samples_and_are_tight() -> None:
    robot = ROBOT.with_friction(coulomb=[1.0, 2.0, 1.0], viscous=0.5)
    motion, space = some_motion(), limits()
    t = np.linspace(0, motion.period, 100_001)
    q, qd, qdd = motion(t)
    tau = np.abs(robot.inverse_dynamics(q, qd, qdd)).max(0)
    for room in (1.003, 1.5):
        result = certify(robot, motion, replace(space, effort=room * tau))
        assert result.holds
        assert np.all(result.torque >= 1 / room)
        assert np.all(result.torque <= 1)
    assert not certify(robot, motion, replace(space, effort=0.9999 * tau)).holds
    result = certify(robot, motion, space)
    used = {
        "velocity": np.abs(qd).max(0) / space.velocity,
        "acceleration": np.abs(qdd).max(0) / space.acceleration,
        "jerk": np.abs(motion.jerk(t)).max(0) / space.jerk,
        "position": np.abs(q - space.centre).max(0) / space.reach,
    }
    for name, share in used.items():
        assert np.all(getattr(result, name) >= share)
        np.testing.assert_allclose(getattr(result, name), share, rtol=3e-3)


def test_what_is_optimised_keeps_its_limits_and_tells_more_than_a_search() -> None:
    options = {"seconds": 5, "harmonics": 4, "base_frequency": 0.2, **LIMITED}
    trajectory = sy.excite(ROBOT, starts=2, **options)  # type: ignore[arg-type]
    searched = sy.excite(ROBOT, candidates=100, **options)  # type: ignore[arg-type]
    assert trajectory.excitation
    assert searched.excitation
    assert trajectory.excitation.log_det > searched.excitation.log_det + 2
    for each in (trajectory, searched):
        assert each.excitation
        assert each.excitation.certificate
        assert each.excitation.certificate.holds
        fine = each.sample(10_000)
        space = limits()
        whole = ROBOT.with_joint_terms(("armature", "viscous", "coulomb", "offset"))
        tau = whole.inverse_dynamics(fine.q, fine.qd, fine.qdd)
        assert np.all((fine.q >= space.lower) & (fine.q <= space.upper))
        for x, bound in (
            (fine.qd, space.velocity),
            (fine.qdd, space.acceleration),
            (tau, space.effort),
        ):
            assert np.all(np.abs(x) <= bound * (1 + 1e-9))


def test_the_seed_decides() -> None:
    one, again, other = (
        sy.excite(sy.load("planar_2r"), 5.0, 3, seed=seed, starts=2, rate=20) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.q, again.q)
    assert np.abs(one.q - other.q).max() > 0.01


def test_criteria_are_those_of_the_eigenvalues(rng: np.random.Generator) -> None:
    half = rng.normal(size=(5, 9))
    A, scale = half @ half.T, rng.uniform(0.5, 2, 5)
    variances = 1 / np.linalg.eigvalsh(A * np.outer(scale, scale))
    assert CRITERIA["D"].value(A, scale) == pytest.approx(np.linalg.slogdet(A)[1])
    assert CRITERIA["A"].value(A, scale) == pytest.approx(-5 * np.log(np.mean(variances)))
    assert (
        -5 * np.log(variances.max())
        <= CRITERIA["E"].value(A, scale)
        <= -5 * np.log(variances.max()) + 5 * np.log(5) / 4
    )
    assert CRITERIA["E"].value(np.zeros((5, 5)), scale) == -np.inf
    assert CRITERIA["D"].value(np.zeros((5, 5)), scale) == -np.inf


def test_an_interrupt_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, begun = StartPool(3), threading.Event()

    def interrupted(*_: object, **__: object) -> object:
        monkeypatch.undo()
        begun.wait(5)
        raise KeyboardInterrupt

    def job() -> str:
        begun.set()
        while not pool.stopped():
            pass
        return "so far"

    monkeypatch.setattr("steelyard.experiments.excitation.multi_start.wait", interrupted)
    assert pool.work([job, job, lambda: "done"]) == ["so far", "so far", "done"]
    assert pool.stopped()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "G"}, "criterion = 'G'.*[Kk]nown: D, A, E"),
        ({"starts": 0}, "starts = 0"),
        ({"noise": [1.0]}, "noise"),
    ],
)
def test_bad_calls(options: dict[str, object], message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        sy.excite(ROBOT, **options)  # type: ignore[arg-type]
