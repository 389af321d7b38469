"""A fit in fit.json, and back: robot, model, uncertainty and preparation, without the samples."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import CallError, ModelError, translate_errors
from ....mechanism.formats.toml.read_toml import read_toml
from ....mechanism.formats.toml.write_toml import toml
from ....resource_limits import read_regular
from ....robot import Robot
from ...estimators.least_squares import Estimate, Estimator
from ...friction.residual_split import CAUSES, ResidualSplit
from ...model.linear_model import Model
from ...model.model_options import ModelOptions
from ...model.problem import Problem
from ...nuisance.drive_gains import DriveGains
from ...observations.joint_torques import JOINT_TORQUES
from ...options import Options
from ...residual.learned import LearnedResidual
from ...samples.preparation import Preparation
from ...selection.choose_predictor import Predictor
from ..expected_error import RestingTorque
from ..links import LinkEstimates
from ..pipeline import SamplePipeline
from ..prediction import Region
from ..result_thresholds import THRESHOLDS
from ..state_coverage import CoveredStates
from ..torque_noise import TorqueNoise
from ..uncertainty import Uncertainty
from ..validation import Validation
from ..verdict import VerdictInputs

Array = NDArray[np.float64]
OF_SAMPLES = ("smoothing", "cutoff", "decimate", "mask", "period")
OF_MODEL = ("rotor", "drive_gains", "known_mass", "torque_scale_std", "gear_ratio", "residual")


@dataclass(frozen=True)
class SavedEstimator(Estimator):
    """The name of the estimator of a fit that was loaded from a file."""

    saved_name: str

    @property
    def name(self) -> str:
        """The estimator's name."""
        return self.saved_name

    def fit(self, problem: Problem) -> Estimate:
        """Raise CallError: a file has no options of an estimator."""
        raise CallError(
            f"the estimator {self.name!r} of a loaded fit has a name only; give identify an"
            " estimator by name"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SavedValidation(Validation):
    """Errors of a fit on its own samples as a file has them; without the samples."""

    errors_of_joints: Mapping[str, Array] | None = None
    relative_of_all: float = np.nan

    @property
    def unused(self) -> tuple[str, ...]:
        """Joints without a row in use: those without an error."""
        return tuple(
            name for name, x in zip(self.joint_names, self.rms, strict=True) if np.isnan(x)
        )

    def _error(self, name: str) -> Array:
        assert self.errors_of_joints is not None
        return self.errors_of_joints[name]

    @property
    def rms(self) -> Array:
        """Root mean square residual per joint, (n,) [N m|N]."""
        return self._error("rms")

    @property
    def relative_error(self) -> Array:
        """|e_j| / |tau_j|, (n,)."""
        return self._error("relative_error")

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over all joints stacked."""
        return self.relative_of_all

    @property
    def r2(self) -> Array:
        """Share of each joint's torque variance that is explained, (n,)."""
        return self._error("r2")

    @property
    def whiteness(self) -> Array:
        """Correlation of each residual with the next one, (n,)."""
        return self._error("whiteness")


def model_data(fit: Any) -> dict[str, Any] | None:
    """Return what `load_fit` needs beside the other content of fit.json.

    None for a fit that a file cannot hold: of other rows than joint torques, with a known torque
    that is a Python function, or of a robot that TOML does not describe.
    """
    model: Model = fit.model
    if model.observation is not JOINT_TORQUES or model.known is not None:
        return None
    try:
        texts = {"robot": toml(model.robot.mechanism), "initial": toml(fit.initial.mechanism)}
    except ModelError:
        return None
    known: Uncertainty = fit.uncertainty
    names: tuple[str, ...] = ("covariance", "sigma", "information", "sizes", "errors", "share")
    names += ("parameters", "parameter_share", "scale_std")
    path: CoveredStates = fit.pipeline.path
    return {
        **texts,
        "held": [[model.names[i], value] for i, value in model.held],
        "moving": model.moving,
        "weights": fit.estimate.weights,
        "uncertainty": {name: getattr(known, name) for name in names},
        "noise": {name: getattr(known.noise, name) for name in ("frequencies", "sigma", "taken")},
        "interval": fit.interval,
        "path": {
            "scale": path.scale,
            "points": np.round(path.points, THRESHOLDS.saved_path_digits),
            "joined": path.joined,
        },
        "whiteness": fit.validation.whiteness,
        "scale_std": fit.pipeline.gains.scale_std,
        "noise_floor": fit.residual_split.floor,
        "presliding_std": fit.pipeline.presliding_std,
        "predictor": None if fit.predictor is None else fit.predictor.to_dict(),
        "learned": None if fit.pipeline.learned is None else fit.pipeline.learned.to_dict(),
        "rest": None if fit.pipeline.rest is None else fit.pipeline.rest.to_dict(),
    }


def load_fit(path: str | os.PathLike[str], fit_type: Any) -> Any:
    """Return the fit of a fit.json, or of a folder with one, see `Fit.load`."""
    file = Path(path)
    file = file / "fit.json" if file.is_dir() else file
    data = read_regular(file, "text", ModelError)
    wrong = f"{file} is not a fit.json written by `steelyard identify` or Fit.to_json"
    with translate_errors(wrong, ModelError):
        content = dict(json.loads(data))
        saved = content["model"] if "verdict_inputs" in content else {}
    if not saved:
        raise ModelError(
            f"{file} has no model to load: it is of an earlier version, of base wrenches or closed"
            " loops, or has a known torque that is a Python function; load the robot beside it"
        )
    with translate_errors(wrong, ModelError):
        fit = saved_fit(content, saved, fit_type)
        fit.__dict__["links"] = saved_links(content, fit.uncertainty.parameters is not None)
        return fit


def saved_fit(content: Mapping[str, Any], saved: Mapping[str, Any], fit_type: Any) -> Any:
    """Return the Fit, of type `fit_type`, of the content of fit.json and its part `model`."""
    robot, initial = (Robot(read_toml(saved[key], warn=False)) for key in ("robot", "initial"))
    parameters = array_of([row["value"] for row in content["parameters"]])
    if tuple(row["name"] for row in content["parameters"]) != robot.parameter_names:
        raise ValueError("its robot has other parameters")
    index = {name: i for i, name in enumerate(robot.parameter_names)}
    model = Model(
        robot=robot,
        held=tuple((index[name], float(value)) for name, value in saved["held"]),
        moving=bool(saved["moving"]),
    )
    if model.reads_load:
        model = model.with_load(parameters)
    base = array_of([row["value"] for row in content["base_parameters"]])
    if tuple(row["name"] for row in content["base_parameters"]) != tuple(model.base.names):
        raise ValueError("its robot has other base parameters")
    return fit_type(
        robot=model.identified(parameters),
        initial=initial,
        model=model,
        estimate=Estimate(
            base=base,
            weights=array_of(saved["weights"]),
            notes=tuple(content["status"]),
            details=dict(content["details"]),
            parameters=parameters,
        ),
        uncertainty=saved_uncertainty(saved, model, base, parameters),
        validation=saved_validation(content, saved),
        pipeline=saved_pipeline(content, saved),
        options=saved_options(content),
        provenance=dict(content["provenance"]),
        verdict_inputs=VerdictInputs.from_dict(content["verdict_inputs"]),
    )


def saved_uncertainty(
    saved: Mapping[str, Any], model: Model, base: Array, parameters: Array
) -> Uncertainty:
    """Return the uncertainty in the part `model` of fit.json."""
    known, noise = saved["uncertainty"], saved["noise"]
    whole, share = known["parameters"], known["parameter_share"]
    taken = noise["taken"]
    return Uncertainty(
        base=model.base,
        values=base,
        noise=TorqueNoise(
            frequencies=array_of(noise["frequencies"]),
            sigma=array_of(noise["sigma"]),
            taken=array_of(taken) if isinstance(taken, list) else float(taken),
        ),
        covariance=array_of(known["covariance"]),
        sigma=array_of(known["sigma"]),
        information=array_of(known["information"]),
        sizes=array_of(known["sizes"]),
        errors=array_of(known["errors"]),
        share=array_of(known["share"]),
        parameters=None if whole is None else array_of(whole),
        parameter_share=None if share is None else array_of(share),
        scale_std=float(known["scale_std"]),
        scaled=parameters,
    )


def saved_validation(content: Mapping[str, Any], saved: Mapping[str, Any]) -> SavedValidation:
    """Return the errors on the fit's own samples, beside the described robot."""
    joints, n = content["joints"], len(content["joints"])
    names = ("rms", "relative_error", "r2")
    errors = {name: array_of([row[name] for row in joints]) for name in names}
    errors["whiteness"] = array_of(saved["whiteness"])
    nothing = np.zeros((0, n))
    return SavedValidation(
        t=np.zeros(0),
        predicted=nothing,
        measured=nothing,
        keep=np.zeros((0, n), bool),
        joint_names=tuple(str(row["name"]) for row in joints),
        errors_of_joints=errors,
        relative_of_all=float(content["total_relative_error"]),
    )


def saved_links(content: Mapping[str, Any], described: bool) -> LinkEstimates:
    """Return mass and centre of mass of each link; `described` if a description was used."""
    links = content["links"]
    mass_std, com_std = (
        array_of([row[key] for row in links])
        for key in ("mass_standard_deviation", "com_standard_deviation")
    )
    return LinkEstimates(
        names=tuple(str(row["name"]) for row in links),
        mass=array_of([row["mass"] for row in links]),
        mass_std=np.where(np.isnan(mass_std), np.inf, mass_std),
        com=array_of([row["com"] for row in links]),
        com_std=np.where(np.isnan(com_std), np.inf, com_std),
        described=described,
    )


def saved_pipeline(content: Mapping[str, Any], saved: Mapping[str, Any]) -> SamplePipeline:
    """Return what was done to the samples."""
    delay = array_of([row["delay"] for row in content["joints"]])
    std = array_of(content["drive_gain_std"])
    shares = [
        [row[cause.replace(" ", "_")] for cause in CAUSES] for row in content["residual_split"]
    ]
    path, learned = saved["path"], saved.get("learned")
    return SamplePipeline(
        preparation=saved_options(content).preparation,
        delay=delay,
        gains=DriveGains(
            values=array_of(content["drive_gains"]),
            std=np.where(np.isnan(std), np.inf, std),
            scale_std=float(saved["scale_std"]),
        ),
        interval=float(saved["interval"]),
        region=Region.from_dict(content["region"]),
        path=CoveredStates(
            array_of(path["scale"]), array_of(path["points"]), np.array(path["joined"], bool)
        ),
        drift=array_of(content["drift"]),
        friction_terms=tuple((row["joint"], row["term"]) for row in content["friction_terms"]),
        residual_split=ResidualSplit(
            tuple(str(row["name"]) for row in content["residual_split"]),
            array_of(shares),
            saved["noise_floor"],
        ),
        presliding_std=optional_numbers(saved["presliding_std"]),
        predictor=None if saved["predictor"] is None else Predictor.from_dict(saved["predictor"]),
        learned=None if learned is None else LearnedResidual.from_dict(learned),
        rest=None if saved["rest"] is None else RestingTorque.from_dict(saved["rest"]),
    )


def saved_options(content: Mapping[str, Any]) -> Options:
    """Return the options that validations and predictions of a loaded fit use."""
    options = content["options"]
    delay = {str(row["name"]): float(row["delay"]) for row in content["joints"]}
    return Options(
        preparation=Preparation(**{name: options[name] for name in OF_SAMPLES}, delay=delay),
        model=ModelOptions(**{name: options[name] for name in OF_MODEL if name in options}),
        estimator=SavedEstimator(str(content["estimator"])),
    )


def optional_numbers(values: Any) -> Array | None:
    """Return numbers as an array, None for None."""
    return None if values is None else array_of(values)


def array_of(values: Any) -> Array:
    """Return numbers as an array, NaN for None."""
    return np.array(values, dtype=float)
