"""Validation: predicted against measured torque on the samples of a fit or on another log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import instance
from ...cached import cached_property
from ...drawing.numbers import fixed, percent, short
from ...drawing.table import Column, Table
from ...errors import CallError
from ...floating_point import default_errstate_methods
from ...robot import Robot
from ...signals.autocorrelation import autocorrelation
from ...signals.log import Log
from ...signals.segments import split
from ..model.known import Torque
from ..nuisance.drive_gains import currents_as_torques
from ..nuisance.log_payloads import with_payloads
from ..observations.joint_torques import JOINT_TORQUES
from ..observations.observation import Observation
from ..observations.prepare import prepare
from ..samples.decimation import low_passed, natural_factor
from ..samples.preparation import Preparation
from ..samples.samples import Samples, joined
from .prediction import Region, learned_torque, unconstrained_torque
from .result_thresholds import THRESHOLDS
from .verdict import Verdict, VerdictInputs, rules
from .verdict.torque_errors import ValidationErrors, split_errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
NOTE = "error: |τ − τ̂| / |τ|; whiteness: correlation of neighbouring residuals."
States = tuple[Array, Array, Array]


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Predicted against measured torque (N, n) [N m|N], over the rows that `keep` marks.

    rms [N m|N], relative_error = |e| / |tau| and r2 = 1 - |e|^2 / |tau - mean|^2 are per joint
    (n,), as fractions; totals over all joints. They are NaN without a row in use. `whiteness` (n,)
    is the lag-one autocorrelation of the residuals: 0 for white noise, near 1 if the model lacks a
    slow effect. `before` is the validation of the described robot, `other` of another model;
    `inside` (N,) marks samples whose state the fit's region covers. `states` are q [rad|m], qd and
    qdd of the samples, each (N, joints of the robot). `verdict` is the decision on
    the fit with this log taken into account, None where no fit was validated.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
    >>> fit = sy.identify(robot, log, "wls", diagnose=False)
    >>> validation = fit.validate(log)
    >>> validation.rms.shape
    (2,)
    """

    t: Array
    predicted: Array
    measured: Array
    keep: NDArray[np.bool_]
    joint_names: tuple[str, ...]
    before: Validation | None = None
    other: Validation | None = None
    inside: NDArray[np.bool_] | None = None
    states: States | None = None
    verdict_inputs: VerdictInputs | None = None

    @cached_property
    def errors(self) -> ValidationErrors:
        """Torque errors inside and outside the region of the fit.

        Without a region all samples count as outside.
        """
        inside = np.zeros(len(self.t), bool) if self.inside is None else self.inside
        return split_errors(self.measured, self.predicted, self.keep, inside)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on the fit with this log taken into account.

        None where no fit was validated.
        """
        return (
            None
            if self.verdict_inputs is None
            else rules.decide(self.verdict_inputs, (self.errors,))
        )

    @property
    def unused(self) -> tuple[str, ...]:
        """The joints without a row in use."""
        return tuple(
            name for name, used in zip(self.joint_names, self.keep.T, strict=True) if not used.any()
        )

    def _of_used(self, values: Array) -> Array:
        """Return values (n,) of the joints, NaN for joints without a row in use."""
        return np.where(self.keep.any(axis=0), values, np.nan)

    @property
    def residuals(self) -> Array:
        """Measured minus predicted torque, (N, n); zero in rows that are not in use."""
        return np.where(self.keep, self.measured - self.predicted, 0.0)

    @property
    def rms(self) -> Array:
        """Root mean square residual per joint, (n,) [N m|N]."""
        return self._of_used(
            np.sqrt(np.sum(self.residuals**2, axis=0) / np.maximum(self.keep.sum(axis=0), 1))
        )

    @property
    def relative_error(self) -> Array:
        """|e_j| / |tau_j|, (n,); infinite where the torque is zero and the residual is not."""
        return self._of_used(
            ratio(
                np.linalg.norm(self.residuals, axis=0),
                np.linalg.norm(self.measured * self.keep, axis=0),
            )
        )

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over all joints stacked."""
        squares = size = 0.0
        # in blocks, so that a long log is not copied
        for start in range(0, len(self.t), THRESHOLDS.validation_block):
            part = slice(start, start + THRESHOLDS.validation_block)
            measured, keep = self.measured[part], self.keep[part]
            squares += float(np.sum((measured - self.predicted[part]) ** 2, where=keep))
            size += float(np.sum(measured**2, where=keep))
        return float(np.sqrt(ratio(squares, size))) if self.keep.any() else np.nan

    @property
    def _centred(self) -> Array:
        """Measured torque minus the mean of its joint, (N, n); zero in rows that are not in use."""
        mean = np.sum(self.measured * self.keep, axis=0) / np.maximum(self.keep.sum(axis=0), 1)
        return (self.measured - mean) * self.keep

    @property
    def r2(self) -> Array:
        """Share of each joint's torque variance that is explained, (n,)."""
        return self._of_used(
            1.0
            - ratio(np.linalg.norm(self.residuals, axis=0), np.linalg.norm(self._centred, axis=0))
            ** 2
        )

    @property
    def total_r2(self) -> float:
        """1 - |e|^2 / |tau - mean|^2 over all joints, means per joint."""
        return (
            float(1.0 - ratio(np.linalg.norm(self.residuals), np.linalg.norm(self._centred)) ** 2)
            if self.keep.any()
            else np.nan
        )

    @property
    def whiteness(self) -> Array:
        """Correlation of each residual with the next one, (n,)."""
        return autocorrelation(self.residuals)[1]

    def plot(
        self,
        *,
        units: Sequence[str] | None = None,
        spread: ArrayLike | None = None,
        width: str | float = "page",
    ) -> Figure:
        """Return a Matplotlib figure of measured torque, prediction and residual of each joint.

        `units` has the unit of each joint, `spread` (n,) [N m|N] is half the height of a band
        around the prediction. width: "column" or "page" of a paper, or inches. Needs `pip install
        'steelyard[plot]'`. Example: `fit.validate(log).plot().savefig("torques.pdf")`.

        Parameters
        ----------
        units : of each joint's torque.
        spread : (n,) half the height of a band around the prediction [N m|N].
        width : "column" or "page" of a paper, or a width in inches.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
        >>> validation.plot().savefig("torques.pdf")
        """
        from ...drawing.matplotlib_renderer import to_matplotlib
        from ..figures.torque_figures import torque_figure

        band = (
            None
            if spread is None
            else np.broadcast_to(np.asarray(spread, float), (len(self.joint_names),))
        )
        shown = units or ["N m|N"] * len(self.joint_names)
        return to_matplotlib(torque_figure(self, shown, half_band=band), width)

    def __repr__(self) -> str:
        return (
            f"Validation({len(self.joint_names)} joints, {len(self.t)} samples, total relative"
            f" error {self.total_relative_error:.2%})"
        )

    def table(self) -> Table:
        """Return RMS [N m|N], relative error [%], R² and whiteness of every joint as a table.

        Returns
        -------
        A table with names and units of its columns; `to_pandas()` and `to_polars()` make data
        frames.

        Examples
        --------
        >>> len(validation.table().rows)
        3
        """
        others = [
            (name, each)
            for name, each in (("before", self.before), ("other", self.other))
            if each is not None
        ]
        columns = (
            Column("joint", numeric=False),
            Column("RMS", "N m|N"),
            Column("error", "%"),
            Column("R²"),
            Column("whiteness"),
        )
        numbers = zip(
            self.joint_names,
            self.rms,
            self.relative_error,
            self.r2,
            self.whiteness,
            *(v.relative_error for _, v in others),
            strict=True,
        )
        rows = [
            (
                (
                    name,
                    short(rms),
                    percent(error, 2),
                    fixed(r2),
                    fixed(white, 2),
                    *(percent(x, 2) for x in more),
                )
                if name not in self.unused
                else (name, "no rows in use", *["–"] * (3 + len(others)))
            )
            for name, rms, error, r2, white, *more in numbers
        ]
        total = (
            "total",
            "",
            percent(self.total_relative_error, 2),
            fixed(self.total_r2),
            "",
            *(percent(v.total_relative_error, 2) for _, v in others),
        )
        data: dict[str, Any] = {
            "joint": self.joint_names,
            "rms": self.rms,
            "relative_error": self.relative_error,
            "r2": self.r2,
        }
        data |= {"whiteness": self.whiteness} | {name: each.relative_error for name, each in others}
        return Table(
            "Torque errors",
            (*columns, *(Column(name, "%") for name, _ in others)),
            (*rows, total),
            NOTE,
            data=data,
        )

    def __str__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()


