"""What a report says, computed before it is drawn.

Headline numbers, sentences, tables and figures of an identification.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..drawing.downsample import MAX_POINTS, running_time
from ..drawing.figure import Curve, Figure, Panel
from ..drawing.numbers import percent, short
from ..drawing.table import Table
from ..identification import Fit, Validation, Verdict
from ..identification.figures.fit_figures import (
    FIGURES,
    figure_of,
    joint_panels,
    validation_torques,
)
from ..identification.figures.torque_figures import error_figure
from ..robot import Robot
from .tables import base_table, cause_table, error_table, full_table, region_table, results_of

# samples of torque that are drawn in all, so that the file stays small, and least of one joint
DRAWN, LEAST = 9_600, 400
GHOSTS = 4  # positions of the robot that are drawn faintly
SMALL = 240  # [px] height of the figure of a single joint


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


def gather(
    fit: Fit, validation: Validation | None = None, true_robot: Robot | None = None
) -> Content:
    """Return the content of a report on a fit, with a validation and the true robot if known."""
    verdict = fit.verdict if validation is None else fit.judged(validation)
    return Content(
        title=fit.robot.name,
        facts=fit_facts(fit),
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


def fit_facts(fit: Fit) -> str:
    """Return robot, samples and estimator in one line."""
    time = running_time(fit.t)
    rate = 1 / float(np.median(np.diff(time))) if len(time) > 1 else float("nan")
    count = f"{len(time):,}".replace(",", "\u202f")
    return (
        f"{fit.robot.n} joints · {count} samples · {time[-1] - time[0]:.3g} s at {rate:.4g} Hz ·"
        f" estimator {fit.estimator}"
    )


WORST_LOGS = 20  # of many that are shown


def all_tables(
    fit: Fit, validation: Validation | None, true_robot: Robot | None
) -> dict[str, Table]:
    """Return every table by its name."""
    tables = {
        "region": region_table(fit.region),
        "errors": error_table(fit, validation),
        "causes": cause_table(fit),
    }
    tables |= {} if fit.elasticity is None else {"elastic": fit.elasticity.table()}
    tables |= {} if fit.archive is None else {"logs": fit.archive.table(WORST_LOGS)}
    return tables | {
        "links": fit.links.table(),
        "base": base_table(fit, true_robot),
        "all": full_table(fit),
    }


def tiles(fit: Fit, verdict: Verdict, validation: Validation | None) -> tuple[Tile, ...]:
    """Return the headline numbers."""
    shown = (
        []
        if verdict.word == "refused"
        else [
            Tile(
                percent(verdict.error, 1),
                "%",
                "error that unseen motion in the region hardly exceeds",
            )
        ]
    )
    shown.append(
        Tile(percent(fit.total_relative_error, 2), "%", "relative error of the identified model")
    )
    if fit.before is not None:
        shown.append(
            Tile(percent(fit.before.total_relative_error, 1), "%", "relative error before")
        )
    if validation is not None:
        shown.append(
            Tile(
                percent(validation.total_relative_error, 2),
                "%",
                "relative error on the validation log",
            )
        )
    shown.append(Tile(f"{fit.rank}", f"of {fit.base.n_base}", "identifiable base parameters"))
    return (*shown, Tile(short(float(fit.condition)), "", "condition number of the regressor"))


def picture(fit: Fit) -> str:
    """Return the identified robot as SVG.

    It is drawn at the position farthest from the first of the log, and faint at others.
    """
    states = fit.validation.states
    if states is None or not len(states[0]):
        return fit.robot.picture()
    q = states[0]
    away = [int(np.argmax(np.linalg.norm(q - q[0], axis=1)))]
    while len(away) < GHOSTS:
        away.append(
            int(np.argmax(np.min([np.linalg.norm(q - q[k], axis=1) for k in (0, *away)], axis=0)))
        )
    return fit.robot.picture(q[[0, *away[::-1]]])


def all_figures(fit: Fit, validation: Validation | None) -> dict[str, Figure]:
    """Return every figure by its name."""
    motions = 1 if validation is None else 2
    limit = int(np.clip(DRAWN // (len(fit.model.row_names) * motions), LEAST, MAX_POINTS))
    figures = {name: figure_of(fit, name, limit) for name in FIGURES}
    if validation is not None:
        series = [
            (label, np.asarray(each.relative_error)) for label, each in results_of(fit, validation)
        ]
        figures["errors"] = error_figure(fit.model.row_names, series)
        figures["validation"] = validation_torques(fit, validation, limit)
    return figures


def all_grids(fit: Fit) -> dict[str, Grid]:
    """Return the figures of single joints: coverage, friction, residuals."""
    return {
        name: Grid(tuple(_small(f"{name}-{k}", panel) for k, panel in enumerate(panels)), caption)
        for name, (panels, caption) in joint_panels(fit).items()
    }


def _small(name: str, panel: Panel) -> Figure:
    """Return one of many small figures; its only curve needs no legend."""
    marks = tuple(
        replace(mark, name="") if isinstance(mark, Curve) else mark for mark in panel.marks
    )
    return Figure(name=name, rows=((replace(panel, marks=marks),),), height=SMALL)


def provenance(fit: Fit) -> tuple[tuple[str, str], ...]:
    """Return versions, digests and options as text."""
    facts = {**fit.provenance, "estimator": fit.estimator, "options": fit.options.as_dict()}
    return tuple((str(key).replace("_", " "), _plain(value)) for key, value in facts.items())


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(v) for v in value) or "none"
    return str(value)
