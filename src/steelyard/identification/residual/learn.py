"""learn_residual: what the identified model misses, kept where held-out torque gains by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ..model.problem import Problem
from ..selection.held_out_torque import HeldOutError
from .curves import JointRanges
from .held_out_rows import HeldOutRows, Indices, Solve, held_out_rows
from .learned import LearnedJoint, LearnedResidual, StateBox
from .residual_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KeptStates:
    """States and rows of the kept samples of a problem, and the gravity torque there.

    Parameters
    ----------
    q, qd, qdd : (N, n) [rad|m], [rad/s|m/s], [rad/s2|m/s2]
    load : (N, n) gravity torque [N m|N]
    keep : (N, n) rows in use
    cells : (N,) cell of the motion, equal for states that are visited again
    """

    q: Array
    qd: Array
    qdd: Array
    load: Array
    keep: Bools
    cells: Indices

    def part(self, index: Indices) -> KeptStates:
        """Return some of the samples (M,)."""
        return KeptStates(**{name: value[index] for name, value in vars(self).items()})


def learn_residual(
    problem: Problem, solve: Solve, base: Array, states: KeptStates, box: StateBox
) -> LearnedResidual:
    """Learn the torque that base parameters miss, joint by joint, and keep it where it wins.

    The residual of a joint is a Gaussian process over the joint's position, velocity, gravity
    torque and direction of motion; the ridge is chosen by blocked cross-validation. Blocks are
    predicted by base parameters and curves of the other blocks. It is kept if the error falls by
    more than `least_gain` and by more than its standard error over the blocks, and by
    `least_half_gain` where each half of the motion predicts the other. Rasmussen and Williams,
    "Gaussian Processes for Machine Learning", 2006; Nguyen-Tuong and Peters, ICRA 2010, p. 2677
    (residuals of a rigid model).

    Parameters
    ----------
    problem : the problem that was solved
    solve : base parameters (b,) as a function of folded rows
    base : (b,) that predict torques
    states : of the kept samples
    box : states in which the learned residual acts

    Returns
    -------
    LearnedResidual, with the decision on each joint.
    """
    names = problem.model.row_names
    rows = held_out_rows(problem, solve, base, states.cells)
    if rows is None:
        nothing = (LearnedJoint(name, float("nan"), float("nan")) for name in names)
        return LearnedResidual(box, tuple(nothing))
    states = states.part(rows.index)
    learned = [learn_joint(name, j, rows, states, box) for j, name in enumerate(names)]
    return LearnedResidual(box, tuple(learned))


def learn_joint(
    name: str, j: int, rows: HeldOutRows, states: KeptStates, box: StateBox
) -> LearnedJoint:
    """Return the decision on joint j."""
    weight = box.weight(states.q, states.qd, states.qdd)
    used = np.flatnonzero(states.keep[:, j])
    if np.count_nonzero(weight[used]) < THRESHOLDS.least_rows:
        return LearnedJoint(name, float("nan"), float("nan"))
    ranges = joint_ranges(j, box, states.load[weight > 0.0, j], rows.torque[used, j])
    inputs = (x[used, j] for x in (states.q, states.qd, states.load))
    X, w, torque = ranges.features(*inputs), weight[used], rows.torque[used, j]
    blocks = Trial(X, w, rows.blocks[:, used, j], rows.folds[used], torque)
    halves = Trial(X, w, rows.halves[:, used, j], rows.half[used], torque)
    ridge = min(THRESHOLDS.ridges, key=lambda each: float(np.sum(blocks.errors(each) ** 2)))
    after = blocks.errors(ridge)
    inside = w > 0.0
    joint = LearnedJoint(
        name,
        before=root_mean_square(blocks.held_out[inside]),
        after=root_mean_square(after[inside]),
        ratio=error_ratio(blocks.squares(blocks.held_out), blocks.squares(after)),
    )
    if not (blocks.gains(after) and halves.gains_enough(halves.errors(ridge))):
        return joint
    coefficients = ridge_solution(X.T @ X, X.T @ rows.residuals[used, j], ridge * len(X))
    return LearnedJoint(
        joint.name, joint.before, joint.after, joint.ratio, ranges.curves(coefficients)
    )


def joint_ranges(j: int, box: StateBox, load: Array, torque: Array) -> JointRanges:
    """Return the ranges of the curves of joint j; load and torque (M,) [N m|N] of its samples."""
    ends = float(load.min()), float(load.max())
    changes = ends[1] - ends[0] > THRESHOLDS.least_load * root_mean_square(torque)
    return JointRanges(
        q=(float(box.q_low[j]), float(box.q_high[j])),
        speed=float(box.qd_most[j]),
        load=ends if changes else (0.0, 0.0),
    )


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows of one joint, of which each part is predicted from the others.

    Parameters
    ----------
    features : (M, k) columns
    weight : (M,) factor of the learned torque
    residuals : (parts, M) residuals of the base parameters without each part [N m|N]
    parts : (M,) number of each row's part
    torque : (M,) [N m|N]
    """

    features: Array
    weight: Array
    residuals: Array
    parts: Indices
    torque: Array

    @property
    def held_out(self) -> Array:
        """The residual of each row without its own part, (M,) [N m|N]."""
        return self.residuals[self.parts, np.arange(len(self.parts))]

    @cached_property
    def systems(self) -> list[tuple[Bools, Array, Array]]:
        """Rows of each part, and the normal equations of the other parts: (M,), (k, k), (k,)."""
        whole, systems = self.features.T @ self.features, []
        for k, residual in enumerate(self.residuals):
            there = self.parts == k
            mine = self.features[there]
            right = self.features.T @ residual - mine.T @ residual[there]
            systems.append((there, whole - mine.T @ mine, right))
        return systems

    def errors(self, ridge: float) -> Array:
        """Return the held-out errors (M,) with curves of a ridge, learned without each part."""
        errors = np.array(self.held_out)
        for there, gram, right in self.systems:
            others = float(np.count_nonzero(~there))
            learned = self.features[there] @ ridge_solution(gram, right, ridge * others)
            errors[there] -= self.weight[there] * learned
        return errors

    def squares(self, errors: Array) -> Array:
        """Return the sums of squares of errors (M,) over each part, (parts,)."""
        return np.asarray(np.bincount(self.parts, errors**2, minlength=len(self.residuals)), float)

    def compared(self, errors: Array) -> tuple[HeldOutError, HeldOutError]:
        """Return errors (M,) with the learned torque, and errors without it."""
        torque = self.squares(self.torque)
        after, before = (self.squares(each) for each in (errors, self.held_out))
        return HeldOutError(after, torque), HeldOutError(before, torque)

    def gains(self, errors: Array) -> bool:
        """Return whether the gain over the parts is large enough and beyond its standard error."""
        after, before = self.compared(errors)
        return after.is_better(before, THRESHOLDS.least_gain)

    def gains_enough(self, errors: Array) -> bool:
        """Return whether each of few parts predicts the other better."""
        after, before = self.compared(errors)
        return after.is_less(before, THRESHOLDS.least_half_gain)


def error_ratio(before: Array, after: Array) -> float:
    """Return the ratio of squared held-out errors of blocks (blocks,), in sum or of the largest.

    The larger one of the two.
    """
    whole = float(after.sum()) / max(float(before.sum()), 1e-300)
    return max(whole, float(after.max()) / max(float(before.max()), 1e-300))


def ridge_solution(gram: Array, right: Array, ridge: float) -> Array:
    """Return the solution (k,) of (gram + ridge) x = right."""
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), right))


def root_mean_square(values: Array) -> float:
    """Return the root mean square of values (M,), 0 without any."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
