"""Inverse kinematics against EAIK and OptIK, which pip installs, in one run.

Accuracy, number of solutions, time.

python -m benchmarks.inverse_kinematics              all arms, 10 000 random poses each
python -m benchmarks.inverse_kinematics --poses 1000 fewer
python -m benchmarks.inverse_kinematics --update     write the table of docs/inverse_kinematics.md

Times are CPU times of one thread, the best of several rounds, so that what else runs on the machine
counts little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.eaik_robot import eaik_robot, pose_for_eaik
from benchmarks.kinematic_arms import arm, frame_of
from benchmarks.machine import ROOT, this_machine
from benchmarks.targets import urdf
from steelyard.motion.inverse_kinematics.analytic import VALID, analytic
from steelyard.motion.inverse_kinematics.numerical import joint_range

Array = NDArray[np.float64]
CLOSED = ("ur5", "ur10e", "puma560", "elbow_6r", "kuka_like", "scara", "panda", "iiwa14")
# base and tip for OptIK
NUMERICAL = {
    "panda": ("panda_link0", "panda_link8"),
    "xarm7": ("link_base", "link_eef"),
    "iiwa14": None,
}
AT_MOST, ACCURACY, FOUND, REGULAR = 150.0, 1e-10, 1e-6, 1e-6
SOLVED, AT_LEAST = 0.999, 100e3
PEER_POSES = 500  # of OptIK, which takes one at a time


class ClosedRow(NamedTuple):
    """One arm in closed form.

    Errors in m and rad; times in ns a pose in a batch and us a single call.
    """

    arm: str
    solutions: float
    error: float
    lost: int
    differ: str
    batch: float
    eaik_batch: float
    single: float
    eaik_single: float

    @property
    def met(self) -> bool:
        right = self.error <= ACCURACY and not self.lost and self.differ in ("0", "-")
        return right and self.batch <= AT_MOST and not self.single >= self.eaik_single


class NumericalRow(NamedTuple):
    """One arm by the numerical solver.

    Fraction solved to 1e-6, poses a second; OptIK's time a pose [us] and fraction.
    """

    arm: str
    solved: float
    rate: float
    optik: float
    optik_solved: float

    @property
    def met(self) -> bool:
        return self.solved >= SOLVED and self.rate >= AT_LEAST


def seconds(function: Callable[[], Any], rounds: int = 100) -> float:
    """CPU time of a call on this thread, the best of several."""
    best = np.inf
    for _ in range(rounds):
        start = time.thread_time()
        function()
        best = min(best, time.thread_time() - start)
    return float(best)


def random_poses(robot: sy.Robot, count: int, fixed: dict[str, float]) -> tuple[Array, Array]:
    """Positions within the limits, held joints at theirs, and their poses."""
    low, high = joint_range(robot.tree)
    q = np.random.default_rng(0).uniform(low, high, (count, robot.n))
    for name, value in fixed.items():
        q[:, robot.joint_names.index(name)] = value
    return q, robot.forward_kinematics(q, frame_of(robot))


def measure_closed(name: str, count: int) -> ClosedRow:
    """Accuracy, completeness and time of the closed form of an arm."""
    robot, frame = arm(name), frame_of(arm(name))
    closed = analytic(robot, frame, None)
    assert closed is not None
    fixed = dict.fromkeys(closed.fixed, 0.6)
    q, T = random_poses(robot, count, fixed)
    s = sy.inverse_kinematics(robot, T, frame, free=fixed or None)
    pose, branch = np.nonzero(s.valid)
    error = np.abs(robot.forward_kinematics(s.q[pose, branch], frame) - T[pose]).max()
    on_the_way = np.abs(robot.jacobian(q[:50], frame)).max(axis=(0, 1)) > 0.0
    away = np.abs((s.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi)[..., on_the_way].max(axis=-1)
    lost = int((np.where(s.valid, away, np.inf).min(axis=-1) > FOUND).sum())
    with sy.threads(1):
        batch = (
            1e9
            / count
            * seconds(lambda: sy.inverse_kinematics(robot, T, frame, free=fixed or None))
        )
    single = (
        1e6
        / 200
        * seconds(
            lambda: [
                sy.inverse_kinematics(robot, pose, frame, free=fixed or None) for pose in T[:200]
            ]
        )
    )
    differ, eaik_batch, eaik_single = compare_with_eaik(robot, frame, T, fixed)
    return ClosedRow(
        name,
        float(s.count.mean()),
        float(error),
        lost,
        differ,
        batch,
        eaik_batch,
        single,
        eaik_single,
    )


def compare_with_eaik(
    robot: sy.Robot, frame: str, T: Array, fixed: dict[str, float]
) -> tuple[str, float, float]:
    """For how many poses away from singularities the numbers of solutions differ.

    EAIK's times [ns, us]. Not for arms of four joints.
    """
    if robot.n < 6:
        return "-", np.nan, np.nan
    peer, poses = eaik_robot(robot, frame, fixed), pose_for_eaik(robot, frame, T)
    listed = [np.asfortranarray(pose) for pose in poses]
    batch = 1e9 / len(T) * wall(lambda: peer.IK_batched(listed, 1))
    single = 1e6 / 200 * seconds(lambda: [peer.IK(pose) for pose in listed[:200]])
    unlimited = analytic(robot, frame, None, False)
    assert unlimited is not None
    q, code, _ = unlimited.kernel(
        T, unlimited.start(np.zeros(robot.n), np.array(list(fixed.values())))
    )
    valid = code == VALID
    counts = np.array([eaik_count(peer, pose) for pose in poses])
    return (
        str(int((valid.sum(axis=1) != counts)[_regular(robot, frame, q, valid)].sum())),
        batch,
        single,
    )


def wall(function: Callable[[], Any], rounds: int = 5) -> float:
    """Time of a call that works in its own threads."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return float(best)


