"""Estimators by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from ...arguments import one_of, short_repr
from ...errors import CallError, mention, suggest
from ..model.problem import Problem
from .estimator_thresholds import THRESHOLDS
from .least_squares import Estimate, Estimator


def make_estimator(
    estimator: str | Estimator | None, prior: str | None = None, controller: Any = None
) -> Estimator:
    """Return an estimator: an instance unchanged, or a new one by its name, 'auto' for None.

    `prior` selects the options of an estimator that is named.

    `controller` is given to those that simulate the robot; CallError for one that does not, or that
    has another.
    """
    one_of("prior", prior, (None, "cad"))
    chosen = _instance_of(estimator, prior)
    if controller is None:
        return chosen
    if not hasattr(chosen, "controller"):
        users = ", ".join(
            name for name, make in ESTIMATORS.items() if hasattr(make(False), "controller")
        )
        raise CallError(
            f"{mention('controller')} is not used by the estimator {chosen.name!r};"
            f" those that use one: {users}"
        )
    if chosen.controller not in (None, controller):
        raise CallError(f"{mention('controller')} is given twice: to identify and to the estimator")
    simulating: Any = chosen
    return replace(simulating, controller=controller)


@dataclass(frozen=True)
class FitOnly(Estimator):
    """An object that has a `fit` method and no `prepare`."""

    inner: Any

    @property
    def name(self) -> str:
        """The object's name, or its class name."""
        return str(getattr(self.inner, "name", type(self.inner).__name__))

    def fit(self, problem: Problem) -> Estimate:
        """Return the object's estimate for a problem."""
        estimate: Estimate = self.inner.fit(problem)
        return estimate


def _instance_of(estimator: str | Estimator | None, prior: str | None) -> Estimator:
    if estimator is not None and not isinstance(estimator, str):
        if isinstance(estimator, type) or not callable(getattr(estimator, "fit", None)):
            hint = f"; make one: {estimator.__name__}()" if isinstance(estimator, type) else ""
            raise CallError(
                "estimator must be a name or an object with a fit(problem) method, not"
                f" {short_repr(estimator)}{hint}",
                argument="estimator",
            )
        return estimator if hasattr(estimator, "prepare") else FitOnly(estimator)
    name = "auto" if estimator is None else estimator
    if name not in ESTIMATORS:
        raise CallError(f"no estimator is called {name!r}; {suggest(name, ESTIMATORS)}")
    return ESTIMATORS[name](prior == "cad")


@dataclass(frozen=True)
class EstimatorRow:
    """A row of the table: where the class is, and its options with and without prior='cad'.

    The module is imported when the estimator is made, so that an identification loads one
    estimator and not all.

    Attributes
    ----------
    module : module of the class, relative to this package
    class_name : name of the class, also in `steelyard.identification`
    cad_options : arguments of the class with prior='cad'
    reads_samples : whether it needs the samples; the others need only the factors of the rows, and
        identify many logs that are folded one by one
    """

    module: str
    class_name: str
    cad_options: Mapping[str, Any] = field(default_factory=dict)
    reads_samples: bool = True

    def __call__(self, cad: bool) -> Estimator:
        """Return the estimator, with or without prior='cad'."""
        make = getattr(import_module(f".{self.module}", __package__), self.class_name)
        estimator: Estimator = make(**self.cad_options) if cad else make()
        return estimator


@dataclass(frozen=True)
class AutomaticRow(EstimatorRow):
    """The row of the default estimator, whose inner estimator has the prior."""

    def __call__(self, cad: bool) -> Estimator:
        """Return the estimator, with or without prior='cad'."""
        from .sdp import SDP
        from .simulated.automatic import Automatic

        return Automatic(inner=SDP(THRESHOLDS.cad_weight if cad else None))


ESTIMATORS: dict[str, EstimatorRow] = {
    "auto": AutomaticRow("simulated.automatic", "Automatic", reads_samples=False),
    "sdp": EstimatorRow("sdp", "SDP", {"prior_weight": THRESHOLDS.cad_weight}, reads_samples=False),
    "ols": EstimatorRow("least_squares", "OLS", reads_samples=False),
    "wls": EstimatorRow("least_squares", "WLS", reads_samples=False),
    "irls": EstimatorRow("robust", "IRLS"),
    "ridge": EstimatorRow("shrinkage", "Ridge", {"towards": "cad"}, reads_samples=False),
    "lasso": EstimatorRow("shrinkage", "Lasso", reads_samples=False),
    "elastic_net": EstimatorRow("shrinkage", "ElasticNet", reads_samples=False),
    "tls": EstimatorRow("errors_in_variables.total_least_squares", "TLS"),
    "sequential": EstimatorRow("least_squares", "Sequential", reads_samples=False),
    "frequency": EstimatorRow("frequency", "Frequency"),
    "ml": EstimatorRow("errors_in_variables.maximum_likelihood", "MaximumLikelihood"),
    "momentum": EstimatorRow("without_acceleration.momentum", "MomentumEstimator"),
    "energy": EstimatorRow("without_acceleration.energy", "EnergyEstimator"),
    "iv": EstimatorRow("simulated.instruments", "IV"),
    "didim": EstimatorRow("simulated.didim", "DIDIM"),
    "cloe": EstimatorRow("simulated.output_error", "CLOE"),
}
"""Estimators by name; help, completion, page and `steelyard.identification` derive from it."""
