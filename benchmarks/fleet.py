"""Many logs and many robots.

Workers against one, the same bits, kept factors, memory; and a fleet of 50 arms with three worn
joints.

python -m benchmarks.fleet  200 logs of 100 000 samples (4 GB in a temporary folder), and six fleets
python -m benchmarks.fleet --logs 40 --samples 50000
python -m benchmarks.fleet --update                 write the tables of docs/fleets.md
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.targets import urdf
from steelyard.apps.inputs import load_robot
from steelyard.files import write_atomic
from steelyard.signals import to_parquet

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[1]
RATE = 1000.0  # [Hz] of the logs of the archive
SLOW = 200.0  # [Hz] of the logs of the fleets
SEEDS = range(61, 67)  # of the fleets; none of them was looked at while the methods were made
WORN = {3: 1, 17: 2, 41: 4}  # robot -> joint
BEGIN, END = (
    "<!-- measured: python -m benchmarks.fleet --update -->",
    "<!-- end of what was measured -->",
)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    measured: str
    asked: str = ""
    met: bool = True


def arm() -> sy.Robot:
    """A UR5 with friction and rotors."""
    return (
        load_robot(urdf("ur5"), quiet=True)
        .with_friction(viscous=2.0, coulomb=3.0, offset=0.2)
        .with_rotors(0.3)
    )


def states(n: int, samples: int, seed: int, rate: float) -> tuple[Array, Array, Array, Array]:
    """Times and a motion of five sines a joint with all derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) / rate
    w, a, phase = (
        2 * np.pi * rng.uniform(0.05, 0.6, (5, n)),
        rng.uniform(-0.4, 0.4, (5, n)),
        rng.uniform(0, 2 * np.pi, (5, n)),
    )
    q, qd, qdd = (np.zeros((samples, n)) for _ in range(3))
    for k in range(5):
        angle = w[k] * t[:, None] + phase[k]
        q += a[k] * np.sin(angle)
        qd += a[k] * w[k] * np.cos(angle)
        qdd -= a[k] * w[k] ** 2 * np.sin(angle)
    return t, q, qd, qdd


def recorded(robot: sy.Robot, samples: int, seed: int, rate: float, noise: float = 0.03) -> sy.Log:
    """A log of a robot, with noise of this share of each joint's largest torque."""
    t, q, qd, qdd = states(robot.n, samples, seed, rate)
    rng = np.random.default_rng(seed + 10**6)
    tau = robot.inverse_dynamics(q, qd, qdd)
    tau += noise * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot.joint_names)


class Peak(threading.Thread):
    """Return the peak memory [MB] of a worker with its reading process, sampled at 10 Hz."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.ended = 0.0, threading.Event()

    def run(self) -> None:
        import psutil

        this = psutil.Process()
        while not self.ended.wait(0.1):
            with suppress(psutil.Error):  # a process that has ended meanwhile
                every = [[worker, *worker.children(recursive=True)] for worker in this.children()]
                self.most = max(
                    [
                        self.most,
                        *(
                            sum(each.memory_full_info().uss for each in processes) / 1e6
                            for processes in every
                        ),
                    ]
                )

    def stop(self) -> float:
        self.ended.set()
        self.join()
        return self.most


def bits(fit: sy.Fit) -> str:
    return hashlib.sha256(fit.parameters.tobytes() + fit.covariance.tobytes()).hexdigest()


def timed(robot: sy.Robot, folder: Path, **options: Any) -> tuple[sy.Fit, float, float]:
    """The fit of a folder of logs, the time [s] and the most memory of a worker [MB]."""
    peak, start = Peak(), time.perf_counter()
    peak.start()
    fit = sy.identify(robot, folder, **({"keep": False} | options))
    return fit, time.perf_counter() - start, peak.stop()


def killer(after: float) -> threading.Thread:
    """Kill a worker after some seconds."""
    import psutil

    def kill() -> None:
        time.sleep(after)
        for child in psutil.Process().children():
            if child.name() == psutil.Process().name():
                os.kill(child.pid, signal.SIGKILL)
                return

    result = threading.Thread(target=kill, daemon=True)
    result.start()
    return result


def archive_rows(logs: int, samples: int, folder: Path) -> Iterator[Row]:
    """What many logs take, and that nothing changes a bit."""
    robot, count = arm(), logs * samples
    for k in range(logs):
        to_parquet(recorded(robot, samples, k, RATE), folder / f"run{k:04}.parquet")
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
    timed(robot, folder / "run0000.parquet")  # compiles
    one, alone, _ = timed(robot, folder, executor=1)
    two, shared, memory = timed(robot, folder, executor=2)
    ratio = alone / shared
    yield Row(
        f"{logs} Parquet files, {count / 1e6:g} M samples, {size:.1f} GB: one worker",
        f"{alone:.1f} s",
    )
    yield Row(
        "the same, two workers",
        f"{shared:.1f} s, {ratio:.2f} times as fast",
        "1.6 times",
        ratio >= 1.6,
    )
    yield Row("memory of a worker with its reader", f"{memory:.0f} MB", "500 MB", memory <= 500)
    yield Row("samples a second, two workers", f"{count / shared / 1e6:.2f} M")
    killer(0.4 * shared)
    same = {
        "two workers": two,
        "a worker killed in the middle": timed(robot, folder, executor=2)[0],
        "dask": by_dask(robot, folder),
    }
    for name, fit in same.items():
        yield Row(
            f"bits of one worker, {name}",
            "the same" if bits(fit) == bits(one) else "others",
            "the same",
            bits(fit) == bits(one),
        )
    selected = folder.with_name(f"{folder.name}-kept")
    first = timed(robot, folder, executor=2, keep=selected)[1]
    files = sorted(selected.iterdir())
    for file in files[: len(files) // 2]:
        file.unlink()
    fit, again, _ = timed(robot, folder, executor=2, keep=selected)
    assert fit.archive is not None
    reused = fit.archive.reused
    yield Row(
        "a rerun when half of the factors are there",
        f"{again:.1f} s for {first:.1f} s, {reused} reused",
        "half",
        reused == logs - logs // 2,
    )
    fit, again, _ = timed(robot, folder, executor=2, keep=selected)
    yield Row("a rerun when all are there", f"{again:.1f} s")
    yield Row(
        "kept beside a log",
        f"{np.mean([file.stat().st_size for file in selected.iterdir()]) / 1e6:.2f} MB",
    )
    shutil.rmtree(selected)


def by_dask(robot: sy.Robot, folder: Path) -> sy.Fit:
    """The fit by a cluster of two workers on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        return timed(robot, folder, executor=client)[0]


