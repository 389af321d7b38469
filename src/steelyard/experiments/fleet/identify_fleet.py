"""identify_fleet: many robots of one type, from the logs of all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import any_of
from ...errors import CallError, LogError, require_robot
from ...floating_point import default_errstate
from ...identification.archive.archive_problem import merge_tree
from ...identification.archive.factor_store import FactorStore
from ...identification.archive.identify_archive import Folded, Gathering, conclude_archive, fold_archive, folding_options
from ...identification.archive.run_tasks import workers_of
from ...identification.archive.sources import DAMAGED, LEAVE_OUT, Source, name_of, sources_of
from ...identification.estimators.evidence import inflation
from ...identification.estimators.least_squares import Estimator, least_squares, noise
from ...identification.model.accumulator import Accumulator, on_one_core
from ...identification.model.known import resolve_known
from ...identification.model.prior import parameter_sizes
from ...identification.model.problem import Problem
from ...identification.options import Options, make_options
from ...identification.result.fit import Fit
from ...identification.settle import Progress
from ...robot import Robot
from ...signals.archive.find_logs import Place, find_logs
from ...signals.archive.log_file import LogFile
from ...signals.log import Log
from .fleet import Fleet
from .partial_pooling import Bools, Pooled
from .standing_out import Deviation, find_standing_out, part_of

Array = NDArray[np.float64]
Logs = Log | Place | Iterable[Log | Place]
FEWEST = 3  # robots of a fleet
ROUNDS = 4  # of weighing the joints


@on_one_core
@default_errstate
def identify_fleet(
    robot: Robot,
    logs: Mapping[str, Logs] | Place | Iterable[Place],
    estimator: str | Estimator | None = None,
    *,
    by: str = "robot",
    diagnose: bool = True,
    progress: Progress | None = None,
    executor: Any = None,
    damaged: str = "refuse",
    keep: bool | str | os.PathLike[str] = True,
    **options: Any,
) -> Fleet:
    """Identify a fleet of robots of one type: the type, each robot's deviation from it with its standard deviation, and who stands out.

    Each robot's base parameters are the type's plus a deviation, and the fleet itself shows how large deviations usually are: a robot with
    a short log stays near the type, one with a long log is what its log says. `logs` are those of each robot by its name, or files of
    whose folders the key `by` says which robot they are of, such as logs/robot=arm3/run.parquet. Everything else is as for `identify`.
    Gelman and Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007, chapter 12 (partial pooling).

    Parameters:
        logs: by the name of each robot; or files, as for `find_logs`, in folders that say which robot it was.
        by: the key of the folders that names the robot.
        estimator: of the type, as for `identify`.
        diagnose: whether faults of the logs are looked for.
        progress: function (sentence, share of the work that is done).
        **options: those of `identify`.
    Returns:
        A `Fleet`: .type, .robot(name), .standing_out, .table().
    Example:
        >>> arm = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=1.0)
        >>> logs = {f"arm{k}": sy.record(sy.perturbed(arm, k), sy.excite(arm, seconds=4, starts=1), rate=100) for k in range(3)}
        >>> sy.identify_fleet(arm, logs, diagnose=False).names
        ('arm0', 'arm1', 'arm2')
    """
    require_robot(robot, "identify_fleet")
    chosen = make_options(estimator, None, None, **options)
    chosen = folding_options(robot, with_known(robot, chosen))
    leave_out = any_of("damaged", damaged, DAMAGED) == LEAVE_OUT
    tell = progress or (lambda text, share: None)
    owners = owned(logs, by)
    with workers_of(executor) as workers:
        gathering = Gathering(workers, FactorStore.of(keep), leave_out)
        sources = [source for own in owners.values() for source in own]
        folded = fold_archive(robot, sources, chosen, diagnose, gathering, tell)
    fit = conclude_archive(robot, folded, chosen, tell)
    tell("pooling the robots", 0.97)
    made = pooled_fleet(fit, folded, by_owner(folded, owners))
    tell("done", 1.0)
    return made


def with_known(robot: Robot, options: Options) -> Options:
    """Return the options with a known torque as a function of the robot's states."""
    return replace(options, model=replace(options.model, known=resolve_known(robot, options.model.known)))


def owned(logs: Mapping[str, Logs] | Place | Iterable[Place], by: str) -> dict[str, list[Source]]:
    """Return the logs of each robot, in the order of their names; LogError for files of which no folder says it, and for too few robots."""
    made: dict[str, list[Source]] = {}
    if isinstance(logs, Mapping):
        made = {str(name): [named(source, str(name), k) for k, source in enumerate(sources_of(own), 1)] for name, own in logs.items()}
    elif isinstance(logs, Log) or not isinstance(logs, (str, os.PathLike, LogFile, Iterable)):
        raise LogError(f"expected the logs of each robot by its name, or files, not {type(logs).__name__}")
    else:
        for file in find_logs(logs):
            owner = file.key(by)
            if owner is None:
                known = ", ".join(key for key, _ in file.keys) or "none"
                raise LogError(
                    f"{file.name}: no folder says of which {by} it is; expected a folder {by}=name above it, found keys: {known}"
                )
            made.setdefault(owner, []).append(file)
    if len(made) < FEWEST:
        raise CallError(f"a fleet has {FEWEST} robots or more; these are logs of {len(made)}: {', '.join(made) or 'none'}")
    return dict(sorted(made.items()))


