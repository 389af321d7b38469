"""A robot's functions in PyTorch, by compiled kernels where possible, else by its operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compiler.render import array_expressions
from ..compiler.runtime.kernel import Kernel
from ..errors import needs_extra
from .array_functions import ArrayFunctions, Linearised
from .catalogue import Catalogue


class TorchFunctions(ArrayFunctions):
    """The functions of a robot over tensors, for autograd and `torch.func`.

    float64 tensors on the CPU run in the robot's kernels, values and derivatives. Other tensors,
    and code compiled by PyTorch, use PyTorch's operations and their own type. Other arguments
    become float64.
    """

    library = "PyTorch"

    def __init__(self, catalogue: Catalogue) -> None:
        try:
            import torch
        except ImportError:
            raise needs_extra("torch", "torch", "to_torch()") from None
        super().__init__(catalogue)
        self.xp = torch

    def _array(self, x: Any) -> Any:
        tensor = (
            self.xp.as_tensor(x)
            if self.xp.is_tensor(x)
            else self.xp.as_tensor(x, dtype=self.xp.float64)
        )
        return tensor if tensor.is_floating_point() else tensor.to(self.xp.float64)

    def _together(self, arrays: list[Any]) -> list[Any]:
        kind = arrays[0].dtype
        for x in arrays[1:]:
            kind = self.xp.promote_types(kind, x.dtype)
        return [x.to(kind) for x in arrays]

    def _run(self, linearised: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
        result: tuple[Any, ...] = differentiable(linearised).apply(*arrays)
        return result


def differentiable(linearised: Linearised) -> Any:
    """Return the program as a `torch.autograd.Function` with its linearisations as derivatives.

    These are themselves differentiable.
    """
    return linearised.cached("torch", lambda: _with_rules(linearised))


def _with_rules(linearised: Linearised) -> Any:
    import torch

    inputs, outputs = linearised.program.inputs, linearised.program.outputs

    class Differentiable(torch.autograd.Function):  # type: ignore[misc]
        """The program with its rules."""

        @staticmethod
        def forward(*arrays: Any) -> tuple[Any, ...]:
            return _compute(torch, linearised, arrays)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *adjoints: Any) -> tuple[Any, ...]:
            arrays = ctx.saved_tensors
            wrt = tuple(k for k, needed in enumerate(ctx.needs_input_grad) if needed)
            gradients = dict(
                zip(
                    wrt,
                    differentiable(linearised.pullback(wrt)).apply(*arrays, *adjoints),
                    strict=True,
                )
            )
            return tuple(
                _sum_broadcast(gradients[k], x) if k in gradients else None
                for k, x in enumerate(arrays)
            )

        @staticmethod
        def jvp(ctx: Any, *rates: Any) -> tuple[Any, ...]:
            arrays = ctx.saved_tensors
            wrt = tuple(k for k, rate in enumerate(rates) if rate is not None)
            tangents: tuple[Any, ...] = differentiable(linearised.tangent(wrt)).apply(
                *arrays, *(rates[k] for k in wrt)
            )
            return tangents

        @staticmethod
        def vmap(info: Any, in_dims: Sequence[int | None], *arrays: Any) -> tuple[Any, Any]:
            moved = [
                x if axis is None else x.movedim(axis, 0)
                for x, axis in zip(arrays, in_dims, strict=True)
            ]
            batch_ndims = [
                x.ndim - len(o.shape) - (axis is not None)
                for x, o, axis in zip(arrays, inputs, in_dims, strict=True)
            ]
            spread = [
                x
                if axis is None
                else x.reshape(x.shape[0], *[1] * (max(batch_ndims) - depth), *x.shape[1:])
                for x, axis, depth in zip(moved, in_dims, batch_ndims, strict=True)
            ]
            return Differentiable.apply(*spread), (0,) * len(outputs)

    return Differentiable


def _compute(torch: Any, linearised: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return the results of a program, by its kernel if the tensors allow, else by PyTorch."""
    if all(_readable(torch, x) for x in arrays):
        kernel = linearised.cached("kernel", lambda: Kernel(linearised.program))
        results = kernel(*(x.detach().numpy() for x in arrays))
        return tuple(
            torch.as_tensor(x) for x in (results if isinstance(results, tuple) else (results,))
        )
    like = {"dtype": arrays[0].dtype, "device": arrays[0].device}
    return array_expressions.call(
        linearised.program, torch, arrays, lambda value: torch.tensor(value, **like)
    )


def _readable(torch: Any, x: Any) -> bool:
    """Return whether a tensor is plain float64 memory on the CPU.

    Tensors of a transformation or of a compiler are not.
    """
    return (
        type(x) in (torch.Tensor, torch.nn.Parameter)
        and x.dtype == torch.float64
        and x.device.type == "cpu"
        and _real(torch, x)
    )


def _real(torch: Any, x: Any) -> bool:
    functorch = torch._C._functorch
    return not torch.compiler.is_compiling() and not functorch.is_functorch_wrapped_tensor(x)


def _sum_broadcast(adjoint: Any, like: Any) -> Any:
    """Return the adjoint of an input that was broadcast, summed over the broadcast dimensions."""
    extra = adjoint.ndim - like.ndim
    adjoint = adjoint.sum(tuple(range(extra))) if extra else adjoint
    repeated = tuple(k for k, size in enumerate(like.shape) if size == 1 and adjoint.shape[k] != 1)
    return adjoint.sum(repeated, keepdim=True) if repeated else adjoint
