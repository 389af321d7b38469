"""Excitation: among the motions within a robot's limits, the one that shows its base parameters best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import is_real, numbers
from ...cached import cached_property
from ...errors import CallError, refuse_loops, require_robot, suggest
from ...floating_point import default_errstate
from ...identification import Fit
from ...motion.collision.distance_tables import tabulated
from ...motion.collision.distances_to_keep import CLEARANCE, DistancesToKeep, Ground, distances_to_keep
from ...motion.collision.sweep import Gaps
from ...motion.collision.walls import Boxes, HalfSpace
from ...motion.trajectories.basis import MotionBasis, PeriodicMotion
from ...motion.trajectories.bspline import BSplineBasis
from ...motion.trajectories.certificate import Certificate
from ...motion.trajectories.check_motion import limit_words
from ...motion.trajectories.fourier import FourierBasis
from ...motion.trajectories.limits import MotionLimits, PerJoint, motion_limits, per_joint
from ...motion.trajectories.motion_check import MotionCheck
from ...motion.trajectories.trajectory import Trajectory, trajectory
from ...robot import Robot
from ...signals.log import Log
from .criteria import CRITERIA
from .expected_accuracy import Region, RegionOfUse, Targets, expected_accuracy, targets
from .information import Information
from .multi_start import Progress
from .prior import Prior, fit_of, known_information
from .shortest import LONGEST, shortest_time
from .task import Task

Array = NDArray[np.float64]
Found: TypeAlias = "tuple[PeriodicMotion, Certificate]"
SECONDS, STARTS, FEW = 20.0, 8, 2  # by default; starts of each trial while the shortest time is looked for
PERIOD, HIGHEST = 20.0, 0.5  # s, Hz: by default
SPEED = 0.5  # share of the velocity limits


def bspline_basis(harmonics: int, frequency: float) -> MotionBasis:
    """Splines with as many coefficients as a series of so many harmonics."""
    return BSplineBasis(2 * harmonics - 1, frequency)


BASES: dict[str, Callable[[int, float], MotionBasis]] = {"fourier": FourierBasis, "bspline": bspline_basis}


@default_errstate
def excite(
    robot: Robot,
    seconds: float | None = None,
    harmonics: int | None = None,
    base_frequency: float | None = None,
    seed: int = 0,
    *,
    basis: str = "fourier",
    rate: float = 100.0,
    candidates: int | None = None,
    starts: int | None = None,
    margin: float = 0.9,
    speed: float = SPEED,
    velocity: PerJoint = None,
    acceleration: PerJoint = None,
    effort: PerJoint = None,
    jerk: PerJoint = None,
    criterion: str = "D",
    noise: PerJoint = None,
    prior: float | None = None,
    log: Log | Sequence[Log] | None = None,
    fit: Fit | None = None,
    accuracy: Mapping[str, float] | None = None,
    torque_accuracy: float | None = None,
    region: Region = None,
    collision: str = "auto",
    clearance: float = CLEARANCE,
    ground: Ground = "base",
    workspace: Boxes | None = None,
    half_spaces: Sequence[HalfSpace] = (),
    payload: float | Sequence[float] | None = None,
    gravity: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """A motion worth recording: within the limits at every instant, at rest at both ends, with log det(Y_b^T W Y_b) as large as possible.

    Y_b is the regressor of the base parameters, links and rotors and friction alike; W = 1 / noise^2 weighs each joint by the noise of its
    torque. What `log` or `fit` recorded already, and a `prior`, is added: the motion adds what they lack. A Fourier series fills whole
    periods; B-splines of degree 5 have as many coefficients. With `accuracy`, such as {"link3.mcx": 0.02}, or `torque_accuracy` the time
    is the shortest that reaches them; torques are then those of random states within the limits, or within `region`.

    The motion is slow unless the caller says otherwise: `speed` of the velocity limits, reached in 0.5 s at the earliest. Links without
    collision geometry count as capsules from the kinematics; links stay above the base plane (`ground`). `.excitation.checked` says whether
    limits, links and ground were all checked at every instant, `.excitation.unchecked` what was not.

    Exact gradients and an interior-point method improve random motions, then variations of the best, on one core. Ctrl-C ends the search
    with the best motion so far. The same seed gives the same motion. `.excitation` has what to expect: log-det, condition, the certificate
    of the limits and the standard deviations of parameters and torques.
    Swevers et al., IEEE Trans. Robotics and Automation 13 (1997), p. 730; Hollerbach, Khalil and Gautier, Springer Handbook of Robotics,
    2nd ed., section 6.3; lecture "Dynamic parameter identification", remarks.

    Returns:
        A `Trajectory` with its `.excitation`.
    Example:
        >>> motion = sy.excite(sy.load("planar_2r"), seconds=4, starts=1)
        >>> motion.duration, motion.n
        (4.0, 2)
    """
    require_robot(robot, "excite")
    refuse_loops(robot, "excite", "move its drives by some harmonics, and close each position with assemble(q, hold=robot.driven_joints)")
    _check(harmonics, candidates, starts, criterion, basis)
    if candidates is not None and (accuracy or torque_accuracy is not None):
        raise CallError("excite: an accuracy is reached by optimised motions; leave candidates out")
    robot = mounted(robot, payload, gravity)
    limits = motion_limits(robot, margin, velocity, acceleration, effort, jerk, speed)
    keep = distances_to_keep(robot, limits, collision, clearance, ground, workspace, half_spaces)
    rate = positive("rate", rate, "Hz")
    information = Information.of(robot, expected_noise(robot, noise), criterion)
    known = what_is_known(information, prior, log, fit)
    region_of_use = RegionOfUse.of(information, limits, region)
    wanted = targets(information, region_of_use, accuracy, torque_accuracy, known.prior)
    asked = Request(limits, keep, information, known, region_of_use, wanted, basis, harmonics, base_frequency, seed, rate, candidates)
    time, found = asked.motion(seconds, STARTS if starts is None else starts, progress)
    return asked.trajectory(time, found, noise is None)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known before: the prior, and all information (b, b), or None."""

    prior: Prior | None
    information: Array | None


