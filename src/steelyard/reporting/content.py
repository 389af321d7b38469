"""What the page says, computed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.figure import Figure, running_time
from ..drawing.numbers import percent, short
from ..drawing.table import Table
from . import figures
from .tables import base_table, error_table, full_table, results_of, torque_units

if TYPE_CHECKING:
    from ..identification.result.fit import Fit
    from ..identification.result.validation import Validation
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
    verdict, *reasons = fit.check()
    return Content(
        title=fit.robot.name,
        facts=facts(fit),
        verdict=verdict,
        reasons=tuple(reasons),
        tiles=tiles(fit, validation),
        figures=all_figures(fit, results_of(fit, validation)),
        tables={"errors": error_table(fit, validation), "base": base_table(fit, truth), "all": full_table(fit)},
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
        made.append(f"Record a motion that shows {shown}: sy.excite(robot) or `steelyard excite` designs one within the limits.")
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
    told = {**fit.provenance, "estimator": fit.estimator, "options": fit.options.as_dict()}
    return tuple((str(key).replace("_", " "), _plain(value)) for key, value in told.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(v) for v in value) or "none"
    return str(value)
