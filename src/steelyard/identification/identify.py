"""identify: from a robot and its logs to a model with its uncertainty."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import any_of, brief
from ..errors import CallError, require_robot
from ..floating_point import default_errstate
from ..robot import Robot
from ..signals.archive.find_logs import Place
from ..signals.log import Log
from .archive.factor_store import FactorStore
from .archive.identify_archive import Gathering, identify_archive
from .archive.run_tasks import workers_of
from .archive.sources import DAMAGED, LEAVE_OUT, is_archive, read_all, sources_of
from .base_wrench import has_only_wrenches, wrench_fit, wrench_problem
from .closed_loops import closed_fit, closed_problem
from .conclude import conclude, fit_at_own_load, to_physical, with_elasticity
from .elastic.deflection import require_visible
from .estimators.least_squares import Estimator
from .estimators.simulated.didim import problem_for
from .model.accumulator import on_one_core
from .model.known import resolve_known
from .model.model_options import ModelOptions
from .options import Options, make_options
from .result.fit import Fit
from .result.provenance import provenance
from .samples.preparation import Preparation
from .settle import Progress, settle


@on_one_core
@default_errstate
def identify(
    robot: Robot,
    log: Log | Place | Iterable[Log | Place],
    estimator: str | Estimator | None = None,
    *,
    preparation: Preparation | None = None,
    model: ModelOptions | None = None,
    diagnose: bool = True,
    progress: Progress | None = None,
    executor: Any = None,
    damaged: str = "refuse",
    keep: bool | str | os.PathLike[str] = True,
    **options: Any,
) -> Fit:
    """Identify the dynamic parameters of a robot from one or more logs: min |tau - Y(q, qd, qdd) pi|, every link a real body.

    By default viscous and Coulomb friction, offsets and rotor inertias are found with the links, further friction terms where the log
    shows them, each joint is weighted by its noise, every pseudo-inertia is positive definite, and what the log does not show stays near
    the description.
    `estimator`: 'auto' (default: 'sdp', on the motion that explains the torque best), 'sdp', 'wls', 'ols', 'irls', 'ridge', 'lasso',
    'elastic_net', 'tls', 'ml', 'momentum', 'energy', 'sequential', 'iv', 'didim', 'cloe', or an instance.
    `preparation` says how samples are made, `model` what is to be found. `options` are single fields of the two: smoothing, cutoff [Hz],
    decimate, mask [rad/s|m/s], delay [s], controller of `Preparation`; friction, gear_ratio, rotor, coulomb_width [rad/s|m/s], hold,
    bounds, prior, coupling, known, drive_gains, known_mass, elastic of `ModelOptions`. Unless `diagnose` is False the log is examined for
    faults first, as by `doctor`, and what is found reaches `fit.verdict`. Where the base moves, `base` (N, 9) of the log is its motion;
    faults are not looked for then. Logs with `base_wrench` (N, 6) and without torques are identified from what a force plate under the
    robot measures; friction cannot be seen there. A robot with loops is identified from its drives alone.
    Logs may be files, folders, patterns and addresses, as `find_logs` takes them. If they have more than 256 MB in all, each is folded by
    itself, in constant memory: by the workers of `executor` (a number of processes of this machine, any executor of concurrent.futures, or
    a Client of dask.distributed), with the same bits for any number of them. `damaged` logs end the work, "refuse", or are left out, "leave
    out". Factors are kept in a folder .steelyard beside the logs, in another folder, or not at all (`keep`); a next run folds the others.
    Lecture "Newton-Euler formulation and dynamic parameter identification"; Swevers et al. 2007; Wensing, Kim and Slotine 2018.

    Example:
        >>> robot = sy.load("planar_2r")
        >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
        >>> sy.identify(robot, log, "wls").verdict.word in ("trusted", "trusted within")
        True
    """
    require_robot(robot, "identify", known_function=True)
    if progress is not None and not callable(progress):
        raise CallError(f"progress must be a function (sentence, share) or None, not {brief(progress)}")
    tell = progress or (lambda text, share: None)
    chosen = make_options(estimator, preparation, model, **options)
    chosen = replace(chosen, model=replace(chosen.model, known=resolve_known(robot, chosen.model.known)))
    store, leave_out = FactorStore.of(keep), any_of("damaged", damaged, DAMAGED) == LEAVE_OUT
    sources = sources_of(log)
    with workers_of(executor) as workers:
        if is_archive(sources, executor is not None):
            return identify_archive(robot, sources, chosen, diagnose, Gathering(workers, store, leave_out), tell)
        logs = read_all(robot, sources, workers, leave_out)
    if has_only_wrenches(logs):
        refuse_unused(robot, chosen, "a log of base wrenches")
        plate = wrench_problem(robot, logs, chosen)
        return wrench_fit(robot, plate, to_physical(plate, chosen.estimator.fit(plate)), chosen, logs)
    if robot.tree.loops:
        refuse_unused(robot, chosen, "a robot with loops")
        closed = closed_problem(robot, logs, chosen)
        return closed_fit(robot, closed, to_physical(closed, chosen.estimator.fit(closed)), chosen, logs)
    if chosen.model.elastic_joints:
        require_visible(robot, logs, chosen.model.elastic_joints)
    settled = settle(robot, logs, chosen, diagnose, tell)
    tell("folding the samples", 0.5)
    problem, estimate = fit_at_own_load(problem_for(chosen.estimator, settled.problem), chosen.estimator)
    tell("computing the uncertainty", 0.8)
    fit = conclude(robot, settled, problem, estimate, chosen, provenance(robot, logs))
    tell("done", 1.0)
    return with_elasticity(fit, problem, logs) if chosen.model.elastic_joints else fit


def refuse_unused(robot: Robot, options: Options, case: str) -> None:
    """Raise CallError for options that an identification of `case` would not use."""
    delay = options.preparation.given_delay(robot.joint_names)
    given: dict[str, Any] = {
        "delay": delay is not None and np.any(delay),
        "drive_gains": options.model.drive_gains,
        "elastic": options.model.elastic,
        "controller": options.preparation.controller is not None,
    }
    for name, value in given.items():
        if value:
            raise CallError(f"{name}= is not used for {case}: leave it out, and shift or scale the signals of the log if they need it")
