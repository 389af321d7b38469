"""identify_fleet: many robots of one type, from the logs of all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import one_of
from ...errors import CallError, LogError, require_robot
from ...floating_point import default_errstate
from ...identification.build_problem import Progress
from ...identification.estimators.least_squares import Estimator, least_squares, noise
from ...identification.estimators.noise_levels import inflation
from ...identification.model.accumulator import Accumulator, on_one_core
from ...identification.model.known import resolve_known
from ...identification.model.prior import parameter_sizes
from ...identification.model.problem import Problem
from ...identification.options import Options, make_options
from ...identification.out_of_core.archive_problem import merge_tree
from ...identification.out_of_core.factor_store import FactorStore
from ...identification.out_of_core.identify_archive import (
    FoldedLogs,
    FoldOptions,
    fold_archive,
    folding_options,
    make_archive_fit,
)
from ...identification.out_of_core.run_tasks import workers_of
from ...identification.out_of_core.sources import Source, name_of, sources_of
from ...identification.result.fit import Fit
from ...option_groups.identification import DAMAGED, LEAVE_OUT, IdentifyKeywords
from ...robot import Robot
from ...signals.log import Log
from ...signals.log_files.find_logs import LogSource, find_logs
from ...signals.log_files.log_file import LogFile
from .fleet import Fleet
from .fleet_thresholds import THRESHOLDS
from .outliers import Deviation, find_outliers, part_of
from .partial_pooling import Bools, Pooled

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
Logs = Log | LogSource | Iterable[Log | LogSource]


@on_one_core
@default_errstate
def identify_fleet(
    robot: Robot,
    logs: Mapping[str, Logs] | LogSource | Iterable[LogSource],
    estimator: str | Estimator | None = None,
    *,
    by: str = "robot",
    diagnose: bool = True,
    progress: Progress | None = None,
    executor: Any = None,
    damaged: str = "refuse",
    keep: bool | str | os.PathLike[str] = True,
    **options: Unpack[IdentifyKeywords],
) -> Fleet:
    """Identify a fleet: the type, the deviation of each robot from it, and outliers.

    The base parameters of each robot are the type's base parameters plus a deviation. The fleet
    itself shows how large deviations are: a robot with a short log stays near the type, a long log
    determines the robot. `logs` are given by robot name, or as files in folders that name the robot
    with the key `by`, such as logs/robot=arm3/run.parquet. Everything else is as for `identify`.
    Gelman and Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007,
    chapter 12 (partial pooling).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    logs : by the name of each robot; or files, as for `find_logs`, in folders that say which robot
        it was.
    estimator : of the type, as for `identify`.
    by : the key of the folders that names the robot.
    diagnose : whether faults of the logs are looked for.
    progress : function (sentence, share of the work that is done).
    executor : who folds many logs: a number of processes, an executor of concurrent.futures, a
        Client of dask.distributed.
    damaged : what is done about logs that cannot be read: "refuse" or "leave out".
    keep : whether factors of many logs are stored beside them for the next run, or a folder.
    **options : fields of `Preparation` and of `ModelOptions`, as for `identify`.

    Returns
    -------
    A `Fleet`: .type, .robot(name), .outliers, .table().

    Examples
    --------
    >>> arm = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=1.0)
    >>> motion = sy.excite(arm, seconds=4, starts=1)
    >>> logs = {f"arm{k}": sy.record(sy.perturbed(arm, k), motion, rate=100) for k in range(3)}
    >>> sy.identify_fleet(arm, logs, diagnose=False).names
    ('arm0', 'arm1', 'arm2')
    """
    require_robot(robot, "identify_fleet")
    chosen = make_options(estimator, None, None, **options)
    chosen = folding_options(robot, with_known(robot, chosen))
    leave_out = one_of("damaged", damaged, DAMAGED) == LEAVE_OUT
    tell = progress or (lambda text, share: None)
    owners = robots_of(logs, by)
    with workers_of(executor) as workers:
        fold_options = FoldOptions(workers, FactorStore.of(keep), leave_out)
        sources = [source for robot_sources in owners.values() for source in robot_sources]
        folded = fold_archive(robot, sources, chosen, diagnose, fold_options, tell)
    fit = make_archive_fit(robot, folded, chosen, tell)
    tell("pooling the robots", 0.97)
    fleet = pooled_fleet(fit, folded, factors_by_robot(folded, owners))
    tell("done", 1.0)
    return fleet


def with_known(robot: Robot, options: Options) -> Options:
    """Return the options with a known torque as a function of the robot's states."""
    return replace(
        options, model=replace(options.model, known=resolve_known(robot, options.model.known))
    )


def robots_of(
    logs: Mapping[str, Logs] | LogSource | Iterable[LogSource], by: str
) -> dict[str, list[Source]]:
    """Return the logs of each robot, in the order of their names.

    Raises LogError for files without a folder that names the robot, and CallError for too few
    robots.
    """
    robots: dict[str, list[Source]] = {}
    if isinstance(logs, Mapping):
        robots = {
            str(name): [
                named(source, str(name), k) for k, source in enumerate(sources_of(robot_logs), 1)
            ]
            for name, robot_logs in logs.items()
        }
    elif isinstance(logs, Log) or not isinstance(logs, (str, os.PathLike, LogFile, Iterable)):
        raise LogError(
            f"expected the logs of each robot by its name, or files, not {type(logs).__name__}"
        )
    else:
        for file in find_logs(logs):
            owner = file.key(by)
            if owner is None:
                known = ", ".join(key for key, _ in file.keys) or "none"
                raise LogError(
                    f"{file.name}: no folder says of which {by} it is; expected a folder {by}=name"
                    f" above it, found keys: {known}"
                )
            robots.setdefault(owner, []).append(file)
    if len(robots) < THRESHOLDS.least_robots:
        raise CallError(
            f"identify_fleet: expected logs of at least {THRESHOLDS.least_robots} robots, got"
            f" {len(robots)}: {', '.join(robots) or 'none'}"
        )
    return dict(sorted(robots.items()))


