"""What a step of a simulation is made of, and the arrays that its kernel takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..compiler.ir.program import Operand
from ..mechanism.parameter_vector import with_scalars
from ..robot import Robot
from .controllers.controller import Controller, wanted_shape
from .drives import Drive
from .dry_friction import dry_joints
from .kernel_inputs import without_inputs


@dataclass(frozen=True)
class Setup:
    """What a step is made of: the robot, the method, the kind of control ("none", "held" torques, or a controller), and what is between."""

    robot: Robot
    method: str
    control: str
    controller: Controller | None = None
    saturated: bool = False
    free: bool = False  # nothing holds the base
    drive: Drive | None = None
    stops: bool = False
    parametric: bool = False  # the robot's parameters are an input of the kernel

    sizes: tuple[int, int] | None = None  # how many numbers controller and drive take, where their values were taken away

    def traced(self) -> Setup:
        """Return what a kernel is traced from, and its key.

        Gains, reference and numbers of drives are inputs of a kernel. Controller and drive come without them here, and raise where
        a law reads them: what a program depends on is in this setup, field by field.
        """
        return replace(self, controller=without_inputs(self.controller), drive=without_inputs(self.drive), sizes=self.input_sizes)

    @property
    def input_sizes(self) -> tuple[int, int]:
        """How many numbers the controller and the drive take."""
        if self.sizes is not None:
            return self.sizes
        gains = 0 if self.controller is None else len(self.controller.gains(self.robot.n))
        return gains, 0 if self.drive is None else self.drive.numbers(self.robot).size

    @property
    def plant(self) -> Robot:
        """The robot on the joints' side of its drives."""
        return self.robot if self.drive is None else self.drive.link_side(self.robot)

    @property
    def holds(self) -> bool:
        """Whether friction or stops may hold joints."""
        tree = self.plant.tree
        if self.parametric:  # any term may be there
            tree = with_scalars(tree, [1.0] * len(self.plant.parameters))
        return self.stops or bool(dry_joints(tree))

    @property
    def memory(self) -> int:
        """How many numbers the controller keeps."""
        return len(self.controller.memory(self.robot)) if hasattr(self.controller, "memory") else 0  # type: ignore[union-attr]

    def operands(self) -> tuple[list[Operand], list[Operand]]:
        """h, the state and what drives, stops and control take; the state after it, and the torque that was commanded.

        The state is q, qd, the books (work and heat so far [J]), of a free base its pose and twist, that of drives and of the controller.
        """
        n, law = self.robot.n, self.controller
        state = [Operand("q", (n,), "[rad|m]"), Operand("qd", (n,), "[rad/s|m/s]"), Operand("books", (2,), "[J]")]
        state += [Operand("pose", (7,), "[m, -]"), Operand("twist", (6,), "[m/s, rad/s]")] if self.free else []
        state += [Operand("drive", (sum(self.drive.kinds) * n,), "")] if self.drive is not None else []
        state += [Operand("memory", (self.memory,), "")] if self.memory else []
        taken = [Operand("h", (), "[s]"), *state]
        taken += [Operand("tau", (n,), "[N m|N]")] if self.control == "held" else []
        if law is not None:
            taken += [Operand("wanted", wanted_shape(law, n), ""), Operand("gains", (self.input_sizes[0],), "")]
        taken += [Operand("drive numbers", (self.input_sizes[1],), "")] if self.drive is not None else []
        taken += [Operand("stops", (n,), "")] if self.stops else []
        taken += [Operand("parameters", self.robot.parameters.shape, "")] if self.parametric else []
        return taken, [*state, Operand("tau", (n,), "[N m|N]")]

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """What a step takes after h, by name."""
        return {operand.name: value for operand, value in zip(self.operands()[0][1:], values, strict=True)}
