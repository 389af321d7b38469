"""python -m benchmarks.description: the weight of the description that the log chooses, against every fixed one, on logs it has not seen.

Each row is one pair of logs and one description: good, wrong by 20 %, one link three times too heavy, or placeholders. The columns are the
held-out relative errors of ordinary and weighted least squares, of the best fixed weight, of links as described (only friction and rotors
found), and of the default; the last one compares it with the best of all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.experiments import experiment, recording, taken
from steelyard.identification import SDP
from tests.real.measured import DATA, kr300, kr300_counterbalance, tx40, ur10

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


def row(case: Case) -> tuple[str, list[float]]:
    """Held-out errors in percent: ols, wls, best fixed, as described, default."""
    name, robot, log, other, options = case

    def error(estimator: Any) -> float:
        return 100 * sy.identify(robot, log, estimator, **options).validate(other).total_relative_error

    fixed = min(error(SDP(weight)) for weight in WEIGHTS)
    return name, [error("ols"), error("wls"), fixed, error(SDP(FIXED)), error(None)]


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'case':32} {'ols':>8} {'wls':>8} {'fixed':>8} {'as given':>8} {'default':>8}  against the best")
    ratios = []
    for case in [*(measured() if DATA.is_dir() else ()), *simulated()]:
        name, errors = row(case)
        ratios.append(errors[-1] / min(errors[:-1]))
        print(f"{name:32} " + " ".join(f"{e:8.2f}" for e in errors) + f"  {100 * (ratios[-1] - 1):+.1f} %", flush=True)
    print(f"worst {100 * (max(ratios) - 1):+.1f} %, median {100 * (float(np.median(ratios)) - 1):+.1f} %")


if __name__ == "__main__":
    main()
