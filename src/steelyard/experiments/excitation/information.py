"""Fisher information of a motion on the base parameters, with exact derivatives by its states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import dot
from ...checks.states import States
from ...compiler.ir.differentiate import gradient
from ...compiler.ir.program import Operand, trace
from ...compiler.runtime.kernel import Kernel
from ...dynamics.regressor import regressor
from ...kernels import kernel, kernel_of
from ...mechanism.tree import Tree
from ...motion.trajectories.basis import PeriodicMotion
from ...motion.trajectories.trajectory import Excitation
from ...parameters.base import BaseParameters, base_parameters, sampled_regressor
from ...robot import Robot
from .criteria import CRITERIA, Criterion
from .excitation_thresholds import THRESHOLDS

Array = NDArray[np.float64]
TERMS = ("armature", "viscous", "coulomb", "offset")  # what every joint is identified with


class EvaluatedMotion(NamedTuple):
    """Weighted regressor rows (N, n, b) and information matrix (b, b) of a motion.

    The information includes what is known beforehand.
    """

    rows: Array
    information: Array


@dataclass(frozen=True, eq=False)
class FisherInformation:
    """Fisher information on the base parameters of a robot.

    Each joint's regressor rows are divided by `torque` (n,) [N m|N].

    `torque` is the expected noise of a sample, or that over `quiet`: with the noise unknown it is
    the typical torque, of which the noise is taken to be the fraction `quiet`. `known` (b, b) is
    information that is there before the motion, a prior or a log, in the units of the parameters;
    `samples` is the number of samples that the motion will be recorded with, against which it
    counts. `scale` (b,) is the size of a change of each base parameter that matters, by which the
    criteria A and E compare them.
    """

    robot: Robot
    base: BaseParameters
    torque: Array
    scale: Array
    known: Array | None = None
    samples: float = 1.0
    quiet: float = 1.0
    criterion: Criterion = CRITERIA["D"]

    @classmethod
    def of(
        cls, robot: Robot, noise: Array | None = None, criterion: str = "D", samples: float = 1.0
    ) -> FisherInformation:
        """Build it for the robot with rotor inertia and friction at every joint."""
        whole = robot.with_joint_terms(TERMS)
        base = base_parameters(whole, THRESHOLDS.shown_share)
        Y = sampled_regressor(whole.tree)
        typical = typical_torque((Y @ whole.parameters).reshape(-1, robot.n))
        used, quiet = (typical, THRESHOLDS.noise_share) if noise is None else (noise, 1.0)
        size = np.sqrt(
            np.mean(
                (Y[:, base.columns].reshape(-1, robot.n, base.n_base) / typical[:, None]) ** 2,
                axis=(0, 1),
            )
        )
        return cls(
            whole,
            base,
            used,
            1.0 / size,
            samples=samples,
            quiet=quiet,
            criterion=CRITERIA[criterion],
        )

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the regressor that are base parameters."""
        return self.base.columns

    @property
    def noise(self) -> Array:
        """The standard deviation of a sample's torque (n,) [N m|N] that is expected."""
        return self.torque * self.quiet

    def states(self, motion: PeriodicMotion) -> States:
        """Sample the motion at `harmonic_samples` samples per detail, over one period."""
        points = THRESHOLDS.harmonic_samples * motion.density
        return motion(np.arange(points) * motion.period / points)

    def gram(self, states: Sequence[Array] | Array) -> Array:
        """Compute G = Y_b^T W Y_b (b, b) of states q, qd, qdd (N, n) each, W = 1 / torque^2."""
        Y = self._rows(states).reshape(-1, len(self.columns))
        return np.asarray(Y.T @ Y)

    def score(self, motion: PeriodicMotion) -> Excitation:
        """Compute log det(Y_b^T W Y_b) and the condition number over one period.

        The condition number is computed for W^1/2 Y_b with columns of unit length.
        """
        states = self.states(motion)
        G = self.total(self.gram(states), len(states[0]))
        size = np.sqrt(np.diag(G))
        if not np.all(size > 0):
            return Excitation(-np.inf, np.inf, len(self.columns))
        values = np.linalg.eigvalsh(G / np.outer(size, size))
        values = np.maximum(values, np.finfo(float).eps * values[-1])
        log_det = float(np.sum(np.log(values)) + 2 * np.sum(np.log(size)))
        return Excitation(log_det, float(np.sqrt(values[-1] / values[0])), len(self.columns))

    def total(self, G: Array, points: int) -> Array:
        """Add prior knowledge to G, the information of `points` samples of a period."""
        return G if self.known is None else G + self.known * (points * self.quiet**2 / self.samples)

    def whole(self, states: Sequence[Array] | Array) -> Array:
        """Return the information (b, b) of the recorded motion and of prior knowledge.

        It is in the units of the parameters.

        states q, qd, qdd (N, n) are samples of it at equal distances.
        """
        points = len(states[0])
        return self.total(self.gram(states), points) * (self.samples / (points * self.quiet**2))

    def evaluate(self, states: Sequence[Array] | Array) -> EvaluatedMotion:
        """Compute the regressor rows and the information at states q, qd, qdd (N, n)."""
        Y = self._rows(states)
        flat = Y.reshape(-1, len(self.columns))
        return EvaluatedMotion(Y, self.total(np.asarray(flat.T @ flat), len(Y)))

    def value(
        self, states: Sequence[Array] | Array, evaluation: EvaluatedMotion | None = None
    ) -> float:
        """Compute the criterion of the information; -inf where it is singular."""
        return self.criterion.value((evaluation or self.evaluate(states)).information, self.scale)

    def derivatives(
        self, states: Sequence[Array] | Array, evaluation: EvaluatedMotion | None = None
    ) -> tuple[float, Sequence[Array]]:
        """Compute the criterion and its derivatives by q, qd and qdd of every sample, (N, n) each.

        With F = d phi / dA, d phi = tr(F dA) = 2 <W Y F, dY>: the derivative of a weighted sum of
        the regressor's entries. Swevers et al. 1997 use finite differences; Griewank and Walther
        2008, chapter 3, for the reverse sweep.
        """
        Y, A = evaluation or self.evaluate(states)
        value, F = self.criterion.gradient(A, self.scale)
        S = (Y.reshape(-1, len(self.columns)) @ F).reshape(Y.shape) * (2.0 / self.torque[:, None])
        return value, self._gradient_kernel()(*states, S)

    def greatest_torque(self, motion: PeriodicMotion, effort: Array) -> float:
        """Return the largest |tau| / effort at the samples; 0 where no joint is limited."""
        if not np.isfinite(effort).any():
            return 0.0
        return float(np.max(np.abs(self.robot.inverse_dynamics(*self.states(motion))) / effort))

    def _rows(self, states: Sequence[Array] | Array) -> Array:
        Y = kernel(self.robot.tree, "regressor", columns=self.columns)
        return np.asarray(Y(*states)) / self.torque[:, None]

    def _gradient_kernel(self) -> Kernel:
        return kernel_of(gradient_program, self.robot.tree, self.columns)


