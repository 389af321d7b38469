"""Random motions within limits, and a stochastic search among them: where the optimiser starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...motion.trajectories.basis import MotionBasis, PeriodicMotion
from ...motion.trajectories.limits import MotionLimits
from ...motion.trajectories.trajectory import Excitation
from .barrier import Constraint
from .information import Information

Array = NDArray[np.float64]
SHRINKS = 18  # times a motion that passes a limit is made 20 % smaller before it is given up
TRIES = 400  # random positions at which a refusal looks for its reason
PLACES = 64  # random positions among which the centre of a motion is chosen


@dataclass(frozen=True)
class RandomMotions:
    """Random motions within limits, then variations of the best one."""

    limits: MotionLimits
    basis: MotionBasis
    information: Information
    constraints: tuple[Constraint, ...] = ()

    def search(self, candidates: int, rng: np.random.Generator) -> Iterator[tuple[PeriodicMotion, Excitation] | None]:
        """The best motion so far and its score, after each candidate; None while none is feasible."""
        best, seed = None, None
        for i in range(candidates):
            explore = seed is None or i < candidates / 2
            draw = self._fresh(rng) if explore else _varied(seed, 0.3 * (1 - i / candidates), rng)  # type: ignore[arg-type]
            motion = self._within(*draw)
            score = self.information.score(motion) if motion else None
            if motion and score and (best is None or score.log_det > best[1].log_det):
                best, seed = (motion, score), draw
            yield best

    def refusal(self) -> str:
        """Why there is no motion: a wall or distance that random positions do not keep, or the joint whose torque limit is in the way."""
        limits, robot = self.limits, self.information.robot
        tau = np.abs(robot.inverse_dynamics(limits.centre, 0 * limits.centre, 0 * limits.centre))
        worst = int(np.argmax(tau / limits.effort))
        if self.constraints and tau[worst] < limits.effort[worst]:
            return f"no motion within the limits was found: {self._hardest()}"
        return (
            f"no motion within the limits was found: standing still in mid-range, joint {robot.joint_names[worst]!r} takes"
            f" {tau[worst]:.4g} of the {limits.effort[worst]:.4g} N m or N it may use; raise `effort` or `margin`, or give the robot's true"
            " limits"
        )

    def _hardest(self) -> str:
        """The wall or distance that random positions keep least."""
        q = np.random.default_rng(0).uniform(self.limits.lower, self.limits.upper, (TRIES, len(self.limits.lower)))
        kept = {
            name: share
            for each in self.constraints
            for name, share in zip(each.labels, np.mean(_slack_at_rest(each, q) > 0, 0), strict=True)
        }
        name = min(kept, key=lambda key: float(kept[key]))
        remedy = "; give its height, ground=-0.5, or ground=None where there is none" if name.endswith("above the ground") else ""
        if not kept[name]:
            return f"none of {TRIES} random positions of the joints keeps {name}{remedy}"
        share = 100 * float(kept[name])
        return f"of the walls and distances the hardest to keep is {name}, which {share:.2g} % of random positions do{remedy}"

    def _fresh(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Coefficients (n, m) of any size, and where between its limits the centre lies (n,), -1 to 1: as clear of walls as can be."""
        n = len(self.limits.lower)
        x, places = rng.normal(size=(n, self.basis.size)), rng.uniform(-1, 1, (PLACES if self.constraints else 1, n))
        q = self.limits.centre + places * self.limits.reach
        slack = [_slack_at_rest(each, q).min(axis=1) for each in self.constraints]
        return x, places[int(np.argmax(np.min(slack, axis=0)))] if slack else places[0]

    def _within(self, x: Array, place: Array) -> PeriodicMotion | None:
        """That shape as large as the limits allow; None where even a small one passes a limit, or its centre does."""
        centre = (self.limits.centre + place * self.limits.reach)[None]
        if not all(bool(np.all(_slack_at_rest(each, centre) > 0)) for each in self.constraints):
            return None
        shape = self.basis.motion(np.concatenate([np.zeros((len(x), 1)), x[:, 1:]], axis=1))
        for shrink in 0.8 ** np.arange(SHRINKS):
            motion = fitted(shape, self.limits, place, shrink)
            if self.information.greatest_torque(motion, self.limits.effort) <= 1 and self._keeps(np.stack(self.information.states(motion))):
                return motion
        return None

    def _keeps(self, states: Array) -> bool:
        """Whether states (3, N, n) keep the other constraints."""
        return all(bool(np.all(constraint.slack(states) > 0)) for constraint in self.constraints)


def fitted(shape: PeriodicMotion, limits: MotionLimits, place: Array, shrink: float = 1.0) -> PeriodicMotion:
    """A shape scaled joint by joint until it touches a limit of position, velocity, acceleration or jerk, times `shrink`.

    place (n,), -1 to 1, says where it goes within the travel that is left free.
    """
    b = shape.bounds(fine=False)
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    scale = shrink * np.minimum.reduce(room(half, b, limits))
    return shape.scaled(scale, limits.centre + place * (limits.reach - scale * half) - scale * middle)


def within(motion: PeriodicMotion, limits: MotionLimits) -> PeriodicMotion:
    """The motion with the amplitude of each joint cut to its limits of position, velocity, acceleration and jerk at every instant."""
    b = motion.bounds()
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    scale = np.minimum.reduce([np.ones_like(half), *room(half, b, limits)])
    spare = limits.reach - scale * half
    return motion.scaled(scale, np.clip(middle, limits.centre - spare, limits.centre + spare) - scale * (middle - motion.centre))


def room(half: Array, bounds: object, limits: MotionLimits) -> Sequence[Array]:
    """The factors (n,) by which a motion of half range `half` may grow within each limit."""
    rates = ((getattr(limits, name), getattr(bounds, name)) for name in ("velocity", "acceleration", "jerk"))
    return [limits.reach / half, *(limit / used for limit, used in rates)]


def _still(q: Array) -> Array:
    """Positions (N, n) as states at rest, (4, N, n)."""
    return np.stack([q, *(np.zeros_like(q) for _ in range(3))])


def _slack_at_rest(constraint: Constraint, q: Array) -> Array:
    """Slacks (N, k) of positions q (N, n) at rest, also of a constraint that looks at each `every`-th sample of a motion alone."""
    every = int(getattr(constraint, "every", 1))
    return constraint.slack(_still(np.repeat(q, every, axis=0)))[::every]


def _varied(draw: tuple[Array, Array], step: float, rng: np.random.Generator) -> tuple[Array, Array]:
    x, place = draw
    size = math.sqrt(float(np.mean(x[:, 1:] ** 2)))
    return x + step * size * rng.normal(size=x.shape), np.clip(place + step * rng.normal(size=place.shape), -1, 1)
