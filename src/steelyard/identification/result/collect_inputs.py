"""Collect the inputs of the verdict from the parts of a fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...parameters.pseudo_inertia import is_consistent
from ...robot import Robot
from ..selection.choose_predictor import CONSISTENT, Predictor
from .expected_error import ExpectedError, RestingTorque
from .held_out import HeldOut
from .prediction import Region
from .uncertainty import Uncertainty
from .validation import Validation
from .verdict.inputs import (
    ErrorInputs,
    ExcitationInputs,
    JointInputs,
    LogInputs,
    MassInputs,
    VerdictInputs,
)


def collect_inputs(
    *,
    validation: Validation,
    expected: ExpectedError,
    cross_validation: HeldOut,
    noise_floor: float | None,
    uncertainty: Uncertainty,
    units: Iterable[str],
    rated: Mapping[str, float],
    region: Region,
    masses: MassInputs,
    log: LogInputs,
    predictor: Predictor | None = None,
    rest: RestingTorque | None = None,
) -> VerdictInputs:
    """Collect what the verdict on a fit depends on.

    Parameters
    ----------
    validation : the fit on its own samples
    expected, cross_validation : expected errors of the fit, and of parts of its samples
    noise_floor : share of the torque that is noise, where the motion repeats
    uncertainty : of the base parameters
    units, rated : of the torque of each joint, and effort limits by name [N m|N]
    region : the states that the samples cover
    masses, log : the links of the fit, and its log
    predictor : what predicts torques, and held-out errors of the candidates
    rest : errors of joints at rest, None where all rows are in use

    Returns
    -------
    VerdictInputs
    """
    return VerdictInputs(
        joints=joint_inputs(validation, expected, units, rated, rest),
        region=region,
        errors=error_inputs(validation, expected, cross_validation, noise_floor, predictor),
        excitation=excitation_inputs(uncertainty),
        masses=masses,
        log=log,
    )


def joint_inputs(
    validation: Validation,
    expected: ExpectedError,
    units: Iterable[str],
    rated: Mapping[str, float],
    rest: RestingTorque | None = None,
) -> tuple[JointInputs, ...]:
    """Collect the inputs of each joint.

    Parameters
    ----------
    validation : the fit on its own samples
    expected : expected errors of the fit
    units : of the torque of each joint
    rated : effort limits by joint name [N m|N]
    rest : errors of joints at rest
    """
    resting = np.full(len(validation.joint_names), np.nan) if rest is None else rest.rms
    squares = np.sum(np.where(validation.keep, validation.measured, 0.0) ** 2, axis=0)
    torque = np.sqrt(squares / np.maximum(validation.keep.sum(axis=0), 1))
    rows = zip(
        validation.joint_names,
        units,
        torque,
        expected.rms,
        expected.rms_anywhere,
        validation.relative_error,
        validation.r2,
        validation.whiteness,
        np.atleast_1d(validation.keep.any(axis=0)),
        resting,
        expected.mean_rms,
        strict=True,
    )
    return tuple(
        JointInputs(
            name=name,
            unit=unit,
            rated=_finite(rated.get(name)),
            torque=float(size),
            expected_inside=float(inside),
            expected_outside=float(outside),
            relative_error=float(relative),
            r2=float(r2),
            whiteness=float(white),
            used=bool(used),
            resting=_finite(at_rest),
            mean_inside=float(mean),
        )
        for name, unit, size, inside, outside, relative, r2, white, used, at_rest, mean in rows
    )


def error_inputs(
    validation: Validation,
    expected: ExpectedError,
    cross_validation: HeldOut,
    noise_floor: float | None,
    predictor: Predictor | None,
) -> ErrorInputs:
    """Collect the relative torque errors of a fit; `validation` is that on its own samples."""
    before = validation.before
    errors = None if predictor is None else predictor.errors
    return ErrorInputs(
        within=expected.within,
        anywhere=expected.anywhere,
        worst_part=cross_validation.worst,
        own=validation.total_relative_error,
        described=None if before is None else before.total_relative_error,
        noise_floor=noise_floor,
        predicted=None if predictor is None else predictor.errors[predictor.name],
        consistent=None if errors is None else errors[CONSISTENT],
        mean=expected.mean,
    )


def rated_torques(robot: Robot) -> dict[str, float]:
    """Return the effort limits of a robot's joints [N m|N], infinite where there are none."""
    limits = zip(robot.joint_names, robot.tree.limits, strict=True)
    return {name: float(limit.effort) for name, limit in limits}


def excitation_inputs(uncertainty: Uncertainty) -> ExcitationInputs:
    """Collect rank and names of the base parameters."""
    rank, n_base = uncertainty.excitation.rank, uncertainty.base.n_base
    return ExcitationInputs(
        int(rank), n_base, tuple(uncertainty.unexcited), tuple(uncertainty.weak)
    )


def mass_inputs(
    robot: Robot,
    initial: Robot,
    known: bool,
    placeholder: bool,
    descriptions_not_used: Iterable[str],
    scale_std: float = 0.0,
) -> MassInputs:
    """Collect the masses of the identified and the described robot, and impossible links.

    Parameters
    ----------
    robot, initial : identified and described robot
    known : whether a mass was given
    placeholder : whether the described inertias are placeholders
    descriptions_not_used : links whose description was not used
    scale_std : relative standard deviation of the torque scale, a fraction
    """
    bodies = robot.tree.bodies
    real = is_consistent(robot.parameters[: 10 * len(bodies)].reshape(-1, 10))
    pairs = zip(bodies, np.atleast_1d(real), strict=True)
    return MassInputs(
        identified=total_mass(robot),
        described=total_mass(initial),
        known=known,
        placeholder=placeholder,
        descriptions_not_used=tuple(descriptions_not_used),
        links=len(bodies),
        impossible=tuple(body.name for body, possible in pairs if not possible),
        scale_std=scale_std,
    )


def files_of(robot: Robot, logs: Iterable[Any]) -> dict[str, Any]:
    """Return the files of a robot and of the first log, for lines to type; '' where unknown."""
    source = robot.mechanism.source
    path = (
        "" if source is None else source.path or (robot.name if source.format == "builtin" else "")
    )
    sources = [str(getattr(log, "source", "") or "") for log in logs]
    return {"robot": path, "log": sources[0] if sources else ""}


def total_mass(robot: Robot) -> float:
    """Return the mass of all moving links [kg]."""
    return float(np.sum(robot.parameters[: 10 * len(robot.tree.bodies) : 10]))


def _finite(value: float | None) -> float | None:
    return None if value is None or not 0 < value < np.inf else float(value)