def named(source: Source, owner: str, number: int) -> Source:
    """Return a log in memory with a name that says of which robot it is; a file has one."""
    return (
        replace(source, source=f"{owner}, log {number}" + (f" ({source.source})" if source.source else ""))
        if isinstance(source, Log)
        else source
    )


def by_owner(folded: Folded, owners: Mapping[str, Sequence[Source]]) -> dict[str, tuple[Accumulator, int]]:
    """Return the factor of all logs of each robot, and how many samples they have; robots whose logs were all left out are not there."""
    robot_of = {path_of(name_of(source)): owner for owner, own in owners.items() for source in own}
    made: dict[str, list[Any]] = {}
    for factor in folded.factors:
        made.setdefault(robot_of[path_of(factor.name)], []).append(factor)
    return {
        owner: (merge_tree([part for factor in made[owner] for part in factor.parts]), sum(factor.samples for factor in made[owner]))
        for owner in owners
        if owner in made
    }


def path_of(name: str) -> str:
    """Return the path in the name of a log that may be a part of a file."""
    return name.partition(" rows ")[0]


def pooled_fleet(fit: Fit, folded: Folded, robots: Mapping[str, tuple[Accumulator, int]]) -> Fleet:
    """Return the fleet of robots with these factors about the fit of their type."""
    factors = [factor for factor, _ in robots.values()]
    base = fit.base
    weights = joint_weights(factors, fit.base_values) / np.sqrt(own_inflation(folded.settled.problem))
    triangles = np.array([factor.triangle(weights) for factor in factors])
    sizes = typical_sizes(fit)
    pooled, free, chance = find_standing_out(triangles, fit.base_values, sizes, base.names)
    units = [fit.robot.parameter_units[column] for column in base.columns]
    found = deviations(tuple(robots), pooled, free, chance, base.names, units)
    return Fleet(fit, tuple(robots), pooled, found, free, tuple(factors), np.array([count for _, count in robots.values()]), weights)


def own_inflation(pilot: Problem) -> Array:
    """Return how many rows count as one independent row, (n,), by the residuals of each log with parameters of its own: the median."""
    alone = [replace(pilot, samples=(each,)) for each in pilot.samples]
    return np.median([inflation(each, least_squares(each.total.triangle(), each.prior)) for each in alone], axis=0)


def typical_sizes(fit: Fit) -> Array:
    """Return the size (b,) that deviations of each base parameter are counted in: that of bodies like the described ones; of a joint term
    its own value and, by half, what that term of the other joints is like.
    """
    base = fit.base
    bodies, values = parameter_sizes(fit.model)[list(base.columns)], np.abs(fit.base_values)
    kinds = np.array([name.rpartition(".")[2] for name in base.names])
    alike = np.array([np.sqrt(np.mean(values[kinds == kind] ** 2)) for kind in kinds])
    return np.maximum(np.where(bodies > 0, np.maximum(bodies, values), np.hypot(values, 0.5 * alike)), 1e-9)


def joint_weights(factors: Sequence[Accumulator], start: Array) -> Array:
    """Return 1 / sigma_j (n,) of the noise of each joint's torque: what is left when each robot has parameters of its own."""
    sigma = noise(merge_tree(factors), start)
    for _ in range(ROUNDS):
        own = [least_squares(factor.triangle(1.0 / sigma), start) for factor in factors]
        squares = np.sum([factor.residual_squares(base) for factor, base in zip(factors, own, strict=True)], axis=0)
        counts = np.sum([factor.counts for factor in factors], axis=0)
        free = np.maximum(counts * (1.0 - len(factors) * len(start) / max(counts.sum(), 1.0)), 1.0)
        sigma = np.maximum(np.sqrt(squares / free), 1e-8 * np.sqrt(np.max(merge_tree(factors).torque_squares() / counts)))
    return np.asarray(1.0 / sigma)


def deviations(
    names: Sequence[str], pooled: Pooled, free: Bools, chance: Array, parameters: Sequence[str], units: Sequence[str]
) -> tuple[Deviation, ...]:
    """Return what stands out, one for each part of a robot, the least likely first."""
    made = []
    parts = [part_of(name) for name in parameters]
    scores = pooled.deviations / np.sqrt(pooled.spread**2 + pooled.std**2)
    for robot, part in sorted({(int(r), parts[i]) for r, i in zip(*np.nonzero(free), strict=True)}):
        i = max((k for k in range(len(parts)) if parts[k] == part), key=lambda k: abs(scores[robot, k]))
        value, usual, std = float(pooled.values[robot, i]), float(pooled.center[i]), float(pooled.std[robot, i])
        told = float(scores[robot, i]), float(chance[robot, i])
        made.append(Deviation(names[robot], part[0], parameters[i], value, usual, std, *told, units[i]))
    return tuple(sorted(made, key=lambda d: d.chance))
