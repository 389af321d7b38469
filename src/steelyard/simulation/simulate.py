"""Simulation of one run or of thousands side by side: from torques to motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import numbers, short_repr, yes_or_no
from ..errors import CallError, require_robot
from ..floating_point import default_errstate
from ..option_groups.simulation import StepOptions
from ..options import from_keywords, options_of
from ..robot import Robot
from .control import Law, control_of
from .controllers.controller import Controller, commanded_positions
from .drives import require_drive, require_stops, require_within
from .dry_friction import dry_joints
from .integrators import require_method
from .loops import closed_start, require_independent_friction
from .options import SimulationKeywords, SimulationOptions, StepSchedule
from .run import Run
from .state import State
from .step_model import StepModel
from .time_stepping import Record, SimulationProblem, adapt, run_steps
from .with_function import require_plain_options, simulated_with_function

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
DEFAULTS = SimulationOptions()


@default_errstate
def simulate(
    robot: Robot,
    controller: Controller | Law | ArrayLike | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    seconds: float = 1.0,
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
    parameters: ArrayLike | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    options: SimulationOptions | None = None,
    **keywords: Unpack[SimulationKeywords],
) -> Run:
    """Simulate a robot under a controller: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd).

    One run per row of q0 and qd0 (..., n); both are zero by default.

    The controller is sampled at the beginning of each step and its torque is held to the end. With
    method "adaptive" (DOP853) torques are continuous, runs are integrated one after the other, and
    the times at which joints stick and break loose are located. Joints that dry friction holds stay
    at rest. With base_pose0 or base_twist0 the base is free: `Run.base_pose` and `Run.base_twist`
    have its motion. With `drive`, `Run.tau` is the commanded torque. Runs with other `parameters`
    share one kernel; they also replace the parameters of a controller without a model. Loops are
    closed at the start (`assemble`), and every step ends at the nearest closed state. A known
    torque that is a Python function (`robot.known_function`) is called once a step, by "adaptive"
    at every instant; the controller is then None, torques (n,) or a function. Hairer, Norsett and
    Wanner, "Solving Ordinary Differential Equations I", section II.1.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    controller : PD, ComputedTorque, FeedForward, SlotineLi, OperationalSpace or Impedance of
        `steelyard.simulation`; a function (t, q, qd) -> tau of all runs at once; torques (n,) or
        (steps, n) [N m|N]; a `Log`, whose torques are played; or None, for no torque.
    q0 : (..., n) positions at the start [rad|m].
    qd0 : (..., n) velocities at the start [rad/s|m/s].
    seconds : duration [s].
    step : time step [s].
    method : "rk4" or "rk8" (Runge-Kutta of order 4 or 8), "euler" (semi-implicit) or "adaptive".
    every : number of steps between two recorded samples.
    parameters : (p,) parameters in place of the robot's, in the order and units of
        `parameter_names`.
    progress : function that is called with the fraction of the work that is done.
    options : `SimulationOptions`, as an alternative to the keywords.
    **keywords : fields of `SimulationOptions`, which take precedence over `options`:
        base_pose0 (..., 7), position [m] and quaternion x y z w of a free base at the start;
        base_twist0 (..., 6), its velocity [m/s] and angular velocity [rad/s] in world axes;
        saturate, whether torques stay within the effort limits;
        stops, True or `Stops`: joints stay within their position limits;
        drive, `Elastic` or `Motor` between controller and joints.

    Returns
    -------
    A `Run`.

    Examples
    --------
    >>> run = sy.simulate(sy.load("planar_2r"), q0=[0.3, 0.2], seconds=0.1)
    >>> run.t.shape, run.q.shape
    ((101,), (101, 2))
    """
    chosen = simulation_options(options, keywords)
    if getattr(robot, "known_function", None) is not None:
        require_plain_options(robot, parameters, chosen)
        return simulated_with_function(
            robot,
            controller,
            lambda plain, law: simulate(
                plain, law, q0, qd0, seconds, step, method, every, progress=progress
            ),
        )
    steps = StepOptions(seconds=seconds, step=step, method=method, every=every)
    problem = simulation_problem(robot, controller, q0, qd0, parameters, steps, chosen)
    if progress is not None and not callable(progress):
        raise CallError(
            "simulate: progress must be None or a function of the fraction that is done, not"
            f" {short_repr(progress)}"
        )
    record = Record.empty(robot, problem.state, problem.schedule)
    # a run that diverges is reported by Run.status, and does not disturb the others
    with np.errstate(all="ignore"):
        (adapt if method == "adaptive" else run_steps)(problem, record, progress)
    return _run(problem, record, parameters)


def _run(problem: SimulationProblem, record: Record, parameters: ArrayLike | None) -> Run:
    """Return the result of a simulation that was recorded."""
    model, schedule, control, _ = problem
    robot, state = model.robot, record.state
    return Run(
        robot=robot if parameters is None else robot.with_parameters(np.asarray(parameters, float)),
        t=schedule.times,
        q=state.q,
        qd=state.qd,
        tau=record.tau,
        work=state.energy[..., 0],
        heat=state.energy[..., 1],
        method=model.method,
        steps=schedule.steps,
        base_pose=state.base_pose,
        base_twist=state.base_twist,
        drive_state=state.drive,
        memory=state.memory,
        presliding=state.presliding,
        drive=model.drive,
        remarks=control.remarks,
        failures=control.failures,
        reference=commanded_positions(robot, model.controller, schedule.times),
    )


def simulation_options(
    options: SimulationOptions | None, keywords: SimulationKeywords
) -> SimulationOptions:
    """Return the options of a call of `simulate`; keywords replace fields of the group."""
    if options is not None and not isinstance(options, SimulationOptions):
        raise CallError(
            f"simulate: options must be SimulationOptions(...), not {short_repr(options)}"
        )
    options = DEFAULTS if options is None else options
    if not keywords:
        return options
    fields = {each.name: getattr(options, each.name) for each in options_of(SimulationOptions)}
    return from_keywords(SimulationOptions, {**fields, **keywords}, "simulate")


def simulation_problem(
    robot: Robot,
    controller: Any,
    q0: ArrayLike | None,
    qd0: ArrayLike | None,
    parameters: ArrayLike | None,
    steps: StepOptions,
    options: SimulationOptions,
) -> SimulationProblem:
    """Check the arguments of `simulate` and return model, schedule, control and initial state."""
    require_robot(robot, "simulate")
    require_method(steps.method)
    schedule = StepSchedule.of(steps)
    free_base = options.base_pose0 is not None or options.base_twist0 is not None
    state = _initial_state(robot, q0, qd0, options, free_base)
    control, stops = control_of(robot, controller, schedule), require_stops(options.stops)
    require_drive(options.drive)
    model = StepModel(
        robot=robot,
        method=steps.method,
        control=control.kind,
        controller=control.law,
        saturated=yes_or_no("simulate: saturate", options.saturate),
        free_base=free_base,
        drive=options.drive,
        stops=stops is not None,
        parametric=parameters is not None,
    )
    _require_supported(model)
    state = closed_start(robot, state) if robot.tree.loops else state
    if stops is not None:
        require_within(robot, state.q)
    constants = replace(
        control.constants,
        drive_constants=None if options.drive is None else options.drive.numbers(robot),
        restitution=None if stops is None else stops.numbers(robot),
        parameters=None if parameters is None else _checked_parameters(robot, parameters),
    )
    return SimulationProblem(
        model=model,
        schedule=schedule,
        control=replace(control, constants=constants),
        state=_with_further_states(model, state),
    )


def _checked_parameters(robot: Robot, parameters: ArrayLike) -> Array:
    """Return parameters that replace the robot's; raise CallError where they do not fit."""
    value, expected = numbers("simulate: parameters", parameters), robot.parameters.shape
    if value.shape != expected or not np.all(np.isfinite(value)):
        raise CallError(
            f"simulate: parameters have shape {value.shape}; expected {expected[0]} finite numbers,"
            " in the order of robot.parameters"
        )
    return value


