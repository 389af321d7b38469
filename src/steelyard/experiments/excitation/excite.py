"""Excitation: among the motions within a robot's limits, the one that shows its base parameters best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, ProblemError, refuse_loops, require_robot, suggest
from ...identification.model.accumulator import on_one_core
from ...motion.trajectories.certificate import Certificate, certify
from ...motion.trajectories.fourier import Fourier, FourierBasis
from ...motion.trajectories.limits import MotionLimits, PerJoint, motion_limits, per_joint
from ...motion.trajectories.trajectory import Trajectory, trajectory
from ...robot import Robot
from .criteria import CRITERIA
from .information import Information
from .multi_start import Crew, MultiStart, Progress, jobs
from .random_motions import RandomMotions

Array = NDArray[np.float64]
STARTS = 20
PERIOD, HIGHEST = 20.0, 0.5  # s, Hz: by default
SMALLER, CUTS = 0.995, 200  # a motion that passes a limit between samples is made that much smaller, at most so often


def excite(
    robot: Robot,
    seconds: float = 20.0,
    harmonics: int | None = None,
    base_frequency: float | None = None,
    seed: int = 0,
    *,
    rate: float = 100.0,
    candidates: int | None = None,
    starts: int | None = None,
    margin: float = 0.9,
    velocity: PerJoint = None,
    acceleration: PerJoint = None,
    effort: PerJoint = None,
    jerk: PerJoint = None,
    criterion: str = "D",
    noise: PerJoint = None,
    progress: Progress | None = None,
) -> Trajectory:
    """A motion worth recording: a Fourier series within the limits, at rest at both ends, that makes log det(Y_b^T W Y_b) large.

    Y_b is the regressor of the base parameters, links and rotors and friction alike; W = 1 / noise^2 weighs each joint by the noise of its
    torque [N m|N], by default in proportion to the torque it needs. criterion "A" makes the mean variance small, "E" the worst direction.
    seconds must be whole periods 1/base_frequency [Hz] (about 20 s each by default), of `harmonics` (by default up to 0.5 Hz). `margin` is
    the fraction of every limit that is used; velocity [rad/s|m/s], acceleration, jerk, effort [N m|N] replace the robot's own. All are
    kept at every instant, between samples too: `.excitation.certificate`.
    Exact gradients and an interior-point method improve `starts` random motions (20 by default) on all cores; with `candidates`, that many
    random motions are searched instead, which is quick and worse. progress(sentence, share) is called on the way; Ctrl-C ends the search
    with the best motion so far. The same seed gives the same motion.
    Swevers et al., IEEE Trans. Robotics and Automation 13 (1997), p. 730; Hollerbach, Khalil and Gautier, Springer Handbook of Robotics,
    2nd ed., section 6.3; lecture "Dynamic parameter identification", remarks.
    """
    require_robot(robot, "excite")
    refuse_loops(robot, "excite", "move its drives by some harmonics, and close each position with assemble(q, hold=robot.driven_joints)")
    frequency = _base_frequency(seconds, base_frequency)
    harmonics = max(5, round(HIGHEST / frequency)) if harmonics is None else harmonics
    _check(harmonics, candidates, starts, criterion)
    limits = motion_limits(robot, margin, velocity, acceleration, effort, jerk)
    information = Information.of(robot, expected_noise(robot, noise), criterion)
    task = Task(limits, FourierBasis(int(harmonics), frequency), information, seed)
    motion = task.search(candidates, progress) if candidates else task.optimise(STARTS if starts is None else starts, progress)
    made, certificate = task.certified(motion)
    score = information.score(made)._replace(certificate=certificate)
    slides = tuple(name for name in robot.joint_names if robot.mechanism.joint(name).kind == "prismatic")
    return replace(trajectory(made, seconds, rate, robot.joint_names, score), sliding=slides)


def expected_noise(robot: Robot, noise: PerJoint) -> Array | None:
    """The standard deviation of each joint's torque (n,) [N m|N], or None where the caller states none."""
    return None if noise is None else per_joint("noise", noise, np.full(robot.n, np.inf), robot)


