"""The measurements: each returns figures of one robot or one claim."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import installed
from steelyard.experiments.excitation.excitation_thresholds import THRESHOLDS
from steelyard.experiments.excitation.excite import ExcitationProblem, prior_information
from steelyard.experiments.excitation.expected_accuracy import RegionOfUse, targets
from steelyard.experiments.excitation.information import TERMS, FisherInformation
from steelyard.experiments.excitation.multi_start import MultiStart, StartPool
from steelyard.experiments.excitation.random_motions import RandomMotions
from steelyard.experiments.excitation.task import ExcitationSearch
from steelyard.motion.collision.clearance import Clearance
from steelyard.motion.collision.distance_tables import with_distance_tables
from steelyard.motion.collision.distances_to_keep import DistancesToKeep, distances_to_keep
from steelyard.motion.trajectories.fourier import FourierBasis
from steelyard.motion.trajectories.limits import TrajectoryLimits, motion_limits
from steelyard.option_groups.excitation import ExcitationOptions

Array = NDArray[np.float64]
ROBOTS: dict[str, Callable[[], sy.Robot]] = {
    "ur10": lambda: installed("ur_description/urdf/ur10_robot.urdf"),
    "xarm7": lambda: installed("xarm_description/urdf/xarm7.urdf"),
    "puma560": lambda: sy.load("puma560"),
}
SERIES = ((5, 0.1), (10, 0.05))  # harmonics, base frequency [Hz]
SECONDS, ACCELERATION, MARGIN = 20.0, 8.0, 0.9
LIMITED = {"speed": 1.0, "acceleration": ACCELERATION, "ground": None}
"""The limits of all figures, which are faster than the defaults, and no ground."""
STATED = {("ur10", 5): 444.0, ("ur10", 10): 477.0}
"""Log-dets of a stochastic search of 60 s that were published with the task."""


@cache
def robot(name: str) -> sy.Robot:
    """A robot by name."""
    return ROBOTS[name]()


@cache
def limits(name: str) -> TrajectoryLimits:
    """The limits of all rows."""
    return motion_limits(robot(name), MARGIN, acceleration=ACCELERATION)


class Excited(NamedTuple):
    """A motion, its wall time, the time of all cores, and the time of other processes [s]."""

    motion: sy.Trajectory
    wall: float
    cpu: float
    others: float


@cache
def excited(name: str, harmonics: int, collision: str = "auto", seed: int = 0) -> Excited:
    """The motion of the defaults; kernels are compiled before."""
    frequency = dict(SERIES)[harmonics]
    sy.excite(
        robot(name),
        SECONDS,
        harmonics,
        frequency,
        99,
        starts=1,
        collision=collision,
        **LIMITED,  # type: ignore[arg-type]
    )
    wall, cpu, busy = perf_counter(), process_time(), busy_time()
    trajectory = sy.excite(
        robot(name),
        SECONDS,
        harmonics,
        frequency,
        seed,
        margin=MARGIN,
        collision=collision,
        **LIMITED,  # type: ignore[arg-type]
    )
    used = process_time() - cpu
    return Excited(trajectory, perf_counter() - wall, used, max(0.0, busy_time() - busy - used))


def busy_time() -> float:
    """The time that all processes of the machine used so far [s]; NaN where it cannot be read."""
    path = Path("/proc/stat")
    if not path.exists():
        return float("nan")
    user, nice, system = (int(x) for x in path.read_text(encoding="ascii").split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def log_det(result: sy.Trajectory) -> float:
    """The log-det of a motion."""
    assert result.excitation is not None
    return result.excitation.log_det


@cache
def stochastic(name: str, harmonics: int, seconds: float) -> float:
    """Return the log-det of a stochastic search for a time of one core, without distances."""
    motions = RandomMotions(
        limits(name),
        FourierBasis(harmonics, dict(SERIES)[harmonics]),
        FisherInformation.of(robot(name)),
    )
    with sy.threads(1):
        begin = process_time()
        list(motions.search(40, np.random.default_rng(0)))
        count = max(40, int(40 * seconds / (process_time() - begin)))
        best = list(motions.search(count, np.random.default_rng(1)))[-1]
    assert best is not None
    return best[1].log_det


@cache
def best_of_starts(
    name: str, harmonics: int, collision: str = "none", starts: int = 20, seed: int = 1
) -> tuple[float, int]:
    """Return the largest log-det of starts of another seed, and the number of parameters."""
    information = FisherInformation.of(robot(name))
    basis = FourierBasis(harmonics, dict(SERIES)[harmonics])
    gaps = distances_to_keep(robot(name), limits(name), collision, ground=None).gaps
    task = ExcitationSearch(
        limits(name),
        basis,
        information,
        seed,
        gaps,
        tuple(with_distance_tables(each) for each in gaps),
    )
    problem, crew = task.starts, StartPool(1)
    results = []
    for number in range(starts):
        start = problem.first(number, seed)
        for stage in THRESHOLDS.search_levels:
            longer = stage._replace(steps=3 * stage.steps)
            start = start and problem.advance(start, longer, problem.design(longer), crew.stopped)
        result = start and task.certified(basis.motion(start.x))
        results.append(information.score(result[0]).log_det if result else -np.inf)
    return max(results), len(information.columns)


def largest_share(name: str, result: sy.Trajectory, rate: float = 10_000.0) -> float:
    """The largest share of any limit that samples at a rate [Hz] use.

    The jerk has no limit here.
    """
    fine, space = result.sample(rate), limits(name)
    tau = np.abs(robot(name).with_joint_terms(TERMS).inverse_dynamics(fine.q, fine.qd, fine.qdd))
    shares = [
        np.abs(fine.q - space.centre) / space.reach,
        np.abs(fine.qd) / space.velocity,
        np.abs(fine.qdd) / space.acceleration,
    ]
    return float(max(x.max() for x in (*shares, tau / space.effort)))


def least_distance(name: str, result: sy.Trajectory, rate: float = 1000.0) -> float:
    """The least distance [m] over what is asked for between links, at samples of a rate [Hz]."""
    (gaps,) = distances_to_keep(robot(name), limits(name), ground=None).gaps
    assert isinstance(gaps, Clearance)
    q = result.sample(rate).q
    return float(
        min(
            (gaps.distances(part, 0.1).distance - gaps.least).min()
            for part in np.array_split(q, 20)
        )
    )


def gradient_error(name: str) -> float:
    """Return the largest relative error of the gradient against finite differences."""
    information = FisherInformation.of(robot(name))
    basis = FourierBasis(5, 0.1)
    problem = MultiStart(basis, information, limits(name))
    design, start = problem.design(THRESHOLDS.search_levels[1]), problem.first(0, 0)
    assert start is not None
    x, rng = start.x, np.random.default_rng(0)
    gradient, worst = design.gradient(design.states(x)), 0.0
    for _ in range(5):
        d = 1e-2 * rng.normal(size=x.shape)
        values = [-information.value(design.states(x + k * 2e-3 * d)[:3]) for k in (-2, -1, 1, 2)]
        result = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * 2e-3)
        worst = max(
            worst,
            abs(result - float(np.sum(gradient * d)))
            / (float(np.linalg.norm(gradient)) * float(np.linalg.norm(d))),
        )
    return worst


def monte_carlo(name: str, draws: int = 4000) -> float:
    """Return the largest |ratio - 1| of simulated to predicted standard deviations."""
    outcome, *_ = excited(name, 5)
    assert outcome.excitation is not None
    accuracy = outcome.excitation.accuracy
    assert accuracy is not None
    whole = robot(name).with_joint_terms(TERMS)
    columns = list(FisherInformation.of(robot(name)).columns)
    Y = (
        whole.regressor(outcome.q[:-1], outcome.qd[:-1], outcome.qdd[:-1])[..., columns]
        / accuracy.noise[:, None]
    )
    Q, R = np.linalg.qr(Y.reshape(-1, len(columns)))
    rng, errors = np.random.default_rng(0), np.empty((draws, len(columns)))
    for k in range(draws):
        errors[k] = np.linalg.solve(R, Q.T @ rng.normal(size=len(Q)))
    return float(np.abs(errors.std(axis=0) / accuracy.std - 1).max())


def through_identify(name: str, runs: int) -> float:
    """Return the median ratio of the spread of `identify` to the predicted standard deviations."""
    outcome, *_ = excited(name, 5)
    assert outcome.excitation is not None
    accuracy = outcome.excitation.accuracy
    assert accuracy is not None
    described = robot(name).with_joint_terms(TERMS)
    rng, base = np.random.default_rng(0), []
    tau = described.inverse_dynamics(outcome.q, outcome.qd, outcome.qdd)
    for _ in range(runs):
        noisy = tau + rng.normal(size=tau.shape) * accuracy.noise
        log = sy.Log(
            t=outcome.t,
            q=outcome.q,
            qd=outcome.qd,
            qdd=outcome.qdd,
            tau=noisy,
            joint_names=described.joint_names,
        )
        fit = sy.identify(
            described,
            log,
            estimator="wls",
            friction=("viscous", "coulomb", "offset"),
            delay=0,
            coulomb_width=0,
            diagnose=False,
        )
        base.append(
            [fit.base_values[fit.base.names.index(parameter)] for parameter in accuracy.names]
        )
    return float(np.median(np.std(base, axis=0, ddof=1) / accuracy.std))


def shortest(name: str, share: float, starts: int = 4) -> tuple[float, float]:
    """Return the time [s] for an accuracy, and the shortest time found by bisection."""
    options: dict[str, Any] = {"torque_accuracy": share, "collision": "none", **LIMITED}
    trajectory = sy.excite(robot(name), **options)
    information = FisherInformation.of(robot(name))
    region = RegionOfUse.of(information, limits(name))
    expected = targets(information, region, None, share)
    known = prior_information(information, None, None, None)
    asked = ExcitationProblem(
        limits=limits(name),
        keep=DistancesToKeep(),
        information=information,
        known=known,
        region=region,
        targets=expected,
        options=ExcitationOptions(seed=1),
    )
    low, high = trajectory.duration / 4, trajectory.duration
    while high > 1.04 * low:
        middle = round((low * high) ** 0.5, 2)
        enough = (
            asked.worst(middle, replace(asked.task(middle), seed=1).optimise(starts, None))[0] <= 1
        )
        low, high = (low, middle) if enough else (middle, high)
    return trajectory.duration, high


def colliding_starts(name: str, seeds: int = 5) -> tuple[int, int, float]:
    """Return the colliding random starts, their number, and the smallest spare distance [m]."""
    (gaps,) = distances_to_keep(robot(name), limits(name), ground=None).gaps
    free = MultiStart(FourierBasis(5, 0.1), FisherInformation.of(robot(name)), limits(name))
    starts = [start for k in range(40) if (start := free.first(k, 5)) is not None]
    t = np.linspace(0, 10, 200)
    colliding = sum(
        bool((gaps.distances(free.basis.motion(s.x)(t).q, 0.05).distance < 0).any()) for s in starts
    )
    results = [
        sy.excite(robot(name), 10.0, 5, seed=seed, starts=2, **LIMITED)  # type: ignore[arg-type]
        for seed in range(seeds)
    ]
    return colliding, len(starts), min(least_distance(name, each) for each in results)
