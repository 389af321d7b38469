"""python -m benchmarks.description: the weight of the description that the log chooses, against every fixed one, on logs it has not seen.

Each row is one pair of logs and one description: good, wrong by 20 %, one link three times too heavy, or placeholders. The columns are the
held-out relative errors of ordinary and weighted least squares, of the best fixed weight, of links as described (only friction and rotors
found), and of the default; the last one compares it with the best of all. With --update the table is written to docs/description.md.
Names of rows, or parts of them, run those alone: python -m benchmarks.description kuka.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.experiments import experiment, recording, taken
from steelyard.files import write_whole
from steelyard.identification import SDP
from steelyard.identification.estimators.least_squares import OLS, WLS, Estimate, Estimator
from steelyard.identification.identify import fit_at_own_load
from steelyard.identification.model.problem import Problem
from tests.real.measured import DATA, kr300, kr300_counterbalance, tx40, ur10

PAGE = Path(__file__).resolve().parents[1] / "docs" / "description.md"
WEIGHTS = (1e-4, 1e-2, 1.0, 10.0, 1e2, 1e3)
FIXED = 1e9  # weight at which the links stay as described
Case = tuple[str, sy.Robot, sy.Log, sy.Log, dict[str, Any]]


def placeholder(robot: sy.Robot) -> sy.Robot:
    """The robot with 0.1 kg and 1e-6 kg m2 in the place of every link's inertia."""
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
    for name, given in (("", robot), (", placeholder", placeholder(robot))):
        yield f"ur10 1 > 2{name}", given, log[:half], log[half:], {}
        yield f"ur10 2 > 1{name}", given, log[half:], log[:half], {}
    robot, log = tx40()
    coupled = {"coupling": ("joint_5", "joint_6")}
    for name, given in (("", robot), (", placeholder", placeholder(robot))):
        yield f"tx40 1 > 2{name}", given, log.between(0, 4.5), log.between(4.5, 7.5), coupled
        yield f"tx40 2 > 1{name}", given, log.between(4.5, 7.5), log.between(0, 4.5), coupled
    with TemporaryDirectory() as folder:
        robot, A, B = kr300(Path(folder))
    yield "kuka A > B", robot, A, B, {"known": kr300_counterbalance}
    yield "kuka B > A", robot, B, A, {"known": kr300_counterbalance}


def simulated() -> Iterator[Case]:
    """Two motions of the same true robot; descriptions of three kinds."""
    for name in ("planar_2r", "spatial_3r", "elbow_4r", "z1_5r", "ur5", "xarm7"):
        robot = arm(name)
        one, other = experiment(name, 501), experiment(name, 502)
        assert one.true is not None
        assert other.motion is not None
        again = taken(one.true, other.motion, recording(np.random.default_rng(502)), 502)
        for kind, given in (("", robot), (", one link wrong", one_wrong(robot)), (", placeholder", placeholder(robot))):
            yield f"{name}{kind}", given, one.log, again, {}


class Recorder(SDP):
    """The default estimator; it keeps the problem that it was given, which does not depend on the estimator."""

    problems: ClassVar[list[Problem]] = []

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem, and keep that."""
        self.problems.append(problem)
        return super().fit(problem)


def row(case: Case) -> tuple[str, list[float]]:
    """Held-out errors in percent: ols, wls, best fixed, as described, default."""
    name, robot, log, other, options = case
    default = sy.identify(robot, log, Recorder(), diagnose=False, **options)
    problem = Recorder.problems[-1]

    def error(estimator: Estimator) -> float:
        at, estimate = fit_at_own_load(problem, estimator)
        assert estimate.parameters is not None
        fit = replace(default, robot=at.model.identified(estimate.parameters), estimate=estimate, model=at.model)
        return 100 * fit.validate(other).total_relative_error

    fixed = min(error(SDP(weight)) for weight in WEIGHTS)
    return name, [error(OLS()), error(WLS()), fixed, error(SDP(FIXED)), 100 * default.validate(other).total_relative_error]


def page(rows: list[tuple[str, list[float]]]) -> str:
    """The page of results."""
    lines = [
        f"| {name} | {' | '.join(f'{e:.2f}' for e in errors)} | {100 * (errors[-1] / min(errors[:-1]) - 1):+.1f} |" for name, errors in rows
    ]
    return f"""# The weight of the description, chosen by the log

Generated by `python -m benchmarks.description --update`. Relative torque errors [%] on a log that was not used: of ordinary and weighted
least squares, of the best of {len(WEIGHTS)} fixed weights of the description, of links as described with only friction and rotors found,
and of the default, which chooses the weight by what the log says. The last column compares it with the best of the others, which nobody
knows before. *one link wrong*: the third link is described three times too heavy; *placeholder*: every link is described with 0.1 kg.

| log > log that was not used | ols | wls | best fixed weight | as described | default | against the best [%] |
|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def main() -> None:
    """Print the table, and with --update write its page."""
    warnings.simplefilter("ignore")
    print(f"{'case':32} {'ols':>8} {'wls':>8} {'fixed':>8} {'as given':>8} {'default':>8}  against the best")
    rows = []
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    for case in [*(measured() if DATA.is_dir() else ()), *simulated()]:
        if wanted and not any(word in case[0] for word in wanted):
            continue
        name, errors = row(case)
        rows.append((name, errors))
        print(f"{name:32} " + " ".join(f"{e:8.2f}" for e in errors) + f"  {100 * (errors[-1] / min(errors[:-1]) - 1):+.1f} %", flush=True)
    ratios = [errors[-1] / min(errors[:-1]) for _, errors in rows]
    print(f"worst {100 * (max(ratios) - 1):+.1f} %, median {100 * (float(np.median(ratios)) - 1):+.1f} %")
    if "--update" in sys.argv[1:] and not wanted:
        write_whole(PAGE, page(rows).encode(), overwrite=True)


if __name__ == "__main__":
    main()