@dataclass(frozen=True)
class Task:
    """What is asked for: limits, a space of motions, the information to gain, and the seed of what is random."""

    limits: MotionLimits
    basis: FourierBasis
    information: Information
    seed: int

    def search(self, candidates: int, progress: Progress | None) -> Fourier:
        """The best of random motions and of variations of the best."""
        motions = self._random()
        best = None
        for count, best in enumerate(motions.search(candidates, np.random.default_rng(self.seed)), start=1):
            if progress:
                state = f"condition {best[1].condition:.3g}" if best else "no motion within the torque limits yet"
                progress(f"{count} of {candidates} motions, {state}", count / candidates)
        if best is None:
            raise ProblemError(motions.refusal())
        return best[0]

    @on_one_core
    def optimise(self, starts: int, progress: Progress | None) -> Fourier:
        """The best of several optimised motions."""
        crew = Crew(jobs(starts), progress)
        found = MultiStart(self.basis, self.information, self.limits).run(starts, self.seed, crew)
        if found:
            return self.basis.motion(found[0].x)
        if crew.stopped():
            raise KeyboardInterrupt
        raise ProblemError(self._random().refusal())

    def certified(self, motion: Fourier) -> tuple[Fourier, Certificate]:
        """The motion, smaller by as little as it takes to keep all limits at every instant, and what it uses of them."""
        robot = self.information.robot
        for _ in range(CUTS):
            motion = within(motion, self.limits)
            certificate = certify(robot, motion, self.limits)
            if certificate.holds:
                return motion, certificate
            motion = motion.scaled(SMALLER)
        raise ProblemError(self._random().refusal())

    def _random(self) -> RandomMotions:
        return RandomMotions(self.limits, self.basis.base_frequency, self.basis.harmonics, self.information)


def within(motion: Fourier, limits: MotionLimits) -> Fourier:
    """The motion with the amplitude of each joint cut to its limits of position, velocity, acceleration and jerk at every instant."""
    b = motion.bounds()
    half, middle = (b.upper - b.lower) / 2, (b.upper + b.lower) / 2
    rates = (limits.velocity / b.velocity, limits.acceleration / b.acceleration, limits.jerk / b.jerk)
    scale = np.minimum.reduce([np.ones_like(half), limits.reach / half, *rates])
    room = limits.reach - scale * half
    return motion.scaled(scale, np.clip(middle, limits.centre - room, limits.centre + room) - scale * (middle - motion.centre))


def _check(harmonics: int, candidates: int | None, starts: int | None, criterion: str) -> None:
    if harmonics < 2 or (candidates is not None and candidates < 1) or (starts is not None and starts < 1):
        raise CallError(f"harmonics = {harmonics!r}, candidates = {candidates!r}, starts = {starts!r}; at least 2, at least 1 are needed")
    if criterion not in CRITERIA:
        raise CallError(f"criterion = {criterion!r}; {suggest(str(criterion), CRITERIA)}")


def _base_frequency(seconds: float, frequency: float | None) -> float:
    if not (math.isfinite(seconds) and seconds > 0):
        raise CallError(f"seconds = {seconds!r}; expected a positive number")
    if frequency is None:
        return max(1, round(seconds / PERIOD)) / seconds
    periods = seconds * frequency
    if not (math.isfinite(periods) and periods > 0.5 and abs(periods - round(periods)) < 1e-6 * periods):
        whole = max(1, round(periods)) if math.isfinite(periods) and periods > 0 else 1
        raise CallError(
            f"{seconds:g} s is no whole number of periods of {frequency!r} Hz, so the motion would not end at rest;"
            f" say base_frequency={whole / seconds:.6g}"
        )
    return round(periods) / seconds
