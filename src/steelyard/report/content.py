"""What the page says, computed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import figures
from .decimate import running_time
from .drawing import Figure
from .numbers import percent, short
from .result_tables import coverage, error_table, estimate_table, sliding_joints, torque_units, unit
from .tables import Table

if TYPE_CHECKING:
    from ..identify.fit import Fit
    from ..identify.validation import Validation
    from ..robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tile:
    """One headline number."""

    value: str
    unit: str
    label: str


@dataclass(frozen=True)
class Content:
    """Everything that is on the page, in the order in which it is read."""

    title: str
    facts: str
    verdict: str
    reasons: tuple[str, ...]
    tiles: tuple[Tile, ...]
    figures: dict[str, Figure]
    tables: dict[str, Table]
    validated: str
    advice: tuple[str, ...]
    story: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]


def gather(fit: Fit, validation: Validation | None = None, truth: Robot | None = None) -> Content:
    """The content of a report on a fit, with the validation of another log and the true robot where they are known."""
    results = [(label, r) for label, r in (("before", fit.before), ("after", fit), ("validation", validation)) if r is not None]
    verdict, *reasons = fit.check()
    errors = error_table(fit.robot.joint_names, results, torque_units(fit.robot))
    return Content(
        title=fit.robot.name,
        facts=facts(fit),
        verdict=verdict,
        reasons=tuple(reasons),
        tiles=tiles(fit, validation),
        figures=all_figures(fit, results),
        tables={"errors": errors, "base": base_table(fit, truth), "all": full_table(fit)},
        validated=validated(fit, validation),
        advice=advice(fit, validation),
        story=tuple(fit.status),
        provenance=provenance(fit),
    )


def facts(fit: Fit) -> str:
    """What the fit was made from, in one line."""
    time = running_time(fit.t)
    rate = 1 / float(np.median(np.diff(time))) if len(time) > 1 else float("nan")
    count = f"{len(time):,}".replace(",", "\u202f")
    return f"{fit.robot.n} joints · {count} samples · {time[-1] - time[0]:.3g} s at {rate:.4g} Hz · estimator {fit.estimator}"


def tiles(fit: Fit, validation: Validation | None) -> tuple[Tile, ...]:
    """The numbers that one looks for first."""
    made = [Tile(percent(fit.total_relative_error, 2), "%", "relative error of the identified model")]
    if fit.before is not None:
        made.append(Tile(percent(fit.before.total_relative_error, 1), "%", "relative error before"))
    if validation is not None:
        made.append(Tile(percent(validation.total_relative_error, 2), "%", "on a motion it has not seen"))
    made.append(Tile(f"{fit.rank}", f"of {fit.base.n_base}", "base parameters seen"))
    return (*made, Tile(short(float(fit.condition)), "", "condition of the regressor"))


def all_figures(fit: Fit, results: list[tuple[str, Any]]) -> dict[str, Figure]:
    """Every figure by its name."""
    names = fit.robot.joint_names
    dt = float(np.median(np.diff(running_time(fit.t)))) if len(fit.t) > 1 else 1.0
    left = np.where(fit.validation.keep, fit.measured - fit.predicted, np.nan)
    before = None if fit.before is None else fit.before.predicted
    made = [
        figures.torques(fit.t, fit.measured, fit.predicted, left, before, names, torque_units(fit.robot)),
        figures.residuals(left, names, dt),
        figures.errors(names, [(label, np.asarray(r.relative_error)) for label, r in results]),
        figures.singular_values(np.asarray(fit.singular_values), fit.rank),
        figures.uncertainty(np.nan_to_num(fit.base_relative_std, nan=np.inf), fit.base.names),
    ]
    return {figure.name: figure for figure in made}


def base_table(fit: Fit, truth: Robot | None = None) -> Table:
    """The base parameters with what they are made of; beside the true ones where those are known."""
    value, sigma = fit.base_values, fit.base_standard_deviation
    columns = [("before", fit.base.values(aligned(fit.initial, fit.parameter_names)))]
    note = "Only these combinations act on the torques. σ allows for the memory of the residuals; faint rows are hardly seen."
    if truth is not None:
        true = fit.base.values(aligned(truth, fit.parameter_names))
        columns = [("true", true), ("off by", np.round((value - true) / np.where(sigma > 0, sigma, np.nan), 1)), *columns]
        note += f" Off by: error against the truth in σ; {coverage(value, sigma, true)}"
    combinations = [text.replace("*", "·").replace(" - ", " − ").replace("-", "−") for text in fit.base.expressions]
    units = [unit(name, sliding_joints(fit.robot)) for name in fit.base.names]
    return estimate_table("Base parameters", fit.base.names, units, value, sigma, columns, [("combination", combinations)], note)


def full_table(fit: Fit) -> Table:
    """Every parameter of the model that goes out."""
    names = fit.parameter_names
    units = [unit(name, sliding_joints(fit.robot)) for name in names]
    before = [("before", aligned(fit.initial, names))]
    note = "As they stand in the exported model. The faint ones act only together with others: no motion can tell them by themselves."
    return estimate_table("All parameters", names, units, fit.parameters, fit.standard_deviation, before, (), note)


def aligned(robot: Robot, names: tuple[str, ...]) -> Array:
    """A robot's parameters in another order of names; zero for terms that it does not have."""
    own = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    return np.array([own.get(name, 0.0) for name in names])


def validated(fit: Fit, validation: Validation | None) -> str:
    """How the model does on another motion, in a sentence."""
    if validation is None:
        return "No other motion was given: how the model does on one is not known."
    sense = "clearly worse than" if carries_badly(fit, validation) else "about as well as"
    held = percent(validation.total_relative_error, 2)
    return f"On a motion that took no part in the identification the model leaves {held} % of the torque unexplained: {sense} on its own."


def carries_badly(fit: Fit, validation: Validation) -> bool:
    """Whether the error on another motion is clearly above that on the fit's own."""
    return validation.total_relative_error > 1.5 * fit.total_relative_error + 0.01


def advice(fit: Fit, validation: Validation | None) -> tuple[str, ...]:
    """What to do next."""
    made = []
    if fit.unseen:
        shown = ", ".join(fit.unseen[:8]) + (f" and {len(fit.unseen) - 8} more" if len(fit.unseen) > 8 else "")
        made.append(f"Record a motion that shows {shown}: sy.excite(robot) designs one within the robot's limits.")
    worst = int(np.argmax(fit.relative_error))
    if fit.relative_error[worst] > 0.2:
        name = fit.robot.joint_names[worst]
        made.append(f"Look at {name}, whose torque is explained worst: is its friction, gear ratio or torque constant what the model says?")
    if validation is None:
        made.append("Validate on a log of another motion before the model is used: fit.validate(log) or `steelyard validate`.")
    elif carries_badly(fit, validation):
        made.append(
            "The model does not carry over to the other motion: record longer, wider or faster ones, and identify from several logs."
        )
    return (*made, "Use it: fit.robot computes torques, fit.robot.to_urdf(path) writes the numbers into your own file.")


def provenance(fit: Fit) -> tuple[tuple[str, str], ...]:
    """Versions, digests and options, as text."""
    told = {**(fit.provenance or {}), "estimator": fit.estimator, "options": fit.options}
    return tuple((str(key).replace("_", " "), _plain(value)) for key, value in told.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(v) for v in value) or "none"
    return str(value)