def ratio(a: ArrayLike, b: ArrayLike) -> Array:
    """Return a / b, with 0 / 0 = 0."""
    x, y = np.asarray(a, float), np.asarray(b, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, 0.0, x / y)


@dataclass(frozen=True, eq=False)
class ValidationSamples:
    """Samples of a log for the comparison of models.

    Torques, rows and rate are the same for every model, however it was identified.
    """

    samples: Samples
    factor: int
    joint_names: tuple[str, ...]
    region: Region | None = None

    def score(self, torque: Torque, delay: ArrayLike = 0.0, gains: ArrayLike = 1.0) -> Validation:
        """Return the validation of a torque function.

        The predicted torque is delayed by `delay` (n,) [s] and divided by the drive gains (n,):
        tau_measured(t) = tau(t - delay) / gain. The measured torque is not corrected.
        """
        s = self.samples
        lag, factors = (
            np.broadcast_to(np.asarray(x, float), s.tau.shape[1:]) for x in (delay, gains)
        )
        predicted = replace(s, tau=s.torque(torque)).advanced(-lag).tau / factors
        return Validation(
            t=self.t,
            predicted=low_passed(predicted, s, self.factor),
            measured=self.measured,
            keep=self.keep,
            joint_names=self.joint_names,
            inside=self.inside,
            states=self.states,
        )

    @cached_property
    def t(self) -> Array:
        """Times of the kept samples, (N,) [s]."""
        return np.concatenate(
            [self.samples.t[part][:: self.factor] for part in split(self.samples.t)]
        )

    @cached_property
    def measured(self) -> Array:
        """Torques of the log at the kept samples, (N, n) [N m|N]."""
        return low_passed(self.samples.tau, self.samples, self.factor)

    @cached_property
    def inside(self) -> NDArray[np.bool_] | None:
        """Whether the region covers the kept samples, (N,); None without a region."""
        return None if self.region is None else self.region.contains(*self.states)

    @cached_property
    def states(self) -> States:
        """q [rad|m], qd and qdd of the kept samples, each (N, n)."""
        return kept_states((self.samples,), self.factor)

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """The rows in use, (N, n)."""
        used = self.samples.keep
        if used is None:
            return np.ones(self.measured.shape, bool)
        return np.concatenate([used[part][:: self.factor] for part in split(self.samples.t)])


