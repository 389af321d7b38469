"""Protocol of controllers: a law over scalars, its reference and its gains."""

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
    """A control law over scalars: torques from the state, a reference and gains.

    The reference of a joint controller is q [rad|m], qd and qdd, n scalars each. `gains` are inputs
    of the kernel, so that other gains compile nothing. A controller may also have
    - `reference_at(robot, t)`, its reference (T, ...) at times t (T,) [s], where that is not a
      motion of joints, with `reference_shape(n)`;
    - `memory(robot)`, initial values (m,) of the controller's state: `law` then takes it after the
      gains, and `memory_rate(tree, q, qd, reference, gains, memory)` returns its rates.

    A controller of this package lists in `kernel_inputs` the fields that only `gains` and
    `reference_at` read. All other fields are part of the key of its kernel. The kernel of a
    controller from another package is traced again for every run.
    """

    @property
    def reference(self) -> Any:
        """The motion to follow or the position to hold."""

    @property
    def model(self) -> Robot | None:
        """The robot of the law; None for the simulated robot."""

    def gains(self, n: int) -> Array:
        """Return all gains in one row (k,)."""

    def law(
        self, tree: Tree, q: Scalars, qd: Scalars, reference: Any, gains: Scalars, *memory: Scalars
    ) -> list[Scalar]:
        """Return torques, n scalars [N m|N], on the tree of the controller's model."""


def reference_shape(law: Controller, n: int) -> tuple[int, ...]:
    """Return the shape of the reference at one time."""
    return tuple(law.reference_shape(n)) if hasattr(law, "reference_shape") else (3, n)


def sampled_reference(robot: Robot, law: Controller, t: Array) -> Array:
    """Return the reference of a controller at times t (T,) [s]: (T, ...), (1, ...) if constant."""
    return (
        np.asarray(law.reference_at(robot, t))
        if hasattr(law, "reference_at")
        else joint_reference(robot, law.reference, t)
    )


def commanded_positions(robot: Robot, law: Controller | None, t: Array) -> Array | None:
    """Return the joint positions (T, n) that a controller follows at times t (T,) [s].

    None where its reference is not a motion of joints.
    """
    if law is None or hasattr(law, "reference_at"):
        return None
    return np.array(
        np.broadcast_to(joint_reference(robot, law.reference, t)[:, 0], (len(t), robot.n))
    )


def joint_reference(robot: Robot, reference: Any, t: Array) -> Array:
    """Return q, qd and qdd of a reference at times t [s] after its start.

    (T, 3, n) for a trajectory, (1, 3, n) for a constant position.
    """
    if isinstance(reference, Trajectory):
        if reference.n != robot.n:
            raise CallError(
                f"simulate: the reference moves {reference.n} joints, the robot has {robot.n}:"
                f" {', '.join(robot.joint_names)}"
            )
        start, end = float(reference.t[0]), float(reference.t[-1])
        q, qd, qdd = reference.motion(np.clip(t + start, start, end))
        moving = (t + start <= end)[:, None]
        return np.stack([q, np.where(moving, qd, 0.0), np.where(moving, qdd, 0.0)], axis=1)
    position = (
        np.zeros(robot.n) if reference is None else numbers("simulate: the reference", reference)
    )
    if position.shape != (robot.n,) or not np.all(np.isfinite(position)):
        what = f"has shape {position.shape}" if position.shape != (robot.n,) else "is not finite"
        raise CallError(
            f"simulate: the reference {what}; expected a Trajectory or a position ({robot.n},)"
            " [rad|m]"
        )
    return np.stack([position, 0 * position, 0 * position])[None]


def check_gains(law: Any, *names: str) -> None:
    """Raise CallError for a gain that is neither a finite number nor a row of them."""
    for name in names:
        value = numbers(f"{type(law).__name__}: {name}", getattr(law, name))
        if value.ndim > 1 or not np.all(np.isfinite(value)):
            raise CallError(
                f"{type(law).__name__}: {name} must be one finite number, or one for each joint or"
                " direction"
            )


def spread_gain(law: Any, name: str, count: int, of: str) -> Array:
    """Return a gain as an array (count,); raise CallError where it has another size."""
    value = np.asarray(getattr(law, name), dtype=float)
    if value.size not in (1, count):
        raise CallError(
            f"{type(law).__name__}: {name} has {value.size} numbers; expected one, or one for each"
            f" of {count} {of}"
        )
    return np.broadcast_to(value, count)