@dataclass(frozen=True, eq=False)
class Request:
    """All that is asked for but the time."""

    limits: MotionLimits
    keep: DistancesToKeep
    information: Information
    known: Known
    region: RegionOfUse
    targets: Targets | None
    basis: str
    harmonics: int | None
    base_frequency: float | None
    seed: int
    rate: float
    candidates: int | None

    @cached_property
    def quick(self) -> tuple[Gaps, ...]:
        """The distances as the search looks at them."""
        return self.keep.gaps if self.candidates else tuple(tabulated(each) for each in self.keep.gaps)

    def reached(self, seconds: float | None, starts: int, progress: Progress | None) -> tuple[float, Found]:
        """The shortest time [s] that reaches the targets, and the best motion of it."""
        assert self.targets is not None
        trials: dict[float, tuple[float, Found]] = {}

        def ratio(time: float) -> tuple[float, str]:
            done = 1 - 0.7 ** len(trials)
            told = progress and (lambda sentence, share: progress(f"{time:.3g} s: {sentence}", 0.8 * (done + 0.3 * (1 - done) * share)))
            found = self.task(time).optimise(FEW, told)
            worst, name = self.worst(time, found)
            trials[time] = (worst, found)
            return worst, name

        time = shortest_time(ratio, LONGEST if seconds is None else positive("seconds", seconds, "s"))
        last = progress and (lambda sentence, share: progress(f"{time:.3g} s: {sentence}", 0.8 + 0.2 * share))
        found = self.task(time).optimise(starts, last)
        return time, found if self.worst(time, found)[0] <= trials[time][0] else trials[time][1]

    def worst(self, time: float, found: Found) -> tuple[float, str]:
        """Standard deviation over target of the worst target, and its name."""
        assert self.targets is not None
        information = self.task(time).information
        ratios = self.targets.ratios(information.whole(information.states(found[0])))
        return float(ratios.max()), self.targets.labels[int(np.argmax(ratios))]

    def task(self, seconds: float) -> Task:
        """The search of a motion of that time [s]."""
        frequency = base_frequency_of(seconds, self.base_frequency)
        harmonics = max(5, round(HIGHEST / frequency)) if self.harmonics is None else int(self.harmonics)
        information = replace(self.information, samples=self.rate * seconds, known=self.known.information)
        if self.targets is not None:
            information = replace(information, criterion=self.targets.criterion)
        basis = BASES[self.basis](harmonics, frequency)
        return Task(self.limits, basis, information, self.seed, self.keep.gaps, self.quick)

    def motion(self, seconds: float | None, starts: int, progress: Progress | None) -> tuple[float, Found]:
        """The time [s] and the motion: of the time stated, or of the shortest that reaches the targets."""
        if self.targets is not None:
            return self.reached(seconds, starts, progress)
        time = SECONDS if seconds is None else positive("seconds", seconds, "s")
        task = self.task(time)
        return time, task.search(self.candidates, progress) if self.candidates else task.optimise(starts, progress)

    def trajectory(self, time: float, found: Found, assumed: bool) -> Trajectory:
        """The motion found, with what to expect of it; `assumed` says that nobody stated the noise."""
        information, robot = self.task(time).information, self.information.robot
        expected = expected_accuracy(information, self.region, found[0], self.known.prior, self.rate, time, assumed)
        check = self.check(found)
        score = information.score(found[0])._replace(certificate=found[1], accuracy=expected, safety=check)
        slides = tuple(name for name in robot.joint_names if robot.mechanism.joint(name).kind == "prismatic")
        return replace(trajectory(found[0], time, self.rate, robot.joint_names, score), sliding=slides, verified=check)

    def check(self, found: Found) -> MotionCheck:
        """Return what the certificate of a motion proves."""
        motion, certificate = found
        words = ("position", "velocity", "acceleration") if np.isfinite(self.limits.acceleration).all() else ("position", "velocity")
        return MotionCheck(
            what=(limit_words(words, self.limits.effort), *self.keep.what),
            unchecked=self.keep.unchecked if certificate.holds else ("limits", *self.keep.unchecked),
            distance=certificate.spare + self.keep.least(certificate.narrowest),
            narrowest=certificate.narrowest,
            remarks=self.keep.remarks,
            motion=motion,
        )


