"""Free motion of measured robots: fits of one half, and the other half as it would come live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from tests.real.measured import folder, kr300, kr300_counterbalance, tx40, ur10

Array = NDArray[np.float64]
ROBOTS = ("ur10", "tx40", "kuka", "double_pendulum_A", "double_pendulum_C", "simple_pendulum")
WARM = 64  # samples without alarms at the start


@dataclass(frozen=True, eq=False)
class Case:
    """A robot with the logs of a fit, logs of free motion that the fit has not seen, and options of
    the fit.
    """

    robot: sy.Robot
    fitted: tuple[sy.Log, ...]
    free: tuple[sy.Log, ...]
    options: dict[str, Any]
    label: str = ""

    @property
    def fit(self) -> sy.Fit:
        return sy.identify(self.robot, list(self.fitted), diagnose=False, **self.options)


@dataclass(frozen=True, eq=False)
class Observed:
    """Largest external torque over threshold (n,), seconds of free motion, and the calibration."""

    worst: Array
    seconds: float
    observer: sy.CollisionObserver


def observe(fit: sy.Fit, log: sy.Log) -> Observed:
    """Feed a log to a new observer."""
    log = log.reordered(fit.robot)
    observer = sy.CollisionObserver(fit)
    observer.update(log.q, log.qd, log.tau, log.t)
    ratio = np.abs(observer.external_torque) / observer.threshold
    return Observed(np.asarray(ratio[WARM:].max(axis=0)), float(log.t[-1] - log.t[0]), observer)


def both(
    label: str,
    robot: sy.Robot,
    first: tuple[sy.Log, ...],
    second: tuple[sy.Log, ...],
    **options: Any,
) -> list[Case]:
    """The two ways to fit one half and observe the other."""
    return [Case(robot, first, second, options, label), Case(robot, second, first, options, label)]


def divided(log: sy.Log, share: float) -> tuple[tuple[sy.Log], tuple[sy.Log]]:
    """The first share of a log, and the rest."""
    cut = int(share * log.N)
    return (log[:cut],), (log[cut:],)


def pendulum(name: str, model: str, prefix: str) -> Iterator[tuple[str, sy.Robot, sy.Log]]:
    """The logs of a pendulum whose files begin with a prefix."""
    robot = sy.load(folder(name) / model)
    for file in sorted(folder(name).glob(f"{prefix}*.npz")):
        data = np.load(file)
        signals = {key: data[key] for key in ("t", "q", "qd", "tau")}
        yield file.stem, robot, sy.Log(**signals, joint_names=robot.joint_names)


def cases(name: str, path: Path, share: float = 0.5) -> list[Case]:
    """The cases of one robot, by its name in ROBOTS.

    Files are written to a folder, logs are divided at a share.
    """
    if name == "ur10":
        robot, log = ur10()
        return both(name, robot, *divided(log, share))
    if name == "tx40":
        robot, log = tx40()
        return both(name, robot, *divided(log, share), coupling=sy.Coupling("joint_5", "joint_6"))
    if name == "kuka":
        robot, *runs = kr300(path)
        speeds = [np.load(folder("kuka_kr300") / f"kr300_{run}.npz")["qd_mot"] for run in "AB"]
        first, second = (log.replace(qd=qd) for log, qd in zip(runs, speeds, strict=True))
        pairs = {
            name: ((first,), (second,)),
            "kuka A": divided(first, share),
            "kuka B": divided(second, share),
        }
        return [
            case
            for label, pair in pairs.items()
            for case in both(label, robot, *pair, known=kr300_counterbalance)
        ]
    if name == "simple_pendulum":
        logs = list(pendulum("dfki_simple_pendulum", "robot.urdf", ""))
    else:
        model = {"A": "design_A.0_model_2.1.urdf", "C": "design_C.0_model_3.1.urdf"}[name[-1]]
        logs = list(pendulum("dfki_double_pendulum", model, f"design_{name[-1]}.0_"))
    return [case for label, robot, log in logs for case in both(label, robot, *divided(log, share))]
