"""The arm that carries a load: its model, its samples without load, and prior knowledge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ...identification.identify import identify
from ...identification.model.joint_terms import USUAL
from ...identification.model.linear_model import Model, build_model
from ...identification.model.model_options import ModelOptions
from ...identification.observations.prepare import prepare_all
from ...identification.options import ArmArguments, make_options
from ...identification.result.fit import Fit
from ...identification.samples.preparation import Preparation
from ...identification.samples.samples import Samples
from ...option_groups.identification import IdentifyKeywords
from ...robot import Robot
from ...signals.log import Log
from .load_columns import LoadColumns, LoadFrame, changing_terms
from .static_segments import StaticSegments, static_segments

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]
FRICTION = ("Fv", "Fc", "F0")


@dataclass(frozen=True, eq=False)
class LoadedArm:
    """A model of the arm with samples of logs with (`loaded`) and without the load (`empty`).

    `prior` (k, b + 1) are rows [root, root mean] of prior information on its base parameters.
    `robot` is the robot without the load. `resting` arms have static poses; `sides` (N, n) are the
    directions from which their joints arrived. `known` describes the source of its parameters;
    `fit` is the identification behind it, or None. `scale_std` is the relative standard deviation
    of the torque scale, a fraction.
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
    scale_std: float = 0.0

    @property
    def samples(self) -> tuple[Samples, ...]:
        """All samples, those without the load first."""
        return (*self.empty, *self.loaded)

    @property
    def as_described(self) -> bool:
        """Whether the arm's inertias are taken from the description as exact."""
        return self.fit is None and not self.empty

    def columns(self, frame: LoadFrame) -> LoadColumns:
        """Return the columns of a load there."""
        fixed = {i for i, _ in self.model.held}
        changing = () if self.resting else changing_terms(self.model)
        if self.fit is None:  # friction that was not described is free for this run as it is
            changing = tuple(i for i in changing if i in fixed)
        return LoadColumns(self.model, frame, len(self.empty), changing, self.sides)


def moving_arm(
    source: Robot | Fit,
    loaded: Sequence[Log],
    empty: Sequence[Log],
    progress: Progress | None,
    options: ArmArguments,
) -> LoadedArm:
    """Return the arm of logs of motion.

    Identified from the empty logs, or the given fit or robot.
    """
    if empty:
        if isinstance(source, Fit):
            raise CallError(
                "payload: give a robot with the empty log, or a fit alone; with both it is not"
                " clear which of them to believe"
            )
        fit = identify(source, empty, progress=progress, **options)
        return _from_fit(
            fit,
            loaded,
            empty,
            np.zeros((0, fit.base.n_base + 1)),
            "identified from the log without load",
        )
    if isinstance(source, Fit):
        if options:
            raise CallError(
                f"payload: {', '.join(options)} would be ignored: the fit has its own options"
            )
        return _from_fit(
            source,
            loaded,
            (),
            information_rows(source),
            "an identification made before, with its uncertainty",
        )
    chosen = make_options(None, **cast("IdentifyKeywords", options))
    samples = prepare_all(source, loaded, chosen.preparation)
    model = described_model(source, USUAL)
    words = "the description, taken as exact: its errors are not in the standard deviations"
    return LoadedArm(
        model=model,
        robot=source,
        empty=(),
        loaded=samples,
        prior=np.zeros((0, model.base.n_base + 1)),
        known=words,
        decimate=chosen.preparation.decimate,
    )


def resting_arm(source: Robot | Fit, loaded: Sequence[Log], empty: Sequence[Log]) -> LoadedArm:
    """Return the arm of logs of static poses.

    Only gravity acts. Friction at rest depends on the direction from which a joint arrived.
    """
    robot = source.robot if isinstance(source, Fit) else source
    rests = [static_segments(robot, log) for log in (*empty, *loaded)]
    samples = tuple(rest.samples for rest in rests)
    without, carrying = samples[: len(empty)], samples[len(empty) :]
    sides = approach_directions(rests)
    if isinstance(source, Fit) and not empty:
        return LoadedArm(
            model=source.model,
            robot=robot,
            empty=(),
            loaded=carrying,
            prior=information_rows(source),
            known="an identification made before",
            fit=source,
            decimate=1,
            resting=True,
            sides=sides,
        )
    if empty:
        model, words = (
            build_model(robot, ModelOptions(friction=("offset",), rotor=False)),
            "weighed without load at its own poses",
        )
    else:
        model, words = (
            described_model(robot, ("offset",)),
            "the description, taken as exact: its errors are not in the standard deviations",
        )
    return LoadedArm(
        model=model,
        robot=robot,
        empty=without,
        loaded=carrying,
        prior=np.zeros((0, model.base.n_base + 1)),
        known=words,
        fit=None,
        decimate=1,
        resting=True,
        sides=sides,
    )


def approach_directions(rests: Sequence[StaticSegments]) -> tuple[Array, ...]:
    """Return the approach directions of every log.

    Empty if no joint arrived from both sides: friction and weight cannot be separated then.
    """
    every = np.concatenate([rest.side for rest in rests])
    both = np.any(every > 0, axis=0) & np.any(every < 0, axis=0)
    return tuple(rest.side * both for rest in rests) if np.any(both) else ()


def described_model(robot: Robot, terms: Sequence[str]) -> Model:
    """Return the model with the robot's described parameters.

    Offsets, and friction without a described value, are unknown.
    """
    full = build_model(robot, ModelOptions(friction=tuple(terms), rotor=False)).robot
    names = set(robot.parameter_names)
    values = {
        name
        for name in full.parameter_names
        if name.endswith(".F0") or (name.rpartition(".")[2] in FRICTION and name not in names)
    }
    return Model(
        full,
        tuple(
            (i, float(x))
            for i, (name, x) in enumerate(zip(full.parameter_names, full.parameters, strict=True))
            if name not in values
        ),
    )


def information_rows(fit: Fit) -> Array:
    """Return the information of a fit on its base parameters as rows [root, root mean].

    They are (b, b + 1); root^T root is the inverse covariance for the torque as it is measured.
    """
    covariance = fit.uncertainty.covariance
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = (vectors / np.sqrt(np.maximum(values, 1e-10 * values[-1]))).T / scale
    return np.column_stack([root, root @ fit.base_values])


def _from_fit(
    fit: Fit, loaded: Sequence[Log], empty: Sequence[Log], prior: Array, words: str
) -> LoadedArm:
    def prepared(logs: Sequence[Log]) -> tuple[Samples, ...]:
        moved = tuple(
            s.advanced(fit.delay) for s in prepare_all(fit.initial, logs, fit.preparation)
        )
        return fit.pipeline.gains.apply(moved)

    preparation: Preparation = fit.preparation
    return LoadedArm(
        model=fit.model,
        robot=fit.robot,
        empty=prepared(empty) if empty else (),
        loaded=prepared(loaded),
        prior=prior,
        known=words,
        fit=fit,
        decimate=preparation.decimate,
    )
