"""The report: one HTML file that needs no network. What the page says is computed first, then drawn."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import instance
from ..drawing.figure import Figure, running_time
from ..drawing.numbers import percent, short
from ..drawing.table import Table
from ..drawing.visible import visible, visible_parts
from ..errors import needs_extra
from ..files import check_file, write_whole
from ..identification import Fit, Validation, Verdict
from ..robot import Robot
from ..signals.log import Log
from ..version import __version__
from . import figures
from .tables import base_table, cause_table, combinations, error_table, full_table, region_table, results_of


def report(
    fit: Fit,
    path: str | os.PathLike[str],
    validation: Validation | Log | None = None,
    true_robot: Robot | None = None,
    overwrite: bool = False,
    *,
    truth: Robot | None = None,
) -> Path:
    """Write an identification into one offline HTML file, and return its path.

    `validation` is another log, or fit.validate(log) of it; `true_robot` is the robot that was simulated, if the log is simulated.
    Verdict, measured and predicted torque [N m|N], residuals, base parameters with two standard deviations, errors before and after,
    singular values, advice, provenance. An existing file is replaced only with `overwrite`.
    """
    if truth is not None:
        warnings.warn("report(truth=...) is now report(true_robot=...)", DeprecationWarning, stacklevel=2)
        true_robot = true_robot or truth
    instance("report: fit", fit, Fit, "sy.identify returns one")
    if validation is not None:
        instance("report: validation", validation, (Validation, Log))
    if true_robot is not None:
        instance("report: true_robot", true_robot, Robot)
    check_file(path, overwrite)
    checked = fit.validate(validation) if isinstance(validation, Log) else validation
    return write_whole(path, render(gather(fit, checked, true_robot)), overwrite)


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
    word: str
    verdict: str
    reasons: tuple[str, ...]
    tiles: tuple[Tile, ...]
    figures: dict[str, Figure]
    tables: dict[str, Table]
    validated: str
    advice: tuple[str, ...]
    story: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]


def gather(fit: Fit, validation: Validation | None = None, true_robot: Robot | None = None) -> Content:
    """Return the content of a report on a fit, with the validation on another log and the true robot if they are known."""
    verdict = fit.verdict if validation is None else fit.judged(validation)
    return Content(
        title=fit.robot.name,
        facts=facts(fit),
        word=verdict.word,
        verdict=str(verdict),
        reasons=verdict.reasons,
        tiles=tiles(fit, verdict, validation),
        figures=all_figures(fit, validation),
        tables=all_tables(fit, validation, true_robot),
        validated=validated(fit, validation),
        advice=advice(fit, validation),
        story=tuple(fit.status),
        provenance=provenance(fit),
    )


def facts(fit: Fit) -> str:
    """Robot, samples and estimator, in one line."""
    time = running_time(fit.t)
    rate = 1 / float(np.median(np.diff(time))) if len(time) > 1 else float("nan")
    count = f"{len(time):,}".replace(",", "\u202f")
    return f"{fit.robot.n} joints · {count} samples · {time[-1] - time[0]:.3g} s at {rate:.4g} Hz · estimator {fit.estimator}"


def all_tables(fit: Fit, validation: Validation | None, true_robot: Robot | None) -> dict[str, Table]:
    """Every table by its name."""
    tables = {"region": region_table(fit.region), "errors": error_table(fit, validation), "causes": cause_table(fit)}
    tables |= {} if fit.elasticity is None else {"elastic": fit.elasticity.table()}
    return tables | {"links": fit.links.table(), "base": base_table(fit, true_robot), "all": full_table(fit)}


def tiles(fit: Fit, verdict: Verdict, validation: Validation | None) -> tuple[Tile, ...]:
    """Headline numbers."""
    made = [] if verdict.word == "refused" else [Tile(percent(verdict.error, 1), "%", "error to expect on unseen motion of the region")]
    made.append(Tile(percent(fit.total_relative_error, 2), "%", "relative error of the identified model"))
    if fit.before is not None:
        made.append(Tile(percent(fit.before.total_relative_error, 1), "%", "relative error before"))
    if validation is not None:
        made.append(Tile(percent(validation.total_relative_error, 2), "%", "on a motion it has not seen"))
    made.append(Tile(f"{fit.rank}", f"of {fit.base.n_base}", "base parameters seen"))
    return (*made, Tile(short(float(fit.condition)), "", "condition of the regressor"))


def all_figures(fit: Fit, validation: Validation | None) -> dict[str, Figure]:
    """Every figure by its name."""
    names, units = fit.model.row_names, fit.model.row_units
    dt = float(np.median(np.diff(running_time(fit.t)))) if len(fit.t) > 1 else 1.0
    left = np.where(fit.validation.keep, fit.measured - fit.predicted, np.nan)
    made = [
        figures.torques(fit.validation, units),
        figures.residuals(left, names, dt),
        figures.errors(names, [(label, np.asarray(r.relative_error)) for label, r in results_of(fit, validation)]),
        figures.singular_values(np.asarray(fit.singular_values), fit.rank),
        figures.uncertainty(np.nan_to_num(fit.base_relative_std, nan=np.inf), fit.base.names, combinations(fit)),
    ]
    made += [] if validation is None else [figures.torques(validation, units, "validation")]
    return {figure.name: figure for figure in made}


def validated(fit: Fit, validation: Validation | None) -> str:
    """The error on another motion, in a sentence."""
    if validation is None:
        return "No other motion was given: the error on one is not known."
    sense = "clearly worse than" if carries_badly(fit, validation) else "about as well as"
    error = percent(validation.total_relative_error, 2)
    told = f"On a motion that took no part in the identification the model leaves {error} % of the torque unexplained: {sense} on its own."
    if validation.inside is None or validation.inside.all():
        return told
    return f"{told} {percent(1 - float(np.mean(validation.inside)), 0)} % of its states are outside the region."


def carries_badly(fit: Fit, validation: Validation) -> bool:
    """Whether the error on another motion is clearly above that on the fit's own."""
    return validation.total_relative_error > 1.5 * fit.total_relative_error + 0.01


