"""A robot, or what an earlier identification left in a folder, held against a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ModelError
from .inputs import load

if TYPE_CHECKING:
    from ..identification.result.validation import Validation
    from ..robot import Robot
    from ..signals.log import Log

NAMES = ("identified.urdf", "identified.toml")


class Candidate(NamedTuple):
    """A robot, and the speeds over which its Coulomb friction rises [rad/s|m/s], where an identification found them."""

    robot: Robot
    widths: tuple[float, ...] = ()


def candidate(name: str) -> Candidate:
    """The robot of a name or file; of a fit.json or its folder, the identified robot beside it."""
    path = Path(name)
    if path.suffix != ".json" and not (path.is_dir() and (path / "fit.json").exists()):
        return Candidate(load(name))
    told = path if path.suffix == ".json" else path / "fit.json"
    robot = next((told.parent / n for n in NAMES if (told.parent / n).exists()), None)
    if robot is None:
        raise ModelError(f"{told}: expected the identified robot beside it, {' or '.join(NAMES)}")
    try:
        joints = json.loads(told.read_text(encoding="utf-8"))["joints"]
        widths = {joint["name"]: float(joint["coulomb_width"] or 0.0) for joint in joints}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{told} is no fit.json as `steelyard identify` writes it: {error!r}") from None
    loaded = load(str(robot))
    return Candidate(loaded, tuple(widths.get(joint, 0.0) for joint in loaded.joint_names))


def hold(model_of: Candidate, log: Log) -> Validation:
    """Predicted against measured torque: smoothed, the torque's delay found, torque and prediction through the same low-pass."""
    from ..identification import validate_robot

    robot, widths = model_of
    smooth = {name: width for name, width in zip(robot.joint_names, widths, strict=True) if width > 0} if widths else {}
    return validate_robot(robot.with_friction(width=smooth) if smooth else robot, log)
