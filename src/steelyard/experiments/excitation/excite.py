"""Excitation: the motion within a robot's limits that shows its base parameters best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import is_real, numbers
from ...cached import cached_property
from ...errors import CallError, mention, refuse_loops, require_robot, suggest
from ...floating_point import default_errstate
from ...identification import Fit
from ...motion.collision.distance_tables import with_distance_tables
from ...motion.collision.distances_to_keep import DistancesToKeep, distances_to_keep
from ...motion.collision.sweep import Gaps
from ...motion.trajectories.basis import MotionBasis, PeriodicMotion
from ...motion.trajectories.bspline import BSplineBasis
from ...motion.trajectories.certificate import Certificate
from ...motion.trajectories.check_motion import limit_words
from ...motion.trajectories.fourier import FourierBasis
from ...motion.trajectories.limits import PerJoint, TrajectoryLimits, motion_limits, per_joint_limit
from ...motion.trajectories.motion_check import MotionCheck
from ...motion.trajectories.trajectory import Trajectory, trajectory
from ...option_groups.excitation import ExcitationKeywords, ExcitationOptions
from ...options import from_keywords
from ...robot import Robot
from ...signals.log import Log
from .criteria import CRITERIA
from .excitation_thresholds import THRESHOLDS
from .expected_accuracy import RegionOfUse, Targets, expected_accuracy, targets
from .information import FisherInformation
from .multi_start import Progress
from .prior import Prior, fit_of, known_information
from .shortest import shortest_time
from .task import ExcitationSearch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...motion.collision.walls import HalfSpace

Array = NDArray[np.float64]
DesignedMotion: TypeAlias = "tuple[PeriodicMotion, Certificate]"


def bspline_basis(harmonics: int, frequency: float) -> MotionBasis:
    """Return splines with as many coefficients as a Fourier series with these harmonics."""
    return BSplineBasis(2 * harmonics - 1, frequency)


BASES: dict[str, Callable[[int, float], MotionBasis]] = {
    "fourier": FourierBasis,
    "bspline": bspline_basis,
}


@default_errstate
def excite(
    robot: Robot,
    seconds: float | None = None,
    harmonics: int | None = None,
    base_frequency: float | None = None,
    seed: int | None = None,
    *,
    log: Log | Sequence[Log] | None = None,
    fit: Fit | None = None,
    options: ExcitationOptions | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[ExcitationKeywords],
) -> Trajectory:
    """Design a motion for identification, within all limits at every instant.

    The motion is at rest at both ends. It maximises log det(Y_b^T W Y_b). Y_b is the regressor of
    the base parameters of links, rotors and friction; W = 1 / noise^2 weighs each joint. The
    information of `log`, `fit` and `prior` is added, so that the motion shows what they lack. A
    Fourier series fills whole periods; B-splines of degree 5 have as many coefficients. With
    `accuracy`, such as {"link3.mcx": 0.02}, or `torque_accuracy` the duration is the shortest that
    reaches them. Torques count at random states within the limits, or within `region`.

    The defaults are slow: `speed` of the velocity limits, reached in no less than 0.5 s. Links
    without collision geometry count as capsules from the kinematics; links stay above the base
    plane (`ground`). `.excitation.checked` says whether limits, links and ground were all checked
    at every instant; `.excitation.unchecked` names what was not.

    Exact gradients and an interior-point method improve random motions, then variations of the
    best, on one core. Ctrl-C ends the search with the best motion so far. The same seed gives the
    same motion. `.excitation` has the log-det, the condition number, the certificate of the limits
    and the expected standard deviations of parameters and torques. Swevers et al., IEEE Trans.
    Robotics and Automation 13 (1997), p. 730; Hollerbach, Khalil and Gautier, Springer Handbook of
    Robotics, 2nd ed., section 6.3; lecture "Dynamic parameter identification", remarks.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    seconds : duration [s], 20 by default; with an accuracy the longest, 600.
    harmonics : number of harmonics, by default up to 0.5 Hz.
    base_frequency : frequency of the first harmonic [Hz], by default a period of about 20 s.
    seed : number that random draws start from, 0 by default; equal seeds give equal results.
    log : a `Log` or several that were recorded already.
    fit : a `Fit` of what was recorded already.
    options : all options as one `ExcitationOptions`; keywords replace its values.
    progress : function (sentence, share of the work that is done).
    keywords : options of `ExcitationOptions`, as follows.
    basis : "fourier" or "bspline".
    rate : samples per second [Hz] that information is counted for.
    candidates : number of random motions to choose from instead of optimising: quick and worse.
    starts : number of random motions that are improved, 8 by default.
    margin : fraction of every limit that is used [-].
    speed : share of the velocity limits that is used, at most `margin` [-]; positions are not
        scaled.
    velocity : limit in place of the robot's own [rad/s|m/s]: one, (n,) or by joint.
    acceleration : limit [rad/s2|m/s2], likewise; by default the velocity is reached in 0.5 s at the
        earliest.
    effort : limit [N m|N], likewise.
    jerk : limit [rad/s3|m/s3], likewise.
    criterion : "D" (volume), "A" (mean variance) or "E" (worst direction) of the confidence region.
    noise : standard deviation of a torque sample [N m|N]: one, (n,) or by joint; 2 % of the typical
        torque by default.
    prior : relative tolerance of the description [-].
    accuracy : required relative standard deviation, by parameter name.
    torque_accuracy : required relative standard deviation of torques [-].
    region : joint -> (low, high) [rad|m] where torques count.
    collision : "shapes", "capsules", "auto" or "none".
    clearance : distance that links keep [m].
    ground : what moving links stay above: "base", the plane z = 0 of the base frame, a height [m],
        or None.
    workspace : frame or link -> (low, high) corners (3,) of a box [m].
    half_spaces : further walls, n . x <= offset [m].
    payload : mass [kg], or mass and centre (4,) [kg, m] in the end-effector's frame.
    gravity : (3,) as the robot will be mounted [m/s2].

    Returns
    -------
    A `Trajectory` with its `.excitation`.

    Examples
    --------
    >>> motion = sy.excite(sy.load("planar_2r"), seconds=4, starts=1)
    >>> motion.duration, motion.n
    (4.0, 2)
    """
    require_robot(robot, "excite")
    refuse_loops(
        robot,
        "excite",
        "move its drives by some harmonics, and close each position with assemble(q,"
        " hold=robot.driven_joints)",
    )
    named = {
        "seconds": seconds,
        "harmonics": harmonics,
        "base_frequency": base_frequency,
        "seed": seed,
    }
    values = {name: value for name, value in named.items() if value is not None} | keywords
    chosen = from_keywords(ExcitationOptions, values, "excite", options)
    _check(chosen)
    robot = mounted(robot, chosen.payload, chosen.gravity)
    problem = excitation_problem(robot, chosen, log, fit)
    time, motion = problem.motion(progress)
    return problem.trajectory(time, motion)


def excitation_problem(
    robot: Robot, options: ExcitationOptions, log: Log | Sequence[Log] | None, fit: Fit | None
) -> ExcitationProblem:
    """Return the problem of a robot: limits, distances, information and targets."""
    limits = motion_limits(
        robot,
        options.margin,
        options.velocity,
        options.acceleration,
        options.effort,
        options.jerk,
        options.speed,
    )
    keep = distances_to_keep(
        robot,
        limits,
        options.collision,
        options.clearance,
        options.ground,
        options.workspace,
        cast("Sequence[HalfSpace]", options.half_spaces),
    )
    options = replace(options, rate=positive("rate", options.rate, "Hz"))
    information = FisherInformation.of(
        robot, expected_noise(robot, options.noise), options.criterion
    )
    known = prior_information(information, options.prior, log, fit)
    region = RegionOfUse.of(information, limits, options.region)
    return ExcitationProblem(
        limits=limits,
        keep=keep,
        information=information,
        known=known,
        region=region,
        targets=targets(
            information, region, options.accuracy, options.torque_accuracy, known.prior
        ),
        options=options,
    )


@dataclass(frozen=True, eq=False)
class PriorInformation:
    """The prior of the description, and all prior information (b, b), or None."""

    prior: Prior | None
    information: Array | None


@dataclass(frozen=True, eq=False)
class ExcitationProblem:
    """The design problem for any duration: limits, distances, information, targets, options."""

    limits: TrajectoryLimits
    keep: DistancesToKeep
    information: FisherInformation
    known: PriorInformation
    region: RegionOfUse
    targets: Targets | None
    options: ExcitationOptions

    @cached_property
    def quick(self) -> tuple[Gaps, ...]:
        """The distances from tables, which the optimisation uses."""
        gaps = self.keep.gaps
        return (
            gaps if self.options.candidates else tuple(with_distance_tables(each) for each in gaps)
        )

    def shortest(self, progress: Progress | None) -> tuple[float, DesignedMotion]:
        """Return the shortest duration [s] that reaches the targets, and its best motion."""
        assert self.targets is not None
        trials: dict[float, tuple[float, DesignedMotion]] = {}

        def ratio(time: float) -> tuple[float, str]:
            done = 1 - 0.7 ** len(trials)
            report = progress and (
                lambda sentence, share: progress(
                    f"{time:.3g} s: {sentence}", 0.8 * (done + 0.3 * (1 - done) * share)
                )
            )
            motion = self.task(time).optimise(THRESHOLDS.trial_starts, report)
            worst, name = self.worst(time, motion)
            trials[time] = (worst, motion)
            return worst, name

        seconds = self.options.seconds
        time = shortest_time(
            ratio, THRESHOLDS.longest_time if seconds is None else positive("seconds", seconds, "s")
        )
        last = progress and (
            lambda sentence, share: progress(f"{time:.3g} s: {sentence}", 0.8 + 0.2 * share)
        )
        motion = self.task(time).optimise(self.starts, last)
        return time, motion if self.worst(time, motion)[0] <= trials[time][0] else trials[time][1]

    @property
    def starts(self) -> int:
        """The number of random motions that are improved."""
        return THRESHOLDS.starts if self.options.starts is None else self.options.starts

    def worst(self, time: float, motion: DesignedMotion) -> tuple[float, str]:
        """Return standard deviation over target of the worst target, and its name."""
        assert self.targets is not None
        information = self.task(time).information
        ratios = self.targets.ratios(information.whole(information.states(motion[0])))
        return float(ratios.max()), self.targets.labels[int(np.argmax(ratios))]

    def task(self, seconds: float) -> ExcitationSearch:
        """Return the search for a motion of that duration [s]."""
        options = self.options
        frequency = base_frequency_of(seconds, options.base_frequency)
        harmonics = (
            max(5, round(THRESHOLDS.highest_frequency / frequency))
            if options.harmonics is None
            else int(options.harmonics)
        )
        information = replace(
            self.information, samples=options.rate * seconds, known=self.known.information
        )
        if self.targets is not None:
            information = replace(information, criterion=self.targets.criterion)
        basis = BASES[options.basis](harmonics, frequency)
        return ExcitationSearch(
            limits=self.limits,
            basis=basis,
            information=information,
            seed=options.seed,
            gaps=self.keep.gaps,
            quick=self.quick,
        )

    def motion(self, progress: Progress | None) -> tuple[float, DesignedMotion]:
        """Return the duration [s] and the best motion.

        The duration is the stated one, or the shortest that reaches the targets.
        """
        if self.targets is not None:
            return self.shortest(progress)
        seconds, candidates = self.options.seconds, self.options.candidates
        time = THRESHOLDS.seconds if seconds is None else positive("seconds", seconds, "s")
        task = self.task(time)
        return time, (
            task.search(candidates, progress)
            if candidates
            else task.optimise(self.starts, progress)
        )

    def trajectory(self, time: float, motion: DesignedMotion) -> Trajectory:
        """Return a motion as a trajectory, with its expected accuracy."""
        information, robot = self.task(time).information, self.information.robot
        assumed = self.options.noise is None
        expected = expected_accuracy(
            information, self.region, motion[0], self.known.prior, self.options.rate, time, assumed
        )
        check = self.check(motion)
        score = information.score(motion[0])._replace(
            certificate=motion[1], accuracy=expected, safety=check
        )
        slides = tuple(
            name for name in robot.joint_names if robot.mechanism.joint(name).kind == "prismatic"
        )
        return replace(
            trajectory(motion[0], time, self.options.rate, robot.joint_names, score),
            sliding=slides,
            verified=check,
        )

    def check(self, designed: DesignedMotion) -> MotionCheck:
        """Return what the certificate of a motion proves."""
        motion, certificate = designed
        words = (
            ("position", "velocity", "acceleration")
            if np.isfinite(self.limits.acceleration).all()
            else ("position", "velocity")
        )
        return MotionCheck(
            what=(limit_words(words, self.limits.effort), *self.keep.what),
            unchecked=(
                self.keep.unchecked if certificate.holds else ("limits", *self.keep.unchecked)
            ),
            distance=certificate.spare + self.keep.least(certificate.narrowest),
            narrowest=certificate.narrowest,
            remarks=self.keep.remarks,
            motion=motion,
            joint_names=self.information.robot.joint_names,
        )


def positive(what: str, value: object, unit: str) -> float:
    """Return the value as a positive number."""
    if not (is_real(value) and 0 < float(value) < math.inf):  # type: ignore[arg-type]
        raise CallError(f"{what} = {value!r}; expected a positive number [{unit}]", argument=what)
    return float(value)  # type: ignore[arg-type]


def mounted(
    robot: Robot, payload: float | Sequence[float] | None, gravity: ArrayLike | None
) -> Robot:
    """Return the robot under a gravity (3,) [m/s2], with a load [kg, m] at its end-effector."""
    if gravity is not None:
        g = numbers("gravity", gravity)
        if g.shape != (3,) or not np.all(np.isfinite(g)):
            raise CallError(
                f"gravity = {gravity!r}; expected three numbers [m/s2] in the base frame",
                argument="gravity",
            )
        robot = robot.with_gravity(tuple(g.tolist()))
    if payload is not None:
        load = np.atleast_1d(numbers("payload", payload))
        if load.shape not in ((1,), (4,)) or not np.all(np.isfinite(load)) or load[0] < 0:
            raise CallError(
                f"payload = {payload!r}; expected a mass [kg], or a mass and its centre x, y, z"
                " [m]",
                argument="payload",
            )
        robot = robot.with_payload(float(load[0]), tuple(load[1:].tolist()) or (0.0, 0.0, 0.0))
    return robot


def expected_noise(robot: Robot, noise: PerJoint) -> Array | None:
    """Return the standard deviation of each joint's torque (n,) [N m|N], None if not stated."""
    return (
        None if noise is None else per_joint_limit("noise", noise, np.full(robot.n, np.inf), robot)
    )


