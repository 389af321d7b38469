"""The measured logs beside the project as trials: both halves or runs, each predicting the other.

The data come from `../shared/data`; sets that are absent are left out. Bands are 8 Hz, apart from
the KR300, whose drives are elastic: 5 Hz as in its published evaluation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.unseen.judge import Trial
from benchmarks.unseen.plain import COULOMB_WIDTH
from tests.real.measured import DATA, kr300, kr300_counterbalance, tx40, ur10

Array = NDArray[np.float64]
PENDULUM_TRAINING, PENDULUM_HELD_OUT = ("00", "02", "04", "12"), ("01", "05", "13")
PENDULUMS = {"A.0": "2.1", "C.0": "3.1"}  # design: version of its URDF
KR300_BAND = 5.0  # [Hz]
PUSHES = {
    "energy_shaping": ((15.7, 16.6),),
    "energy_shaping_1kg": ((16.8, 17.6),),
    "ilqr": ((2.6, 3.4),),
    "sac": ((17.7, 18.5), (21.7, 22.5)),
}
"""Times [s] at which somebody pushes the simple pendulum: its motion needs 5 to 15 times the
largest torque that was measured, and swings through although the drive could not do that."""


def halves(name: str, robot: sy.Robot, log: sy.Log) -> Iterator[Trial]:
    """Yield the first half of a log predicting the second, and the other way round."""
    first, second = log[: log.N // 2], log[log.N // 2 :]
    yield Trial(f"{name} 1 to 2", robot, (first,), (second,))
    yield Trial(f"{name} 2 to 1", robot, (second,), (first,))


def ur10_trials() -> Iterator[Trial]:
    yield from halves("ur10", *ur10())


def tx40_trials() -> Iterator[Trial]:
    """Yield the TX40 with and without the knowledge that joints 5 and 6 share a motor."""
    for trial in halves("tx40", *tx40()):
        yield trial
        coupling = sy.Coupling("joint_5", "joint_6")
        name = trial.name.replace("tx40", "tx40 coupled")
        yield replace(trial, name=name, terms=tx40_coupling, options={"coupling": coupling})


def tx40_coupling(qd: Array, qdd: Array) -> Array:
    """Return the columns of inertia, viscous and Coulomb friction of motor 6, (N, 6, 3)."""
    columns = np.zeros((*qd.shape, 3))
    columns[:, 4, :2] = np.stack([qdd[:, 5], qd[:, 5]], axis=1)
    columns[:, 5, :2] = np.stack([qdd[:, 4], qd[:, 4]], axis=1)
    columns[:, 4:, 2] = np.tanh((qd[:, 4] + qd[:, 5]) / COULOMB_WIDTH)[:, None]
    return columns


def kr300_trials() -> Iterator[Trial]:
    with TemporaryDirectory() as folder:
        robot, A, B = kr300(Path(folder))
    for name, training, held_out in (("kr300 A to B", A, B), ("kr300 B to A", B, A)):
        yield Trial(name, robot, (training,), (held_out,), kr300_counterbalance, KR300_BAND)


def double_pendulum_trials() -> Iterator[Trial]:
    """Yield each design: four logs predict three."""
    folder = DATA / "dfki_double_pendulum"
    for design, version in PENDULUMS.items():
        robot = sy.load(folder / f"design_{design}_model_{version}.urdf")
        training = tuple(pendulum_log(robot, folder, design, n) for n in PENDULUM_TRAINING)
        held_out = tuple(pendulum_log(robot, folder, design, n) for n in PENDULUM_HELD_OUT)
        yield Trial(f"double pendulum {design}", robot, training, held_out)


def pendulum_log(robot: sy.Robot, folder: Path, design: str, number: str) -> sy.Log:
    data = np.load(folder / f"design_{design}_{number}.npz")
    arrays = {key: data[key] for key in ("t", "q", "qd", "tau")}
    return sy.Log(**arrays, joint_names=robot.joint_names)


def simple_pendulum_trials() -> Iterator[Trial]:
    """Yield the halves of every log of the simple pendulum."""
    folder = DATA / "dfki_simple_pendulum"
    robot = sy.load(folder / "robot.urdf")
    for path in sorted(folder.glob("*.npz")):
        data = np.load(path)
        arrays = {key: data[key].reshape(len(data["t"]), -1) for key in ("q", "qd", "tau")}
        log = sy.Log(t=data["t"], **arrays, joint_names=robot.joint_names)
        for trial in halves(f"simple pendulum {path.stem}", robot, log):
            yield replace(trial, pushed=PUSHES.get(path.stem, ()))


def tiago_trials() -> Iterator[Trial]:
    """Yield TIAGo's torso and arm; torque = gear ratio x torque constant x current."""
    folder = DATA / "tiago"
    q, qd, current = (
        np.loadtxt(folder / f"tiago_{name}.csv", delimiter=",", skiprows=1)
        for name in ("position", "velocity", "effort")
    )
    joints = ("torso_lift_joint", *(f"arm_{i}_joint" for i in range(1, 8)))
    whole = sy.load(folder / "tiago_no_hand.urdf")
    robot = whole.freeze({name: 0.0 for name in whole.joint_names if name not in joints})
    ratio = np.array([1, 100, 100, 100, 100, 336, 336, 336])
    constant = np.array([1, 0.136, 0.136, -0.087, -0.087, -0.0613, -0.0613, -0.0613])
    log = sy.Log(
        t=q[:, 0],
        q=q[:, 1:],
        qd=qd[:, 1:],
        tau=current[:, 1:] * ratio * constant,
        joint_names=joints,
    )
    yield from halves("tiago", robot, log)


SETS: dict[str, Callable[[], Iterator[Trial]]] = {
    "ur10": ur10_trials,
    "staubli_tx40": tx40_trials,
    "kuka_kr300": kr300_trials,
    "dfki_double_pendulum": double_pendulum_trials,
    "dfki_simple_pendulum": simple_pendulum_trials,
    "tiago": tiago_trials,
}
"""Trials by the folder of their data."""


def trials(names: tuple[str, ...] = ()) -> Iterator[Trial]:
    """Yield the trials of all sets beside the project, or of sets whose name begins so."""
    for folder, make in SETS.items():
        expected = not names or any(folder.startswith(name) for name in names)
        if expected and (DATA / folder).is_dir():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from make()
