"""Archives for tests: a small arm, and logs of it in files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import steelyard as sy
from steelyard.signals import to_parquet

NOISE = 0.05  # [N m]


@cache
def small_arm() -> sy.Robot:
    """Two joints with friction and rotors."""
    return (
        sy.load("planar_2r").with_friction(viscous=0.6, coulomb=0.8, offset=0.1).with_rotors(0.02)
    )


def wave_log(
    seed: int,
    samples: int = 800,
    motion: int | None = None,
    wobble: float = 0.0,
    robot: sy.Robot | None = None,
) -> sy.Log:
    """A log of a motion of five sines a joint.

    `motion` is the seed of the motion, `wobble` [N m] of a torque that no model has.
    """
    arm = small_arm() if robot is None else robot
    rng = np.random.default_rng(seed if motion is None else motion)
    t = np.arange(samples) / 100.0
    f, a, phase = (
        rng.uniform(0.1, 1.0, (5, arm.n)),
        rng.uniform(-0.4, 0.4, (5, arm.n)),
        rng.uniform(0, 2 * np.pi, (5, arm.n)),
    )
    angle = 2 * np.pi * f * t[:, None, None] + phase
    w = 2 * np.pi * f
    q, qd, qdd = (
        (a * np.sin(angle)).sum(1),
        (a * w * np.cos(angle)).sum(1),
        -(a * w**2 * np.sin(angle)).sum(1),
    )
    noise = np.random.default_rng(10_000 + seed).normal(size=q.shape)
    tau = (
        arm.inverse_dynamics(q, qd, qdd)
        + NOISE * noise
        + wobble * np.sin(7.0 * q) * np.cos(3.0 * qd)
    )
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=arm.joint_names)


def write_logs(folder: Path, count: int, samples: int = 800) -> list[Path]:
    """Logs in Parquet, a file each."""
    folder.mkdir(exist_ok=True, parents=True)
    files = [folder / f"run{k:02}.parquet" for k in range(count)]
    for k, file in enumerate(files):
        to_parquet(wave_log(k, samples), file)
    return files


def identified(logs: Any, **options: Any) -> sy.Fit:
    """The fit of the small arm, without a doctor and without anything kept."""
    return sy.identify(small_arm(), logs, **({"diagnose": False, "keep": False} | options))