def eaik_count(peer: Any, pose: Array) -> int:
    """Solutions of EAIK that reach the pose, each once."""
    rows = np.atleast_2d(peer.IK(pose).Q)
    distinct: list[Array] = []
    for row in rows:
        point = np.concatenate([np.cos(row), np.sin(row)])
        if np.abs(peer.fwdKin(row) - pose).max() < 1e-8 and all(
            np.abs(point - other).max() > FOUND for other in distinct
        ):
            distinct.append(point)
    return len(distinct)


def _regular(robot: sy.Robot, frame: str, q: Array, valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which poses have all solutions away from singularities of the Jacobian."""
    J = robot.jacobian(np.where(valid[..., None], q, 0.3), frame)
    J = J[..., np.abs(J).max(axis=(0, 1, 2)) > 1e-12]
    least = np.linalg.svd(J, compute_uv=False)[..., 5]
    return np.asarray(np.where(valid, least, 1.0).min(axis=-1) > REGULAR)


def measure_numerical(name: str, count: int) -> NumericalRow:
    """How many reachable poses the numerical solver solves, and how fast, on one core."""
    robot, frame = arm(name), frame_of(arm(name))
    _, T = random_poses(robot, count, {})
    s = sy.inverse_kinematics(robot, T, frame, method="numerical")
    error = np.abs(robot.forward_kinematics(np.nan_to_num(s.best), frame) - T).max(axis=(-1, -2))
    with sy.threads(1):
        rate = count / seconds(
            lambda: sy.inverse_kinematics(robot, T, frame, method="numerical"), 10
        )
    return NumericalRow(name, float((error <= 1e-6).mean()), rate, *_optik(name, T[:PEER_POSES]))


def _optik(name: str, T: Array) -> tuple[float, float]:
    """OptIK's time a pose [us] and the fraction that it solves.

    NaN where it is absent or the arm is not a URDF.
    """
    ends = NUMERICAL[name]
    try:
        import optik
    except ImportError:
        return np.nan, np.nan
    if ends is None:
        return np.nan, np.nan
    peer = optik.Robot.from_urdf_file(urdf(name), *ends)
    peer.set_parallelism(1)
    config = optik.SolverConfig(max_time=0.1, max_restarts=0)
    low, high = map(np.array, peer.joint_limits())
    start = time.process_time()
    results = [peer.ik(config, pose.tolist(), list((low + high) / 2)) for pose in T]
    return 1e6 * (time.process_time() - start) / len(T), float(
        np.mean([each is not None for each in results])
    )


def tables(closed: list[ClosedRow], numerical: list[NumericalRow], count: int) -> str:
    """The results in Markdown."""
    columns = (
        "arm",
        "solutions",
        "largest error",
        "origin lost",
        "counts unlike EAIK's",
        "ns a pose",
        "EAIK",
        "us a single call",
        "EAIK",
    )
    head = f"| {' | '.join(columns)} |"
    lines = [
        f"{count} random poses within the limits, one thread, {this_machine()}",
        "",
        head,
        "|---" + "|---:" * 8 + "|",
    ]
    for row in closed:
        cells = (
            f"{row.solutions:.1f}",
            f"{row.error:.0e}",
            str(row.lost),
            row.differ,
            f"{row.batch:.0f}",
            _number(row.eaik_batch),
        )
        lines.append(
            "| "
            + " | ".join((row.arm, *cells, f"{row.single:.1f}", _number(row.eaik_single, 1)))
            + " |"
        )
    lines += [
        "",
        "| arm, numerically | solved to 1e-6 | poses a second | OptIK [us a pose] | OptIK solves |",
        "|---|---:|---:|---:|---:|",
    ]
    for each in numerical:
        peer = (
            _number(each.optik),
            "-" if np.isnan(each.optik_solved) else f"{100 * each.optik_solved:.1f} %",
        )
        lines.append(
            "| "
            + " | ".join(
                (
                    each.arm,
                    f"{100 * each.solved:.2f} %",
                    f"{each.rate:,.0f}".replace(",", " "),
                    *peer,
                )
            )
            + " |"
        )
    return "\n".join(lines)


def _number(x: float, digits: int = 0) -> str:
    return "-" if np.isnan(x) else f"{x:.{digits}f}"


def main() -> int:
    """Print the tables; the exit code says whether every target was met."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inverse_kinematics", description=__doc__
    )
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    closed, numerical = [], []
    for name in CLOSED:
        print(name, file=sys.stderr, flush=True)
        closed.append(measure_closed(name, options.poses))
    for name in NUMERICAL:
        print(f"{name}, numerically", file=sys.stderr, flush=True)
        numerical.append(measure_numerical(name, options.poses))
    text = tables(closed, numerical, options.poses)
    print(text)
    if options.update:
        path = ROOT / "docs" / "inverse_kinematics.md"
        before, _, rest = path.read_text(encoding="utf-8").partition("<!-- measured -->\n")
        _, _, after = rest.partition("<!-- end -->\n")
        path.write_text(
            f"{before}<!-- measured -->\n{text}\n<!-- end -->\n{after}", encoding="utf-8"
        )
    return 0 if all(row.met for row in closed) and all(each.met for each in numerical) else 1


if __name__ == "__main__":
    sys.exit(main())
