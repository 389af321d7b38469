"""identify_archive: from many logs to a fit, with the factors of the logs made one by one and anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...compiler.runtime.threads import thread_count
from ...errors import CallError, LogError, SteelyardError
from ...robot import Robot
from ...signals.log import Log
from ..conclude import conclude, fit_at_own_load, to_physical
from ..estimators.simulated.automatic import Automatic
from ..model.accumulator import Accumulator
from ..options import Options
from ..result.fit import Fit
from ..result.prediction import Region, region_of
from ..result.provenance import versions
from ..samples.samples import prepare
from ..settle import Progress, Settled, settle
from .archive import archive_of
from .archive_problem import ArchiveProblem, archive_residuals, merge_tree
from .factor_store import FactorStore
from .log_factor import LogFactor, fold_log
from .recipe import Recipe
from .repeated_parts import cells_of
from .run_tasks import run_tasks
from .sources import Source, look_at, name_of, read_source, reasons, refuse_damaged

MOST_ROWS = 200_000  # of a task: a larger Parquet file is folded in parts
PILOT_LOGS, PILOT_SAMPLES = 8, 20_000  # logs that settle the model, and samples in the middle of each of them
MOST_MOTIONS = 500  # sets of logs that the uncertainty is told from
FOLDED = ("auto", "sdp", "wls", "ols", "ridge", "lasso", "elastic_net", "sequential")  # estimators that read factors, not samples


@dataclass(frozen=True, eq=False)
class Gathering:
    """How logs are folded: by which executor, where factors are kept, and whether damaged logs are left out or end the work."""

    executor: Any
    store: FactorStore
    leave_out: bool

    @property
    def cores(self) -> int:
        """How many cores a task uses: one beside others."""
        return thread_count() if self.executor is None else 1


@dataclass(frozen=True, eq=False)
class Folded:
    """The factors of logs in the order of their digests, with what settled their columns; logs that were left out, with the reason.

    `not_kept` says why factors are not kept, '' where they are, or were not to be.
    """

    settled: Settled
    factors: tuple[LogFactor, ...]
    left_out: dict[str, str]
    copies: tuple[str, ...]
    not_kept: str = ""


def identify_archive(
    robot: Robot, sources: Sequence[Source], options: Options, diagnose: bool, gathering: Gathering, tell: Progress
) -> Fit:
    """Return the fit of many logs. Rate, delay, gains and friction terms are settled by a pilot: stretches of a few of them.

    Which logs are the pilot, and the order in which factors are merged, follow from the digests of the logs' contents: the result does not
    depend on names, on the order of the logs, nor on who folds them.
    """
    options = folding_options(robot, options)
    return conclude_archive(robot, fold_archive(robot, sources, options, diagnose, gathering, tell), options, tell)


def conclude_archive(robot: Robot, folded: Folded, options: Options, tell: Progress) -> Fit:
    """Return the fit of logs that are folded."""
    settled, factors = folded.settled, folded.factors
    tell("estimating the parameters", 0.9)
    pilot = settled.problem
    problem = ArchiveProblem(pilot.model, pilot.samples, pilot.decimate, None, *merged_cells(factors))
    problem.check_rows()
    estimate = to_physical(problem, options.estimator.fit(problem))
    tell("computing the uncertainty", 0.95)
    found = archive_of(factors, estimate.base, robot.joint_names, folded.left_out, folded.copies, folded.not_kept)
    origin = versions(robot) | {"logs": [{"source": f.name, "samples": f.samples, "sha256": f.digest} for f in factors]}
    fit = conclude(robot, settled, problem, estimate, options, origin, region_of_all(robot, factors), archive_residuals)
    tell("done", 1.0)
    notes = found.notes() + fit.estimate.notes
    return replace(fit, pipeline=replace(fit.pipeline, archive=found), estimate=replace(fit.estimate, notes=notes))


def fold_archive(robot: Robot, sources: Sequence[Source], options: Options, diagnose: bool, gathering: Gathering, tell: Progress) -> Folded:
    """Return the factors of logs, made one by one; LogError with the names of all damaged ones unless they are to be left out."""
    tell("looking at the logs", 0.0)
    parts, left_out, copies = looked_at(sources, gathering)
    settled = settle_pilot(robot, parts, options, diagnose, left_out, lambda text, share: tell(text, 0.02 + 0.1 * share))
    parts = [part for part in parts if name_of(part[0]) not in left_out]
    recipe = Recipe.of(robot, settled, options.preparation)
    store = gathering.store.for_recipe(*recipe.identity)
    calls = [(source, content, recipe, store, gathering.cores) for source, content in parts]
    made: dict[int, LogFactor] = {}
    for done, (number, answer) in enumerate(run_tasks(fold_log, calls, gathering.executor), 1):
        if isinstance(answer, SteelyardError):
            left_out[name_of(parts[number][0])] = str(answer)
        else:
            made[number] = replace(answer, name=name_of(parts[number][0]))
        tell(f"folding {len(calls)} logs", 0.15 + 0.75 * done / len(calls))
    refuse_damaged(left_out, gathering.leave_out, len(made))
    return Folded(settled, tuple(made[number] for number in sorted(made)), left_out, copies, store.reason)


def looked_at(sources: Sequence[Source], gathering: Gathering) -> tuple[list[tuple[Source, str]], dict[str, str], tuple[str, ...]]:
    """Return the parts of all logs with the digests of their contents, in the order of these; logs that cannot be read; and copies."""
    parts: dict[str, Source] = {}
    left_out, copies = {}, []
    calls = [(source, MOST_ROWS) for source in sources]
    answers = sorted(run_tasks(look_at, calls, gathering.executor), key=lambda answer: answer[0])
    for number, answer in answers:
        if isinstance(answer, SteelyardError):
            left_out[name_of(sources[number])] = str(answer)
            continue
        for part, content in answer:
            if content in parts:
                copies.append(name_of(part))
            else:
                parts[content] = part
    if not parts:
        refuse_damaged(left_out, gathering.leave_out, 0)
    return [(parts[content], content) for content in sorted(parts)], left_out, tuple(copies)


def settle_pilot(
    robot: Robot, parts: Sequence[tuple[Source, str]], options: Options, diagnose: bool, left_out: dict[str, str], tell: Progress
) -> Settled:
    """Return what stretches of the first logs that can be used settle; those that cannot are added to `left_out`, with the reason."""
    rest, pilot = iter(parts), dict[str, tuple[Source, Log]]()
    while True:
        for source, _ in rest:
            try:
                pilot[name_of(source)] = source, middle(read_source(source, robot))
            except SteelyardError as error:
                left_out[name_of(source)] = str(error)
            if len(pilot) == PILOT_LOGS:
                break
        if not pilot:
            raise LogError(f"none of the logs can be used: {reasons(left_out)}")
        try:
            settled = settle(robot, [log for _, log in pilot.values()], options, diagnose, tell, drifting=False)
            break
        except LogError:
            if not (unusable := [name for name, (_, log) in pilot.items() if why_unusable(robot, log, options)]):
                raise
        for name in unusable:
            if reason := why_unusable(robot, read_source(pilot.pop(name)[0], robot), options):
                left_out[name] = reason
    problem = fit_at_own_load(settled.problem, options.estimator)[0] if settled.problem.model.reads_load else settled.problem
    return replace(settled, problem=problem)


def why_unusable(robot: Robot, log: Log, options: Options) -> str:
    """Return why a log cannot become samples, '' if it can."""
    try:
        prepare(robot, log, options.preparation)
    except SteelyardError as error:
        return str(error)
    return ""


def middle(log: Log) -> Log:
    """Return at most PILOT_SAMPLES samples of the middle of a log."""
    start = max(0, (log.N - PILOT_SAMPLES) // 2)
    return log[start : start + PILOT_SAMPLES]


def merged_cells(factors: Sequence[LogFactor]) -> tuple[tuple[Accumulator, ...], tuple[int, ...]]:
    """Return the accumulators of the cells of the motion, parts that repeat each other merged, and their number up to each log's end.

    Of more than MOST_MOTIONS logs with a motion of their own, neighbours in the order of their digests are one cell together: the
    uncertainty of a jackknife is known to one part in the root of twice their number.
    """
    cells = cells_of(factors)
    groups: list[list[Accumulator]] = [[] for _ in range(int(cells.max()) + 1)]
    for factor, numbers in zip(factors, cells, strict=True):
        for part, number in zip(factor.parts, numbers, strict=True):
            groups[number].append(part)
    ends = np.unique(np.maximum.accumulate(cells.max(axis=1)) + 1).tolist()
    if len(ends) > MOST_MOTIONS:
        edges = [0, *(ends[(k + 1) * len(ends) // MOST_MOTIONS - 1] for k in range(MOST_MOTIONS))]
        groups = [[part for group in groups[a:b] for part in group] for a, b in pairwise(edges)]
        ends = list(range(1, MOST_MOTIONS + 1))
    return tuple(merge_tree(group) for group in groups), tuple(ends)


def region_of_all(robot: Robot, factors: Sequence[LogFactor]) -> Region:
    """Return the region that the states of all logs cover."""
    q, qd, qdd = (np.concatenate([factor.states[k] for factor in factors]) for k in range(3))
    return region_of(robot, q, qd, qdd)


def folding_options(robot: Robot, options: Options) -> Options:
    """Return the options with an estimator that reads factors; CallError for one that reads samples, and for what needs them."""
    estimator = options.estimator.inner if isinstance(options.estimator, Automatic) else options.estimator
    name = getattr(estimator, "name", "")
    needed = {
        "elastic=": options.model.elastic_joints,
        "a robot with loops": robot.tree.loops,
        "controller=": options.preparation.controller,
    }
    for what, present in needed.items():
        if present:
            raise CallError(f"{what} needs all samples in memory: read fewer logs with sy.read_log, and give them without an executor")
    if name and name not in FOLDED:
        raise CallError(f"the estimator {name!r} needs all samples in memory; logs that are folded one by one take {', '.join(FOLDED)}")
    return replace(options, estimator=estimator)
