"""Options of an identification: how samples are prepared, what is to be found, and by which estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..arguments import instance
from ..errors import CallError, suggest
from .estimators.least_squares import Estimator
from .estimators.registry import make_estimator
from .model.model_options import ModelOptions
from .samples.preparation import Preparation


@dataclass(frozen=True)
class Options:
    """The three groups of options that `identify` takes."""

    preparation: Preparation
    model: ModelOptions
    estimator: Estimator

    def as_dict(self) -> dict[str, Any]:
        """Return every option that has a plain value, by its short name."""
        groups = {**vars(self.preparation), **vars(self.model)}
        known = self.model.known if isinstance(self.model.known, Mapping) else {}
        coupling = [(each.joint_a, each.joint_b) for each in self.model.coupling]
        law = None if self.preparation.controller is None else type(self.preparation.controller).__name__
        groups["controller"] = law
        return {**groups, "hold": tuple(groups["hold"]), "bounds": dict(groups["bounds"] or {}), "known": known, "coupling": coupling}


def make_options(
    estimator: str | Estimator | None = None, preparation: Preparation | None = None, model: ModelOptions | None = None, **short: Any
) -> Options:
    """Return options from the three groups; `short` are single fields of Preparation and ModelOptions, which take precedence.

    Raises CallError for a name that neither has.
    """
    prepared, sought = ({field.name for field in fields(group)} for group in (Preparation, ModelOptions))
    for name in short:
        if name not in prepared | sought:
            known = ("estimator", "preparation", "model", "diagnose", "progress", *sorted(prepared | sought))
            raise CallError(f"identify has no option called {name!r}; {suggest(name, known)}")
    given = Preparation() if preparation is None else instance("preparation", preparation, Preparation)
    wanted = ModelOptions() if model is None else instance("model", model, ModelOptions)
    preparation = replace(given, **{n: v for n, v in short.items() if n in prepared})
    model = replace(wanted, **{n: v for n, v in short.items() if n in sought})
    return Options(preparation, model, make_estimator(estimator, model.prior, preparation.controller))