def named(source: Source, owner: str, number: int) -> Source:
    """Return a log in memory with a name that says of which robot it is; a file has one."""
    return (
        replace(
            source,
            source=f"{owner}, log {number}" + (f" ({source.source})" if source.source else ""),
        )
        if isinstance(source, Log)
        else source
    )


def factors_by_robot(
    folded: FoldedLogs, owners: Mapping[str, Sequence[Source]]
) -> dict[str, tuple[Accumulator, int]]:
    """Return the factor of all logs of each robot, and how many samples they have.

    Robots whose logs were all left out are not there.
    """
    robot_of = {
        path_of(name_of(source)): owner
        for owner, robot_sources in owners.items()
        for source in robot_sources
    }
    factors: dict[str, list[Any]] = {}
    for factor in folded.factors:
        factors.setdefault(robot_of[path_of(factor.name)], []).append(factor)
    return {
        owner: (
            merge_tree([part for factor in factors[owner] for part in factor.parts]),
            sum(factor.samples for factor in factors[owner]),
        )
        for owner in owners
        if owner in factors
    }


def path_of(name: str) -> str:
    """Return the path in the name of a log that may be a part of a file."""
    return name.partition(" rows ")[0]


def pooled_fleet(
    fit: Fit, folded: FoldedLogs, robots: Mapping[str, tuple[Accumulator, int]]
) -> Fleet:
    """Return the fleet of robots with these factors about the fit of their type."""
    factors = [factor for factor, _ in robots.values()]
    base = fit.base
    weights = joint_weights(factors, fit.base_values) / np.sqrt(
        median_inflation(folded.prepared.problem)
    )
    triangles = np.array([factor.triangle(weights) for factor in factors])
    sizes = typical_sizes(fit)
    pooled, free, chance = find_outliers(triangles, fit.base_values, sizes, base.names)
    units = [fit.robot.parameter_units[column] for column in base.columns]
    outliers = list_deviations(tuple(robots), pooled, free, chance, base.names, units)
    return Fleet(
        type=fit,
        names=tuple(robots),
        pooled=pooled,
        outliers=outliers,
        free=free,
        factors=tuple(factors),
        samples=np.array([count for _, count in robots.values()]),
        weights=weights,
    )


def median_inflation(pilot: Problem) -> Array:
    """Return the median over the logs of the rows per independent row, (n,).

    Each log is fitted separately; the autocorrelation of its residuals counts.
    """
    alone = [replace(pilot, samples=(each,)) for each in pilot.samples]
    return np.median(
        [inflation(each, least_squares(each.total.triangle(), each.prior)) for each in alone],
        axis=0,
    )


def typical_sizes(fit: Fit) -> Array:
    """Return the size (b,) of each base parameter, the unit of its deviations.

    For bodies it is the size of the described body; for a joint term its value and half the rms of
    the same term at the other joints.
    """
    base = fit.base
    bodies, values = parameter_sizes(fit.model)[list(base.columns)], np.abs(fit.base_values)
    kinds = np.array([name.rpartition(".")[2] for name in base.names])
    alike = np.array([np.sqrt(np.mean(values[kinds == kind] ** 2)) for kind in kinds])
    return np.maximum(
        np.where(bodies > 0, np.maximum(bodies, values), np.hypot(values, 0.5 * alike)), 1e-9
    )


def joint_weights(factors: Sequence[Accumulator], start: Array) -> Array:
    """Return 1 / sigma_j (n,) of the torque noise when each robot has its own parameters."""
    sigma = noise(merge_tree(factors), start)
    for _ in range(THRESHOLDS.weighting_rounds):
        values = [least_squares(factor.triangle(1.0 / sigma), start) for factor in factors]
        squares = np.sum(
            [factor.residual_squares(base) for factor, base in zip(factors, values, strict=True)],
            axis=0,
        )
        counts = np.sum([factor.counts for factor in factors], axis=0)
        free = np.maximum(counts * (1.0 - len(factors) * len(start) / max(counts.sum(), 1.0)), 1.0)
        sigma = np.maximum(
            np.sqrt(squares / free),
            1e-8 * np.sqrt(np.max(merge_tree(factors).torque_squares() / counts)),
        )
    return np.asarray(1.0 / sigma)


def list_deviations(
    names: Sequence[str],
    pooled: Pooled,
    free: Bools,
    chance: Array,
    parameters: Sequence[str],
    units: Sequence[str],
) -> tuple[Deviation, ...]:
    """Return the outliers, one for each part of a robot, the least likely first."""
    deviations_of_parts = []
    parts = [part_of(name) for name in parameters]
    scores = pooled.deviations / np.sqrt(pooled.spread**2 + pooled.std**2)
    for robot, part in sorted({(int(r), parts[i]) for r, i in zip(*np.nonzero(free), strict=True)}):
        i = max(
            (k for k in range(len(parts)) if parts[k] == part), key=lambda k: abs(scores[robot, k])
        )
        value, usual, std = (
            float(pooled.values[robot, i]),
            float(pooled.center[i]),
            float(pooled.std[robot, i]),
        )
        deviations_of_parts.append(
            Deviation(
                robot=names[robot],
                part=part[0],
                parameter=parameters[i],
                value=value,
                usual=usual,
                std=std,
                score=float(scores[robot, i]),
                probability=float(chance[robot, i]),
                unit=units[i],
            )
        )
    return tuple(sorted(deviations_of_parts, key=lambda d: d.probability))
