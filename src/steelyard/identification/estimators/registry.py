"""Estimators by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import CallError, choices
from ..model.bounds import Bounds
from .elastic_net import ElasticNet, Lasso
from .estimate import Estimator
from .irls import IRLS
from .ols import OLS
from .ridge import Ridge
from .sdp import SDP
from .sequential import Sequential
from .tls import TLS
from .wls import WLS

CAD = 30.0
"""How much the description counts with prior='cad': its inertias are trusted to about a fifth of their size."""


def choose(estimator: str | Estimator | None, prior: str | None = None, bounds: Bounds | None = None) -> Estimator:
    """The estimator meant: an instance as it is, a name with prior and bounds taken in, 'sdp' for none."""
    if prior not in (None, "cad"):
        raise CallError(f"prior must be None or 'cad', not {prior!r}")
    if estimator is not None and not isinstance(estimator, str):
        if not callable(getattr(estimator, "fit", None)):
            raise CallError(f"estimator must be a name or have a fit(problem) method; found {type(estimator).__name__}")
        return estimator
    name = estimator or "sdp"
    if name not in ESTIMATORS:
        raise CallError(f"no estimator is called {name!r}; {choices(name, ESTIMATORS)}")
    return ESTIMATORS[name](prior, bounds)


def _sdp(prior: str | None, bounds: Bounds | None) -> Estimator:
    return SDP(pull=CAD if prior == "cad" else 1.0, bounds=bounds)


ESTIMATORS: dict[str, Callable[[Any, Any], Estimator]] = {
    "sdp": _sdp,
    "ols": lambda prior, bounds: OLS(),
    "wls": lambda prior, bounds: WLS(),
    "irls": lambda prior, bounds: IRLS(),
    "ridge": lambda prior, bounds: Ridge(towards="cad" if prior == "cad" else "zero"),
    "lasso": lambda prior, bounds: Lasso(),
    "elastic_net": lambda prior, bounds: ElasticNet(),
    "tls": lambda prior, bounds: TLS(),
    "sequential": lambda prior, bounds: Sequential(),
}
