"""A robot's functions in PyTorch: by compiled kernels where they can run, by the operations of PyTorch elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compiler.render import array_expressions
from ..compiler.runtime.kernel import Kernel
from ..errors import needs_extra
from .array_functions import ArrayFunctions, Linearised
from .catalogue import Catalogue


class TorchFunctions(ArrayFunctions):
    """The functions of a robot over tensors, for autograd and `torch.func` (`grad`, `vmap`, `jacrev`, `jvp`).

    float64 tensors on the CPU run in the robot's kernels, values and derivatives; others, and what is compiled by PyTorch, in its own
    operations and their own type. What is no tensor becomes float64.
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
        made = self.xp.as_tensor(x) if self.xp.is_tensor(x) else self.xp.as_tensor(x, dtype=self.xp.float64)
        return made if made.is_floating_point() else made.to(self.xp.float64)

    def _together(self, arrays: list[Any]) -> list[Any]:
        kind = arrays[0].dtype
        for x in arrays[1:]:
            kind = self.xp.promote_types(kind, x.dtype)
        return [x.to(kind) for x in arrays]

    def _run(self, made: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
        result: tuple[Any, ...] = differentiable(made).apply(*arrays)
        return result


def differentiable(made: Linearised) -> Any:
    """The program as a `torch.autograd.Function` whose derivatives are the program's linearisations, themselves differentiable."""
    return made.kept("torch", lambda: _with_rules(made))


def _with_rules(made: Linearised) -> Any:
    import torch

    inputs, outputs = made.program.inputs, made.program.outputs

    class Differentiable(torch.autograd.Function):  # type: ignore[misc]
        """The program with its rules."""

        @staticmethod
        def forward(*arrays: Any) -> tuple[Any, ...]:
            return _computed(torch, made, arrays)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *adjoints: Any) -> tuple[Any, ...]:
            arrays = ctx.saved_tensors
            wrt = tuple(k for k, needed in enumerate(ctx.needs_input_grad) if needed)
            found = dict(zip(wrt, differentiable(made.pullback(wrt)).apply(*arrays, *adjoints), strict=True))
            return tuple(_summed(found[k], x) if k in found else None for k, x in enumerate(arrays))

        @staticmethod
        def jvp(ctx: Any, *rates: Any) -> tuple[Any, ...]:
            arrays = ctx.saved_tensors
            wrt = tuple(k for k, rate in enumerate(rates) if rate is not None)
            found: tuple[Any, ...] = differentiable(made.tangent(wrt)).apply(*arrays, *(rates[k] for k in wrt))
            return found

        @staticmethod
        def vmap(info: Any, in_dims: Sequence[int | None], *arrays: Any) -> tuple[Any, Any]:
            moved = [x if at is None else x.movedim(at, 0) for x, at in zip(arrays, in_dims, strict=True)]
            own = [x.ndim - len(o.shape) - (at is not None) for x, o, at in zip(arrays, inputs, in_dims, strict=True)]
            spread = [
                x if at is None else x.reshape(x.shape[0], *[1] * (max(own) - depth), *x.shape[1:])
                for x, at, depth in zip(moved, in_dims, own, strict=True)
            ]
            return Differentiable.apply(*spread), (0,) * len(outputs)

    return Differentiable


def _computed(torch: Any, made: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a program: by its kernel on tensors that a kernel can read, else by the operations of PyTorch."""
    if all(_readable(torch, x) for x in arrays):
        kernel = made.kept("kernel", lambda: Kernel(made.program))
        found = kernel(*(x.detach().numpy() for x in arrays))
        return tuple(torch.as_tensor(x) for x in (found if isinstance(found, tuple) else (found,)))
    like = {"dtype": arrays[0].dtype, "device": arrays[0].device}
    return array_expressions.call(made.program, torch, arrays, lambda value: torch.tensor(value, **like))


def _readable(torch: Any, x: Any) -> bool:
    """Whether a tensor is plain memory: float64 on the CPU, and no stand-in of a transformation or of a compiler."""
    return type(x) in (torch.Tensor, torch.nn.Parameter) and x.dtype == torch.float64 and x.device.type == "cpu" and _real(torch, x)


def _real(torch: Any, x: Any) -> bool:
    functorch = torch._C._functorch
    return not torch.compiler.is_compiling() and not functorch.is_functorch_wrapped_tensor(x)


def _summed(adjoint: Any, like: Any) -> Any:
    """The adjoint of an input that was broadcast: summed over the dimensions that it does not have."""
    extra = adjoint.ndim - like.ndim
    adjoint = adjoint.sum(tuple(range(extra))) if extra else adjoint
    repeated = tuple(k for k, size in enumerate(like.shape) if size == 1 and adjoint.shape[k] != 1)
    return adjoint.sum(repeated, keepdim=True) if repeated else adjoint
