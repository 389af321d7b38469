"""Nuisance parameters of a log: delay of the torque, drive gains, shape and terms of friction."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...option_groups.identification import AUTO
from ..doctor.excitation import too_short
from ..friction.choice import FrictionChoice, choose_friction, describe_first_terms
from ..model.joint_terms import gear_ratios
from ..model.linear_model import Model
from ..model.problem import Problem
from ..observations.observation import DELAY, DIAGNOSIS, FRICTION_CHOICE
from ..options import Options
from ..samples.samples import Samples
from ..selection.choose_rows import RestingRows
from .drive_gains import DriveGains, estimate_gains
from .friction_shape import estimate_friction_shape, widths_at_rest
from .nuisance_thresholds import THRESHOLDS
from .presliding_distance import refine_distances
from .torque_delay import estimate_torque_delay

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NuisanceEstimates:
    """What is estimated of a log beside the parameters of the robot.

    Parameters
    ----------
    delay : (n,) [s] of the torque of each joint
    gains : factors of the measured torques
    friction : friction terms, and the torque that drifts along the logs
    short : why the samples are too few to show friction and delay, '' if they are not
    notes : sentences on the estimates
    """

    delay: Array
    gains: DriveGains
    friction: FrictionChoice
    short: str = ""
    notes: tuple[str, ...] = ()


def estimate_nuisance(
    problem: Problem, options: Options, rest: RestingRows | None = None, *, drifting: bool = True
) -> tuple[Problem, tuple[Samples, ...], NuisanceEstimates]:
    """Estimate delay, drive gains, shape and terms of friction, as far as the rows allow them.

    Parameters
    ----------
    problem : rows with the torques as measured
    options : values that are given are not estimated
    rest : rows of resting joints that the samples lack, None if they have all rows; joints that
        turn out to have friction with memory get theirs back
    drifting : whether torque that drifts along the logs is taken out; other logs drift otherwise

    Returns
    -------
    problem : with the friction terms, and torques without delay, drift and drive gains
    samples : with torques as measured but for delay and drift
    estimates : NuisanceEstimates
    """
    model, samples, factor = problem.model, problem.samples, problem.decimate
    allowed = model.observation.allowed
    delay, notes = np.zeros(model.n), tuple[str, ...]()
    gains = estimate_gains(model, samples, options.model.drive_gains, factor)
    short = too_short(model, samples) if DIAGNOSIS in allowed else ""
    if DELAY in allowed:
        model, delay, notes = estimate_shape_and_delay(
            model, gains.apply(samples), options, bool(short)
        )
        samples = tuple(s.advanced(delay) for s in samples)
    friction = FrictionChoice(model)
    if FRICTION_CHOICE in allowed:
        trial = Problem(model, gains.apply(samples), factor)
        friction = select_friction(trial, options, rest, short=bool(short), drifting=drifting)
        if options.model.given_width(model.robot.joint_names) is None:
            friction = replace(friction, model=smooth_at_rest(friction.model, trial.samples, rest))
    if DELAY in allowed:
        notes += width_note(friction.model)
    samples = remaining_rows(samples, rest, friction.model)
    samples = friction.without_drift(samples, gains.values)
    gains = estimate_gains(friction.model, samples, options.model.drive_gains, factor)
    estimates = NuisanceEstimates(
        delay=delay,
        gains=gains,
        friction=friction,
        short=short,
        notes=notes + friction.notes + gains.notes,
    )
    corrected = replace(problem, model=friction.model, samples=gains.apply(samples))
    return corrected, samples, estimates


def estimate_shape_and_delay(
    model: Model, samples: tuple[Samples, ...], options: Options, short: bool = False
) -> tuple[Model, Array, tuple[str, ...]]:
    """Estimate the friction shapes and the delay of the torque, where they are not given.

    Samples that are too `short` show no delay: the parameters can absorb any value of it.

    Returns
    -------
    model : with its friction shapes
    delay : (n,) [s]
    notes : sentences
    """
    joint_names = model.robot.joint_names
    width = options.model.given_width(joint_names)
    delay = options.preparation.given_delay(joint_names)
    notes: tuple[str, ...] = ()
    if width is not None:
        model = model.with_shape("width", width.tolist())
    model = estimate_friction_shape(model, samples, width is None)
    if delay is None and short:
        delay = np.zeros(model.n)
    if delay is None:
        delay, notes = estimate_torque_delay(model, samples)
    if np.any(delay):
        advanced = tuple(s.advanced(delay) for s in samples)
        model = estimate_friction_shape(model, advanced, width is None)
    return model, delay, notes


def width_note(model: Model) -> tuple[str, ...]:
    """Return a sentence on the widths of Coulomb steps; () if all are sharp."""
    widths = zip(model.robot.joint_names, model.shape("width"), strict=True)
    wide = [f"{name} {value:.3g}" for name, value in widths if value > 0]
    if not wide:
        return ()
    return (f"Coulomb friction rises over a speed [rad/s|m/s] of: {', '.join(wide)}.",)


def select_friction(
    problem: Problem,
    options: Options,
    rest: RestingRows | None = None,
    *,
    short: bool = False,
    drifting: bool = True,
) -> FrictionChoice:
    """Select the friction terms that the samples show, where friction is 'auto'.

    Samples that are too `short` keep the usual terms.
    """
    model = problem.model
    if options.model.friction != AUTO:
        joints = [j for j, d in enumerate(model.robot.tree.memory_distances) if d is not None]
        if joints and not short:
            model = refine_distances(model, problem.samples, problem.decimate, joints)
        return FrictionChoice(model)
    if short:
        first = describe_first_terms(model.robot)
        note = f"{first}; the log is too short to show a further term."
        return FrictionChoice(model, notes=(note,))
    return choose_friction(
        model,
        problem.samples,
        problem.decimate,
        gear_ratios(model.robot, options.model.gear_ratio),
        options.model.given_width(model.robot.joint_names) is None,
        drifting,
        lambda changed: remaining_rows(problem.samples, rest, changed),
    )


def remaining_rows(
    samples: tuple[Samples, ...], rest: RestingRows | None, model: Model | None
) -> tuple[Samples, ...]:
    """Return samples with the rows of resting joints, where their friction has memory.

    Without a model, with all rows.
    """
    if rest is None:
        return samples
    every = tuple(s.with_every_row() for s in samples)
    remaining = None if model is None else without_memory(rest, model)
    return every if remaining is None else remaining.masked(every)


def smooth_at_rest(model: Model, samples: tuple[Samples, ...], rest: RestingRows | None) -> Model:
    """Return the model with Coulomb steps that are smooth below the speeds of resting joints.

    The rows in use do not show the step there. A joint that creeps has the sharp step; where the
    velocity at rest is noise, a smooth one predicts the rows at rest better.

    Parameters
    ----------
    model : with its friction terms
    samples : of the estimate, with or without the rows at rest
    rest : rows that are left out
    """
    remaining = without_memory(rest, model)
    if remaining is None:
        return model
    least = THRESHOLDS.rest_width * remaining.speeds
    smooth = np.maximum(model.shape("width"), least)
    every = remaining_rows(samples, rest, None)
    widths = widths_at_rest(model, every, remaining.masked(every), smooth.tolist())
    return model.with_shape("width", widths)


def without_memory(rest: RestingRows | None, model: Model) -> RestingRows | None:
    """Return the rows that are left out of joints without memory; None if there are none."""
    distances = model.robot.tree.memory_distances
    return rest and rest.with_every_row([j for j, d in enumerate(distances) if d is not None])
