"""identify_archive: a fit from many logs, each folded into a factor by any worker."""

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
from ..build_problem import PreparedProblem, Progress, build_problem
from ..estimators.registry import ESTIMATORS
from ..estimators.simulated.automatic import Automatic
from ..make_fit import make_fit, solve_problem, to_physical
from ..model.accumulator import Accumulator
from ..observations.prepare import prepare
from ..options import Options
from ..result.fit import Fit
from ..result.prediction import Region, region_of
from ..result.provenance import versions
from .archive import archive_of
from .archive_problem import ArchiveProblem, archive_residuals, merge_tree
from .factor_store import FactorStore
from .fold_spec import FoldSpec
from .log_factor import LogFactor, fold_log
from .out_of_core_thresholds import THRESHOLDS
from .repeated_parts import cells_of
from .run_tasks import run_tasks
from .sources import Source, look_at, name_of, read_source, reasons, refuse_damaged


@dataclass(frozen=True, eq=False)
class FoldOptions:
    """How logs are folded: executor, store of factors, and what to do with damaged logs."""

    executor: Any
    store: FactorStore
    leave_out: bool

    @property
    def cores(self) -> int:
        """How many cores a task uses: one beside others."""
        return thread_count() if self.executor is None else 1


@dataclass(frozen=True, eq=False)
class FoldedLogs:
    """The factors of logs in the order of their digests, and the prepared problem of the pilot.

    `left_out` are logs that could not be used, with the reason. `not_stored` says why factors are
    not stored, '' where they are.
    """

    prepared: PreparedProblem
    factors: tuple[LogFactor, ...]
    left_out: dict[str, str]
    copies: tuple[str, ...]
    not_stored: str = ""


def identify_archive(
    robot: Robot,
    sources: Sequence[Source],
    options: Options,
    diagnose: bool,
    fold_options: FoldOptions,
    tell: Progress,
) -> Fit:
    """Identify a robot from many logs.

    A pilot, stretches of a few logs, determines rate, delay, gains and friction terms. The pilot
    and the order of merging follow from the digests of the logs' contents: the result does not
    depend on names, on the order of the logs or on the workers.
    """
    options = folding_options(robot, options)
    return make_archive_fit(
        robot, fold_archive(robot, sources, options, diagnose, fold_options, tell), options, tell
    )


def make_archive_fit(robot: Robot, folded: FoldedLogs, options: Options, tell: Progress) -> Fit:
    """Return the fit of logs that are folded."""
    prepared, factors = folded.prepared, folded.factors
    tell("estimating the parameters", 0.9)
    pilot = prepared.problem
    cells, ends = merge_cells(factors)
    problem = ArchiveProblem(pilot.model, pilot.samples, pilot.decimate, cells=cells, ends=ends)
    problem.check_rows()
    estimate = to_physical(problem, options.estimator.fit(problem))
    tell("computing the uncertainty", 0.95)
    archive = archive_of(
        factors, estimate.base, robot.joint_names, folded.left_out, folded.copies, folded.not_stored
    )
    origin = versions(robot) | {
        "logs": [{"source": f.name, "samples": f.samples, "sha256": f.digest} for f in factors]
    }
    fit = make_fit(
        replace(prepared, problem=problem),
        estimate,
        provenance=origin,
        region=region_of_all(robot, factors),
        compute_residuals=archive_residuals,
    )
    tell("done", 1.0)
    notes = archive.notes() + fit.estimate.notes
    return replace(
        fit,
        pipeline=replace(fit.pipeline, archive=archive),
        estimate=replace(fit.estimate, notes=notes),
    )


def fold_archive(
    robot: Robot,
    sources: Sequence[Source],
    options: Options,
    diagnose: bool,
    fold_options: FoldOptions,
    tell: Progress,
) -> FoldedLogs:
    """Fold logs one by one and return their factors.

    Raises LogError with the names of all damaged logs unless they are to be left out.
    """
    tell("looking at the logs", 0.0)
    parts, left_out, copies = read_digests(sources, fold_options)
    prepared = build_pilot_problem(
        robot,
        parts,
        options,
        diagnose,
        left_out,
        lambda text, share: tell(text, 0.02 + 0.1 * share),
    )
    parts = [part for part in parts if name_of(part[0]) not in left_out]
    spec = FoldSpec.of(robot, prepared, prepared.options.preparation)
    store = fold_options.store.for_spec(*spec.identity)
    calls = [(source, content, spec, store, fold_options.cores) for source, content in parts]
    factors: dict[int, LogFactor] = {}
    for done, (number, answer) in enumerate(run_tasks(fold_log, calls, fold_options.executor), 1):
        if isinstance(answer, SteelyardError):
            left_out[name_of(parts[number][0])] = str(answer)
        else:
            factors[number] = replace(answer, name=name_of(parts[number][0]))
        tell(f"folding {len(calls)} logs", 0.15 + 0.75 * done / len(calls))
    refuse_damaged(left_out, fold_options.leave_out, len(factors))
    return FoldedLogs(
        prepared,
        tuple(factors[number] for number in sorted(factors)),
        left_out,
        copies,
        store.reason,
    )


