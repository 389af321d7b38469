"""Simulation: torques turned into motion, one run or thousands side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import brief, numbers, yes_or_no
from ..errors import CallError, require_robot
from ..floating_point import default_errstate
from ..robot import Robot
from .control import Control, Law, Plan, control_of
from .controllers.controller import Controller, commanded_positions
from .drives import Drive, Stops, require_drive, require_stops, require_within
from .dry_friction import dry_joints
from .integrators import require_method
from .loops import closed_start, require_leading
from .march import Record, State, adapt, march
from .run import Run
from .setup import Setup
from .with_function import require_plain_options, simulated_with_function

Array = NDArray[np.float64]


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
    *,
    base_pose0: ArrayLike | None = None,
    base_twist0: ArrayLike | None = None,
    saturate: bool = False,
    stops: bool | Stops = False,
    drive: Drive | None = None,
    parameters: ArrayLike | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """The motion of a robot under a controller, from q0 [rad|m] and qd0 [rad/s|m/s] (..., n), both zero by default, one run per row.

    controller: PD, ComputedTorque, FeedForward, SlotineLi, OperationalSpace or Impedance of `steelyard.simulation`, traced into the step; a
    function (t, q, qd) -> tau of all runs at once, q (..., n); torques [N m|N], (n,) that stay or (steps, n), one row per step; a Log,
    whose torques are played; or None, for no torque. The torque at the beginning of a step [s] is held to its end.
    method: "rk4" or "rk8" (Runge-Kutta of order 4 or 8), "euler" (semi-implicit); "adaptive" (DOP853, one run after the other, torques as
    they are at every instant, the instants found where joints stick and break loose). `every` so many steps a sample is kept. With
    `saturate` torques stay within the robot's effort limits, with `stops` (True, or Stops(...)) joints within their range. `drive`: Elastic
    or Motor of `steelyard.simulation`, what is between the commanded torque, `Run.tau`, and the joints. `parameters` (p,) take the place of
    the robot's own, and of those of a controller without a model: runs with other numbers then share one kernel. `progress` is called with
    the part that is done.
    With base_pose0 (..., 7), position [m] and quaternion x y z w, or base_twist0 (..., 6), velocity [m/s] and angular velocity [rad/s] in
    the world's axes, nothing holds the base: it falls and recoils, `Run.base_pose` and `base_twist` say how.
    M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd); joints that dry friction holds, stay. Loops are closed at the start (`assemble`)
    and stay so: a step ends at the nearest closed state.
    A known torque that is a Python function (`robot.known_function`) is called once a step and held to its end, at every instant by
    "adaptive"; with it the controller is None, torques (n,) or a function.
    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.1.

    Example:
        >>> run = sy.simulate(sy.load("planar_2r"), q0=[0.3, 0.2], seconds=0.1)
        >>> run.t.shape, run.q.shape
        ((101,), (101, 2))
    """
    more: dict[str, Any] = {"base_pose0": base_pose0, "base_twist0": base_twist0, "saturate": saturate, "stops": stops, "drive": drive}
    if getattr(robot, "known_function", None) is not None:
        require_plain_options(robot, parameters=parameters, **more)
        return simulated_with_function(simulate, robot, controller, q0, qd0, seconds, step, method, every, progress=progress)
    made = prepared(robot, controller, q0, qd0, seconds, step, method, every, **more, parameters=parameters)
    if progress is not None and not callable(progress):
        raise CallError(f"simulate: progress must be a function of the part that is done, or None, not {brief(progress)}")
    setup, plan, state = made.setup, made.plan, made.state
    record = Record.empty(robot, state, plan)
    with np.errstate(all="ignore"):  # a run that diverges is said in the status, and leaves the others alone
        if method == "adaptive":
            adapt(setup, plan, made.control, state, record, progress)
        else:
            march(setup, plan, made.control, state, record, progress)
    parts = dict(zip((operand.name for operand in setup.operands()[1]), record.states, strict=False))
    books, inner = parts["books"], (parts.get("pose"), parts.get("twist"), parts.get("drive"), parts.get("memory"))
    said = made.control.remarks, made.control.failures, commanded_positions(robot, setup.controller, plan.times)
    moved = robot if parameters is None else robot.with_parameters(np.asarray(parameters, dtype=float))
    return Run(
        moved, plan.times, parts["q"], parts["qd"], record.tau, books[..., 0], books[..., 1], method, plan.steps, *inner, drive, *said
    )


class Prepared(NamedTuple):
    """A simulation that has not begun: what a step is made of, which steps, what drives them, and the state at the start."""

    setup: Setup
    plan: Plan
    control: Control
    state: State


def prepared(
    robot: Robot,
    controller: Any,
    q0: Any,
    qd0: Any,
    seconds: float,
    step: float,
    method: str,
    every: int,
    *,
    base_pose0: Any = None,
    base_twist0: Any = None,
    saturate: bool = False,
    stops: bool | Stops = False,
    drive: Drive | None = None,
    parameters: Any = None,
) -> Prepared:
    """The arguments of `simulate`, checked; raises CallError for what does not fit."""
    require_robot(robot, "simulate")
    require_method(method)
    plan = Plan.of(seconds, step, every)
    free = base_pose0 is not None or base_twist0 is not None
    state = _initial(robot, q0, qd0, *((base_pose0, base_twist0) if free else ()))
    control, ends = control_of(robot, controller, plan), require_stops(stops)
    require_drive(drive)
    setup = Setup(
        robot,
        method,
        control.kind,
        control.law,
        yes_or_no("simulate: saturate", saturate),
        free,
        drive,
        ends is not None,
        parameters is not None,
    )
    _require_supported(setup)
    state = closed_start(robot, state) if robot.tree.loops else state
    if ends is not None:
        require_within(robot, state[0])
    last = () if drive is None else (drive.numbers(robot),)
    last = last if ends is None else (*last, ends.numbers(robot))
    control = replace(control, last=last if parameters is None else (*last, _parameters(robot, parameters)))
    return Prepared(setup, plan, control, (*state, *_inner_states(setup, *state[:2])))


def _parameters(robot: Robot, given: Any) -> Array:
    """Parameters that take the place of the robot's; raises CallError where they do not fit."""
    value, expected = numbers("simulate: parameters", given), robot.parameters.shape
    if value.shape != expected or not np.all(np.isfinite(value)):
        raise CallError(
            f"simulate: parameters have shape {value.shape}; expected {expected[0]} finite numbers, as robot.parameters has them"
        )
    return value


