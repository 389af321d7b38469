"""What a controller is: a law over scalars, its reference and its gains."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import Scalar, Scalars
from ...arguments import numbers
from ...errors import CallError
from ...mechanism.tree import Tree
from ...motion import Trajectory
from ...robot import Robot

Array = NDArray[np.float64]


@runtime_checkable
class Controller(Protocol):
    """A law of the state and of what is wanted: q [rad|m], qd and qdd of the reference, n scalars each.

    `gains` are inputs of the kernel, so that changing them compiles nothing. A controller may also have
    - `wanted(robot, t)`, its reference at times t (T,) [s], (T, ...), where that is not a motion of joints, with `wanted_shape(n)`;
    - `memory(robot)`, numbers (m,) that it keeps from step to step: `law` then takes them after the gains, and
      `memory_rate(tree, q, qd, wanted, gains, memory)` gives their rates.

    A controller of this package lists in `kernel_inputs` the fields that only `gains` and `wanted` read. All other fields are part of
    the key of its kernel. The kernel of a controller from elsewhere is traced anew for every run.
    """

    reference: Any
    model: Robot | None

    def gains(self, n: int) -> Array:
        """All gains in one row, (k,)."""

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Any, gains: Scalars, *memory: Scalars) -> list[Scalar]:
        """Torques, n scalars [N m|N], on the tree of the model that the controller has."""


def wanted_shape(law: Controller, n: int) -> tuple[int, ...]:
    """The shape of the reference at one time."""
    return tuple(law.wanted_shape(n)) if hasattr(law, "wanted_shape") else (3, n)


def wanted_at(robot: Robot, law: Controller, t: Array) -> Array:
    """The reference of a controller at times t (T,) [s], (T, ...); (1, ...) if it stays the same."""
    return np.asarray(law.wanted(robot, t)) if hasattr(law, "wanted") else joint_reference(robot, law.reference, t)


def commanded_positions(robot: Robot, law: Controller | None, t: Array) -> Array | None:
    """The joint positions that a controller is to follow at times t (T,) [s], (T, n); None where its reference is no motion of joints."""
    if law is None or hasattr(law, "wanted"):
        return None
    return np.array(np.broadcast_to(joint_reference(robot, law.reference, t)[:, 0], (len(t), robot.n)))


def joint_reference(robot: Robot, reference: Any, t: Array) -> Array:
    """q, qd and qdd to follow at times t [s] after the start of a trajectory, (T, 3, n), or (1, 3, n) of a position that is held."""
    if isinstance(reference, Trajectory):
        if reference.n != robot.n:
            raise CallError(f"simulate: the reference moves {reference.n} joints, the robot has {robot.n}: {', '.join(robot.joint_names)}")
        start, end = float(reference.t[0]), float(reference.t[-1])
        q, qd, qdd = reference.motion(np.clip(t + start, start, end))
        moving = (t + start <= end)[:, None]
        return np.stack([q, np.where(moving, qd, 0.0), np.where(moving, qdd, 0.0)], axis=1)
    position = np.zeros(robot.n) if reference is None else numbers("simulate: the reference", reference)
    if position.shape != (robot.n,) or not np.all(np.isfinite(position)):
        what = f"has shape {position.shape}" if position.shape != (robot.n,) else "is not finite"
        raise CallError(f"simulate: the reference {what}; expected a Trajectory or a position ({robot.n},) [rad|m]")
    return np.stack([position, 0 * position, 0 * position])[None]


def check_gains(law: Any, *names: str) -> None:
    """Raise CallError for a gain that is neither a finite number nor a row of them."""
    for name in names:
        value = numbers(f"{type(law).__name__}: {name}", getattr(law, name))
        if value.ndim > 1 or not np.all(np.isfinite(value)):
            raise CallError(f"{type(law).__name__}: {name} must be one finite number, or one for each joint or direction")


def spread_gain(law: Any, name: str, count: int, of: str) -> Array:
    """A gain as one number for each of `count` things; raises CallError where it has another number of them."""
    value = np.asarray(getattr(law, name), dtype=float)
    if value.size not in (1, count):
        raise CallError(f"{type(law).__name__}: {name} has {value.size} numbers; expected one, or one for each of {count} {of}")
    return np.broadcast_to(value, count)
