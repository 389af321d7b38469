"""Model of one simulation step, and the arrays that its kernel takes and returns.

A kernel is traced from a controller without its gains and its reference: they are arguments of the
kernel, so that other gains compile nothing. The key of the kernel is the content of the same
object. A law that reads such a field while it is traced raises an error; otherwise its value would
stay in a kernel that is also used for other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

from ..compiler.ir.program import Operand
from ..content_digest import HOOK, PACKAGE, content_digest
from ..errors import CallError
from ..mechanism.parameter_vector import with_scalars
from ..robot import Robot
from .controllers.controller import Controller, reference_shape
from .drives import Drive
from .dry_friction import dry_joints
from .state import State, StepInputs

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class StepModel:
    """Robot, integrator, kind of control ("none", "held" torques or "law") and drives of a step."""

    robot: Robot
    method: str
    control: str
    controller: Controller | None = None
    saturated: bool = False
    free_base: bool = False
    drive: Drive | None = None
    stops: bool = False
    parametric: bool = False  # the robot's parameters are an input of the kernel

    # sizes of gains and drive constants, for a model whose controller and drive have no values
    sizes: tuple[int, int] | None = None

    def traced(self) -> StepModel:
        """Return the model from which a kernel is traced, which is also the kernel's key.

        Gains, reference and drive constants are inputs of a kernel. Controller and drive come
        without them here and raise CallError where a law reads them, so that a program depends on
        the fields of this model only.
        """
        return replace(
            self,
            controller=without_inputs(self.controller),
            drive=without_inputs(self.drive),
            sizes=self.input_sizes,
        )

    @property
    def input_sizes(self) -> tuple[int, int]:
        """Number of gains, and number of drive constants."""
        if self.sizes is not None:
            return self.sizes
        gains = 0 if self.controller is None else len(self.controller.gains(self.robot.n))
        return gains, 0 if self.drive is None else self.drive.numbers(self.robot).size

    @property
    def plant(self) -> Robot:
        """The robot on the link side of its drives."""
        return self.robot if self.drive is None else self.drive.link_side(self.robot)

    @property
    def may_lock(self) -> bool:
        """Whether dry friction or stops may keep joints at rest."""
        tree = self.plant.tree
        if self.parametric:  # any term may be there
            tree = with_scalars(tree, [1.0] * len(self.plant.parameters))
        return self.stops or bool(dry_joints(tree))

    @property
    def memory_size(self) -> int:
        """Number of values that the controller integrates."""
        memory = getattr(self.controller, "memory", None)
        return 0 if memory is None else len(memory(self.robot))

    def state_operands(self) -> State[Operand]:
        """Return name, shape and unit of each part of the state."""
        n, drive = self.robot.n, self.drive
        pose, twist = (
            Operand("base_pose", (7,), "[m, -]"),
            Operand("base_twist", (6,), "[m/s, rad/s]"),
        )
        return State(
            q=Operand("q", (n,), "[rad|m]"),
            qd=Operand("qd", (n,), "[rad/s|m/s]"),
            energy=Operand("energy", (2,), "[J]"),
            base_pose=pose if self.free_base else None,
            base_twist=twist if self.free_base else None,
            drive=None if drive is None else Operand("drive", (sum(drive.kinds) * n,), ""),
            memory=Operand("memory", (self.memory_size,), "") if self.memory_size else None,
            presliding=Operand("presliding", (n,), "[-]") if self.robot.tree.has_memory else None,
        )

    def input_operands(self) -> StepInputs[Operand]:
        """Return name and shape of each input of a step besides its length and the state."""
        n, law, (gains, constants) = self.robot.n, self.controller, self.input_sizes
        parameters = Operand("parameters", self.robot.parameters.shape, "")
        return StepInputs(
            tau=Operand("tau", (n,), "[N m|N]") if self.control == "held" else None,
            reference=None if law is None else Operand("reference", reference_shape(law, n), ""),
            gains=None if law is None else Operand("gains", (gains,), ""),
            drive_constants=(
                None if self.drive is None else Operand("drive_constants", (constants,), "")
            ),
            restitution=Operand("restitution", (n,), "") if self.stops else None,
            parameters=parameters if self.parametric else None,
        )

    def operands(self) -> tuple[list[Operand], list[Operand]]:
        """Return the inputs (h, state, inputs) and outputs (state, commanded torque) of a step."""
        state, torque = self.state_operands().parts(), Operand("tau", (self.robot.n,), "[N m|N]")
        inputs = [Operand("h", (), "[s]"), *state, *self.input_operands().parts()]
        return inputs, [*state, torque]

    def unpack(self, values: Sequence[Any]) -> tuple[State[Any], StepInputs[Any]]:
        """Return state and inputs from the values that a step takes after its length."""
        state, inputs = self.state_operands(), self.input_operands()
        count = len(state.parts())
        return state.with_parts(values[:count]), inputs.with_parts(values[count:])


def without_inputs(subject: Subject) -> Subject:
    """Return a controller or drive without the fields that its class lists in `kernel_inputs`.

    Parameters
    ----------
    subject : a dataclass; None, and objects of other packages, which have no key, stay as they are

    Returns
    -------
    An object of a subclass whose listed fields raise CallError when they are read.
    """
    kind = type(subject)
    names = getattr(kind, "kernel_inputs", ())
    if kind.__module__.partition(".")[0] != PACKAGE or not names:
        return subject
    every = [field.name for field in fields(subject)]  # type: ignore[arg-type]
    others = {name: getattr(subject, name) for name in every if name not in names}
    members: dict[str, Any] = {name: property(_refuse(f"{kind.__name__}.{name}")) for name in names}
    members |= {
        "kernel_inputs": (),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    members[HOOK] = property(lambda self: content_digest((names, tuple(others.items()))))
    stripped: Any = object.__new__(type(kind.__name__, (kind,), members))
    stripped.__dict__.update(others)
    return cast(Subject, stripped)


def _refuse(name: str) -> Any:
    """Return a getter that raises CallError."""

    def read(_: object) -> Any:
        raise CallError(
            f"{name} is an input of the kernel: a law reads it from its arguments, not from the"
            " controller"
        )

    return read