def validation_samples(
    robot: Robot,
    log: Log,
    preparation: Preparation | None = None,
    region: Region | None = None,
    observation: Observation = JOINT_TORQUES,
) -> ValidationSamples:
    """Return the samples of a log for a validation, at the rate of the motion.

    Parameters
    ----------
    robot : robot of the log
    log : measured signals
    preparation : how samples are prepared; the default preparation if None
    region : states that a fit covers
    observation : rows that are compared
    """
    chosen = (
        Preparation() if preparation is None else instance("preparation", preparation, Preparation)
    )
    samples = prepare(robot, log, chosen, observation)
    return ValidationSamples(
        samples=samples,
        factor=chosen.decimate or natural_factor(samples.t, samples.qd),
        joint_names=observation.row_names(robot),
        region=region,
    )


def predicted_torque(samples: Sequence[Samples], factor: int, torque: Torque) -> Array:
    """Return a torque function at the kept samples, (N, n), through the low-pass.

    The torque of a log's known payload is added.
    """
    return joined([low_passed(s.torque(torque), s, factor) for s in samples])


def kept_states(samples: Sequence[Samples], factor: int) -> States:
    """Return q, qd, qdd, each (N, n), of one in `factor` samples of each stretch."""
    parts = [(s, part) for s in samples for part in split(s.t)]
    q, qd, qdd = (
        joined([getattr(s, name)[part][::factor] for s, part in parts])
        for name in ("q", "qd", "qdd")
    )
    return q, qd, qdd


