"""python -m benchmarks.description.

The weight of the description that the log chooses, against every fixed one, on logs it has not
seen.

Each row is one pair of logs and one description: good, wrong by 20 %, one link three times too
heavy, or placeholders. The columns are the held-out relative errors of ordinary and weighted least
squares, of the best fixed weight, of links as described (only friction and rotors found), and of
the default; the last one compares it with the best of all. With --update the table is written to
docs/measured/description.md. Names of rows, or parts of them, run those alone: python -m
benchmarks.description kuka.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

import numpy as np

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.experiments import experiment, recording, taken
from steelyard.files import write_atomic
from steelyard.identification import SDP
from steelyard.identification.estimators.least_squares import OLS, WLS, Estimate, Estimator
from steelyard.identification.make_fit import solve_problem
from steelyard.identification.model.problem import Problem
from tests.real.measured import DATA, kr300, kr300_counterbalance, tx40, ur10

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "description.md"
WEIGHTS = (1e-4, 1e-2, 1.0, 10.0, 1e2, 1e3)
FIXED = 1e9  # weight at which the links stay as described
DRAWS = (501, 511, 521, 531)  # seeds of a simulated robot, its motions and its noise
Draw = tuple[sy.Robot, sy.Log, sy.Log, dict[str, Any]]
"""A description, the log that is identified, the log that is predicted, and options."""
Case = tuple[str, list[Draw]]


class Compared(NamedTuple):
    """Held-out errors of a row, and the loss of the default against the best in the worst draw."""

    name: str
    errors: list[float]
    worst: float

    @property
    def against(self) -> float:
        """Default over the best of the others, less one."""
        return self.errors[-1] / min(self.errors[:-1]) - 1


def placeholder(robot: sy.Robot) -> sy.Robot:
    """The robot with 0.1 kg and 1e-6 kg m2 instead of every link's inertia."""
    pi = robot.parameters.copy()
    for i in range(len(robot.tree.bodies)):
        pi[10 * i : 10 * i + 10] = [0.1, 0, 0, 0, 1e-6, 0, 0, 1e-6, 0, 1e-6]
    return robot.with_parameters(pi)


def one_wrong(robot: sy.Robot) -> sy.Robot:
    """The robot with its third link (or last one) three times as heavy."""
    pi, k = robot.parameters.copy(), 10 * min(2, len(robot.tree.bodies) - 1)
    pi[k : k + 10] *= 3
    return robot.with_parameters(pi)


def measured() -> Iterator[Case]:
    """Halves of the measured logs, and one run of the KUKA from the other."""
    robot, log = ur10()
    half = log.N // 2
    for name, argument in (("", robot), (", placeholder", placeholder(robot))):
        yield f"ur10 1 > 2{name}", [(argument, log[:half], log[half:], {})]
        yield f"ur10 2 > 1{name}", [(argument, log[half:], log[:half], {})]
    robot, log = tx40()
    coupled = {"coupling": ("joint_5", "joint_6")}
    for name, argument in (("", robot), (", placeholder", placeholder(robot))):
        yield f"tx40 1 > 2{name}", [(argument, log.between(0, 4.5), log.between(4.5, 7.5), coupled)]
        yield f"tx40 2 > 1{name}", [(argument, log.between(4.5, 7.5), log.between(0, 4.5), coupled)]
    with TemporaryDirectory() as folder:
        robot, A, B = kr300(Path(folder))
    yield "kuka A > B", [(robot, A, B, {"known": kr300_counterbalance})]
    yield "kuka B > A", [(robot, B, A, {"known": kr300_counterbalance})]


def simulated() -> Iterator[Case]:
    """Two motions of the same true robot, of several robots and motions.

    Descriptions of three kinds.
    """
    kinds: tuple[tuple[str, Callable[[sy.Robot], sy.Robot]], ...] = (
        ("", lambda robot: robot),
        (", one link wrong", one_wrong),
        (", placeholder", placeholder),
    )
    for name in ("planar_2r", "spatial_3r", "elbow_4r", "z1_5r", "ur5", "xarm7"):
        logs = [two_logs(name, seed) for seed in DRAWS]
        for kind, argument in kinds:
            yield f"{name}{kind}", [(argument(arm(name)), one, other, {}) for one, other in logs]


