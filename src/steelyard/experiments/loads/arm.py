"""The arm that carries a load: its model, its samples without the load, and what is known of it beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ...identification.identify import identify
from ...identification.model.joint_terms import USUAL
from ...identification.model.linear_model import Model, build_model
from ...identification.model.model_options import ModelOptions
from ...identification.options import make_options
from ...identification.result.fit import Fit
from ...identification.samples.preparation import Preparation
from ...identification.samples.samples import Samples
from ...identification.settle import prepare_all
from ...robot import Robot
from ...signals.log import Log
from .dwells import Dwells, dwells
from .load_columns import LoadColumns, Place, changing_terms

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]
FRICTION = ("Fv", "Fc", "F0")


@dataclass(frozen=True, eq=False)
class Arm:
    """A model of the arm with samples: those of `loaded` logs carry the load, those of `empty` ones do not.

    `prior` (k, b + 1) are rows of information on its base parameters from before, [root, root mean]; `robot` is what the load is given to.
    `resting` arms were weighed in static poses, `sides` (N, n) are the directions from which their joints came.
    `known` says in words where its parameters come from; `fit` is the identification behind it, None without one.
    """

    model: Model
    robot: Robot
    empty: tuple[Samples, ...]
    loaded: tuple[Samples, ...]
    prior: Array
    known: str
    fit: Fit | None = None
    decimate: int | None = None
    resting: bool = False
    sides: tuple[Array, ...] = ()

    @property
    def samples(self) -> tuple[Samples, ...]:
        """All samples, those without the load first."""
        return (*self.empty, *self.loaded)

    @property
    def as_described(self) -> bool:
        """Whether the arm's inertias are taken from the description as exact."""
        return self.fit is None and not self.empty

    def columns(self, place: Place) -> LoadColumns:
        """Return the columns of a load there."""
        held = {i for i, _ in self.model.held}
        changing = () if self.resting else changing_terms(self.model)
        if self.fit is None:  # friction that was not described is free for this run as it is
            changing = tuple(i for i in changing if i in held)
        return LoadColumns(self.model, place, len(self.empty), changing, self.sides)


def moving_arm(given: Robot | Fit, loaded: Sequence[Log], empty: Sequence[Log], progress: Progress | None, options: dict[str, Any]) -> Arm:
    """Return the arm of logs of motion: identified from the empty ones, or the fit or robot that is given."""
    if empty:
        if isinstance(given, Fit):
            raise CallError("payload: give a robot with the empty log, or a fit alone; with both it is not clear which of them to believe")
        fit = identify(given, empty, progress=progress, **options)
        return _from_fit(fit, loaded, empty, np.zeros((0, fit.base.n_base + 1)), "identified from the log without load")
    if isinstance(given, Fit):
        if options:
            raise CallError(f"payload: {', '.join(options)} would be ignored: the fit has options of its own")
        return _from_fit(given, loaded, (), prior_rows(given), "an identification made before, with its uncertainty")
    chosen = make_options(None, **options)
    samples = prepare_all(given, loaded, chosen.preparation)
    model = described(given, USUAL)
    words = "the description, taken as exact: its errors are not in the standard deviations"
    return Arm(model, given, (), samples, np.zeros((0, model.base.n_base + 1)), words, decimate=chosen.preparation.decimate)


def resting_arm(given: Robot | Fit, loaded: Sequence[Log], empty: Sequence[Log]) -> Arm:
    """Return the arm of logs of static poses: gravity alone tells, and friction at rest is that of the side a joint came from."""
    robot = given.robot if isinstance(given, Fit) else given
    rests = [dwells(robot, log) for log in (*empty, *loaded)]
    samples = tuple(rest.samples for rest in rests)
    without, carrying = samples[: len(empty)], samples[len(empty) :]
    sides = signs(rests)
    if isinstance(given, Fit) and not empty:
        return Arm(given.model, robot, (), carrying, prior_rows(given), "an identification made before", given, 1, True, sides)
    if empty:
        model, words = build_model(robot, ModelOptions(friction=("offset",), rotor=False)), "weighed without load at its own poses"
    else:
        model, words = described(robot, ("offset",)), "the description, taken as exact: its errors are not in the standard deviations"
    return Arm(model, robot, without, carrying, np.zeros((0, model.base.n_base + 1)), words, None, 1, True, sides)


def signs(rests: Sequence[Dwells]) -> tuple[Array, ...]:
    """Return the sides of every log; none if no joint came to its poses from both sides, so that friction cannot be told from weight."""
    every = np.concatenate([rest.side for rest in rests])
    both = np.any(every > 0, axis=0) & np.any(every < 0, axis=0)
    return tuple(rest.side * both for rest in rests) if np.any(both) else ()


def described(robot: Robot, terms: Sequence[str]) -> Model:
    """Return the model in which the robot is as described; friction that it has no number for, and offsets, are to be found."""
    full = build_model(robot, ModelOptions(friction=tuple(terms), rotor=False)).robot
    own = set(robot.parameter_names)
    wanted = {name for name in full.parameter_names if name.endswith(".F0") or (name.rpartition(".")[2] in FRICTION and name not in own)}
    return Model(
        full,
        tuple((i, float(x)) for i, (name, x) in enumerate(zip(full.parameter_names, full.parameters, strict=True)) if name not in wanted),
    )


def prior_rows(fit: Fit) -> Array:
    """Return rows [root, root mean] (b, b + 1) of what a fit knows of its base parameters: root^T root is the inverse covariance."""
    scale = np.sqrt(np.maximum(np.diag(fit.covariance), 1e-300))
    values, vectors = np.linalg.eigh(fit.covariance / np.outer(scale, scale))
    root = (vectors / np.sqrt(np.maximum(values, 1e-10 * values[-1]))).T / scale
    return np.column_stack([root, root @ fit.base_values])


def _from_fit(fit: Fit, loaded: Sequence[Log], empty: Sequence[Log], prior: Array, words: str) -> Arm:
    def prepared(logs: Sequence[Log]) -> tuple[Samples, ...]:
        moved = tuple(s.advanced(fit.delay) for s in prepare_all(fit.initial, logs, fit.preparation))
        return fit.pipeline.gains.apply(moved)

    preparation: Preparation = fit.preparation
    return Arm(fit.model, fit.robot, prepared(empty) if empty else (), prepared(loaded), prior, words, fit, preparation.decimate)