def prior_information(
    information: FisherInformation,
    prior: float | None,
    log: Log | Sequence[Log] | None,
    fit: Fit | None,
) -> PriorInformation:
    """Return the information of the description within its tolerance, and of a log or its fit."""
    if log is not None and fit is not None:
        raise CallError("excite: give a log or the fit of one, not both")
    if fit is not None and not isinstance(fit, Fit):
        raise CallError(
            f"fit = {type(fit).__name__}; expected what sy.identify returns", argument="fit"
        )
    described = None if prior is None else Prior.of(information, prior)
    parts = [] if described is None else [described.information]
    if log is not None or fit is not None:
        known_fit = fit_of(information, log) if fit is None else fit  # type: ignore[arg-type]
        parts.append(known_information(information, known_fit))
    return PriorInformation(described, sum(parts[1:], parts[0]) if parts else None)


def _check(options: ExcitationOptions) -> None:
    """Raise CallError for numbers that are too small, unknown words and what does not combine."""
    for name, least in (("harmonics", 2), ("candidates", 1), ("starts", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise CallError(f"{name} = {value!r}; at least {least} are needed", argument=name)
    for name, known in (("criterion", CRITERIA), ("basis", BASES)):
        word = getattr(options, name)
        if word not in known:
            raise CallError(f"{name} = {word!r}; {suggest(str(word), known)}", argument=name)
    targets_given = options.accuracy or options.torque_accuracy is not None
    if options.candidates is not None and targets_given:
        raise CallError(
            "excite: candidates cannot be combined with an accuracy, which only optimised motions"
            " reach; leave candidates out"
        )


def base_frequency_of(seconds: float, frequency: float | None) -> float:
    """Return the base frequency [Hz], stated or of periods of about 20 s.

    `seconds` must be a whole number of its periods.
    """
    if frequency is None:
        return max(1, round(seconds / THRESHOLDS.period)) / seconds
    periods = seconds * frequency
    if not (
        math.isfinite(periods) and periods > 0.5 and abs(periods - round(periods)) < 1e-6 * periods
    ):
        whole = max(1, round(periods)) if math.isfinite(periods) and periods > 0 else 1
        raise CallError(
            f"{seconds:g} s is not a whole number of periods of {frequency!r} Hz, so the motion"
            f" would not end at rest; give"
            f" {mention('base_frequency', float(f'{whole / seconds:.6g}'))}",
            argument="base_frequency",
        )
    return round(periods) / seconds
