"""What the page says, computed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    tiles: tuple[Tile, ...]
    figures: dict[str, Figure]
    tables: dict[str, Table]
    validated: str = ""
    provenance: tuple[tuple[str, str], ...] = field(default=())


def gather(fit: Any, validation: Any = None, truth: Robot | None = None) -> Content:
    """The content of a report on a fit, with the validation of another log and the true robot where they are known."""
    names, units = fit.robot.joint_names, torque_units(fit.robot)
    results = [(label, r) for label, r in (("before", fit.before), ("after", fit), ("validation", validation)) if r is not None]
    verdict, sentences, advice = verdict_of(fit)
    return Content(
        title=fit.robot.name,
        facts=_facts(fit),
        verdict=verdict,
        sentences=sentences,
        advice=advice,
        tiles=_tiles(fit, validation),
        figures=_figures(fit, results, names, units),
        tables={"errors": error_table(names, results, units), **_parameter_tables(fit, truth)},
        validated=_validated(fit, validation),
        provenance=_provenance(fit),
    )


def verdict_of(fit: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Verdict, further sentences and advice, from what fit.check() says."""
    check = fit.check()
    said = (
        list(check.sentences)
        if hasattr(check, "sentences")
        else str(check).splitlines()
        if isinstance(check, str)
        else [str(x) for x in check]
    )
    said = [line.strip() for line in said if line.strip()] or ["Nothing was found to be wrong."]
    advice = tuple(str(x) for x in getattr(check, "advice", ()))
    return said[0], tuple(said[1:]), advice or _advice(fit)


def _advice(fit: Any) -> tuple[str, ...]:
    """What to do next, where the fit itself gives none."""
    made = []
    if len(fit.unseen):
        shown = ", ".join(map(str, fit.unseen[:8])) + (f" and {len(fit.unseen) - 8} more" if len(fit.unseen) > 8 else "")
        made.append(f"Record a motion that shows {shown}: `steelyard excite` or sy.excite(robot) designs one within the limits.")
    worst = int(np.argmax(fit.relative_error))
    if fit.relative_error[worst] > 0.2:
        name = fit.robot.joint_names[worst]
        made.append(f"Look at {name}, whose torque is explained worst: is its friction, gear ratio or torque constant what the model says?")
    return (*made, "Validate on a log of another motion before the model is used: fit.validate(log) or `steelyard validate`.")


def _facts(fit: Any) -> str:
    time = running_time(np.asarray(fit.t))
    rate = 1 / float(np.median(np.diff(time))) if len(time) > 1 else float("nan")
    length = float(time[-1] - time[0]) if len(time) else 0.0
    return f"{fit.robot.n} joints · {len(time):,} samples · {length:.3g} s at {rate:.4g} Hz · estimator {fit.estimator}".replace(",", " ")


def _tiles(fit: Any, validation: Any) -> tuple[Tile, ...]:
    made = [Tile(percent(fit.total_relative_error, 2), "%", "relative error of the identified model")]
    if fit.before is not None:
        made.append(Tile(percent(fit.before.total_relative_error, 1), "%", "relative error before"))
    if validation is not None:
        made.append(Tile(percent(validation.total_relative_error, 2), "%", "on a motion it has not seen"))
    made.append(Tile(f"{fit.rank}", f"of {fit.base.n_base}", "base parameters seen"))
    made.append(Tile(short(float(fit.condition)), "", "condition of the regressor"))
    return tuple(made)


def _figures(fit: Any, results: list[tuple[str, Any]], names: tuple[str, ...], units: tuple[str, ...]) -> dict[str, Figure]:
    t = np.asarray(fit.t, dtype=float)
    dt = float(np.median(np.diff(running_time(t)))) if len(t) > 1 else 1.0
    before = getattr(fit.before, "predicted", None)
    before = before if before is not None and np.shape(before) == np.shape(fit.predicted) else None
    made = [figures.torques(t, fit.measured, fit.predicted, before, names, units), figures.residuals(np.asarray(fit.residuals), names, dt)]
    made += [figures.errors(names, [(label, np.asarray(r.relative_error)) for label, r in results])]
    made += [figures.singular_values(np.asarray(fit.singular_values), fit.rank)]
    _, sigma = base_uncertainty(fit)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.nan_to_num(sigma / np.abs(fit.base_values), nan=np.inf)
    return {figure.name: figure for figure in [*made, figures.uncertainty(relative, fit.base.names)]}


def base_uncertainty(fit: Any) -> tuple[Array, Array]:
    """Base values and their standard deviations, (b,) each, whether the covariance is that of the base or of all parameters."""
    C, B = np.asarray(fit.covariance), fit.base.matrix
    C = C if C.shape[0] == fit.base.n_base else B @ C @ B.T
    return np.asarray(fit.base_values), np.sqrt(np.maximum(np.diag(C), 0.0))


def _parameter_tables(fit: Any, truth: Robot | None) -> dict[str, Table]:
    sliding = sliding_joints(fit.robot)
    value, sigma = base_uncertainty(fit)
    units = [unit(name, sliding) for name in fit.base.names]
    initial = getattr(fit, "initial", None)
    before = [] if initial is None else [("before", fit.base.values(initial))]
    note = "Only these combinations act on the torques. σ takes the memory of the residuals into account; faint rows are hardly seen."
    if truth is not None:
        true = fit.base.values(aligned(truth, fit.parameter_names))
        before = [("true", true), ("off by", np.round((value - true) / np.where(sigma > 0, sigma, np.nan), 1)), *before]
        note += f" Off by: error against the truth in σ; {coverage(value, sigma, true)}"
    combinations = [text.replace("*", "·").replace(" - ", " − ").replace("-", "−") for text in fit.base.expressions]
    made = {"base": estimate_table("Base parameters", fit.base.names, units, value, sigma, before, [("combination", combinations)], note)}
    std = np.asarray(fit.standard_deviation)
    others = [] if initial is None else [("before", np.asarray(initial))]
    all_units = [unit(name, sliding) for name in fit.parameter_names]
    all_sigma = std if std.shape == np.shape(fit.parameters) else None
    note = (
        "As they stand in the exported model. Parameters that act only in combinations carry the uncertainty of what the data leave open."
    )
    made["all"] = estimate_table("All parameters", fit.parameter_names, all_units, np.asarray(fit.parameters), all_sigma, others, (), note)
    return made


def aligned(robot: Robot, names: tuple[str, ...]) -> Array:
    """A robot's parameters in another order of names; zero for terms that it does not have."""
    own = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    return np.array([own.get(name, 0.0) for name in names])


def _validated(fit: Any, validation: Any) -> str:
    if validation is None:
        return "No other motion was given: how the model does on one is not known."
    held, seen = validation.total_relative_error, fit.total_relative_error
    sense = "about as well as the motion it was made from" if held < 1.5 * seen + 0.01 else "clearly worse than the motion it was made from"
    return f"On a motion that took no part in the identification the model leaves {percent(held, 2)} % of the torque unexplained: {sense}."


def _provenance(fit: Any) -> tuple[tuple[str, str], ...]:
    told = dict(getattr(fit, "provenance", None) or {})
    options = getattr(fit, "options", None)
    if options is not None and "options" not in told:
        told["options"] = options
    told.setdefault("robot", fit.robot.fingerprint)
    return tuple((str(key).replace("_", " "), _plain(value)) for key, value in told.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(v) for v in value) or "none"
    return str(value)
