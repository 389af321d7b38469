"""Named state of a simulation and named inputs of its step.

Kernels take and return arrays by position. `State` and `StepInputs` fix that order in one place, so
that all other code names the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class State(Generic[T]):
    """State of a simulation; parts that a model does not have are None.

    A part is an array (..., size) of one run or many, or a list of scalars while a step is traced.

    Parameters
    ----------
    q : joint positions (..., n) [rad|m]
    qd : joint velocities (..., n) [rad/s|m/s]
    energy : work of the drives and energy dissipated by friction since the start (..., 2) [J]
    base_pose : position [m] and quaternion x y z w of a free base (..., 7)
    base_twist : velocity [m/s] and angular velocity [rad/s] of a free base (..., 6), world axes
    drive : positions, then velocities of the drives (..., k)
    memory : numbers that the controller integrates (..., m)
    presliding : states of friction with memory (..., n) in [-1, 1]
    """

    q: T
    qd: T
    energy: T
    base_pose: T | None = None
    base_twist: T | None = None
    drive: T | None = None
    memory: T | None = None
    presliding: T | None = None

    def parts(self) -> tuple[T, ...]:
        """Return the parts that are not None, in the order of a kernel's arguments."""
        present = (part for part in self._optional() if part is not None)
        return (self.q, self.qd, self.energy, *present)

    def with_parts(self, parts: Sequence[Any]) -> State[Any]:
        """Return a state with other values of the same parts, given in the order of `parts()`."""
        values = _following((self.q, self.qd, self.energy, *self._optional()), parts)
        q, qd, energy, base_pose, base_twist, drive, memory, presliding = values
        return State(
            q=q,
            qd=qd,
            energy=energy,
            base_pose=base_pose,
            base_twist=base_twist,
            drive=drive,
            memory=memory,
            presliding=presliding,
        )

    def _optional(self) -> tuple[T | None, ...]:
        """Return the parts that only some models have."""
        return (self.base_pose, self.base_twist, self.drive, self.memory, self.presliding)


@dataclass(frozen=True, eq=False)
class StepInputs(Generic[T]):
    """Inputs of a step besides its length and the state; those that a model does not have are None.

    Parameters
    ----------
    tau : commanded torques, constant over the step (n,) [N m|N]
    reference : reference of the controller at the beginning of the step
    gains : gains of the controller (k,)
    drive_constants : constants of the drives, such as stiffness or resistance
    restitution : coefficient of restitution of each joint's stops (n,) [-]
    parameters : dynamic parameters of the robot (p,)
    """

    tau: T | None = None
    reference: T | None = None
    gains: T | None = None
    drive_constants: T | None = None
    restitution: T | None = None
    parameters: T | None = None

    def parts(self) -> tuple[T, ...]:
        """Return the inputs that are not None, in the order of a kernel's arguments."""
        return tuple(part for part in self._all() if part is not None)

    def with_parts(self, parts: Sequence[Any]) -> StepInputs[Any]:
        """Return other values of the same inputs, given in the order of `parts()`."""
        tau, reference, gains, drive_constants, restitution, parameters = _following(
            self._all(), parts
        )
        return StepInputs(
            tau=tau,
            reference=reference,
            gains=gains,
            drive_constants=drive_constants,
            restitution=restitution,
            parameters=parameters,
        )

    def _all(self) -> tuple[T | None, ...]:
        """Return all inputs in the order of a kernel's arguments."""
        constants = (self.gains, self.drive_constants, self.restitution, self.parameters)
        return (self.tau, self.reference, *constants)


def _following(pattern: Sequence[Any], parts: Sequence[Any]) -> list[Any]:
    """Return `parts` in order, with None wherever `pattern` has None."""
    remaining = iter(parts)
    values = [None if part is None else next(remaining) for part in pattern]
    assert next(remaining, None) is None, "more values than parts"
    return values
