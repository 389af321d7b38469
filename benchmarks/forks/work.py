"""What children and threads are asked for.

Kernels that nothing has compiled yet, an identification, and files read and written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from steelyard.signals import to_csv, to_parquet

Array = NDArray[np.float64]


def arm(number: int) -> sy.Robot:
    """An arm whose kernels no other number shares: what it carries is compiled in."""
    return sy.load("planar_2r").with_payload(1.0 + number)


def computed(number: int) -> Array:
    """Dynamics of an arm: torques, and the derivatives of accelerations."""
    robot, x = arm(number), np.array([0.3, -0.7])
    parts = robot.forward_dynamics_derivatives(x, 2 * x, 3 * x)
    return np.concatenate([robot.inverse_dynamics(x, x, x), *(np.ravel(part) for part in parts)])


def recorded(number: int) -> sy.Log:
    """A log of an arm that follows sines, with noise."""
    robot, t, w = arm(number), np.arange(500) / 100.0, np.array([1.0, 1.7])
    q, qd, qdd = (
        np.sin(t[:, None] * w),
        w * np.cos(t[:, None] * w),
        -(w**2) * np.sin(t[:, None] * w),
    )
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.01 * np.random.default_rng(number).standard_normal(
        q.shape
    )
    return sy.Log(t=t, q=q, tau=tau, joint_names=robot.joint_names)


def identified(number: int) -> Array:
    """The parameters of an arm, found with the default estimator."""
    return np.asarray(sy.identify(arm(number), recorded(number)).parameters)


def kept(number: int) -> Array:
    """A log after it was written and read in two formats.

    Polars has its own threads, Parquet is read in another process.
    """
    log = recorded(number)
    with tempfile.TemporaryDirectory() as folder:
        paths = to_csv(log, Path(folder) / "log.csv"), to_parquet(log, Path(folder) / "log.parquet")
        return np.ravel([sy.read_log(path, effort="torque").tau for path in paths])


WORK = {"computed": computed, "identified": identified, "kept": kept}


def everything(number: int) -> Array:
    """All of it."""
    return np.concatenate([work(number) for work in WORK.values()])