def two_logs(name: str, seed: int) -> tuple[sy.Log, sy.Log]:
    """Logs of two motions of a true robot."""
    one, other = experiment(name, seed), experiment(name, seed + 1)
    assert one.true is not None
    assert other.motion is not None
    return one.log, taken(
        one.true, other.motion, recording(np.random.default_rng(seed + 1)), seed + 1
    )


class Recorder(SDP):
    """The default estimator.

    It keeps the problem that it was given, which does not depend on the estimator.
    """

    problems: ClassVar[list[Problem]] = []

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem, and keep that."""
        self.problems.append(problem)
        return super().fit(problem)


def row(case: Case) -> Compared:
    """Held-out errors in percent: ols, wls, best fixed, as described, default.

    The best fixed weight is one for all draws.
    """
    name, draws = case
    each = np.array([held_out(*draw) for draw in draws])
    worst = float(np.max(each[:, -1] / np.min(each[:, :-1], axis=1)) - 1)
    rms = np.sqrt(np.mean(each**2, axis=0)).tolist()
    return Compared(name, [*rms[:2], min(rms[2:-2]), *rms[-2:]], worst)


def held_out(robot: sy.Robot, log: sy.Log, other: sy.Log, options: dict[str, Any]) -> list[float]:
    """Held-out errors in percent of one draw.

    Ols, wls, each fixed weight, as described, default.
    """
    default = sy.identify(robot, log, Recorder(), diagnose=False, **options)
    problem = Recorder.problems.pop()

    def error(estimator: Estimator) -> float:
        point, estimate = solve_problem(problem, estimator)
        assert estimate.parameters is not None
        fit = replace(
            default,
            robot=point.model.identified(estimate.parameters),
            estimate=estimate,
            model=point.model,
        )
        return 100 * fit.validate(other).total_relative_error

    fixed = [error(SDP(weight)) for weight in (*WEIGHTS, FIXED)]
    return [error(OLS()), error(WLS()), *fixed, 100 * default.validate(other).total_relative_error]


def page(rows: list[Compared]) -> str:
    """The page of results."""
    lines = [
        f"| {row.name} | {' | '.join(f'{e:.2f}' for e in row.errors)} | {100 * row.against:+.1f} |"
        f" {100 * row.worst:+.1f} |"
        for row in rows
    ]
    return f"""# Automatic weight of the description

Generated by `python -m benchmarks.description --update`.
The table has relative torque errors [%] on a held-out log: of ordinary and weighted least \
squares, of the best of {len(WEIGHTS)} fixed weights of the description, of links as described \
with only friction and rotors identified, and of the default, which chooses the weight by the \
evidence.
*against the best* compares the default with the best of the others, which is unknown in practice.
*one link wrong*: the third link is described three times too heavy; *placeholder*: every link \
is described with 0.1 kg.
A row of a simulated robot is the root mean square over {len(DRAWS)} robots, motions and noises; \
the last column is the worst draw of the default.
With placeholders the fixed weights shrink the links towards 0.1 kg, which helps by chance on \
some of the measured logs; compare the default with weighted least squares there.

| log > log that was not used | ols | wls | best fixed weight | as described | default | \
against the best [%] | in the worst draw [%] |
|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def main() -> None:
    """Print the table, and with --update write its page."""
    warnings.simplefilter("ignore")
    print(
        f"{'case':32} {'ols':>8} {'wls':>8} {'fixed':>8} {'as given':>8} {'default':>8}  against"
        " the best, in the worst draw"
    )
    rows = []
    expected = [word for word in sys.argv[1:] if not word.startswith("-")]
    for case in [*(measured() if DATA.is_dir() else ()), *simulated()]:
        if expected and not any(word in case[0] for word in expected):
            continue
        result = row(case)
        rows.append(result)
        errors = " ".join(f"{e:8.2f}" for e in result.errors)
        print(
            f"{result.name:32} {errors}  {100 * result.against:+.1f} %,"
            f" {100 * result.worst:+.1f} %",
            flush=True,
        )
    against = [result.against for result in rows]
    print(f"worst {100 * max(against):+.1f} %, median {100 * float(np.median(against)):+.1f} %")
    if "--update" in sys.argv[1:] and not expected:
        write_atomic(PAGE, page(rows).encode(), overwrite=True)


if __name__ == "__main__":
    main()
