"""identify: from a robot and its logs to a model with its uncertainty."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..arguments import one_of, short_repr
from ..errors import CallError, require_robot
from ..floating_point import default_errstate
from ..option_groups.identification import DAMAGED, LEAVE_OUT, IdentifyKeywords
from ..robot import Robot
from ..signals.log import Log
from ..signals.log_files.find_logs import LogSource
from .build_problem import Progress, build_problem
from .estimate_model import estimate_model
from .estimators.least_squares import Estimator
from .make_fit import make_fit, with_elasticity
from .model.accumulator import on_one_core
from .model.known import resolve_known
from .model.model_options import ModelOptions
from .nuisance.drive_gains import currents_as_torques
from .options import make_options
from .out_of_core.factor_store import FactorStore
from .out_of_core.run_tasks import workers_of
from .out_of_core.sources import is_archive, read_all, sources_of
from .result.fit import Fit
from .result.provenance import provenance
from .samples.preparation import Preparation

if TYPE_CHECKING:
    from typing_extensions import Unpack


@on_one_core
@default_errstate
def identify(
    robot: Robot,
    log: Log | LogSource | Iterable[Log | LogSource],
    estimator: str | Estimator | None = None,
    *,
    preparation: Preparation | None = None,
    model: ModelOptions | None = None,
    diagnose: bool = True,
    progress: Progress | None = None,
    executor: Any = None,
    damaged: str = "refuse",
    keep: bool | str | os.PathLike[str] = True,
    **options: Unpack[IdentifyKeywords],
) -> Fit:
    """Identify the dynamic parameters of a robot from one or more logs.

    Minimises |tau - Y(q, qd, qdd) pi|^2, weighted by the noise of each joint, such that every link
    is a real body. Viscous and Coulomb friction, offsets and rotor inertias are identified with the
    links, further friction terms where the log shows them. Parameters that the log does not show
    stay near the description.

    `estimator` is 'auto' (default: 'sdp' on the measured or the simulated motion, by held-out
    error), another name of `steelyard.identification.ESTIMATORS` such as 'wls', 'ridge' or 'didim',
    or an instance.

    Logs without torques and with `base_wrench` (N, 6) are identified from the force plate under the
    robot, which does not show friction. A robot with loops is identified from its drives. Where the
    base moves, `base` (N, 9) of the log is its motion.

    Logs may be files, folders, patterns and addresses, as for `find_logs`. Above 256 MB in all,
    each log is folded by itself in constant memory, with the same bits for any number of workers.

    Lecture "Newton-Euler formulation and dynamic parameter identification"; Swevers et al. 2007;
    Wensing, Kim and Slotine 2018.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    log : a `Log` or several: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s];
        or files, as for `find_logs`.
    estimator : a name of `ESTIMATORS`, or an instance; 'auto' by default.
    preparation : a `Preparation`: how positions and torques are filtered and sampled.
    model : a `ModelOptions`: what is identified, and what is known.
    diagnose : whether the log is examined for faults first, as by `doctor`, for the verdict.
    progress : function (sentence, share of the work that is done).
    executor : who folds many logs: a number of processes, an executor of concurrent.futures, a
        Client of dask.distributed.
    damaged : "refuse" raises an error for logs that cannot be read, "leave out" omits them.
    keep : whether factors of many logs are kept in a folder .steelyard beside them for the next
        run, or another folder for them.
    options : single fields of `Preparation` (smoothing, cutoff [Hz], decimate, mask [rad/s|m/s],
        delay [s], controller, period [s]) and of `ModelOptions` (friction, rotor, coulomb_width
        [rad/s|m/s], hold, bounds, prior, parameter_prior, constraints, coupling, known,
        drive_gains, known_mass [kg], torque_scale_std, gear_ratio, elastic, residual).

    Returns
    -------
    A `Fit`.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
    >>> sy.identify(robot, log, "wls").verdict.word in ("trusted", "trusted within")
    True
    """
    require_robot(robot, "identify", known_function=True)
    if progress is not None and not callable(progress):
        raise CallError(
            f"progress must be a function (sentence, share) or None, not {short_repr(progress)}"
        )
    tell = progress or (lambda text, share: None)
    chosen = make_options(estimator, preparation, model, **options)
    chosen = replace(
        chosen, model=replace(chosen.model, known=resolve_known(robot, chosen.model.known))
    )
    store, leave_out = FactorStore.of(keep), one_of("damaged", damaged, DAMAGED) == LEAVE_OUT
    sources = sources_of(log)
    with workers_of(executor) as workers:
        if is_archive(sources, executor is not None):
            from .out_of_core.identify_archive import FoldOptions, identify_archive

            return identify_archive(
                robot, sources, chosen, diagnose, FoldOptions(workers, store, leave_out), tell
            )
        logs = read_all(robot, sources, workers, leave_out)
    logs = [currents_as_torques(log, chosen.model.drive_gains) for log in logs]
    prepared = build_problem(robot, logs, chosen, diagnose=diagnose, progress=tell)
    tell("folding the samples", 0.5)
    result = estimate_model(prepared, logs, tell)
    tell("computing the uncertainty", 0.8)
    fit = make_fit(
        result.prepared,
        result.estimate,
        provenance=provenance(robot, logs),
        choice=result.choice,
    )
    fit = replace(fit, pipeline=replace(fit.pipeline, requested=chosen))
    if chosen.model.elastic_joints:
        fit = with_elasticity(fit, result.prepared.problem, logs)
    tell("done", 1.0)
    return fit