def positive(what: str, value: object, unit: str) -> float:
    """The value as a positive number."""
    if not (is_real(value) and 0 < float(value) < math.inf):  # type: ignore[arg-type]
        raise CallError(f"{what} = {value!r}; expected a positive number [{unit}]")
    return float(value)  # type: ignore[arg-type]


def mounted(robot: Robot, payload: float | Sequence[float] | None, gravity: ArrayLike | None) -> Robot:
    """The robot as it will be: under that gravity (3,) [m/s2], with that mass [kg] at that point [m] of its end-effector."""
    if gravity is not None:
        g = numbers("gravity", gravity)
        if g.shape != (3,) or not np.all(np.isfinite(g)):
            raise CallError(f"gravity = {gravity!r}; expected three numbers [m/s2] in the base frame")
        robot = robot.with_gravity(tuple(g.tolist()))
    if payload is not None:
        load = np.atleast_1d(numbers("payload", payload))
        if load.shape not in ((1,), (4,)) or not np.all(np.isfinite(load)) or load[0] < 0:
            raise CallError(f"payload = {payload!r}; expected a mass [kg], or a mass and its centre x, y, z [m]")
        robot = robot.with_payload(float(load[0]), tuple(load[1:].tolist()) or (0.0, 0.0, 0.0))
    return robot


def expected_noise(robot: Robot, noise: PerJoint) -> Array | None:
    """The standard deviation of each joint's torque (n,) [N m|N], or None where the caller states none."""
    return None if noise is None else per_joint("noise", noise, np.full(robot.n, np.inf), robot)


def what_is_known(information: Information, prior: float | None, log: Log | Sequence[Log] | None, fit: Fit | None) -> Known:
    """The description within its tolerance, and what a log or its fit tells already."""
    if log is not None and fit is not None:
        raise CallError("excite: give a log or the fit of one, not both")
    if fit is not None and not isinstance(fit, Fit):
        raise CallError(f"fit = {type(fit).__name__}; expected what sy.identify returns")
    made = None if prior is None else Prior.of(information, prior)
    parts = [] if made is None else [made.information]
    if log is not None or fit is not None:
        parts.append(known_information(information, fit_of(information, log) if fit is None else fit))  # type: ignore[arg-type]
    return Known(made, sum(parts[1:], parts[0]) if parts else None)


def _check(harmonics: int | None, candidates: int | None, starts: int | None, criterion: str, basis: str) -> None:
    for name, value, least in (("harmonics", harmonics, 2), ("candidates", candidates, 1), ("starts", starts, 1)):
        if value is not None and value < least:
            raise CallError(f"{name} = {value!r}; at least {least} are needed")
    if criterion not in CRITERIA:
        raise CallError(f"criterion = {criterion!r}; {suggest(str(criterion), CRITERIA)}")
    if basis not in BASES:
        raise CallError(f"basis = {basis!r}; {suggest(str(basis), BASES)}")


def base_frequency_of(seconds: float, frequency: float | None) -> float:
    """The base frequency [Hz] of which `seconds` are whole periods: the one stated, or that of periods of about 20 s."""
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
