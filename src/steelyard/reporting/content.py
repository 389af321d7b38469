"""What a report says, computed before it is drawn: headline numbers, sentences, tables and figures of an identification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..drawing.figure import MOST, Array, Figure, running_time
from ..drawing.numbers import percent, short
from ..drawing.table import Table
from ..identification import Fit, Validation, Verdict
from ..identification.friction.residual_split import CAUSES
from ..identification.result.prediction import BAND
from ..robot import Robot
from . import estimate_figures, figures, sample_figures
from .tables import base_table, cause_table, combinations, error_table, full_table, region_table, results_of

DRAWN, LEAST = 9_600, 400  # samples of torque that are drawn in all, so that the file stays small, and least of one joint
GHOSTS = 4  # positions of the robot that are drawn faintly
SPEEDS = 100  # points of a friction curve in either direction
COVERAGE = (
    "Positions and speeds that each joint visited. The orange frame has the limits of the description,"
    " the dotted one the region in which the expected error holds."
)
FRICTION = "Torque less that of the rigid bodies, against speed, and the fitted friction. Hover for numbers; drag to zoom."
AGAINST = "What is left over against the {} of the joint itself, and its mean. A mean away from zero is something that the model lacks."


@dataclass(frozen=True)
class Tile:
    """One headline number."""

    value: str
    unit: str
    label: str


@dataclass(frozen=True)
class Grid:
    """Small figures of one kind, one for each joint, with one caption."""

    figures: tuple[Figure, ...]
    caption: str


@dataclass(frozen=True)
class Content:
    """Everything that is on the page, in the order in which it is read."""

    title: str
    facts: str
    word: str
    verdict: str
    reasons: tuple[str, ...]
    tiles: tuple[Tile, ...]
    picture: str
    figures: dict[str, Figure]
    grids: dict[str, Grid]
    tables: dict[str, Table]
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
        picture=picture(fit),
        figures=all_figures(fit, validation),
        grids=all_grids(fit),
        tables={"verdict": verdict.table()} | all_tables(fit, validation, true_robot),
        advice=(verdict.next_step,),
        story=tuple(fit.status),
        provenance=provenance(fit),
    )


def facts(fit: Fit) -> str:
    """Robot, samples and estimator, in one line."""
    time = running_time(fit.t)
    rate = 1 / float(np.median(np.diff(time))) if len(time) > 1 else float("nan")
    count = f"{len(time):,}".replace(",", "\u202f")
    return f"{fit.robot.n} joints · {count} samples · {time[-1] - time[0]:.3g} s at {rate:.4g} Hz · estimator {fit.estimator}"


WORST_LOGS = 20  # of many that are shown


def all_tables(fit: Fit, validation: Validation | None, true_robot: Robot | None) -> dict[str, Table]:
    """Every table by its name."""
    tables = {"region": region_table(fit.region), "errors": error_table(fit, validation), "causes": cause_table(fit)}
    tables |= {} if fit.elasticity is None else {"elastic": fit.elasticity.table()}
    tables |= {} if fit.archive is None else {"logs": fit.archive.table(WORST_LOGS)}
    return tables | {"links": fit.links.table(), "base": base_table(fit, true_robot), "all": full_table(fit)}


def tiles(fit: Fit, verdict: Verdict, validation: Validation | None) -> tuple[Tile, ...]:
    """Headline numbers."""
    made = [] if verdict.word == "refused" else [Tile(percent(verdict.error, 1), "%", "expected error inside the region")]
    made.append(Tile(percent(fit.total_relative_error, 2), "%", "relative error of the identified model"))
    if fit.before is not None:
        made.append(Tile(percent(fit.before.total_relative_error, 1), "%", "relative error before"))
    if validation is not None:
        made.append(Tile(percent(validation.total_relative_error, 2), "%", "relative error on the validation log"))
    made.append(Tile(f"{fit.rank}", f"of {fit.base.n_base}", "base parameters seen"))
    return (*made, Tile(short(float(fit.condition)), "", "condition of the regressor"))


def picture(fit: Fit) -> str:
    """The identified robot as SVG: in the position that is farthest from the first of the log, and faint in others that are far apart."""
    found = fit.validation.states
    if found is None or not len(found[0]):
        return fit.robot.picture()
    q = found[0]
    away = [int(np.argmax(np.linalg.norm(q - q[0], axis=1)))]
    while len(away) < GHOSTS:
        away.append(int(np.argmax(np.min([np.linalg.norm(q - q[k], axis=1) for k in (0, *away)], axis=0))))
    return fit.robot.picture(q[[0, *away[::-1]]])


def all_figures(fit: Fit, validation: Validation | None) -> dict[str, Figure]:
    """Every figure by its name."""
    names, units, left = fit.model.row_names, fit.model.row_units, left_over(fit)
    dt = float(np.median(np.diff(running_time(fit.t)))) if len(fit.t) > 1 else 1.0
    most = int(np.clip(DRAWN // (len(names) * (1 if validation is None else 2)), LEAST, MOST))
    spread, links, split = BAND * fit.sigma, fit.links, fit.residual_split
    described = np.array([body.inertia.m for body in fit.initial.tree.bodies])
    made = [
        estimate_figures.masses(links.names, links.mass, links.mass_std, described),
        estimate_figures.budget(names, units, CAUSES, split.shares, fit.rms, fit.relative_error),
        figures.torques(fit.validation, units, spread=spread, most=most),
        figures.residuals(left, names, dt),
        figures.errors(names, [(label, np.asarray(r.relative_error)) for label, r in results_of(fit, validation)]),
        sample_figures.spectra(names, units, fit.t, left),
        figures.singular_values(np.asarray(fit.singular_values), fit.rank),
        figures.uncertainty(np.nan_to_num(fit.base_relative_std, nan=np.inf), fit.base.names, combinations(fit)),
        estimate_figures.correlations(fit.base.names, fit.covariance),
    ]
    made += [] if validation is None else [figures.torques(validation, units, "validation", spread, most)]
    return {figure.name: figure for figure in made}


def left_over(fit: Fit) -> Array:
    """Measured minus predicted torque (N, n) [N m|N], NaN in rows that are not in use."""
    return np.where(fit.validation.keep, fit.measured - fit.predicted, np.nan)


def all_grids(fit: Fit) -> dict[str, Grid]:
    """The figures of single joints: where the motion has been, friction, what is left over against speed and position."""
    found, names = fit.validation.states, fit.model.row_names
    if found is None:
        return {}
    q, qd, _ = found
    made = {"coverage": Grid(coverages(fit, q, qd), COVERAGE)}
    own = [(k, fit.robot.joint_names.index(name)) for k, name in enumerate(names) if name in fit.robot.joint_names]
    if names == fit.robot.joint_names:
        made["friction"] = Grid(frictions(fit, q, qd), FRICTION)
    left, torque, unit = left_over(fit), fit.model.row_units, fit.region.units
    for what, x, per in (("speed", qd, "/s"), ("position", q, "")) if own else ():
        against = [sample_figures.residual_against(names[k], what, (unit[j] + per, torque[k]), x[:, j], left[:, k], k) for k, j in own]
        made[what] = Grid(tuple(against), AGAINST.format(what))
    return made


def coverages(fit: Fit, q: Array, qd: Array) -> tuple[Figure, ...]:
    """Where each joint has been, beside its limits and the region."""
    region, made = fit.region, []
    for j, name in enumerate(region.joint_names):
        limits, own = fit.robot.tree.limits[j], (float(region.q_low[j]), float(region.q_high[j]), float(region.qd_most[j]))
        bounds = limits.lower, limits.upper, limits.velocity
        made.append(sample_figures.coverage(name, region.units[j], q[:, j], qd[:, j], bounds, own, j))
    return tuple(made)


def frictions(fit: Fit, q: Array, qd: Array) -> tuple[Figure, ...]:
    """The friction of each joint over its speed, with the samples behind it: what is left over added to the fitted friction."""
    rub, units = friction_of(fit.robot), tuple(zip(fit.region.units, fit.model.row_units, strict=True))
    rubbed, middle, made = left_over(fit) + rub(qd, q), np.median(q, axis=0), []
    for j, (name, (unit, torque)) in enumerate(zip(fit.model.row_names, units, strict=True)):
        alone = np.zeros((2 * SPEEDS + 1, fit.robot.n))
        alone[:, j] = np.linspace(-1.0, 1.0, len(alone)) * (np.max(np.abs(qd[:, j])) or 1.0)
        curve = rub(alone, np.broadcast_to(middle, alone.shape))[:, j]
        made.append(sample_figures.friction(name, (f"{unit}/s", torque), qd[:, j], rubbed[:, j], (alone[:, j], curve), j))
    return tuple(made)


def friction_of(robot: Robot) -> Callable[[Array, Array], Array]:
    """The friction (qd, q) -> (N, n) [N m|N] of a robot; where it depends on position or load, its part that depends on speed."""
    if any(use.row.reads for use in robot.tree.joint_terms):
        return lambda qd, q: robot.friction_torque(qd, q) - robot.friction_torque(np.zeros_like(qd), q)
    return lambda qd, q: robot.friction_torque(qd)


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