def individual(robot: sy.Robot, rng: np.random.Generator, worn: int | None) -> sy.Robot:
    """A robot of a type: links within 1.5 %, rotors 2 %, friction 12 %.

    A worn joint has twice the friction.
    """
    names, pi = robot.parameter_names, robot.parameters.copy()
    for body in range(len(robot.tree.bodies)):
        pi[10 * body : 10 * body + 10] *= 1 + 0.015 * rng.normal()
    for i, name in enumerate(names):
        kind = name.rpartition(".")[2]
        pi[i] *= (
            np.exp(0.12 * rng.normal())
            if kind in ("Fv", "Fc")
            else 1 + 0.02 * rng.normal()
            if kind == "Ia"
            else 1.0
        )
        pi[i] += 0.05 * rng.normal() if kind == "F0" else 0.0
        pi[i] *= (
            2.0
            if worn is not None
            and name in (f"{robot.joint_names[worn]}.Fv", f"{robot.joint_names[worn]}.Fc")
            else 1.0
        )
    return robot.with_parameters(pi)


def fleet_row(seed: int) -> tuple[Row, Row]:
    """One fleet of 50: who is found, and the error on a motion that no log has."""
    rng = np.random.default_rng(seed)
    described = arm()
    kind = sy.perturbed(described, seed)
    robots = {f"arm{k:02}": individual(kind, rng, WORN.get(k)) for k in range(50)}
    logs = {
        name: recorded(robot, int(10 * SLOW), 1000 * seed + k, SLOW)
        for k, (name, robot) in enumerate(robots.items())
    }
    fleet = sy.identify_fleet(described, logs, diagnose=False, keep=False)
    results = {(each.robot, each.part) for each in fleet.outliers}
    planted = {(f"arm{k:02}", described.joint_names[j]) for k, j in WORN.items()}
    message = f"{len(results & planted)} of 3 found, {len(results - planted)} others"
    _, q, qd, qdd = states(described.n, 1500, seed + 10**5, SLOW)

    def error(model: sy.Robot, name: str) -> float:
        true = robots[name].inverse_dynamics(q, qd, qdd)
        return float(
            np.linalg.norm(model.inverse_dynamics(q, qd, qdd) - true) / np.linalg.norm(true)
        )

    pooled = np.array([error(fleet.robot(name), name) for name in robots])
    apart = np.array(
        [error(sy.identify(described, logs[name], diagnose=False).robot, name) for name in robots]
    )
    better = (
        f"{100 * pooled.mean():.2f} % against {100 * apart.mean():.2f} %, better for"
        f" {int(np.sum(pooled < apart))} of 50"
    )
    return (
        Row(
            f"fleet {seed}: three worn joints among 50 arms",
            message,
            "3 of 3, 0 others",
            results == planted,
        ),
        Row(
            f"fleet {seed}: error on another motion, pooled and separate",
            better,
            "pooled less",
            bool(pooled.mean() < apart.mean()),
        ),
    )


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | measured | asked for | |", "|---|---|---|---|"]
    return "\n".join(
        [
            *lines,
            *(
                f"| {r.what} | {r.measured} | {r.asked} |"
                f" {'' if not r.asked else 'met' if r.met else '**missed**'} |"
                for r in rows
            ),
        ]
    )


def main() -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--only", choices=("archive", "fleet"))
    parser.add_argument("--update", action="store_true", help="write docs/fleets.md")
    options = parser.parse_args()
    rows: list[Row] = []
    folder = Path(tempfile.mkdtemp(prefix="steelyard-fleet-"))
    try:
        for row in (
            archive_rows(options.logs, options.samples, folder) if options.only != "fleet" else ()
        ):
            rows.append(row)
            print(row, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for seed in SEEDS if options.only != "archive" else ():
        rows += fleet_row(seed)
        print(*rows[-2:], sep="\n", flush=True)
    result = f"{table(rows)}\n\n{this_machine()}"
    print(result)
    if options.update:
        page = ROOT / "docs" / "fleets.md"
        text = page.read_text(encoding="utf-8")
        before, after = text.partition(BEGIN)[0], text.partition(END)[2]
        write_atomic(page, f"{before}{BEGIN}\n{result}\n{END}{after}", overwrite=True)
    return int(not all(row.met for row in rows))


if __name__ == "__main__":
    sys.exit(main())
