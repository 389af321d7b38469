"""OnlineIdentifier: parameters from live samples, and a report when they change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import per_joint, real_number, yes_or_no
from ...errors import CallError, ProblemError
from ...floating_point import default_errstate_methods
from ...identification.model.accumulator import Accumulator
from ...identification.model.friction_memory import PreslidingTracker
from ...identification.model.model_options import ModelOptions
from ...identification.result.fit import Fit
from ...option_groups.identification import ModelKeywords
from ...robot import Robot
from .change import DetectedChange
from .change_detection import ReferenceModel
from .estimate import (
    RecentSamples,
    covariance_root,
    estimate_base,
    physical_parameters,
    starting_model,
    with_description,
)
from .forgetting import ForgettingInformation
from .monitor_phases import MonitorPhases
from .online_thresholds import THRESHOLDS
from .sample_rows import FilteredRows, SampleRows
from .stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]


@default_errstate_methods
class OnlineIdentifier:
    """Recursive weighted least squares on square-root information, with change detection.

    It takes one sample at a time or blocks of samples. Every update folds its rows exactly and
    tests for a change at every sample. Estimates are computed when they are read: `base_values`,
    `covariance`, `robot`. With forgetting = 1 they equal weighted least squares over all samples.
    Bierman, "Factorization Methods for Discrete Sequential Estimation", 1977, chapter V.

    Parameters
    ----------
    robot : a `Robot`, or a `Fit` whose parameters and covariance are the start.
    forgetting : weight of the past per sample, 0 < forgetting <= 1 [-].
    directional : whether only what new samples replace is forgotten.
    rate : of the samples [Hz]; without it and without times, changes have sample numbers.
    filter : cut-off of the low-pass that samples without acceleration pass [Hz].
    mask : rows of joints that move no faster are left out [rad/s|m/s].
    learn : duration of learning before changes are tested [s], 0 for never.
    hours : mean time between false alarms [h].
    model : a `ModelOptions`: what is to be found.
    **options : options of `identify` for the model: friction, rotor, hold, known and so on.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> o = sy.OnlineIdentifier(robot, rate=100.0)
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> o.update(q, qd, qdd, robot.inverse_dynamics(q, qd, qdd))
    >>> o.samples
    200
    """

    def __init__(
        self,
        robot: Robot | Fit,
        forgetting: float = 1.0,
        *,
        directional: bool = False,
        rate: float | None = None,
        filter: float = 10.0,  # noqa: A002
        mask: Any = 0.0,
        learn: float = THRESHOLDS.learning_seconds,
        hours: float = 100.0,
        model: ModelOptions | None = None,
        **options: Unpack[ModelKeywords],
    ) -> None:
        self.model, self._before = starting_model(robot, model, options)
        if real_number("forgetting", forgetting, 0.0, 1.0) == 0.0:
            raise CallError(
                f"forgetting must be above 0 and at most 1, not {forgetting!r}: it is the weight of"
                " the past, per sample"
            )
        self.forgetting = float(forgetting)
        self.filter = real_number("filter [Hz]", filter, 1e-6)
        self._mask = per_joint("mask", mask, self.model.row_names, 0.0, "rad/s|m/s")
        self._rows = SampleRows(self.model)
        self._presliding = PreslidingTracker(self.model.robot)
        self._filtered = FilteredRows(self._rows, 2.0 * math.pi * self.filter)
        self._information = ForgettingInformation(
            self._rows, self.forgetting, yes_or_no("directional", directional)
        )
        self._stream = Stream(
            self.model.row_names, None if rate is None else real_number("rate [Hz]", rate, 1e-6)
        )
        self._recent = RecentSamples(self._rows.width, self.model.n)
        seconds, between = real_number("learn [s]", learn, 0.0), real_number("hours", hours, 1e-9)
        self._watch = (
            MonitorPhases(
                self._rows, self._stream, seconds, between, self._estimate_of, self._reference
            )
            if seconds
            else None
        )
        self._found: dict[str, Any] = {}

    def update(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        t: ArrayLike | None = None,
    ) -> DetectedChange | None:
        """Take in one sample (n,) or a block (B, n) of them, in order of time.

        Return the change that it made known, None without one.

        q [rad|m], qd, qdd, tau [N m|N]; t [s], () or (B,). Without qdd the equations of motion are
        low-passed at `filter`, which needs no acceleration but times, or the rate; a stream has
        accelerations always or never.

        Parameters
        ----------
        q, qd, qdd, tau : (n,) or (B, n) [rad|m, per s, per s2, N m|N].
        t : () or (B,) times [s].

        Returns
        -------
        A `Change`, or None.

        Examples
        --------
        >>> o.update(q[0], qd[0], qdd[0], robot.inverse_dynamics(q[0], qd[0], qdd[0]))
        """
        if tau is None:
            raise CallError(
                f"update: tau is missing; expected torques [N m|N] of shape ({self.model.n},) or"
                f" (B, {self.model.n})"
            )
        start = self._stream.count
        block, dt = self._stream.take(q, qd, qdd, tau, t)
        noticed = False
        for k in range(0, len(dt), THRESHOLDS.portion_samples):
            noticed |= self._take(
                block[:, k : k + THRESHOLDS.portion_samples],
                dt[k : k + THRESHOLDS.portion_samples],
                start + k,
            )
        return self.change if noticed else None

    def _take(self, block: Array, dt: Array, start: int) -> bool:
        """Take in a few samples (3 or 4, N, n), the first of which has the number `start`.

        Return whether they made a change known.
        """
        still = np.abs(block[1]) <= self._mask
        memory = self._presliding.run(block[0], block[1])
        if len(block) == 4:
            q, qd, qdd, tau = block
            rows, left_out = self._rows.of(q, qd, qdd, tau, memory), still
        else:
            rows, at_rest = self._filtered.of(
                block[0], block[1], block[2], still.astype(float), dt, memory
            )
            left_out = at_rest > THRESHOLDS.resting_memory
        keep = ~left_out if left_out.any() else None
        self._recent.add(rows, keep)
        self._found.clear()
        if self._watch is None:
            self._information.add(rows, keep)
            return False
        noticed = False
        for part in self._watch.parts(start, len(rows)):
            self._watch.arm(start + part.start)
            keep_part = None if keep is None else keep[part]
            self._information.add(rows[part], keep_part)
            self._found.clear()
            noticed |= self._watch.take(rows[part], keep_part, start + part.start)
        return noticed

    @property
    def samples(self) -> int:
        """How many samples have come."""
        return self._stream.count

    @property
    def accumulator(self) -> Accumulator:
        """The information of the samples: a triangular factor for each joint."""
        return self._once("accumulator", lambda: self._information.accumulator)

    @property
    def base_values(self) -> Array:
        """Base parameters, (b,), in the order of `base_names`, by weighted least squares."""
        return self._once("estimate", self._estimate)[0]

    @property
    def base_names(self) -> tuple[str, ...]:
        """Labels of `base_values`."""
        return self.model.base.names

    @property
    def sigma(self) -> Array:
        """Standard deviation of the residuals of each joint, (n,) [N m|N]."""
        return 1.0 / self._once("estimate", self._estimate)[1]

    @property
    def covariance(self) -> Array:
        """Covariance (b, b) of `base_values`, with autocorrelated residuals.

        It is zero along directions that no sample shows.
        """
        root = self._once("root", self._root)
        return np.asarray(root @ root.T)

    @property
    def base_std(self) -> Array:
        """Standard deviation of each base parameter, (b,); infinite where samples show nothing."""
        root = self._once("root", self._root)
        lacking = np.any(np.abs(root) > 0, axis=0).sum() < len(root)
        std = np.sqrt(np.sum(root**2, axis=1))
        if not lacking:
            return std
        shown = root @ np.linalg.pinv(root)
        return np.where(np.abs(np.diag(shown) - 1.0) < 1e-6, std, np.inf)

    def errors(self, seconds: float) -> tuple[Array, Array]:
        """Return the noise sigma (n,) [N m|N] and the covariance (b, b) of the present model.

        sigma is the noise of sums of torque errors over windows of `seconds`, divided by the root
        of their length. It exceeds the noise of one sample where errors are autocorrelated.
        Directions that no sample shows are as uncertain as the parameters are large.

        Parameters
        ----------
        seconds : duration [s].

        Returns
        -------
        sigma (n,) [N m|N] and covariance (b, b).

        Examples
        --------
        >>> [x.shape for x in o.errors(0.1)]
        [(2,), (13, 13)]
        """
        learnt = None if self._watch is None else self._watch.sigma(seconds)
        sigma = self.sigma * np.sqrt(self._inflation()) if learnt is None else learnt
        return (
            sigma,
            with_description(self.model, self.accumulator, self._information_before(), 1.0 / sigma)[
                1
            ],
        )

    @property
    def parameters(self) -> Array:
        """Parameters (p,) of a physically consistent robot, in the order of `parameter_names`."""
        return self._once("parameters", self._physical)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters`, such as link3.mcx and joint3.Fv, as `robot` has them."""
        return self.model.names

    @property
    def robot(self) -> Robot:
        """The robot with the present parameters; each of its links is physically consistent."""
        return self._once("robot", self.consistent)

    def consistent(self) -> Robot:
        """Return the physically consistent robot nearest in torque to the present base parameters.

        Returns
        -------
        A `Robot`.

        Examples
        --------
        >>> o.consistent().name
        'planar_2r'
        """
        return self.model.identified(self.parameters)

    @property
    def change(self) -> DetectedChange | None:
        """The detected change, None without one; str() gives a sentence. It stays until `rearm`."""
        return None if self._watch is None else self._watch.change

    @property
    def status(self) -> str:
        """The present phase in a sentence: learning, monitoring, or the detected change."""
        return (
            f"{self.samples} samples; changes are not looked for (learn=0)."
            if self._watch is None
            else self._watch.status
        )

    def rearm(self) -> None:
        """Take the robot after the detected change as the reference, and continue to monitor.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> o.rearm()
        """
        if self._watch is not None:
            self._watch.rearm()

    def _once(self, name: str, make: Any) -> Any:
        """Return what `make` returns, computed once between updates."""
        if name not in self._found:
            self._found[name] = make()
        return self._found[name]

    def _information_before(self) -> Array:
        """Return the prior information of a fit, as far as it is not forgotten."""
        faded = 1.0 if self._information.directional else self.forgetting ** (0.5 * self.samples)
        return self._before * faded

    def _estimate(self) -> tuple[Array, Array]:
        if not self.samples and not len(self._before):
            raise ProblemError(
                "OnlineIdentifier: no sample has come yet, so that there is nothing to estimate"
                " from; call update first"
            )
        return estimate_base(
            self.accumulator, self._information_before(), self.model.base.values(self.model.start)
        )

    def _root(self) -> Array:
        independent = 1.0 / (self.sigma * np.sqrt(self._inflation()))
        return covariance_root(self.accumulator, self._information_before(), independent)

    def _inflation(self) -> Array:
        return self._recent.inflation(self.base_values, self.model.n)

    def _physical(self) -> Array:
        base, weights = self._once("estimate", self._estimate)
        return physical_parameters(
            self.model, self.accumulator, self._information_before(), base, weights
        )

    def _estimate_of(self, total: Accumulator) -> Array:
        weights = estimate_base(total, self._before, self.model.base.values(self.model.start))[1]
        return with_description(self.model, total, self._before, weights)[0]

    def _reference(self, sigma: Array) -> ReferenceModel:
        sigma = np.maximum(sigma, self.sigma)
        return ReferenceModel(
            *with_description(
                self.model, self.accumulator, self._information_before(), 1.0 / sigma
            ),
            sigma,
        )

    def __repr__(self) -> str:
        return (
            f"OnlineIdentifier({self.model.robot.name!r}, {self.samples} samples, forgetting"
            f" {self.forgetting:g})"
        )
