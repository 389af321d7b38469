"""Fit: what an identification found."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import one_of, real_number
from ...cached import cached_property
from ...drawing.parameter_table import relative_std
from ...files import write_atomic
from ...floating_point import default_errstate_methods
from ...parameters.base import BaseParameters
from ...robot import Robot
from ...signals.log import Log
from ..estimators.least_squares import Estimate
from ..friction.residual_split import ResidualSplit
from ..model.linear_model import Model
from ..nuisance.log_payloads import EstimatedPayload
from ..observations.observation import Observation
from ..options import Options
from ..samples.preparation import Preparation
from ..selection.choose_predictor import Predictor
from .fit_rows import (
    Bootstrap,
    Regression,
    bootstrap,
    information_criterion,
    log_likelihood,
    regression,
)
from .links import LinkEstimates, link_estimates
from .pipeline import SamplePipeline
from .prediction import Prediction, Region, predict
from .saved.plain_data import fit_card, fit_data, fit_line, fit_text, latex_table
from .saved.saved_model import load_fit
from .uncertainty import Uncertainty
from .validation import Validation, validate
from .verdict import Verdict, VerdictInputs, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..elastic.elasticity import Elasticity
    from ..estimators.stepwise import ReducedModel
    from ..out_of_core.archive import Archive
    from ..residual.learned import LearnedResidual

Array = NDArray[np.float64]


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The identified robot, with views of how it was found and how certain it is.

    `robot` is the result; each of its links is physically consistent. `initial` is the robot as
    given, `model` what was looked for. `estimate` has the base values and the notes of the
    estimator, `uncertainty` their covariance and excitation, `validation` the torques on the fit's
    own samples, `pipeline` what was done to the samples, `options` what was asked for, `provenance`
    versions and digests, `verdict_inputs` what the verdict follows from. All other names are
    properties, short for fields of these.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
    >>> fit = sy.identify(robot, log, "wls", diagnose=False)
    >>> fit.rank, fit.total_relative_error < 0.05
    (13, True)
    """

    robot: Robot
    initial: Robot
    model: Model
    estimate: Estimate
    uncertainty: Uncertainty
    validation: Validation
    pipeline: SamplePipeline
    options: Options
    provenance: dict[str, Any]
    verdict_inputs: VerdictInputs

    @property
    def predictor(self) -> Predictor | None:
        """What predicts torques, and held-out errors of the candidates.

        None where candidates were not compared: the robot predicts.
        """
        return self.pipeline.predictor

    @property
    def learned_residual(self) -> LearnedResidual | None:
        """The torque that predictions add to the model inside the region, joint by joint.

        None unless it was asked for with residual="learned". `robot` does not have it.
        """
        return self.pipeline.learned

    @property
    def prediction_base(self) -> Array:
        """The base parameters that predict torques, (b,).

        The ones of `predictor`, which predict held-out torque best; the robot's own where
        candidates were not compared. `robot` is always physically consistent.
        """
        robot = self.base.values(self.parameters)
        return robot if self.predictor is None else self.predictor.base

    @property
    def parameters(self) -> Array:
        """Every parameter, (p,), in the order of `parameter_names`."""
        assert self.estimate.parameters is not None
        return self.estimate.parameters

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Labels of `parameters`, such as link3.mcx and joint3.Fv."""
        return self.model.names

    @cached_property
    def parameters_std(self) -> Array:
        """Standard deviation of each parameter, (p,); 0 where held, infinite where not shown.

        With an estimator that uses no description a parameter has one if it is a base parameter by
        itself.
        """
        return self.uncertainty.parameters_std([i for i, _ in self.model.held])

    @property
    def relative_std(self) -> Array:
        """Standard deviation over |value| of each parameter, (p,), a fraction."""
        return relative_std(self.parameters_std, self.parameters)

    @property
    def base(self) -> BaseParameters:
        """The combinations of parameters that torques depend on."""
        return self.model.base

    @property
    def base_values(self) -> Array:
        """The base parameters that the estimator found, (b,)."""
        return self.estimate.base

    @property
    def base_std(self) -> Array:
        """Standard deviation of each base parameter, (b,).

        Infinite for those without excitation.
        """
        return self.uncertainty.std

    @property
    def covariance(self) -> Array:
        """The covariance of `base_values`, (b, b).

        It allows for autocorrelated residuals, and for an uncertain torque scale.
        """
        return self.uncertainty.total_covariance

    @property
    def base_covariance(self) -> Array:
        """The same as `covariance`, (b, b)."""
        return self.covariance

    @property
    def base_standard_deviation(self) -> Array:
        """The same as `base_std`, (b,)."""
        return self.base_std

    @property
    def standard_deviation(self) -> Array:
        """The same as `parameters_std`, (p,)."""
        return self.parameters_std

    @property
    def base_relative_std(self) -> Array:
        """Standard deviation over |value| of each base parameter, (b,), a fraction."""
        return self.uncertainty.relative_std

    @property
    def sigma(self) -> Array:
        """Standard deviation of the noise of each row of the kept samples, (n,) [N m|N]."""
        return self.uncertainty.sigma

    @property
    def information(self) -> Array:
        """The weighted triangular factor of [Y tau], (b + 1, b + 1)."""
        return self.uncertainty.information

    @property
    def singular_values(self) -> Array:
        """Singular values of the weighted regressor with columns of unit norm, (b,)."""
        return self.uncertainty.excitation.singular_values

    @property
    def condition(self) -> float:
        """Largest over smallest singular value within the rank."""
        return self.uncertainty.excitation.condition

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of the base parameters that the samples do not show."""
        return self.uncertainty.unexcited

    @property
    def weak(self) -> tuple[str, ...]:
        """Names of the base parameters with a large standard deviation."""
        return self.uncertainty.weak

    @property
    def rank(self) -> int:
        """How many directions of the base parameters the samples excite."""
        return self.uncertainty.excitation.rank

    @property
    def t(self) -> Array:
        """Times of the kept samples, (N,) [s]."""
        return self.validation.t

    @property
    def measured(self) -> Array:
        """Measured rows at the kept samples, (N, n) [N m|N]."""
        return self.validation.measured

    @property
    def predicted(self) -> Array:
        """Rows that the identified robot predicts, (N, n) [N m|N]."""
        return self.validation.predicted

    @property
    def rms(self) -> Array:
        """Root mean square residual of each row, (n,) [N m|N]."""
        return self.validation.rms

    @property
    def r2(self) -> Array:
        """Share of each row's variance that is explained, (n,)."""
        return self.validation.r2

    @property
    def total_r2(self) -> float:
        """1 - |e|^2 / |tau - mean|^2 over all rows, means per row."""
        return self.validation.total_r2

    @property
    def status(self) -> tuple[str, ...]:
        """Sentences on the samples, the nuisance parameters and the estimator."""
        return self.estimate.notes

    @property
    def details(self) -> dict[str, Any]:
        """Numbers of the estimator, by name."""
        return self.estimate.details

    @property
    def estimator(self) -> str:
        """Name of the estimator."""
        return self.options.estimator.name

    @property
    def preparation(self) -> Preparation:
        """How samples were prepared."""
        return self.options.preparation

    @property
    def observation(self) -> Observation:
        """What was identified from: joint torques, drive torques or base wrenches."""
        return self.model.observation

    @property
    def delay(self) -> Array:
        """Delay of each torque that was taken out, (n,) [s]."""
        return self.pipeline.delay

    @property
    def interval(self) -> float:
        """The time between kept samples [s]."""
        return self.pipeline.interval

    @property
    def drift(self) -> Array:
        """Root mean square of the torque that drifts along the logs, (n,) [N m|N]."""
        return self.pipeline.drift

    @property
    def friction_terms(self) -> tuple[tuple[str, str], ...]:
        """Friction terms beyond the usual ones, as (joint, term)."""
        return self.pipeline.friction_terms

    @property
    def presliding_std(self) -> Array:
        """Standard deviation of each presliding distance, (n,) [rad|m]; 0 without memory."""
        std = self.pipeline.presliding_std
        return np.zeros(self.model.n) if std is None else std

    @property
    def residual_split(self) -> ResidualSplit:
        """Shares of the squared residuals by cause."""
        assert self.pipeline.residual_split is not None
        return self.pipeline.residual_split

    @property
    def drive_gains(self) -> Array:
        """Factor of each measured torque, (n,); 1 where it was not estimated."""
        return self.pipeline.gains.values

    @property
    def drive_gain_std(self) -> Array:
        """Standard deviation of `drive_gains`, (n,)."""
        return self.pipeline.gains.std

    @property
    def torque_scale_std(self) -> float:
        """Relative standard deviation of the overall torque scale, a fraction.

        As given, and from the drive gains where they were estimated.
        """
        gains = self.pipeline.gains
        return float(np.hypot(self.options.model.torque_scale_std, gains.scale_std))

    @property
    def payloads(self) -> tuple[EstimatedPayload, ...]:
        """Payloads of the logs whose centre or inertia was estimated together with the robot."""
        return self.pipeline.gains.payloads

    @property
    def residuals(self) -> Array:
        """Measured minus predicted torque, (N, n) [N m|N]; zero in rows that are not in use."""
        return self.validation.residuals

    @property
    def region(self) -> Region:
        """The states that the samples cover."""
        return self.pipeline.region

    @property
    def elasticity(self) -> Elasticity | None:
        """Stiffness and damping of the joints, None unless they were asked for."""
        return self.pipeline.elasticity

    @property
    def archive(self) -> Archive | None:
        """The logs one by one with their errors, where each was folded by itself.

        None where all were held in memory.
        """
        return self.pipeline.archive

    @property
    def relative_error(self) -> Array:
        """|e_j| / |tau_j| of each joint, (n,), a fraction."""
        return self.validation.relative_error

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over all joints, a fraction."""
        return self.validation.total_relative_error

    @property
    def before(self) -> Validation | None:
        """The validation of the robot as given, on the same samples."""
        return self.validation.before

    def torque(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None
    ) -> Array:
        """Return the torque of `robot`, (..., n) [N m|N], known torques included.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        base : (..., 9) motion of the base as an inertial sensor measures it: proper acceleration
            [m/s2], angular velocity [rad/s], angular acceleration [rad/s2], in the base's own
            frame; at rest by default.

        Returns
        -------
        (..., n) [N m|N].

        Examples
        --------
        >>> fit.torque([0.1, 0.2], [0.5, 0.5], [0, 0]).shape
        (2,)
        """
        return self.observation.joint_torque(self.robot, self.model.known, q, qd, qdd, base)

    def predict(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        cutoff: float | None = None,
        t: ArrayLike | None = None,
    ) -> Prediction:
        """Predict torques (..., n) [N m|N] with a band that holds 95 % of measurements.

        The base parameters that predict held-out torque best give the torques, `predictor`:
        the physically consistent `robot`, or base parameters without constraints; with
        residual="learned" also `learned_residual`.

        std = sqrt(diag(Y cov Y^T) + sigma^2): uncertainty of the parameters, sensor noise and model
        error. In states that the samples cover, std is the standard deviation of the residuals,
        with half of what the parameters absorbed. The band is for torque as it is measured; with
        `cutoff` [Hz] for torque that passed a zero-phase low-pass. With the times t (N,) [s] of a
        motion (N, n) the predicted torque passes the same filter, and friction with memory has its
        state along the motion; without times, joints slide. Outside the region, the band is
        infinite for a joint that moves and stood in the log.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        qdd : (..., n) joint accelerations [rad/s2|m/s2].
        cutoff : of a zero-phase low-pass that the torque passed [Hz].
        t : (N,) times of consecutive states of a motion [s].

        Returns
        -------
        A `Prediction`: .torque .std .low .high (..., n) [N m|N], .inside (...).

        Examples
        --------
        >>> fit.predict([0.1, 0.2], [0.5, 0.5], [0, 0]).torque.shape
        (2,)
        """
        return predict(self, q, qd, qdd, cutoff, t)

    def validate(
        self, log: Log, other: Robot | Fit | None = None, preparation: Preparation | None = None
    ) -> Validation:
        """Validate on another log, beside the robot as given and, if named, another model.

        `validation.verdict` is decided by the rules of `fit.verdict` with the errors on this log
        inside and outside the region. Every model is scored on the same samples, with the torque as
        measured. Samples come from the log by `preparation`, by default this fit's. A fit predicts
        with its own delay and drive gains; for robots, this fit's are used.

        Parameters
        ----------
        log : a `Log` of the robot's motion: positions (N, n) [rad|m] and torques (N, n) [N m|N] at
            times (N,) [s].
        other : a `Robot` or `Fit` to compare with.
        preparation : a `Preparation`: how positions and torques are filtered and sampled.

        Returns
        -------
        A `Validation`.

        Examples
        --------
        >>> fit.validate(log).total_relative_error < 0.05
        True
        """
        return validate(self, log, other, preparation)

    def reduced_parameters(self, limit: float | None = None) -> ReducedModel:
        """Return the few base parameters that explain the samples, by stepwise elimination.

        Parameters
        ----------
        limit : growth of the residual that ends the elimination [-].

        Returns
        -------
        A `ReducedModel`.

        Examples
        --------
        >>> len(fit.reduced_parameters().names) <= fit.base.n_base
        True
        """
        limit = (
            None
            if limit is None
            else real_number("reduced_parameters: the limit of the residual's growth", limit, 1.0)
        )
        from ..estimators.stepwise import stepwise

        return stepwise(self.uncertainty.information, self.covariance, self.base.names, limit)

    def regressor(self) -> Regression:
        """Return the rows tau = Y base + noise as the estimator had them.

        Y and tau are low-passed and decimated, tau is without known torque, delay, drift and drive
        gains; rows that were not in use are left out. Rows are not weighted; `.weights` has the
        weight of each, and `.weighted` both multiplied by it.

        Returns
        -------
        A `Regression`: .Y (M, b), .tau (M,) [N m|N], .weights, .row, .t [s], .log, .names.

        Examples
        --------
        >>> Y, tau = fit.regressor().weighted
        >>> bool(np.allclose(np.linalg.lstsq(Y, tau)[0], fit.base_values))
        True
        """
        return regression(self)

    @property
    def log_likelihood(self) -> float:
        """log L of the residuals as independent Gaussian noise of each joint [nats].

        -1/2 sum_j N_j (log(2 pi |e_j|^2 / N_j) + 1). Residuals of robots are correlated in time:
        compare fits of the same rows by it, or better by held-out errors.
        """
        return log_likelihood(self)

    @property
    def aic(self) -> float:
        """Akaike's information criterion 2 k - 2 log L, with the rank k of the base parameters.

        Akaike, IEEE Trans. Automatic Control 19 (1974), p. 716.
        """
        return information_criterion(self, 2.0)

    @property
    def bic(self) -> float:
        """Bayesian information criterion k log M - 2 log L of M rows, with k as for `aic`.

        Schwarz, Annals of Statistics 6 (1978), p. 461.
        """
        return information_criterion(self, float(np.log(max(int(self.validation.keep.sum()), 1))))

    def bootstrap(self, draws: int = 200, seed: int = 0) -> Bootstrap:
        """Return base parameters of logs whose stretches are drawn with replacement.

        Stretches are longer than the memory of the residuals, as for `covariance`. The
        description is drawn from its estimated covariance. Weights and nuisance parameters stay,
        and constraints of physical consistency are not used.

        Parameters
        ----------
        draws : number of resampled logs.
        seed : the same seed gives the same draws.

        Returns
        -------
        A `Bootstrap`: .values (draws, b), .mean, .std, .covariance, .interval(level).

        Examples
        --------
        >>> fit.bootstrap(draws=50).std.shape == fit.base_std.shape
        True
        """
        return bootstrap(self, draws, seed)

    def to_latex(self, which: str = "base") -> str:
        """Return a LaTeX table of parameters with values, standard deviations and units.

        Parameters
        ----------
        which : "base" for base parameters, "all" for every parameter, "links" for mass and centre.

        Returns
        -------
        LaTeX text, for the package booktabs.

        Examples
        --------
        >>> "mass" in fit.to_latex("links")
        True
        """
        one_of("which", which, ("base", "all", "links"))
        return latex_table(self, which).to_latex()

    def check(self) -> tuple[str, ...]:
        """Return the verdict and the reasons for it, in sentences.

        Returns
        -------
        Sentences.

        Examples
        --------
        >>> len(fit.check()) >= 1
        True
        """
        return (str(self.verdict), *self.verdict.reasons)

    @cached_property
    def verdict(self) -> Verdict:
        """The decision on this fit.

        One word, words of the joints, the expected error and the region, reasons, and what to do
        next.
        """
        return self.judged()

    def judged(self, *others: Validation) -> Verdict:
        """Return the verdict with validations on several other logs taken into account.

        For one log, it is the verdict of `fit.validate(log)`.

        Parameters
        ----------
        *others : each a `Validation`.

        Returns
        -------
        A `Verdict`.

        Examples
        --------
        >>> fit.judged(fit.validate(log)).word in ("trusted", "trusted within")
        True
        """
        return rules.decide(self.verdict_inputs, tuple(other.errors for other in others))

    @cached_property
    def links(self) -> LinkEstimates:
        """Mass [kg] and centre of mass [m] of each link with std, infinite where not shown."""
        known = self.uncertainty.total_parameters
        return link_estimates(
            self.model, self.parameters, self.parameters_std, known, self.estimate.posterior
        )

    def summary(self) -> str:
        """Return the verdict with its reasons, and tables of joints, links and base parameters.

        Returns
        -------
        Text.

        Examples
        --------
        >>> fit.summary().splitlines()[0].startswith("planar_2r: wls")
        True
        """
        return fit_text(self)

    def _repr_html_(self) -> str:
        return fit_card(self)

    def to_dict(self, validation: Validation | None = None) -> dict[str, Any]:
        """Return all but the samples as plain data with units.

        A validation adds its errors and counts for the verdict.

        Parameters
        ----------
        validation : a `Validation` on another log, shown and judged beside the fit.

        Returns
        -------
        A dictionary of plain data.

        Examples
        --------
        >>> sorted(fit.to_dict())[1:3]
        ['base_covariance', 'base_parameters']
        """
        return fit_data(self, validation)

    def to_json(
        self,
        path: str | os.PathLike[str],
        overwrite: bool = False,
        validation: Validation | None = None,
    ) -> None:
        """Write `to_dict(validation)` as JSON, whole or not at all.

        Over an existing file only if asked.

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        overwrite : whether an existing file may be replaced.
        validation : a `Validation` on another log, shown and judged beside the fit.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> fit.to_json("fit.json")
        """
        write_atomic(
            path,
            (
                json.dumps(self.to_dict(validation), indent=1, ensure_ascii=False, allow_nan=False)
                + "\n"
            ).encode(),
            overwrite,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fit:
        """Load a fit from the fit.json that `to_json` or `steelyard identify` wrote.

        It has the robot, parameters, covariances, verdict and preparation; it predicts and
        validates as the fit that was written. The samples are not in the file: residuals are empty,
        and `regressor` and `bootstrap` are refused.

        Parameters
        ----------
        path : a fit.json, or a folder with one.

        Returns
        -------
        A `Fit`.

        Examples
        --------
        >>> fit.to_json("saved.json")
        >>> bool(np.all(sy.Fit.load("saved.json").parameters == fit.parameters))
        True
        """
        loaded: Fit = load_fit(path, cls)
        return loaded

    def plot(self, what: str = "torques", *, width: str | float | None = None) -> Figure:
        """Return a Matplotlib figure of the report by its name.

        "torques", "errors", "masses", "budget", "residuals", "spectra", "singular", "uncertainty",
        "correlation", "coverage", "friction", and residuals over "speed" and "position". Needs `pip
        install 'steelyard[plot]'`.

        Parameters
        ----------
        what : one of the words above.
        width : "column" or "page" of a paper, or a width in inches.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
        >>> fit.plot("masses").savefig("masses.pdf")
        """
        from ...drawing.matplotlib_renderer import to_matplotlib
        from ..figures.fit_figures import figure_of

        return to_matplotlib(figure_of(self, what), width or "page")

    def __repr__(self) -> str:
        return fit_line(self)
