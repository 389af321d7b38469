"""Identification, timed.

A million samples of an arm, a humanoid, the fold alone, every estimator, and FIGAROH's pipeline on
the same data.

    python -m benchmarks.identification [--samples N] [--rounds N]

Every case runs in its own process, which first identifies from a short part so that kernels
are compiled; the best of some rounds counts. Memory is the largest that the process ever had less
what it had with the log and before anything else. FIGAROH (figaroh on the package index) takes part
where it is installed: its regressor, its elimination of columns, its base parameters by QR and its
least squares, as its examples call them, on as many of the same samples as fit into memory. The
exit code says whether every bar was met.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.targets import urdf
from steelyard.apps.inputs import load_robot
from steelyard.apps.show.terminal import console
from steelyard.drawing.table import Table, named_columns
from steelyard.identification import ESTIMATORS
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation

RATE = 1000.0  # [Hz]
SHORT = 20_000  # samples that a process begins with
FOLDED = 200_000  # samples whose fold is timed
LEAST_FOLD = 0.5e6  # samples a second on one core
FIGAROH_SAMPLES, LEAST_RATIO = 6000, 50.0
PLAIN: dict[str, Any] = {"smoothing": None, "delay": 0.0, "coulomb_width": 0.0, "decimate": 1}
SIGNALS = ("t", "q", "qd", "qdd", "tau")


@dataclass(frozen=True)
class Case:
    """A log of `share` of the samples, its signals, options, and limits [s], [MB]."""

    robot: str
    seconds: float
    megabytes: float
    share: float = 1.0
    repeats: bool = True
    signals: tuple[str, ...] = SIGNALS
    options: dict[str, Any] = field(default_factory=dict)


RAW = ("t", "q", "tau")
CASES = {
    "qd and qdd given, all samples": Case("ur5", 3.0, 500.0, options=PLAIN),
    "qd and qdd given": Case("ur5", 3.0, 500.0),
    "positions alone": Case("ur5", 6.0, 500.0, signals=RAW),
    "positions that never repeat": Case("ur5", 6.0, 500.0, repeats=False, signals=RAW),
    "humanoid of 32 joints": Case("talos", 12.0, 800.0, share=0.1),
}


def robot_of(case: Case) -> sy.Robot:
    """The robot with all terms of its joints."""
    return (
        load_robot(urdf(case.robot), quiet=True)
        .with_friction(viscous=2.0, coulomb=3.0, offset=0.2)
        .with_rotors(0.5)
    )


def synthetic(robot: sy.Robot, samples: int, repeats: bool = True) -> sy.Log:
    """A log of a smooth motion of all joints with known derivatives.

    A little noise on the torque, and on positions that never repeat.
    """
    t = np.arange(samples) / RATE
    n = robot.n
    q, qd, qdd = (np.zeros((samples, n)) for _ in range(3))
    rng = np.random.default_rng(0)
    for k in range(1, 6):
        w, phase, a = (
            2 * np.pi * 0.1 * k,
            rng.uniform(0, 2 * np.pi, n),
            rng.uniform(0.2, 0.5, n) / k,
        )
        rates = w if repeats else w * rng.uniform(0.8, 1.2, n)
        angle = rates * t[:, None] + phase
        q += a * np.sin(angle)
        qd += a * rates * np.cos(angle)
        qdd -= a * rates * rates * np.sin(angle)
    tau = robot.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape) * 0.1
    q += 0.0 if repeats else rng.normal(size=q.shape) * 2e-5
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot.joint_names)


def measured(name: str, samples: int, rounds: int) -> dict[str, float]:
    """Return wall and processor time [s] and memory [MB] of a case in a separate process."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        log = synthetic(robot_of(case), int(case.share * samples), case.repeats)
        for signal in case.signals:
            np.save(Path(folder) / f"{signal}.npy", getattr(log, signal))
        del log
        command = [
            sys.executable,
            "-m",
            "benchmarks.identification",
            "--case",
            name,
            "--folder",
            folder,
            "--rounds",
            str(rounds),
        ]
        finished_run = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(finished_run.stdout.splitlines()[-1]))


def run(name: str, folder: Path, rounds: int) -> dict[str, float]:
    """What `measured` returns, in this process."""
    case = CASES[name]
    robot = robot_of(case)
    log = sy.Log(
        **{signal: np.load(folder / f"{signal}.npy") for signal in case.signals},
        joint_names=robot.joint_names,
    )
    before = present()
    sy.identify(robot, log[:SHORT], **case.options)
    times = [seconds(partial(sy.identify, robot, log, **case.options)) for _ in range(rounds)]
    wall, cpu = min(times)
    return {"samples": log.N, "wall": wall, "cpu": cpu, "memory": peak() - before}


