"""Excitation: among many Fourier motions within a robot's limits, the one that shows its base parameters best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, ProblemError, refuse_loops, require_robot
from ...motion.trajectories.fourier import Fourier, at_rest, motion_bounds
from ...motion.trajectories.limits import MotionLimits, PerJoint, motion_limits
from ...motion.trajectories.trajectory import Excitation, Trajectory, trajectory
from ...parameters.base import base_parameters, sampled_regressor
from ...robot import Robot

Array = NDArray[np.float64]
Progress: TypeAlias = Callable[[str, float], None]
SHRINKS = 12  # times a motion that takes too much torque is made 20 % smaller before it is given up


def excite(
    robot: Robot,
    seconds: float = 20.0,
    harmonics: int = 5,
    base_frequency: float | None = None,
    seed: int = 0,
    *,
    rate: float = 100.0,
    candidates: int = 300,
    margin: float = 0.9,
    velocity: PerJoint = None,
    acceleration: PerJoint = None,
    effort: PerJoint = None,
    progress: Progress | None = None,
) -> Trajectory:
    """A motion worth recording: a Fourier series within the limits, at rest at both ends, chosen by max log det(Y_b^T W Y_b).

    Y_b is the regressor of the base parameters, links and rotors and friction alike; W weighs each joint by the torque it needs.
    seconds must be whole periods 1/base_frequency [Hz] (by default about 10 s each); `margin` is the fraction of every limit that is used;
    velocity [rad/s|m/s], acceleration, effort [N m|N] replace the robot's own; progress(sentence, share) is called on the way.
    Half of the candidates are random, half are variations of the best so far. The same seed gives the same motion.
    Swevers et al., IEEE Trans. Robotics and Automation 13 (1997), p. 730; Hollerbach, Khalil and Gautier, Springer Handbook of Robotics,
    2nd ed., section 6.3; lecture "Dynamic parameter identification", remarks.
    """
    require_robot(robot, "excite")
    refuse_loops(robot, "excite", "move its drives by some harmonics, and close each position with assemble(q, hold=robot.driven_joints)")
    frequency = _base_frequency(seconds, base_frequency)
    if harmonics < 2 or candidates < 1:
        raise CallError(f"harmonics = {harmonics!r}, candidates = {candidates!r}; expected at least 2 and at least 1")
    limits = motion_limits(robot, margin, velocity, acceleration, effort)
    search = Search(robot, limits, frequency, int(harmonics), Information.of(robot))
    best: tuple[Fourier, Excitation] | None = None
    for count, best in enumerate(search.run(candidates, np.random.default_rng(seed)), start=1):
        if progress:
            state = f"condition {best[1].condition:.3g}" if best else "no motion within the torque limits yet"
            progress(f"{count} of {candidates} motions, {state}", count / candidates)
    if best is None:
        raise ProblemError(search.refusal())
    return trajectory(best[0], seconds, rate, robot.joint_names, best[1])


@dataclass(frozen=True)
class Search:
    """Random motions within limits, then variations of the best one."""

    robot: Robot
    limits: MotionLimits
    frequency: float
    harmonics: int
    information: Information

    def run(self, candidates: int, rng: np.random.Generator) -> Iterator[tuple[Fourier, Excitation] | None]:
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
        tau = np.abs(self.robot.inverse_dynamics(*(x[None] for x in (self.limits.centre, 0 * self.limits.centre, 0 * self.limits.centre))))[
            0
        ]
        worst = int(np.argmax(tau / self.limits.effort))
        name = self.robot.joint_names[worst]
        return (
            f"no motion within the limits was found: standing still in mid-range, joint {name!r} takes {tau[worst]:.4g} of the"
            f" {self.limits.effort[worst]:.4g} N m or N it may use; raise `effort` or `margin`, or give the robot's true limits"
        )

    def _fresh(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Velocity coefficients a, b (n, H) of any size, and where between its limits the centre lies (n,), -1 to 1."""
        a, b = rng.normal(size=(2, self.robot.n, self.harmonics))
        return a, b, rng.uniform(-1, 1, self.robot.n)

    def _within(self, a: Array, b: Array, place: Array) -> Fourier | None:
        """That shape as large as the limits allow; None where even a small one takes too much torque."""
        shape = Fourier(np.zeros(self.robot.n), *at_rest(a, b), self.frequency)
        for shrink in 0.8 ** np.arange(SHRINKS):
            motion = fitted(shape, self.limits, place, shrink)
            if self.information.greatest_torque(motion, self.limits.effort) <= 1:
                return motion
        return None


def fitted(shape: Fourier, limits: MotionLimits, place: Array, shrink: float = 1.0) -> Fourier:
    """A shape scaled joint by joint until it touches a limit of position, velocity or acceleration, times `shrink`.

    place (n,), -1 to 1, says where it goes within the travel that is left free.
    """
    b = motion_bounds(shape)
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    scale = shrink * np.minimum(limits.reach / half, np.minimum(limits.velocity / b.velocity, limits.acceleration / b.acceleration))
    return shape.scaled(scale, limits.centre + place * (limits.reach - scale * half) - scale * middle)


def _varied(draw: tuple[Array, Array, Array], step: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    a, b, place = draw
    size = math.sqrt(float(np.mean(a * a + b * b)) / 2)
    moved = np.clip(place + step * rng.normal(size=place.shape), -1, 1)
    return a + step * size * rng.normal(size=a.shape), b + step * size * rng.normal(size=b.shape), moved


def _base_frequency(seconds: float, frequency: float | None) -> float:
    if not (math.isfinite(seconds) and seconds > 0):
        raise CallError(f"seconds = {seconds!r}; expected a positive number")
    if frequency is None:
        return max(1, round(seconds / 10)) / seconds
    periods = seconds * frequency
    if not (math.isfinite(periods) and periods > 0.5 and abs(periods - round(periods)) < 1e-6 * periods):
        whole = max(1, round(periods)) if math.isfinite(periods) and periods > 0 else 1
        raise CallError(
            f"{seconds:g} s is no whole number of periods of {frequency!r} Hz, so the motion would not end at rest;"
            f" say base_frequency={whole / seconds:.6g}"
        )
    return round(periods) / seconds


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
