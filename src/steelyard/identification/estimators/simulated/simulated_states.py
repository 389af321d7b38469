"""Samples with the states of a simulated motion.

The closed loop simulated with a model that is estimated from it, in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError
from ....signals.smooth.kalman import Smoother
from ....simulation.controllers.controller import Controller
from ...model.linear_model import Model
from ...model.problem import Problem
from ...samples.decimation import common_decimation
from ...samples.samples import Samples
from ...samples.smoothing import drawn_errors
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import Estimate, least_squares
from ..prior_weight import PriorWeight
from ..sdp import SDP, consistent
from .feedback_loop import FeedbackLoop, SimulatedMotion, feedback_loop
from .simulated_samples import SimulatedSamples, why_not_simulated

Array = NDArray[np.float64]


def simulated_states(
    model: Model, samples: tuple[Samples, ...], factor: int | None, controller: Controller | None
) -> SimulatedSamples:
    """Return samples with the states of the closed loop, simulated with their own estimate.

    `factor` is the decimation factor; None takes the rate that the simulated motion needs, which
    noise of the measured one does not raise.

    pi -> simulated motion -> least squares of the measured torque on its regressor, every link a
    real body -> pi, until the torque changes no more. The difference of measured and simulated
    positions is smoothed and added, for joints where it is not white noise. Gautier, Janot and
    Vandanjon, IEEE Trans. Control Systems Technology 21 (2013), p. 428.
    """
    why = why_not_simulated(model, samples, controller)
    if why:
        return SimulatedSamples(with_smoothed_motion(samples), model.start, (why,), False)
    loops = tuple(feedback_loop(s, controller) for s in samples)
    estimate = first_estimate(Problem(model, samples, factor or common_decimation(samples)))
    turns = FixedPointIteration(model, loops, samples, factor, estimate)
    converged = turns.converge(
        *first_motions(model, loops, samples, (parameters_of(estimate), model.start))
    )
    if converged is None:
        return diverged(samples, model, controller)
    if converged.corrected:  # a wrong model may be all that they differ by
        alone = replace(turns, correct=False).converge(
            converged.goal, simulated_motions(model, loops, samples, converged.goal)
        )
        converged = alone if alone is not None and alone.rms < converged.rms else converged
    text = (
        "Simulated motions of the closed loop"
        f" ({described(controller, loops)}){simulation_gap_note(converged.problem.samples)}"
    )
    return SimulatedSamples(
        converged.problem.samples,
        converged.parameters,
        (f"{text}; {converged.rounds} round{'s' if converged.rounds > 1 else ''}.",),
    )


@dataclass(frozen=True, eq=False)
class ConvergedIteration:
    """Problem of motions simulated with parameters (p,), its estimate and rms residual [N m|N]."""

    problem: Problem
    parameters: Array
    goal: Array
    rms: float
    rounds: int

    @property
    def corrected(self) -> bool:
        """Whether slow differences from the measured positions were added."""
        return any(s.errors is not None for s in self.problem.samples)


@dataclass(frozen=True, eq=False)
class FixedPointIteration:
    """Simulating and estimating in turn, from a first estimate on.

    `correct` adds what the measured positions differ by slowly.
    """

    model: Model
    loops: tuple[FeedbackLoop, ...]
    samples: tuple[Samples, ...]
    factor: int | None
    estimate: Estimate
    correct: bool = True

    def converge(
        self, pi: Array, motions: list[SimulatedMotion] | None
    ) -> ConvergedIteration | None:
        """Return where the turns end from parameters pi (p,) and their motions.

        None where there is nothing to begin with.
        """
        best: ConvergedIteration | None = None
        start, goal, step = pi, pi, 1.0
        for count in range(1, THRESHOLDS.simulation_rounds + 1):
            problem = None if motions is None else self.moved_problem(motions)
            estimate = self.estimate if problem is None else next_estimate(problem, self.estimate)
            now = (
                np.inf
                if problem is None
                else float(
                    np.sqrt(problem.total.residual_squares(estimate.base).sum() / problem.rows)
                )
            )
            least = np.inf if best is None else best.rms
            if problem is None or now >= least * (
                1.0 + THRESHOLDS.least_residual_gain
            ):  # too far: half the way
                step /= 2.0
            else:
                start, goal, step = pi, parameters_of(estimate), min(1.0, 2.0 * step)
                best = ConvergedIteration(problem, pi, goal, now, count)
                if (
                    all(loop.fixed for loop in self.loops)
                    or least - now <= THRESHOLDS.least_residual_gain * now
                    or has_converged(problem, estimate, pi)
                ):
                    break
            pi = start + step * (goal - start)
            motions = simulated_motions(self.model, self.loops, self.samples, pi)
        return best

    def moved_problem(self, motions: Sequence[SimulatedMotion]) -> Problem | None:
        """Return the problem of samples with simulated motions; None if they leave too few rows."""
        pairs = tuple(zip(self.samples, motions, strict=True))
        factor = self.factor or common_decimation(
            [replace(s, qd=motion.states[1]) for s, motion in pairs]
        )
        problem = Problem(
            self.model,
            tuple(with_simulated_motion(s, motion, self.correct, factor) for s, motion in pairs),
            factor,
        )
        return problem if problem.rows >= problem.base.n_base else None


def simulated_motions(
    model: Model, loops: Sequence[FeedbackLoop], samples: Sequence[Samples], pi: Array
) -> list[SimulatedMotion] | None:
    """Return the motion of every log with parameters pi (p,); None if one of them diverges."""
    motions = [loop.simulated(model, pi, s) for loop, s in zip(loops, samples, strict=True)]
    return motions if all(np.all(np.isfinite(motion.states)) for motion in motions) else None


def first_motions(
    model: Model,
    loops: Sequence[FeedbackLoop],
    samples: Sequence[Samples],
    candidates: Sequence[Array],
) -> tuple[Array, list[SimulatedMotion] | None]:
    """Return the first of the candidates (p,) whose motions do not diverge, and these.

    None if all do.
    """
    for pi in candidates:
        if (motions := simulated_motions(model, loops, samples, pi)) is not None:
            return pi, motions
    return candidates[-1], None


def has_converged(problem: Problem, estimate: Estimate, pi: Array) -> bool:
    """Return whether an estimate has the torque of the parameters pi (p,) simulated with."""
    change = np.linalg.norm(
        problem.total.triangle()[:-1, :-1] @ (estimate.base - problem.base.values(pi))
    )
    return bool(
        change <= THRESHOLDS.simulation_tolerance * np.sqrt(problem.total.torque_squares().sum())
    )


def parameters_of(estimate: Estimate) -> Array:
    """Return the parameters (p,) of an estimate that has them."""
    assert estimate.parameters is not None
    return estimate.parameters


def diverged(
    samples: tuple[Samples, ...], model: Model, controller: Controller | None
) -> SimulatedSamples:
    """Return the samples as they were: the simulated loop is not stable."""
    name = type(controller).__name__
    note = (
        f"The simulated loop under {name} diverges, and the smoothed motion was taken: check the"
        " gains of controller=, or leave it out."
    )
    return SimulatedSamples(with_smoothed_motion(samples), model.start, (note,), False)


def with_smoothed_motion(samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
    """Return the samples as they are, with the smoothed motion instead of a simulated one."""
    return tuple(replace(s, smoothed=np.stack([s.q, s.qd, s.qdd], axis=1)) for s in samples)


def is_simulated(samples: Samples) -> bool:
    """Return whether the states come from a simulated motion."""
    return samples.smoothed is not None and not np.array_equal(samples.smoothed[:, 0], samples.q)


def as_smoothed(samples: Samples) -> Samples:
    """Return the samples with the states that the smoother made of the measured positions."""
    if samples.smoothed is None:
        return samples
    q, qd, qdd = np.moveaxis(samples.smoothed, 1, 0)
    return replace(samples, q=q, qd=qd, qdd=qdd)


def without_smoothing_width(model: Model) -> Model:
    """Return the model with Coulomb friction that jumps at rest.

    One kernel then simulates every smoothing width.
    """
    return model.with_shape("width", [0.0] * model.n) if any(model.shape("width")) else model


def physical(problem: Problem, base: Array, weights: Array) -> Array:
    """Return physical parameters (p,) with these base parameters (b,), or the nearest in torque."""
    triangle = problem.total.triangle(weights)
    triangle[:-1, -1], triangle[-1, -1] = triangle[:-1, :-1] @ base, 0.0
    return consistent(
        problem.model,
        triangle,
        base,
        SDP(1e-3, problem.model.bounds, exact=True),
        PriorWeight(1e-3),
    ).parameters


def first_estimate(problem: Problem) -> Estimate:
    """Return an estimate of a robot that can be simulated."""
    try:
        return SDP().fit(problem)
    except ProblemError:
        base = least_squares(problem.total.triangle(), problem.prior)
        return Estimate(base, np.ones(problem.n), parameters=problem.model.start)


def next_estimate(problem: Problem, before: Estimate) -> Estimate:
    """Return the estimate with the description weighed as it was before."""
    weight = before.details.get("prior_weight")
    try:
        return SDP(None if before.details.get("descriptions_not_used") else weight).fit(problem)
    except ProblemError:
        return first_estimate(problem)


def described(controller: Controller | None, loops: Sequence[FeedbackLoop]) -> str:
    """Return a text that describes the simulated loop."""
    law = "the command followed exactly" if controller is None else type(controller).__name__
    stand_in = any(loop.stand_in for loop in loops)
    return f"{law}, the measured motion instead of a command" if stand_in else law


def with_simulated_motion(
    samples: Samples, motion: SimulatedMotion, correct: bool, factor: int
) -> Samples:
    """Return samples with the states of a simulated motion, without the rows of joints that rest.

    Their friction has no definite value.
    """
    smoothed = (
        np.stack([samples.q, samples.qd, samples.qdd], axis=1)
        if samples.smoothed is None
        else samples.smoothed
    )
    keep = samples.keep
    if motion.stuck is not None and motion.stuck.any():
        moving = ~resting(
            motion.stuck,
            round(THRESHOLDS.least_rest / float(np.median(np.diff(samples.t)))),
            2 * factor,
        )
        keep = moving if keep is None else keep & moving
    states, errors = corrected(samples, motion.states) if correct else (motion.states, None)
    if motion.stuck is not None:
        states[1, motion.stuck] = 0.0
    return replace(
        samples,
        q=states[0],
        qd=states[1],
        qdd=states[2],
        keep=keep,
        errors=errors,
        smoothed=smoothed,
    )


def resting(stuck: NDArray[np.bool_], least: int, around: int) -> NDArray[np.bool_]:
    """Return where joints stick (N, n) for at least `least` samples, and `around` these.

    A joint that turns round sticks for a moment, in which its friction passes through zero, as the
    model has it.
    """
    from scipy.ndimage import binary_dilation, binary_opening

    long = binary_opening(stuck, np.ones((max(least, 1), 1), bool))
    return np.asarray(binary_dilation(long, np.ones((2 * around + 1, 1), bool)))


def corrected(samples: Samples, states: Array) -> tuple[Array, Array | None]:
    """Return states (3, N, n) corrected by the slow position difference, and their errors."""
    assert samples.measured is not None
    d = samples.measured - states[0]
    wrong = np.flatnonzero(is_slow(d))
    if not len(wrong):
        return states, None
    smoother = Smoother.fit(samples.t, d[:, wrong])
    states = states.copy()
    states[:, :, wrong] += smoother.states(samples.t, d[:, wrong])[0].transpose(2, 0, 1)
    middle = samples.middle
    errors = np.zeros((3, middle.stop - middle.start, states.shape[2]))
    errors[:, :, wrong] = drawn_errors(samples.t[middle], smoother)
    return states, errors


def is_slow(d: Array) -> NDArray[np.bool_]:
    """Return which columns of d (N, n) are more than white noise, (n,).

    The variance of the means of parts is compared with that which white noise of the fast variation
    would have. Von Neumann, Annals of Mathematical Statistics 12 (1941), p. 367 (successive
    differences).
    """
    length = max(2, len(d) // THRESHOLDS.difference_parts)
    parts = d[: len(d) // length * length].reshape(-1, length, d.shape[1])
    fast = np.mean(np.diff(d, axis=0) ** 2, axis=0) / 2.0
    return np.asarray(
        np.mean(parts.mean(axis=1) ** 2, axis=0) * length > THRESHOLDS.white_variance_ratio * fast
    )


def simulation_gap_note(samples: Sequence[Samples]) -> str:
    """Return how far the measured positions are from the simulated ones, in words."""
    d = np.concatenate([s.measured - s.q for s in samples if s.measured is not None])
    corrections = any(s.errors is not None for s in samples)
    slow = ", with what they differ by slowly added" if corrections else ""
    return f", {np.sqrt(np.mean(d**2)):.2g} rad or m rms from the measured positions{slow}"
