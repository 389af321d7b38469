"""A robot's functions as `casadi.Function`s with named inputs and exact, sparse derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..compiler.ir.program import Operand
from ..compiler.render.casadi_expressions import casadi, expressions, extent
from ..errors import CallError
from .catalogue import Catalogue, Form
from .robot_functions import RobotFunctions

if TYPE_CHECKING:
    from casadi import Function

JACOBIANS = {
    "inverse_dynamics": "inverse_dynamics_derivatives",
    "forward_dynamics": "forward_dynamics_derivatives",
}


class CasadiFunctions(RobotFunctions["Function"]):
    """The functions of a robot as `casadi.Function`s.

    The chosen options are inputs after the arrays: `wrench` (frames, 6), `base` (9), `parameters`
    (p). A function has fixed inputs: `friction_torque` takes q and qd, and includes known torques.
    """

    library = "CasADi"

    def __init__(
        self,
        catalogue: Catalogue,
        frame: str | None,
        wrench: Sequence[str],
        base: bool,
        parameters: bool,
    ) -> None:
        super().__init__(catalogue)
        if isinstance(wrench, str):
            raise CallError(
                f"wrench={wrench!r} is one name; expected several frames, such as [{wrench!r}]"
            )
        casadi()
        self._frame = None if frame is None else catalogue.frame(frame)
        frames = tuple(catalogue.frame(each) for each in wrench)
        self._options: dict[str, Any] = {
            "wrench": frames or None,
            "base": base,
            "parameters": parameters,
        }

    def _trace(self, name: str) -> Function:
        taken = self._catalogue.entries[name].signature.parameters
        options = {key: value for key, value in self._options.items() if key in taken}
        frame = self._catalogue.frame(self._frame) if "frame" in taken else None
        algorithm = (
            "friction_torque_at"
            if name == "friction_torque"
            else self._catalogue.entries[name].algorithm
        )
        return self._casadi_function(name, Form(algorithm, frame, **options))

    def _casadi_function(self, name: str, form: Form) -> Function:
        ca = casadi()
        program = self._catalogue.program(name, form)
        symbols = [ca.SX.sym(operand.name, *extent(operand)) for operand in program.inputs]
        results = expressions(program, symbols)
        names = (
            [operand.name for operand in program.inputs],
            _result_names(program.inputs, program.outputs),
        )
        options = (
            {
                "custom_jacobian": self._jacobian(name, form, symbols, results, *names),
                "jac_penalty": 0,
            }
            if name in JACOBIANS
            else {}
        )
        return ca.Function(name, symbols, results, *names, options)

    def _jacobian(
        self,
        name: str,
        form: Form,
        symbols: Sequence[Any],
        results: Sequence[Any],
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> Any:
        """Return the derivatives of the dynamics by composite bodies, in CasADi's form.

        They take half the operations of differentiating the graph.
        """
        ca = casadi()
        structured = self._catalogue.program(
            JACOBIANS[name], form._replace(algorithm=JACOBIANS[name])
        )
        blocks = expressions(structured, symbols)
        blocks += [ca.jacobian(results[0], x) for x in symbols[len(blocks) :]]
        nominal = ca.SX.sym(f"out_{outputs[0]}", ca.Sparsity(*results[0].shape))
        names = [*inputs, f"out_{outputs[0]}"], [f"jac_{outputs[0]}_{key}" for key in inputs]
        return ca.Function(f"jac_{name}", [*symbols, nominal], blocks, *names)


def _result_names(inputs: Sequence[Operand], outputs: Sequence[Operand]) -> list[str]:
    """Return names of the outputs that differ from the inputs', as CasADi requires."""
    taken = {operand.name for operand in inputs}
    return [f"{operand.name}_out" if operand.name in taken else operand.name for operand in outputs]
