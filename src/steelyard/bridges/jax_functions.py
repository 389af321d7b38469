"""A robot's functions in JAX, with derivatives by our own programs.

Forward mode uses tangent programs; JAX transposes them for reverse mode.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..compiler.render import array_expressions
from ..errors import CallError, SteelyardWarning, needs_extra
from .array_functions import ArrayFunctions, Linearised
from .catalogue import Catalogue

TURN_ON = 'jax.config.update("jax_enable_x64", True), before any array is made'


class JaxFunctions(ArrayFunctions):
    """The functions of a robot over JAX arrays.

    They are pure, so that `jit`, `vmap`, `grad`, `jacfwd` and so on apply to them. Their
    derivatives are exact, from the expression graph. A frame and the names in `wrench` are fixed
    while tracing.
    """

    library = "JAX"

    def __init__(self, catalogue: Catalogue, dtype: str | None = None) -> None:
        try:
            import jax
        except ImportError:
            raise needs_extra("jax", "jax", "to_jax()") from None
        super().__init__(catalogue)
        self.xp = jax.numpy
        self._dtype = _precision(jax, dtype)

    def _array(self, x: Any) -> Any:
        array = self.xp.asarray(x)
        return (
            array
            if self.xp.issubdtype(array.dtype, self.xp.floating) and self._dtype is None
            else array.astype(self._dtype or float)
        )

    def _together(self, arrays: list[Any]) -> list[Any]:
        kind = self.xp.result_type(*arrays)
        return [x.astype(kind) for x in arrays]

    def _run(self, linearised: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
        result: tuple[Any, ...] = differentiable(linearised)(*arrays)
        return result


def differentiable(linearised: Linearised) -> Any:
    """Return the program as a function of JAX arrays with its tangent as the JVP rule.

    The rule is itself differentiable.
    """
    return linearised.cached("jax", lambda: _with_rule(linearised))


def _with_rule(linearised: Linearised) -> Any:
    import jax

    def function(*arrays: Any) -> tuple[Any, ...]:
        return array_expressions.call(linearised.program, jax.numpy, arrays)

    def rule(arrays: Sequence[Any], rates: Sequence[Any]) -> tuple[Any, Any]:
        moving = tuple(
            k
            for k, rate in enumerate(rates)
            if type(rate) is not jax.custom_derivatives.SymbolicZero
        )
        return defined(*arrays), differentiable(linearised.tangent(moving))(
            *arrays, *(rates[k] for k in moving)
        )

    function.__name__ = linearised.program.name
    defined = jax.custom_jvp(function)
    defined.defjvp(rule, symbolic_zeros=True)
    return defined


def _precision(jax: Any, dtype: str | None) -> str | None:
    """Return the type to which arguments are converted, None for JAX's own rules.

    Warns if JAX computes in less than float64.
    """
    if dtype not in (None, "float32", "float64"):
        raise CallError(
            f"dtype={dtype!r}; expected 'float64', 'float32', or None for the type of the arguments"
        )
    if not jax.config.jax_enable_x64:
        if dtype == "float64":
            raise CallError(
                f"dtype='float64': JAX computes in float32 here; turn float64 on by {TURN_ON}"
            )
        if dtype is None:
            message = (
                "JAX computes in float32 here, to about seven digits: turn float64 on by"
                f" {TURN_ON}; or pass dtype='float32' to accept it"
            )
            warnings.warn(message, SteelyardWarning, stacklevel=4)
    return dtype