def _require_supported(model: StepModel) -> None:
    """Raise CallError for options that cannot be combined."""
    loops = model.robot.tree.loops
    if loops and model.free_base and model.may_lock:
        raise CallError(
            "simulate: joints that stick or strike stops cannot be combined with loops on a free"
            " base; give the friction a width [rad/s|m/s], with_friction(width=...), and leave"
            " stops out"
        )
    unparametric = {
        "loops": bool(loops),
        "a drive model": model.drive is not None,
        "the adaptive method": model.method == "adaptive",
    }
    for feature, present in unparametric.items() if model.parametric else ():
        if present:
            raise CallError(
                f"simulate: parameters= cannot be combined with {feature}; simulate"
                " robot.with_parameters(...) instead"
            )
    if loops and model.robot.tree.has_memory:
        raise CallError(
            "simulate: friction with memory cannot be combined with loops; simulate"
            " robot.without_friction().with_friction(...)"
        )
    if loops:
        require_independent_friction(model.robot)
    if model.method == "adaptive":
        _require_adaptive(model)


def _require_adaptive(model: StepModel) -> None:
    """Raise CallError for a model that the adaptive method does not support."""
    loops, free_or_driven = bool(model.robot.tree.loops), model.free_base or model.drive is not None
    unsupported = {
        "a controller that learns": bool(model.memory_size),
        "friction with memory": model.robot.tree.has_memory,
        "stops behind drives, with loops or on a free base": (
            model.stops and (free_or_driven or loops)
        ),
        "drives or a free base with loops": loops and free_or_driven,
        "dry friction on a free base or behind drives": free_or_driven and model.may_lock,
        "dry friction with loops": loops and bool(dry_joints(model.robot.tree)),
    }
    for feature, present in unsupported.items():
        if present:
            raise CallError(
                f"simulate: the adaptive method does not support {feature}; use method='rk4',"
                " 'rk8' or 'euler'"
            )