def advice(fit: Fit, validation: Validation | None) -> tuple[str, ...]:
    """Sentences on what to do next."""
    made = []
    if fit.unseen:
        shown = ", ".join(fit.unseen[:8]) + (f" and {len(fit.unseen) - 8} more" if len(fit.unseen) > 8 else "")
        made.append(f"Record a motion that shows {shown}: sy.excite(robot) or `steelyard excite` designs one within the limits.")
    worst = int(np.argmax(np.nan_to_num(fit.relative_error)))
    if fit.relative_error[worst] > 0.2:
        name = fit.model.row_names[worst]
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
    facts = {**fit.provenance, "estimator": fit.estimator, "options": fit.options.as_dict()}
    return tuple((str(key).replace("_", " "), _plain(value)) for key, value in facts.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(v) for v in value) or "none"
    return str(value)


def render(content: Content) -> str:
    """Return the page as text."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise needs_extra("jinja2", "report", "writing a report") from None
    shown = {"autoescape": True, "finalize": lambda value: visible(value) if type(value) is str else value}
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **shown)
    environment.filters["figure"] = figure_json
    style = _part("style.css")
    template = environment.from_string(_part("report.html"))
    return template.render(content=content, style=style, script=_part("charts.js"), library=plotting_library(), version=__version__)


def figure_json(figure: Figure) -> str:
    """A figure as JSON that is safe inside a script element."""
    parts = visible_parts({"data": figure.traces, "layout": figure.layout | {"height": figure.height}})
    text = json.dumps(parts, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def plotting_library() -> str:
    """The JavaScript of the installed plotly, to be put into the page as it is."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise needs_extra("plotly", "report", "writing a report") from None
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _part(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
