"""Identification, timed: a million samples end to end, blocks of regressor rows, every estimator, and FIGAROH's pipeline on the same data.

    python -m benchmarks.identification [--samples N]

FIGAROH (figaroh on the package index) takes part where it is installed: its regressor, its elimination of columns, its base parameters by
QR and its least squares, as its examples call them, on as many of the same samples as fit into memory.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.targets import urdf
from steelyard.apps.inputs import load
from steelyard.apps.show.terminal import console
from steelyard.identification import ESTIMATORS

RATE = 1000.0  # [Hz]
FIGAROH_SAMPLES = 6000
BLOCK = 4096


def synthetic(robot: sy.Robot, samples: int) -> sy.Log:
    """A log of a smooth motion of all joints with known derivatives and a little noise on the torque."""
    t = np.arange(samples) / RATE
    n = robot.n
    q, qd, qdd = (np.zeros((samples, n)) for _ in range(3))
    rng = np.random.default_rng(0)
    for k in range(1, 6):
        w, phase, a = 2 * np.pi * 0.1 * k, rng.uniform(0, 2 * np.pi, n), rng.uniform(0.2, 0.5, n) / k
        angle = w * t[:, None] + phase
        q += a * np.sin(angle)
        qd += a * w * np.cos(angle)
        qdd -= a * w * w * np.sin(angle)
    tau = robot.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape) * 0.1
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot.joint_names)


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


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
        W = RegressorBuilder(robot, config).build_basic_regressor(part.q, part.qd, part.qdd, {"act_idxv": list(range(model.nv))})
        reduced, names = eliminate_non_dynaffect(W, columns)
        base = get_baseParams(reduced, names)[0]
        return np.linalg.lstsq(base, part.tau.T.ravel(), rcond=None)

    return run


def main() -> int:
    """Print what was measured; the exit code says whether a million samples took under ten seconds and a gigabyte."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.identification", description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    options = parser.parse_args()
    out = console()
    out.print(this_machine())
    path = urdf("ur5")
    robot = load(path, quiet=True).with_friction(viscous=2.0, coulomb=3.0, offset=0.2).with_rotors(0.5)
    log = synthetic(robot, options.samples)
    before = peak()
    plain: dict[str, Any] = {"smoothing": None, "delay": 0.0, "coulomb_width": 0.0, "decimate": 1}
    taken = seconds(lambda: sy.identify(robot, log, **plain))
    each = 1e6 * taken / options.samples
    out.print(f"{options.samples} samples of a 6R arm, all friction terms, physically consistent: {taken:.1f} s, {each:.2f} us each")
    out.print(f"peak memory {peak():.2f} GB, of which the log and its making {before:.2f} GB")
    robot.regressor(*_block(log, 0))
    kernel = seconds(lambda: [robot.regressor(*_block(log, i)) for i in range(16)])
    out.print(f"regressor blocks of {BLOCK} samples: {16 / kernel:.0f} a second")
    short = log[:20000]
    for name in ESTIMATORS:
        spent = seconds(partial(sy.identify, robot, short, name, **plain))
        out.print(f"estimator {name}: {spent:.2f} s for {len(short.t)} samples")
    other = figaroh_pipeline(path, log)
    if other is None:
        out.print("FIGAROH is not installed: pip install figaroh to have it beside us")
    else:
        theirs = 1e6 * seconds(other) / FIGAROH_SAMPLES
        out.print(f"FIGAROH: {theirs:.1f} us a sample on {FIGAROH_SAMPLES} samples, {theirs / each:.0f} times ours")
    return int(taken > 10.0 or peak() > 1.0 + before)


def _block(log: sy.Log, i: int) -> tuple[Any, ...]:
    part = slice(BLOCK * i, BLOCK * (i + 1))
    return log.q[part], log.qd[part], log.qdd[part]  # type: ignore[index]


def peak() -> float:
    """Peak memory of this process [GB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform != "darwin" else 1e9)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