def _with_further_states(model: StepModel, state: State[Array]) -> State[Array]:
    """Return the state with the initial states of friction, drives and controller."""
    law: Any = model.controller
    drive = None if model.drive is None else model.drive.start(model.robot, state.q, state.qd)
    if model.robot.tree.has_memory:
        state = replace(state, presliding=np.zeros(state.q.shape))
    if not model.memory_size:
        return replace(state, drive=drive)
    shape = (*state.q.shape[:-1], model.memory_size)
    memory = np.array(np.broadcast_to(law.memory(model.robot), shape))
    return replace(state, drive=drive, memory=memory)


def _initial_state(
    robot: Robot,
    q0: ArrayLike | None,
    qd0: ArrayLike | None,
    options: SimulationOptions,
    free_base: bool,
) -> State[Array]:
    """Return q, qd, zero energy and the pose and twist of a free base, of one batch shape.

    Raises CallError where they do not fit.
    """
    values = {"q0": _checked("q0", q0, robot.n, robot), "qd0": _checked("qd0", qd0, robot.n, robot)}
    if free_base:
        values["base_pose0"] = _checked("base_pose0", options.base_pose0, 7, robot)
        values["base_twist0"] = _checked("base_twist0", options.base_twist0, 6, robot)
    try:
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in values.values()))
    except ValueError:
        shapes = " and ".join(f"{name} {x.shape}" for name, x in values.items())
        raise CallError(f"simulate: batch shapes cannot be broadcast: {shapes}") from None
    batched = {
        name: np.array(np.broadcast_to(x, (*batch, x.shape[-1]))) for name, x in values.items()
    }
    return State(
        q=batched["q0"],
        qd=batched["qd0"],
        energy=np.zeros((*batch, 2)),
        base_pose=batched.get("base_pose0"),
        base_twist=batched.get("base_twist0"),
    )


def _checked(name: str, argument: ArrayLike | None, size: int, robot: Robot) -> Array:
    """Return a part of the initial state: zero by default, the identity for a pose."""
    if argument is None:
        return np.r_[np.zeros(6), 1.0] if name == "base_pose0" else np.zeros(size)
    value = numbers(f"simulate: {name}", argument)
    if value.shape[-1:] != (size,):
        meaning = {
            "base_pose0": "position and quaternion x y z w",
            "base_twist0": "velocity and angular velocity",
        }
        raise CallError(
            f"simulate: {name} has shape {value.shape}; expected (..., {size}):"
            f" {meaning.get(name, ', '.join(robot.joint_names))}"
        )
    if not np.all(np.isfinite(value)):
        *run, c = map(int, np.argwhere(~np.isfinite(value))[0])
        where = f" of run {', '.join(map(str, run))}" if run else ""
        raise CallError(
            f"simulate: {name} is not finite: number {c}{where} is {value[(*run, c)]:g}"
        )
    if name == "base_pose0":
        length = np.linalg.norm(value[..., 3:], axis=-1, keepdims=True)
        if np.any(np.abs(length - 1) > 1e-3):
            raise CallError(
                f"simulate: base_pose0 has a quaternion of length {float(length.flat[0]):.4g};"
                " expected 1, in the order x y z w"
            )
        return np.concatenate([value[..., :3], value[..., 3:] / length], axis=-1)
    return value