def fold_rate(log: sy.Log, robot: sy.Robot) -> float:
    """Samples a second of one core that are folded, from states to triangular factors."""
    model, samples = build_model(robot), prepare(robot, log[:FOLDED], Preparation(smoothing=None))
    with sy.threads(1):
        return FOLDED / min(seconds(lambda: Problem(model, (samples,)).folds)[1] for _ in range(3))


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor time of a call [s]."""
    wall, cpu = perf_counter(), process_time()
    call()
    return perf_counter() - wall, process_time() - cpu


def figaroh_pipeline(path: str, log: sy.Log) -> Callable[[], object] | None:
    """FIGAROH's way from samples to base parameters, or None where it is not installed."""
    if importlib.util.find_spec("figaroh") is None:
        return None
    import pinocchio as pin
    from figaroh.tools.qrdecomposition import get_baseParams
    from figaroh.tools.regressor import RegressorBuilder, RegressorConfig, eliminate_non_dynaffect

    model = pin.buildModelFromUrdf(path)
    robot = SimpleNamespace(model=model, data=model.createData())
    config = RegressorConfig(has_friction=True, has_actuator_inertia=True, has_joint_offset=True)
    columns = {f"p{i}": 0.0 for i in range((10 + 4) * model.nv)}
    part: Any = log[:FIGAROH_SAMPLES]

    def run() -> object:
        W = RegressorBuilder(robot, config).build_basic_regressor(
            part.q, part.qd, part.qdd, {"act_idxv": list(range(model.nv))}
        )
        reduced, names = eliminate_non_dynaffect(W, columns)
        base = get_baseParams(reduced, names)[0]
        return np.linalg.lstsq(base, part.tau.T.ravel(), rcond=None)

    return run


def main() -> int:
    """Print what was measured beside what it may be."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.identification", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=list(CASES), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run(options.case, options.folder, options.rounds)))
        return 0
    out = console()
    out.print(this_machine())
    results = {name: measured(name, options.samples, options.rounds) for name in CASES}
    out.print(case_table(results))
    met = all(
        x["wall"] <= CASES[name].seconds and x["memory"] <= CASES[name].megabytes
        for name, x in results.items()
    )
    first = CASES[next(iter(CASES))]
    robot = robot_of(first)
    log = synthetic(robot, FOLDED)
    rate = fold_rate(log, robot)
    out.print(f"fold: {rate / 1e6:.2f} M samples/s on one core, at least {LEAST_FOLD / 1e6:g} M")
    for name in ESTIMATORS:
        spent = seconds(partial(sy.identify, robot, log[:SHORT], name, **PLAIN))[0]
        out.print(f"estimator {name}: {spent:.2f} s for {SHORT} samples")
    other = figaroh_pipeline(urdf(first.robot), log)
    if other is None:
        out.print("FIGAROH is not installed: pip install figaroh to have it beside us")
        return int(not met or rate < LEAST_FOLD)
    theirs = min(seconds(other)[1] for _ in range(options.rounds)) / FIGAROH_SAMPLES
    whole = results[next(iter(CASES))]
    out.print(
        f"FIGAROH: {1e6 * theirs:.1f} us of a processor a sample on {FIGAROH_SAMPLES} samples"
    )
    out.print(
        f"{theirs * rate:.0f} times our fold, at least {LEAST_RATIO:g};"
        f" {theirs * whole['samples'] / whole['cpu']:.0f} times the first row"
    )
    return int(not met or rate < LEAST_FOLD or theirs * rate < LEAST_RATIO)


def case_table(result: dict[str, dict[str, float]]) -> Table:
    """Times and memory of all cases with what is allowed."""
    columns = named_columns(
        "log", ">samples", ">wall [s]", ">allowed", ">processor [s]", ">memory [MB]", ">allowed"
    )
    rows = []
    for name, x in result.items():
        case = CASES[name]
        numbers = (
            f"{x['wall']:.1f}",
            f"{case.seconds:g}",
            f"{x['cpu']:.1f}",
            f"{x['memory']:.0f}",
            f"{case.megabytes:g}",
        )
        rows.append((f"{case.robot}: {name}", f"{x['samples']:.0f}", *numbers))
    return Table("Identification", columns, tuple(rows), "memory beside the log")


def present() -> float:
    """Memory of this process now [MB]; its largest where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return peak()


def peak() -> float:
    """Largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e3 if sys.platform != "darwin" else 1e6
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