@dataclass(frozen=True, eq=False)
class CorrectedTorque:
    """A torque function, and torques that are added to it: functions of q, qd, qdd."""

    torque: Torque
    added: tuple[Torque, ...]

    def __call__(self, *states: Array) -> Array:
        """Return the torque (N, n) [N m|N] of single states."""
        return self.corrected(self.torque(*states), states)

    def along(self, t: Array, *states: Array) -> Array:
        """Return the torque (N, n) [N m|N] of consecutive samples at times t (N,) [s]."""
        along = getattr(self.torque, "along", None)
        return self.corrected(self.torque(*states) if along is None else along(t, *states), states)

    def corrected(self, torque: Array, states: Sequence[Array]) -> Array:
        """Return a torque (N, n) with what is added to it."""
        for each in self.added:
            torque = torque + each(*states)
        return torque


def predicted_by(fit: Any) -> Torque:
    """Return the torque that a Fit predicts, as a function of q, qd, qdd, each (N, n)."""
    model = fit.model
    torque: Torque = model.observation.predictor(
        fit.robot, known=model.known, structure=model.robot
    )
    added = [each for each in (unconstrained_torque(fit), learned_torque(fit)) if each is not None]
    return CorrectedTorque(torque, tuple(added)) if added else torque


def validate(
    fit: Any, log: Log, other: Any = None, preparation: Preparation | None = None
) -> Validation:
    """Return the validation of a Fit on another log, see `Fit.validate`.

    Parameters
    ----------
    fit : the Fit
    log : another log
    other : a Robot or a Fit to compare with
    preparation : how samples are prepared; as for the fit if None
    """
    robot = getattr(other, "robot", other)
    if other is not None and not isinstance(robot, Robot):
        raise CallError(f"other must be a Robot or a Fit, not {type(other).__name__}")
    observation: Observation = fit.model.observation
    samples = validation_samples(
        fit.robot,
        currents_as_torques(log, fit.options.model.drive_gains),
        fit.preparation if preparation is None else preparation,
        fit.region,
        observation,
    )
    samples = replace(samples, samples=with_payloads(samples.samples, fit.pipeline.gains.payloads))

    def score(one: Robot, known: Any, drives: tuple[Array, Array]) -> Validation:
        torque = observation.predictor(one, known=known, structure=fit.model.robot)
        return samples.score(torque, *drives)

    drives = fit.pipeline.delay, fit.pipeline.gains.values
    rival = None
    if isinstance(other, Robot):
        rival = score(other, None, drives)
    elif other is not None:
        same_rows = other.model.row_names == fit.model.row_names
        other_drives = other.pipeline.delay, other.pipeline.gains.values
        rival = samples.score(predicted_by(other), *(other_drives if same_rows else drives))
    return replace(
        samples.score(predicted_by(fit), *drives),
        before=score(fit.initial, fit.options.model.known, drives),
        other=rival,
        verdict_inputs=fit.verdict_inputs,
    )
