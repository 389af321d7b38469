"""Fit: what an identification found."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import real_number
from ...cached import cached_property
from ...drawing.parameter_table import relative
from ...files import write_whole
from ...parameters.base import BaseParameters
from ...robot import Robot
from ...signals.log import Log
from ..archive.archive import Archive
from ..elastic.elasticity import Elasticity
from ..estimators.least_squares import Estimate
from ..estimators.stepwise import Essential, stepwise
from ..fit_names import SHORT
from ..model.known import torque_of
from ..model.linear_model import Model
from ..options import Options
from ..samples.preparation import Preparation
from .links import LinkEstimates, link_estimates
from .pipeline import SamplePipeline
from .plain_data import fit_card, fit_data, fit_line, fit_text
from .prediction import Prediction, Region, predicted, states
from .uncertainty import Uncertainty
from .validation import Validation, validated
from .verdict import Verdict, VerdictInputs, rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The identified robot, with views of how it was found and how certain it is.

    `robot` is the result; each of its links is a body that can exist. `initial` is the robot as given, `model` what was looked for.
    `estimate` has the base values and the notes of the estimator, `uncertainty` their covariance and excitation, `validation` the torques
    on the fit's own samples, `pipeline` what was done to the samples, `options` what was asked for, `provenance` versions and digests,
    `verdict_inputs` what the verdict follows from. Further short names, such as `fit.unseen`, are in the table `SHORT`.

    Example:
        >>> log = sy.record(sy.load("planar_2r"), sy.excite(sy.load("planar_2r"), seconds=4, starts=1), rate=100)
        >>> fit = sy.identify(sy.load("planar_2r"), log, "wls", diagnose=False)
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

    def __getattr__(self, name: str) -> Any:
        if name in SHORT:
            return attrgetter(SHORT[name])(self)
        raise AttributeError(f"a Fit has no {name!r}; it has {', '.join(sorted(dir(self)))}")

    def __dir__(self) -> list[str]:
        return sorted({name for name in (*super().__dir__(), *SHORT) if not name.startswith("_")})

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
        """Standard deviation of each parameter, (p,), 0 where held, infinite where the samples hold less than 1 % of the information.

        With an estimator that uses no description a parameter has one if it is a base parameter by itself.
        """
        return self.uncertainty.parameters_std([i for i, _ in self.model.held])

    @property
    def relative_std(self) -> Array:
        """Standard deviation over |value| of each parameter, (p,), a fraction."""
        return relative(self.parameters_std, self.parameters)

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
        """Standard deviation of each base parameter, (b,); infinite for those without excitation."""
        return self.uncertainty.std

    @property
    def covariance(self) -> Array:
        """The covariance of `base_values`, (b, b); it allows for autocorrelated residuals."""
        return self.uncertainty.covariance

    @property
    def rank(self) -> int:
        """How many directions of the base parameters the samples excite."""
        return self.uncertainty.excitation.rank

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
        """The logs one by one with their errors, where each was folded by itself; None where all were held in memory."""
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

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None) -> Array:
        """Return the torque of `robot`, (..., n) [N m|N], known torques included.

        Example:
            >>> fit.torque([0.1, 0.2], [0.5, 0.5], [0, 0]).shape
            (2,)
        """
        shaped = states(self.model.n, q, qd, qdd)
        q, qd, qdd = (x.reshape(-1, self.model.n) for x in shaped)
        moved = () if base is None else (np.broadcast_to(np.asarray(base, float), (*shaped[0].shape[:-1], 9)).reshape(-1, 9),)
        return torque_of(self.robot, self.model.known)(q, qd, qdd, *moved).reshape(shaped[0].shape)

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, cutoff: float | None = None, t: ArrayLike | None = None) -> Prediction:
        """Return the torque (..., n) [N m|N] with the band that holds 95 % of measurements, and whether the log covered the state.

        std = sqrt(diag(Y cov Y^T) + sigma^2): uncertainty of the parameters, sensor noise and model error. Where the samples of the fit
        have been, std is that of the residuals, with half of what the parameters took of it. The band is for torque as it is measured;
        with `cutoff` [Hz] for torque that passed a zero-phase low-pass. With the times t (N,) [s] of a motion (N, n) the predicted torque
        passes the same filter. Outside the region, the band is infinite for a joint that moves and stood in the log.

        Parameters:
            cutoff: of a zero-phase low-pass that the torque passed [Hz].
            t: (N,) times of the motion [s].
        Example:
            >>> fit.predict([0.1, 0.2], [0.5, 0.5], [0, 0]).torque.shape
            (2,)
        """
        return predicted(self, q, qd, qdd, cutoff, t)

    def validate(self, log: Log, other: Robot | Fit | None = None, preparation: Preparation | None = None) -> Validation:
        """Return the validation on another log with its verdict, beside the robot as given and, if named, another model.

        `validation.verdict` is decided by the rules of `fit.verdict` with the errors on this log inside and outside the region.
        Every model is scored on the same samples, with the torque as it was measured: those of the log by `preparation`, which is this
        fit's own unless given. A fit's prediction has its own delay and drive gains; robots have those of this fit.

        Parameters:
            other: a `Robot` or `Fit` to compare with.
        Example:
            >>> fit.validate(log).total_relative_error < 0.05
            True
        """
        if isinstance(other, Fit):
            return validated(self, log, (other.torque, other.pipeline.delay, other.pipeline.gains.values), preparation)
        return validated(self, log, other, preparation)

    def essential(self, limit: float | None = None) -> Essential:
        """Return the few base parameters that explain the samples, by stepwise elimination.

        Parameters:
            limit: growth of the residual that ends the elimination [-].
        Example:
            >>> len(fit.essential().names) <= fit.base.n_base
            True
        """
        limit = None if limit is None else real_number("essential: the limit of the residual's growth", limit, 1.0)
        return stepwise(self.uncertainty.information, self.covariance, self.base.names, limit)

    def check(self) -> tuple[str, ...]:
        """Return the verdict and the reasons for it, in sentences.

        Example:
            >>> len(fit.check()) >= 1
            True
        """
        return (str(self.verdict), *self.verdict.reasons)

    @cached_property
    def verdict(self) -> Verdict:
        """The decision on this fit: one word, words of the joints, the expected error and the region, reasons, and what to do next."""
        return self.judged()

    def judged(self, *others: Validation) -> Verdict:
        """Return the verdict with validations on several other logs taken into account; of one log, it is that of `fit.validate(log)`.

        Parameters:
            *others: each a `Validation`.
        Example:
            >>> fit.judged(fit.validate(log)).word in ("trusted", "trusted within", "doubtful", "refused")
            True
        """
        return rules.decide(self.verdict_inputs, tuple(other.errors for other in others))

    @cached_property
    def links(self) -> LinkEstimates:
        """Mass [kg] and centre of mass [m] of each link with their uncertainty, infinite where the samples do not show them."""
        known = self.uncertainty.parameters
        return link_estimates(self.model, self.parameters, self.parameters_std, known, self.estimate.posterior)

    def summary(self) -> str:
        """Return the verdict with its reasons, and tables of joints, links and base parameters with their uncertainty.

        Example:
            >>> fit.summary().splitlines()[0].startswith("planar_2r: wls")
            True
        """
        return fit_text(self)

    def _repr_html_(self) -> str:
        return fit_card(self)

    def to_dict(self, validation: Validation | None = None) -> dict[str, Any]:
        """Return all but the samples as plain data with units; a validation adds its errors and counts for the verdict.

        Example:
            >>> sorted(fit.to_dict())[1:3]
            ['base_covariance', 'base_parameters']
        """
        return fit_data(self, validation)

    def to_json(self, path: str | os.PathLike[str], overwrite: bool = False, validation: Validation | None = None) -> None:
        """Write `to_dict(validation)` as JSON, whole or not at all; over an existing file only if asked.

        Example:
            >>> fit.to_json("fit.json")
        """
        write_whole(path, (json.dumps(self.to_dict(validation), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(), overwrite)

    def plot(self, what: str = "torques", *, width: str | float | None = None) -> Figure:
        """Return a Matplotlib figure of the report by its name.

        "torques", "errors", "masses", "budget", "residuals", "spectra", "singular", "uncertainty", "correlation", "coverage",
        "friction", and residuals over "speed" and "position". Needs `pip install 'steelyard[plot]'`.

        Parameters:
            what: one of the words above.
        Example:
            >>> fit.plot("masses").savefig("masses.pdf")
        """
        from ...drawing.matplotlib_renderer import to_matplotlib
        from ..figures.fit_figures import figure_of

        return to_matplotlib(figure_of(self, what), width or "page")

    def __repr__(self) -> str:
        return fit_line(self)
