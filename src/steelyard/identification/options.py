"""Options of an identification: how samples are prepared, what is to be found, and by which estimator."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from ..errors import CallError, suggest
from .estimators.least_squares import Estimator
from .estimators.registry import make_estimator
from .model.model import ModelOptions
from .samples.samples import Preparation


@dataclass(frozen=True)
class Options:
    """The three groups of options that `identify` takes."""

    preparation: Preparation
    model: ModelOptions
    estimator: Estimator

    def as_dict(self) -> dict[str, Any]:
        """Return every option that has a plain value, by its short name."""
        groups = {**vars(self.preparation), **vars(self.model)}
        plain = {name: value for name, value in groups.items() if name not in ("known", "coupling")}
        return {**plain, "hold": tuple(plain["hold"]), "bounds": dict(plain["bounds"] or {})}


def make_options(
    estimator: str | Estimator | None = None, preparation: Preparation | None = None, model: ModelOptions | None = None, **short: Any
) -> Options:
    """Return options from the three groups; `short` are single fields of Preparation and ModelOptions, which take precedence.

    Raises CallError for a name that neither has.
    """
    prepared, sought = ({field.name for field in fields(group)} for group in (Preparation, ModelOptions))
    for name in short:
        if name not in prepared | sought:
            known = ("estimator", "preparation", "model", "progress", *sorted(prepared | sought))
            raise CallError(f"identify has no option called {name!r}; {suggest(name, known)}")
    preparation = replace(preparation or Preparation(), **{n: v for n, v in short.items() if n in prepared})
    model = replace(model or ModelOptions(), **{n: v for n, v in short.items() if n in sought})
    return Options(preparation, model, make_estimator(estimator, model.prior))
