"""The result folder of an identification: identified robot, fit.json and report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, require_package, translate_errors
from ..files import whole_folder
from ..identification import Fit, Preparation, Validation, Verdict
from ..identification.result.verdict import ValidationErrors, VerdictInputs, rules
from ..resource_limits import read_regular
from ..robot import Robot, load

ROBOTS = ("identified.urdf", "identified.toml", "refused.urdf", "refused.toml")


def require_report() -> None:
    """Raise MissingExtra if the packages that a report needs are absent.

    Before long work, not after it.
    """
    for package in ("jinja2", "plotly"):
        require_package(package, "report", "writing report.html (--no-report leaves it out)")


def write_results(
    path: Path, fit: Fit, validation: Validation | None = None, true_robot: Robot | None = None, *,
    page: bool = True, overwrite: bool = False, more: Callable[[Path], None] | None = None,
    whole: Robot | None = None,
) -> None:  # fmt: skip
    """Write a folder, whole or not at all.

    Identified.urdf (.toml if the robot is not from a URDF), fit.json and report.html.

    The robot of a refused fit is called refused.urdf (.toml), so that it is not mistaken for an
    identified one. With a known torque that is a Python function, which no file can hold, it is
    called incomplete.urdf (.toml). Without `page` there is no report; `more` writes further files
    into the folder. Where the fit is of a robot with joints held, `whole` is the robot in which
    they move: that is written, with what was found.
    """
    source = fit.initial.mechanism.source
    identified = fit.robot.without_known_function()
    robot = identified if whole is None else identified.thaw(whole)
    verdict = fit.verdict if validation is None else fit.judged(validation)
    name = "incomplete" if fit.robot.known_function is not None else robot_name(verdict.word)
    with whole_folder(path, overwrite) as folder:
        if source is not None and source.format == "urdf":
            robot.to_urdf(folder / f"{name}.urdf")
        else:
            robot.to_toml(folder / f"{name}.toml")
        fit.to_json(folder / "fit.json", validation=validation)
        if page:
            from .page import report

            report(fit, folder / "report.html", validation, true_robot)
        if more is not None:
            more(folder)


def robot_name(word: str) -> str:
    """Return the stem of the file of an identified robot after a verdict."""
    return "refused" if word == "refused" else "identified"


def identified_robot(name: str, load_robot: Callable[[str], Robot] = load) -> Robot:
    """Load a robot by name or file; for a fit.json or its folder, the identified robot."""
    fit = fit_file(name)
    if fit is None:
        return load_robot(name)
    described = next((fit.parent / file for file in ROBOTS if (fit.parent / file).exists()), None)
    if described is None:
        raise ModelError(
            f"{fit}: expected the identified robot beside it, {', '.join(ROBOTS[:-1])} or"
            f" {ROBOTS[-1]}"
        )
    widths = coulomb_widths(fit)
    robot = load_robot(str(described))
    smooth = {
        joint: width for joint, width in widths.items() if width > 0 and joint in robot.joint_names
    }
    return robot.with_friction(width=smooth) if smooth else robot


def held_joints(name: str) -> dict[str, float]:
    """Return the fixed joints of a fit.json or its folder, with positions [rad|m]."""
    fit = fit_file(name)
    if fit is None:
        return {}
    with translate_errors(
        f"{fit} is not a fit.json written by `steelyard identify`; 'held' is not joint -> position",
        ModelError,
    ):
        return {
            str(joint): float(position)
            for joint, position in fit_content(fit).get("provenance", {}).get("held", {}).items()
        }


def fit_file(name: str) -> Path | None:
    """Return the fit.json that a name means, itself or the folder of one.

    None for any other robot.
    """
    path = Path(name)
    if path.suffix == ".json":
        return path
    return path / "fit.json" if path.is_dir() and (path / "fit.json").exists() else None


@dataclass(frozen=True, eq=False)
class SavedDecision:
    """What a fit.json keeps for a verdict on another log: its inputs, and how samples are prepared.

    `validations` are the errors on logs that were taken into account before, `gains` (n,) the
    drive gains of the fit; `preparation` has its delays.
    """

    inputs: VerdictInputs
    validations: tuple[ValidationErrors, ...]
    preparation: Preparation
    gains: NDArray[np.float64]

    def verdict(self, validation: Validation) -> Verdict:
        """Return the verdict on the fit with a validation on another log taken into account.

        A log that was taken into account before counts once.
        """
        new = validation.errors
        earlier = [each for each in self.validations if not each.is_of_same_log(new)]
        return rules.decide(self.inputs, (*earlier, new))


def saved_decision(name: str, robot: Robot) -> SavedDecision | None:
    """Return what a fit.json, or a folder with one, keeps for a verdict on another log.

    None for other robots, for files of earlier versions, and for a fit of other rows than the
    torques of the joints, such as the wrench of the base.
    """
    fit = fit_file(name)
    if fit is None:
        return None
    content = fit_content(fit)
    with translate_errors(f"{fit} is not a fit.json written by `steelyard identify`", ModelError):
        if "verdict_inputs" not in content:
            return None
        inputs = VerdictInputs.from_dict(content["verdict_inputs"])
        names = tuple(joint.name for joint in inputs.joints)
        if names != robot.joint_names or inputs.region.joint_names != names:
            return None
        saved = content["verdict"].get("validations", [])
        validations = tuple(ValidationErrors.from_dict(each, len(names)) for each in saved)
        gains = np.array(content["drive_gains"], float).reshape(len(names))
        return SavedDecision(inputs, validations, saved_preparation(content), gains)


def saved_preparation(content: Mapping[str, Any]) -> Preparation:
    """Return how the samples of a fit were prepared, with the delays that were found."""
    names = ("smoothing", "cutoff", "decimate", "mask", "period")
    options = {name: content["options"][name] for name in names}
    delay = {str(row["name"]): float(row["delay"]) for row in content["joints"]}
    return Preparation(**options, delay=delay)


def coulomb_widths(fit: Path) -> dict[str, float]:
    """Return the width of each joint's Coulomb step [rad/s|m/s] in a fit.json.

    ModelError says what it lacks.
    """
    expected = "a list 'joints', each with a 'name' and a 'coulomb_width'"
    with translate_errors(
        f"{fit} is not a fit.json written by `steelyard identify`; expected {expected}", ModelError
    ):
        return {
            str(joint["name"]): float(joint["coulomb_width"] or 0.0)
            for joint in fit_content(fit)["joints"]
        }


def fit_content(fit: Path) -> dict[str, Any]:
    """Return what a fit.json says."""
    data = read_regular(fit, "text", ModelError)
    with translate_errors(f"{fit} is not JSON", ModelError):
        return dict(json.loads(data))
