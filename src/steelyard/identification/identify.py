"""identify: from a robot and its logs to a model that can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError, LogError
from ..robot import Robot
from ..signals.log import Log
from .estimators.estimate import Estimate, Estimator
from .estimators.least_squares import inverse_information, seen
from .estimators.registry import choose
from .estimators.sdp import consistent
from .estimators.wls import noise
from .model.accumulator import on_one_core
from .model.bounds import Bounds
from .model.coulomb_width import find_widths
from .model.drive_gains import find_gains
from .model.extra_terms import Coupling, Extra
from .model.model import FRICTION, Known, Model, build_model
from .model.problem import Problem
from .model.stribeck import Stribeck, find_speeds
from .result.covariance import sandwich
from .result.fit import Fit
from .result.fit_json import provenance
from .result.residuals import Residuals, residuals
from .result.validation import Validation
from .samples.decimation import natural_factor
from .samples.options import Options, frozen_mask
from .samples.samples import Samples, prepare
from .samples.torque_delay import find_delay

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]


@on_one_core
def identify(
    robot: Robot,
    log: Log | Sequence[Log],
    estimator: str | Estimator | None = None,
    *,
    friction: Sequence[str] = FRICTION,
    rotor: bool = True,
    prior: str | None = None,
    smoothing: str | None = "auto",
    cutoff: float | None = None,
    decimate: int | None = None,
    mask: Mapping[str, float] | float | None = None,
    delay: str | float | Sequence[float] = "estimate",
    coulomb_width: str | float | Sequence[float] = "estimate",
    hold: Sequence[str] | Mapping[str, float | None] = (),
    bounds: Bounds | None = None,
    coupling: Coupling | Extra | Sequence[Coupling | Extra] = (),
    known: Known | None = None,
    drive_gains: Sequence[str] = (),
    progress: Progress | None = None,
) -> Fit:
    """The dynamic parameters of a robot from one or more logs of its motion: min |tau - Y(q, qd, qdd) pi|, every link a real body.

    With no further word: friction (viscous, Coulomb, offset; 'stribeck' where asked for) and rotor inertia are found with the links, each
    joint weighted by its noise, every pseudo-inertia positive definite; what the log does not show stays near the description.
    `estimator`: 'sdp' (default), 'wls', 'ols', 'irls', 'ridge', 'lasso', 'elastic_net', 'tls', 'sequential', or an instance.
    `prior='cad'` lets the description count for more. `smoothing`, `cutoff` [Hz], `decimate`, `mask` [rad/s|m/s], `delay` [s]: see
    Options; decimate=None picks the rate that the motion needs. `coulomb_width` [rad/s|m/s] is the speed over which Coulomb friction
    rises, 0 for sign(qd). `hold`: names, or names -> values, that are not to be found. `bounds`: see identify.bounds. `coupling`: further
    terms. `known(q, qd, qdd)`: a torque (N, n) that is no unknown. `drive_gains`: joints whose torque is off by an unknown factor.
    Lecture "Newton-Euler formulation and dynamic parameter identification"; Swevers, Verdonck and De Schutter 2007;
    Wensing, Kim and Slotine 2018.
    """
    tell = progress or (lambda text, share: None)
    chosen = choose(estimator, prior, bounds)
    extras = (*(coupling if isinstance(coupling, (list, tuple)) else (coupling,)), *([Stribeck()] if "stribeck" in friction else []))
    model = build_model(robot, friction, rotor, extras, hold, known)
    lag = delay if isinstance(delay, (str, int, float)) else tuple(float(d) for d in delay)
    options = Options(smoothing, cutoff, decimate or 1, frozen_mask(mask, robot.joint_names), lag)
    tell("preparing the samples", 0.0)
    samples = prepared(robot, log, options)
    factor = decimate or common_factor(samples)
    tell("finding delay and friction", 0.3)
    model, samples, late, said = tuned(model, samples, options, coulomb_width)
    gains = find_gains(model, samples, drive_gains, factor)
    samples = gains.apply(samples) if drive_gains else samples
    tell("folding the samples", 0.5)
    problem = Problem(model, samples, factor)
    problem.check_rows()
    estimate = chosen.fit(problem)
    tell("judging the estimate", 0.8)
    asked: dict[str, Any] = {"friction": tuple(friction), "rotor": rotor, "prior": prior, "decimate": factor, "hold": tuple(hold)}
    asked["bounds"] = dict(bounds or {})
    fit = assembled(robot, problem, estimate, chosen, options, late, said, asked, bounds)
    tell("done", 1.0)
    return replace(fit, drive_gains=gains.values, drive_gain_std=gains.standard_deviation, provenance=provenance(fit, log))


def common_factor(samples: tuple[Samples, ...], least: int = 200) -> int:
    """How many samples to one for all logs: what the fastest of those needs that move, and `least` samples left if there are as many."""
    motion = np.array([np.linalg.norm(s.qd.std(axis=0)) for s in samples])
    moving = [s for s, m in zip(samples, motion, strict=True) if m >= 0.1 * motion.max()]
    return max(1, min([natural_factor(s.t, s.qd) for s in moving] + [sum(s.N for s in samples) // least]))


def prepared(robot: Robot, log: Log | Sequence[Log], options: Options) -> tuple[Samples, ...]:
    """The samples of every log."""
    logs: list[Any] = list(log) if isinstance(log, (list, tuple)) else [log]
    if not logs:
        raise LogError("there is no log to identify from; expected a Log or a list of them")
    return tuple(prepare(robot, one, options) for one in logs)


def tuned(
    model: Model, samples: tuple[Samples, ...], options: Options, width: str | float | Sequence[float]
) -> tuple[Model, tuple[Samples, ...], Array, tuple[str, ...]]:
    """The model with its Coulomb widths and the samples without their delay, both found where not given."""
    said: tuple[str, ...] = ()
    if isinstance(width, str) and width != "estimate":
        raise CallError(f"coulomb_width must be 'estimate' or speeds [rad/s|m/s], not {width!r}")
    if not isinstance(width, str):
        model = model.with_widths(np.broadcast_to(np.asarray(width, float), (model.n,)).tolist())
    else:
        model = model.with_widths(find_widths(model, samples).values)
    if options.delay == "estimate":
        late, said = find_delay(model, samples)
    else:
        late = np.broadcast_to(np.asarray(options.delay, float), (model.n,)).copy()
    moved = tuple(s.advanced(late) for s in samples)
    if isinstance(width, str) and np.any(late):
        model = model.with_widths(find_widths(model, moved).values)
    model = find_speeds(model, moved)
    named = zip(model.robot.joint_names, model.widths, strict=True)
    wide = [f"{name} {w:.3g}" for name, w in named if w > 0]
    said += (f"Coulomb friction rises over a speed [rad/s|m/s] of: {', '.join(wide)}.",) if wide else ()
    return model, moved, late, said


def assembled(
    robot: Robot, problem: Problem, estimate: Estimate, chosen: Estimator, options: Options, late: Array, said: tuple[str, ...],
    asked: dict[str, Any], bounds: Bounds | None,
) -> Fit:  # fmt: skip
    """Everything about an estimate in one frozen result."""
    triangle = problem.total.triangle(estimate.weights)
    pi, realised = realise(problem, estimate, triangle, bounds)
    made = residuals(problem, estimate.base, estimate.weights)
    model = problem.model
    status = said + remarks(problem) + estimate.status + realised
    return Fit(
        robot=model.identified(pi),
        initial=robot,
        model=model,
        parameters=pi,
        base_values=estimate.base,
        base_covariance=sandwich(inverse_information(triangle), made),
        sigma=noise(problem.total, estimate.base),
        validation=judged(problem, made),
        seen=seen(triangle),
        estimator=chosen.name,
        options=asked,
        preparation=options,
        delay=late,
        interval=problem.decimate * float(np.median(np.diff(problem.samples[0].t))),
        status=status,
        details=dict(estimate.details),
        information=triangle,
    )


def judged(problem: Problem, made: Residuals) -> Validation:
    """The fit on its own samples, beside the robot as given."""
    names = problem.model.robot.joint_names
    before = Validation(made.t, made.before, made.measured, made.keep, names)
    return Validation(made.t, made.predicted, made.measured, made.keep, names, before)


def realise(problem: Problem, estimate: Estimate, triangle: Array, bounds: Bounds | None) -> tuple[Array, tuple[str, ...]]:
    """Parameters (p,) of a real robot that has these base parameters, or the nearest to them in what the torques say."""
    if estimate.parameters is not None:
        return estimate.parameters, ()
    exact = triangle.copy()
    exact[:, -1] = 0.0
    exact[:-1, -1] = triangle[:-1, :-1] @ estimate.base
    found = consistent(problem.model, exact, estimate.base, 1e-3, bounds, 1e-4, exact=True)
    gap = problem.total.residual_squares(problem.base.values(found.parameters)).sum()
    price = np.sqrt(gap / problem.total.torque_squares().sum()) - np.sqrt(
        problem.total.residual_squares(estimate.base).sum() / problem.total.torque_squares().sum()
    )
    if price < 1e-6:
        return found.parameters, ()
    return found.parameters, (
        f"No real robot has exactly these base parameters: fit.robot has the nearest ones, whose error is {100 * price:.2f} points larger.",
    )


def remarks(problem: Problem) -> tuple[str, ...]:
    """Sentences on the samples."""
    said = [remark for s in problem.samples for remark in s.remarks]
    if problem.decimate > 1:
        dt = float(np.median(np.diff(problem.samples[0].t)))
        rate = 1 / (dt * problem.decimate)
        said.append(f"Torque and regressor were low-passed and one in {problem.decimate} samples kept: {rate:.3g} Hz.")
    return tuple(dict.fromkeys(said))