def read_digests(
    sources: Sequence[Source], fold_options: FoldOptions
) -> tuple[list[tuple[Source, str]], dict[str, str], tuple[str, ...]]:
    """Return the parts of all logs sorted by their digests, unreadable logs, and copies."""
    parts: dict[str, Source] = {}
    left_out, copies = {}, []
    calls = [(source, THRESHOLDS.rows_per_task) for source in sources]
    answers = sorted(run_tasks(look_at, calls, fold_options.executor), key=lambda answer: answer[0])
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
        refuse_damaged(left_out, fold_options.leave_out, 0)
    return [(parts[content], content) for content in sorted(parts)], left_out, tuple(copies)


def build_pilot_problem(
    robot: Robot,
    parts: Sequence[tuple[Source, str]],
    options: Options,
    diagnose: bool,
    left_out: dict[str, str],
    tell: Progress,
) -> PreparedProblem:
    """Return the prepared problem of stretches of the first usable logs.

    Logs that cannot be used are added to `left_out`, with the reason.
    """
    rest, pilot = iter(parts), dict[str, tuple[Source, Log]]()
    while True:
        for source, _ in rest:
            try:
                pilot[name_of(source)] = source, middle_samples(read_source(source, robot))
            except SteelyardError as error:
                left_out[name_of(source)] = str(error)
            if len(pilot) == THRESHOLDS.pilot_logs:
                break
        if not pilot:
            raise LogError(f"none of the logs can be used: {reasons(left_out)}")
        try:
            prepared = build_problem(
                robot,
                [log for _, log in pilot.values()],
                options,
                diagnose=diagnose,
                progress=tell,
                drifting=False,
            )
            break
        except LogError:
            if not (
                unusable := [
                    name for name, (_, log) in pilot.items() if why_unusable(robot, log, options)
                ]
            ):
                raise
        for name in unusable:
            if reason := why_unusable(robot, read_source(pilot.pop(name)[0], robot), options):
                left_out[name] = reason
    problem = (
        solve_problem(prepared.problem, options.estimator)[0]
        if prepared.problem.model.reads_load
        else prepared.problem
    )
    return replace(prepared, problem=problem)


def why_unusable(robot: Robot, log: Log, options: Options) -> str:
    """Return why a log cannot become samples, '' if it can."""
    try:
        prepare(robot, log, options.preparation)
    except SteelyardError as error:
        return str(error)
    return ""


def middle_samples(log: Log) -> Log:
    """Return at most `pilot_samples` samples of the middle of a log."""
    start = max(0, (log.N - THRESHOLDS.pilot_samples) // 2)
    return log[start : start + THRESHOLDS.pilot_samples]


def merge_cells(factors: Sequence[LogFactor]) -> tuple[tuple[Accumulator, ...], tuple[int, ...]]:
    """Return the factors of the cells of the motion, and their number up to each log's end.

    Parts that repeat each other are merged. Of more than `most_motions` logs with distinct motions,
    neighbours in the order of their digests form one cell. The jackknife then knows the uncertainty
    to one part in the root of twice their number.
    """
    cells = cells_of(factors)
    groups: list[list[Accumulator]] = [[] for _ in range(int(cells.max()) + 1)]
    for factor, numbers in zip(factors, cells, strict=True):
        for part, number in zip(factor.parts, numbers, strict=True):
            groups[number].append(part)
    ends = np.unique(np.maximum.accumulate(cells.max(axis=1)) + 1).tolist()
    if len(ends) > THRESHOLDS.most_motions:
        edges = [
            0,
            *(
                ends[(k + 1) * len(ends) // THRESHOLDS.most_motions - 1]
                for k in range(THRESHOLDS.most_motions)
            ),
        ]
        groups = [[part for group in groups[a:b] for part in group] for a, b in pairwise(edges)]
        ends = list(range(1, THRESHOLDS.most_motions + 1))
    return tuple(merge_tree(group) for group in groups), tuple(ends)


def region_of_all(robot: Robot, factors: Sequence[LogFactor]) -> Region:
    """Return the region that the states of all logs cover."""
    q, qd, qdd = (np.concatenate([factor.states[k] for factor in factors]) for k in range(3))
    return region_of(robot, q, qd, qdd)


def folding_options(robot: Robot, options: Options) -> Options:
    """Return the options with an estimator that reads factors.

    Raises CallError for estimators and options that need samples.
    """
    estimator = (
        options.estimator.inner if isinstance(options.estimator, Automatic) else options.estimator
    )
    name = getattr(estimator, "name", "")
    needed = {
        "elastic=": options.model.elastic_joints,
        "residual=": options.model.residual,
        "a robot with loops": robot.tree.loops,
        "controller=": options.preparation.controller,
    }
    for what, present in needed.items():
        if present:
            raise CallError(
                f"{what} needs all samples in memory: read fewer logs with sy.read_log, and give"
                " them without an executor"
            )
    folded = [key for key, row in ESTIMATORS.items() if not row.reads_samples]
    if name and name not in folded:
        raise CallError(
            f"the estimator {name!r} needs all samples in memory; logs that are folded one by one"
            f" take {', '.join(folded)}"
        )
    return replace(options, estimator=estimator)
