"""Options of an identification: preparation of samples, model and estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..arguments import instance
from ..errors import CallError, mention, suggest
from ..option_groups.identification import ArmKeywords, IdentifyKeywords
from ..options import options_of
from .estimators.least_squares import Estimator
from .estimators.registry import make_estimator
from .model.model_options import ModelOptions
from .samples.preparation import Preparation

if TYPE_CHECKING:
    from typing_extensions import Unpack


class IdentifyArguments(IdentifyKeywords, total=False):
    """Arguments of `identify` that other functions pass on to it."""

    estimator: str | Estimator | None
    preparation: Preparation | None
    model: ModelOptions | None
    diagnose: bool


class ArmArguments(ArmKeywords, total=False):
    """Arguments of `identify` for an arm that carries a load."""

    estimator: str | Estimator | None
    preparation: Preparation | None
    model: ModelOptions | None
    diagnose: bool


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
        coupling = [(each.joint_a, each.joint_b) for each in self.model.couplings]
        law = (
            None
            if self.preparation.controller is None
            else type(self.preparation.controller).__name__
        )
        groups["controller"] = law
        return {
            **groups,
            "hold": tuple(groups["hold"]),
            "bounds": dict(groups["bounds"] or {}),
            "known": known,
            "coupling": coupling,
        }


def make_options(
    estimator: str | Estimator | None = None,
    preparation: Preparation | None = None,
    model: ModelOptions | None = None,
    **keywords: Unpack[IdentifyKeywords],
) -> Options:
    """Return options from the three groups, with single fields taking precedence.

    Raises
    ------
    CallError, naming the nearest options, for a keyword that no group has.
    """
    of_samples = {each.name for each in options_of(Preparation)}
    of_model = {each.name for each in options_of(ModelOptions)}
    for name in keywords:
        if name not in of_samples | of_model:
            arguments = ("estimator", "preparation", "model", "diagnose", "progress")
            known = (*arguments, *sorted(of_samples | of_model))
            raise CallError(f"identify has no option called {name!r}; {suggest(name, known)}")
    preparation = (
        Preparation() if preparation is None else instance("preparation", preparation, Preparation)
    )
    model = ModelOptions() if model is None else instance("model", model, ModelOptions)
    values: Mapping[str, Any] = keywords
    preparation = replace(
        preparation, **{name: value for name, value in values.items() if name in of_samples}
    )
    model = replace(model, **{name: value for name, value in values.items() if name in of_model})
    chosen = make_estimator(estimator, model.prior, preparation.controller)
    refuse_own_rows(model, chosen.name)
    return Options(preparation=preparation, model=model, estimator=chosen)


def refuse_own_rows(model: ModelOptions, estimator: str) -> None:
    """Raise CallError for a prior or constraints that the estimator does not use."""
    for name, is_given, users in (
        ("parameter_prior", model.parameter_prior is not None, ("auto", "sdp")),
        ("constraints", len(model.constraints) > 0, ("auto", "sdp", "wls", "ols")),
    ):
        if is_given and estimator not in users:
            raise CallError(
                f"{mention(name)} is not used by the estimator {estimator!r}; those that use it:"
                f" {', '.join(users)}"
            )
