"""Estimators by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...arguments import any_of, brief
from ...errors import CallError, suggest
from .errors_in_variables.maximum_likelihood import MaximumLikelihood
from .errors_in_variables.total_least_squares import TLS
from .frequency import Frequency
from .least_squares import OLS, WLS, Estimator, Sequential
from .robust import IRLS
from .sdp import SDP
from .shrinkage import ElasticNet, Lasso, Ridge
from .simulated.automatic import Automatic
from .simulated.didim import DIDIM
from .simulated.instruments import IV
from .simulated.output_error import CLOE
from .without_acceleration.energy import Energy
from .without_acceleration.momentum import Momentum

CAD_WEIGHT = 30.0
"""The prior weight of prior='cad': inertias of the description are right to about a fifth of their size."""


def make_estimator(estimator: str | Estimator | None, prior: str | None = None, controller: Any = None) -> Estimator:
    """Return an estimator: an instance as it is, a name with the options that `prior` stands for, 'auto' for None.

    `controller` is given to those that simulate the robot; CallError for one that does not, or that has another.
    """
    any_of("prior", prior, (None, "cad"))
    made = _made(estimator, prior)
    if controller is None:
        return made
    if not hasattr(made, "controller"):
        users = ", ".join(name for name, make in ESTIMATORS.items() if hasattr(make(False), "controller"))
        raise CallError(f"controller= is not used by the estimator {made.name!r}; those that use one: {users}")
    if made.controller not in (None, controller):
        raise CallError("controller= is given twice: to identify and to the estimator")
    simulating: Any = made
    return replace(simulating, controller=controller)


def _made(estimator: str | Estimator | None, prior: str | None) -> Estimator:
    if estimator is not None and not isinstance(estimator, str):
        if isinstance(estimator, type) or not callable(getattr(estimator, "fit", None)):
            hint = f"; make one: {estimator.__name__}()" if isinstance(estimator, type) else ""
            raise CallError(f"estimator must be a name or an object with a fit(problem) method, not {brief(estimator)}{hint}")
        return estimator
    name = "auto" if estimator is None else estimator
    if name not in ESTIMATORS:
        raise CallError(f"no estimator is called {name!r}; {suggest(name, ESTIMATORS)}")
    return ESTIMATORS[name](prior == "cad")


ESTIMATORS: dict[str, Callable[[bool], Estimator]] = {
    "auto": lambda cad: Automatic(inner=SDP(CAD_WEIGHT if cad else None)),
    "sdp": lambda cad: SDP(CAD_WEIGHT if cad else None),
    "ols": lambda cad: OLS(),
    "wls": lambda cad: WLS(),
    "irls": lambda cad: IRLS(),
    "ridge": lambda cad: Ridge(towards="cad" if cad else "zero"),
    "lasso": lambda cad: Lasso(),
    "elastic_net": lambda cad: ElasticNet(),
    "tls": lambda cad: TLS(),
    "sequential": lambda cad: Sequential(),
    "frequency": lambda cad: Frequency(),
    "ml": lambda cad: MaximumLikelihood(),
    "momentum": lambda cad: Momentum(),
    "energy": lambda cad: Energy(),
    "iv": lambda cad: IV(),
    "didim": lambda cad: DIDIM(),
    "cloe": lambda cad: CLOE(),
}
"""Estimators by name; each is made with or without prior='cad'."""
