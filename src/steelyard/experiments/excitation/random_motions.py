"""Random motions within limits, and a stochastic search among them: where the optimiser starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...motion.trajectories.basis import MotionBasis, PeriodicMotion
from ...motion.trajectories.limits import TrajectoryLimits
from ...motion.trajectories.trajectory import Excitation
from .barrier import Constraint
from .excitation_thresholds import THRESHOLDS
from .information import FisherInformation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RandomMotions:
    """Random motions within limits, then variations of the best one."""

    limits: TrajectoryLimits
    basis: MotionBasis
    information: FisherInformation
    constraints: tuple[Constraint, ...] = ()

    def search(
        self, candidates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PeriodicMotion, Excitation] | None]:
        """Yield the best motion so far and its score after each candidate; None at first."""
        best, seed = None, None
        for i in range(candidates):
            if seed is None or i < candidates / 2:
                draw = self._fresh(rng)
            else:
                draw = _varied(seed, 0.3 * (1 - i / candidates), rng)
            motion = self._within(*draw)
            score = self.information.score(motion) if motion else None
            if motion and score and (best is None or score.log_det > best[1].log_det):
                best, seed = (motion, score), draw
            yield best

    def refusal(self) -> str:
        """Return why there is no motion.

        A distance that random positions do not keep, or the joint whose torque limit is too
        low.
        """
        limits, robot = self.limits, self.information.robot
        tau = np.abs(robot.inverse_dynamics(limits.centre, 0 * limits.centre, 0 * limits.centre))
        worst = int(np.argmax(tau / limits.effort))
        if self.constraints and tau[worst] < limits.effort[worst]:
            return f"no motion within the limits was found: {self._hardest()}"
        return (
            "no motion within the limits was found: standing still in mid-range, joint"
            f" {robot.joint_names[worst]!r} takes {tau[worst]:.4g} of the"
            f" {limits.effort[worst]:.4g} N m or N it may use; raise `effort` or `margin`, or give"
            " the robot's true limits"
        )

    def _hardest(self) -> str:
        """Return the distance that the fewest random positions keep."""
        q = np.random.default_rng(0).uniform(
            self.limits.lower,
            self.limits.upper,
            (THRESHOLDS.refusal_positions, len(self.limits.lower)),
        )
        hardest = {
            name: share
            for each in self.constraints
            for name, share in zip(
                each.labels, np.mean(_slack_at_rest(each, q) > 0, 0), strict=True
            )
        }
        name = min(hardest, key=lambda key: float(hardest[key]))
        remedy = (
            "; give its height, ground=-0.5, or ground=None where there is none"
            if name.endswith("above the ground")
            else ""
        )
        if not hardest[name]:
            tried = THRESHOLDS.refusal_positions
            return f"none of {tried} random positions of the joints keeps {name}{remedy}"
        share = 100 * float(hardest[name])
        return (
            f"of the walls and distances the hardest to keep is {name}, which {share:.2g} % of"
            f" random positions do{remedy}"
        )

    def _fresh(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw coefficients (n, m) and the centre's relative position (n,) in [-1, 1].

        The centre is the one of `centre_positions` draws that is farthest from walls.
        """
        n = len(self.limits.lower)
        x, places = (
            rng.normal(size=(n, self.basis.size)),
            rng.uniform(-1, 1, (THRESHOLDS.centre_positions if self.constraints else 1, n)),
        )
        q = self.limits.centre + places * self.limits.reach
        slack = [_slack_at_rest(each, q).min(axis=1) for each in self.constraints]
        return x, places[int(np.argmax(np.min(slack, axis=0)))] if slack else places[0]

    def _within(self, x: Array, fraction: Array) -> PeriodicMotion | None:
        """Scale a shape to the limits; None where even a small motion exceeds one."""
        centre = (self.limits.centre + fraction * self.limits.reach)[None]
        if not all(bool(np.all(_slack_at_rest(each, centre) > 0)) for each in self.constraints):
            return None
        shape = self.basis.motion(np.concatenate([np.zeros((len(x), 1)), x[:, 1:]], axis=1))
        for shrink in 0.8 ** np.arange(THRESHOLDS.motion_shrinks):
            motion = scale_to_limits(shape, self.limits, fraction, shrink)
            if self.information.greatest_torque(motion, self.limits.effort) <= 1 and self._keeps(
                np.stack(self.information.states(motion))
            ):
                return motion
        return None

    def _keeps(self, states: Array) -> bool:
        """Return whether states (3, N, n) keep the other constraints."""
        return all(bool(np.all(constraint.slack(states) > 0)) for constraint in self.constraints)


def scale_to_limits(
    shape: PeriodicMotion, limits: TrajectoryLimits, fraction: Array, shrink: float = 1.0
) -> PeriodicMotion:
    """Scale a shape joint by joint until it reaches a limit, times `shrink`.

    `fraction` (n,), -1 to 1, is its position within the remaining travel.
    """
    b = shape.bounds(fine=False)
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    scale = shrink * np.minimum.reduce(allowed_scales(half, b, limits))
    return shape.scaled(
        scale, limits.centre + fraction * (limits.reach - scale * half) - scale * middle
    )


def cut_to_limits(motion: PeriodicMotion, limits: TrajectoryLimits) -> PeriodicMotion:
    """Reduce each joint's amplitude to its position, velocity, acceleration and jerk limits."""
    b = motion.bounds()
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    scale = np.minimum.reduce([np.ones_like(half), *allowed_scales(half, b, limits)])
    spare = limits.reach - scale * half
    return motion.scaled(
        scale,
        np.clip(middle, limits.centre - spare, limits.centre + spare)
        - scale * (middle - motion.centre),
    )


def allowed_scales(half: Array, bounds: object, limits: TrajectoryLimits) -> Sequence[Array]:
    """Return the factors (n,) by which a motion of half range `half` may grow within each limit."""
    rates = (
        (getattr(limits, name), getattr(bounds, name))
        for name in ("velocity", "acceleration", "jerk")
    )
    return [limits.reach / half, *(limit / used for limit, used in rates)]


def _at_rest(q: Array) -> Array:
    """Return positions (N, n) as states at rest, (4, N, n)."""
    return np.stack([q, *(np.zeros_like(q) for _ in range(3))])


def _slack_at_rest(constraint: Constraint, q: Array) -> Array:
    """Return the slacks (N, k) of positions q (N, n) at rest.

    A constraint that looks at each `every`-th sample gets each position as often.
    """
    every = int(getattr(constraint, "every", 1))
    return constraint.slack(_at_rest(np.repeat(q, every, axis=0)))[::every]


def _varied(
    draw: tuple[Array, Array], step: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    x, fraction = draw
    size = math.sqrt(float(np.mean(x[:, 1:] ** 2)))
    return x + step * size * rng.normal(size=x.shape), np.clip(
        fraction + step * rng.normal(size=fraction.shape), -1, 1
    )
