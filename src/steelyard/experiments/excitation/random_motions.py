"""Random Fourier motions within limits, and a stochastic search among them: where the optimiser starts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...motion.trajectories.fourier import Fourier, at_rest, motion_bounds
from ...motion.trajectories.limits import MotionLimits
from ...motion.trajectories.trajectory import Excitation
from .information import Information

Array = NDArray[np.float64]
SHRINKS = 12  # times a motion that takes too much torque is made 20 % smaller before it is given up


@dataclass(frozen=True)
class RandomMotions:
    """Random motions within limits, then variations of the best one."""

    limits: MotionLimits
    frequency: float
    harmonics: int
    information: Information

    def search(self, candidates: int, rng: np.random.Generator) -> Iterator[tuple[Fourier, Excitation] | None]:
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
        """Why there is no motion: the joint whose torque limit stands in the way."""
        limits, robot = self.limits, self.information.robot
        tau = np.abs(robot.inverse_dynamics(limits.centre, 0 * limits.centre, 0 * limits.centre))
        worst = int(np.argmax(tau / limits.effort))
        return (
            f"no motion within the limits was found: standing still in mid-range, joint {robot.joint_names[worst]!r} takes"
            f" {tau[worst]:.4g} of the {limits.effort[worst]:.4g} N m or N it may use; raise `effort` or `margin`, or give the robot's true"
            " limits"
        )

    def _fresh(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Velocity coefficients a, b (n, H) of any size, and where between its limits the centre lies (n,), -1 to 1."""
        n = len(self.limits.lower)
        a, b = rng.normal(size=(2, n, self.harmonics))
        return a, b, rng.uniform(-1, 1, n)

    def _within(self, a: Array, b: Array, place: Array) -> Fourier | None:
        """That shape as large as the limits allow; None where even a small one takes too much torque."""
        shape = Fourier(np.zeros(len(a)), *at_rest(a, b), self.frequency)
        for shrink in 0.8 ** np.arange(SHRINKS):
            motion = fitted(shape, self.limits, place, shrink)
            if self.information.greatest_torque(motion, self.limits.effort) <= 1:
                return motion
        return None


def fitted(shape: Fourier, limits: MotionLimits, place: Array, shrink: float = 1.0) -> Fourier:
    """A shape scaled joint by joint until it touches a limit of position, velocity, acceleration or jerk, times `shrink`.

    place (n,), -1 to 1, says where it goes within the travel that is left free.
    """
    b = motion_bounds(shape)
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    rates = (limits.velocity / b.velocity, limits.acceleration / b.acceleration, limits.jerk / b.jerk)
    scale = shrink * np.minimum.reduce([limits.reach / half, *rates])
    return shape.scaled(scale, limits.centre + place * (limits.reach - scale * half) - scale * middle)


def _varied(draw: tuple[Array, Array, Array], step: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    a, b, place = draw
    size = math.sqrt(float(np.mean(a * a + b * b)) / 2)
    moved = np.clip(place + step * rng.normal(size=place.shape), -1, 1)
    return a + step * size * rng.normal(size=a.shape), b + step * size * rng.normal(size=b.shape), moved