def typical_torque(tau: Array) -> Array:
    """Return the RMS of torques (N, n) per joint; for a joint without torque, the largest."""
    size = np.sqrt(np.mean(tau**2, axis=0))
    return np.where(size > 1e-9 * max(size.max(), 1e-300), size, size.max() or 1.0)


def gradient_program(tree: Tree, columns: Sequence[int]) -> Any:
    """Trace d <S, Y_b> / d(q, qd, qdd), n each, for weights S (n, b).

    One reverse sweep through the regressor.
    """
    n = tree.n

    def derivatives_of(q: Any, qd: Any, qdd: Any, S: Any) -> tuple[Any, Any, Any]:
        Y = regressor(tree, q, qd, qdd)
        total: Any = sum(
            dot(weights, [row[c] for c in columns]) for weights, row in zip(S, Y, strict=True)
        )
        derivative = gradient(total, [*q, *qd, *qdd])
        return derivative[:n], derivative[n : 2 * n], derivative[2 * n :]

    inputs = [
        *(Operand(name, (n,)) for name in ("q", "qd", "qdd")),
        Operand("S", (n, len(columns))),
    ]
    return trace(
        "regressor_gradient",
        derivatives_of,
        inputs,
        [Operand(name, (n,)) for name in ("by_q", "by_qd", "by_qdd")],
    )
