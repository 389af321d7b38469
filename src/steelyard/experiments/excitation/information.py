"""The information of a motion about the base parameters of a robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...motion.trajectories.fourier import Fourier
from ...motion.trajectories.trajectory import Excitation
from ...parameters.base import base_parameters, sampled_regressor
from ...robot import Robot

Array = NDArray[np.float64]
POINTS = 24  # samples of a period per harmonic: twelve times what the band needs


@dataclass(frozen=True, eq=False)
class Information:
    """The base columns of the regressor, and a torque per joint (n,) [N m|N] by which each joint's rows are divided."""

    robot: Robot
    columns: tuple[int, ...]
    torque: Array

    @classmethod
    def of(cls, robot: Robot) -> Information:
        """For the robot with rotor inertia and friction at every joint, as it will be identified."""
        whole = robot.with_joint_terms(("armature", "viscous", "coulomb", "offset"))
        Y = sampled_regressor(whole.tree)
        tau = (Y @ whole.parameters).reshape(-1, robot.n)
        size = np.sqrt(np.mean(tau**2, axis=0))
        return cls(whole, base_parameters(whole).columns, np.where(size > 1e-9 * max(size.max(), 1e-300), size, size.max() or 1.0))

    def score(self, motion: Fourier) -> Excitation:
        """log det(Y_b^T W Y_b) and the condition number of W^1/2 Y_b with its columns scaled to one, over one period."""
        Y = self.robot.regressor(*self._states(motion))[..., list(self.columns)] / self.torque[:, None]
        Y = Y.reshape(-1, len(self.columns))
        G = Y.T @ Y  # ten times faster than a QR factorisation, and exact enough for conditions far below 1e7
        size = np.sqrt(np.diag(G))
        if not np.all(size > 0):
            return Excitation(-np.inf, np.inf, len(self.columns))
        values = np.linalg.eigvalsh(G / np.outer(size, size))
        values = np.maximum(values, np.finfo(float).eps * values[-1])
        log_det = float(np.sum(np.log(values)) + 2 * np.sum(np.log(size)))
        return Excitation(log_det, float(np.sqrt(values[-1] / values[0])), len(self.columns))

    def greatest_torque(self, motion: Fourier, effort: Array) -> float:
        """The largest |tau| / effort on the way; 0 where no joint is limited."""
        if not np.isfinite(effort).any():
            return 0.0
        return float(np.max(np.abs(self.robot.inverse_dynamics(*self._states(motion))) / effort))

    def _states(self, motion: Fourier) -> tuple[Array, Array, Array]:
        points = POINTS * motion.harmonics
        q, qd, qdd = motion(np.arange(points) * motion.period / points)
        return q, qd, qdd