def _require_supported(setup: Setup) -> None:
    """Raise CallError for what does not go together."""
    loops = setup.robot.tree.loops
    if loops and setup.free and setup.holds:
        hint = "give the friction a width [rad/s|m/s], with_friction(width=...), and leave stops out"
        raise CallError(f"simulate: joints that stick or strike stops do not go with loops on a free base; {hint}")
    apart = {"loops": bool(loops), "a drive model": setup.drive is not None, "the adaptive method": setup.method == "adaptive"}
    for what, present in apart.items() if setup.parametric else ():
        if present:
            raise CallError(f"simulate: parameters= and {what} do not go together; simulate robot.with_parameters(...) itself")
    if loops:
        require_leading(setup.robot)
    if setup.method != "adaptive":
        return
    found = {"a controller that learns": setup.memory}
    found["stops behind drives, with loops or on a free base"] = setup.stops and bool(setup.free or setup.drive or loops)
    found["drives or a free base with loops"] = bool(loops) and (setup.free or setup.drive is not None)
    found["dry friction on a free base or behind drives"] = bool(setup.free or setup.drive) and setup.holds
    found["dry friction with loops"] = bool(loops) and bool(dry_joints(setup.robot.tree))
    for what, there in found.items():
        if there:
            raise CallError(f"simulate: the adaptive method does not do {what}; take 'rk4', 'rk8' or 'euler'")


def _inner_states(setup: Setup, q: Array, qd: Array) -> tuple[Array, ...]:
    """What drives and the controller begin with, of the batch of q."""
    law: Any = setup.controller
    drives = () if setup.drive is None else (setup.drive.start(setup.robot, q, qd),)
    kept = () if not setup.memory else (np.array(np.broadcast_to(law.memory(setup.robot), (*q.shape[:-1], setup.memory))),)
    return *drives, *kept


def _initial(robot: Robot, q0: ArrayLike | None, qd0: ArrayLike | None, *base: ArrayLike | None) -> State:
    """q, qd, empty books and, of a free base, pose and twist, all of one batch shape; raises CallError where they do not fit."""
    sizes = {"q0": robot.n, "qd0": robot.n, "base_pose0": 7, "base_twist0": 6}
    made = [_checked(name, given, size, robot) for (name, size), given in zip(sizes.items(), (q0, qd0, *base), strict=False)]
    try:
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in made))
    except ValueError:
        shapes = " and ".join(f"{name} {x.shape}" for name, x in zip(sizes, made, strict=False))
        raise CallError(f"simulate: {shapes} do not go together") from None
    q, qd, *rest = (np.array(np.broadcast_to(x, (*batch, x.shape[-1]))) for x in made)
    return (q, qd, np.zeros((*batch, 2)), *rest)


def _checked(name: str, given: ArrayLike | None, size: int, robot: Robot) -> Array:
    """A part of the state at the start; zero where it is not given, of a pose the world's own frame."""
    if given is None:
        return np.r_[np.zeros(6), 1.0] if name == "base_pose0" else np.zeros(size)
    value = numbers(f"simulate: {name}", given)
    if value.shape[-1:] != (size,):
        meant = {"base_pose0": "position and quaternion x y z w", "base_twist0": "velocity and angular velocity"}
        raise CallError(
            f"simulate: {name} has shape {value.shape}; expected (..., {size}): {meant.get(name, ', '.join(robot.joint_names))}"
        )
    if not np.all(np.isfinite(value)):
        *run, c = map(int, np.argwhere(~np.isfinite(value))[0])
        where = f" of run {', '.join(map(str, run))}" if run else ""
        raise CallError(f"simulate: {name} is not finite: number {c}{where} is {value[(*run, c)]:g}")
    if name == "base_pose0":
        length = np.linalg.norm(value[..., 3:], axis=-1, keepdims=True)
        if np.any(np.abs(length - 1) > 1e-3):
            raise CallError(
                f"simulate: base_pose0 has a quaternion of length {float(length.flat[0]):.4g}; expected 1, in the order x y z w"
            )
        return np.concatenate([value[..., :3], value[..., 3:] / length], axis=-1)
    return value
