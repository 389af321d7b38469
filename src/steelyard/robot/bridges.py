"""Functions of a robot in CasADi, JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, ClassVar

from .loops.constrained_dynamics import ConstrainedDynamicsMethods

if TYPE_CHECKING:
    from ..bridges.casadi_functions import CasadiFunctions
    from ..bridges.catalogue import Catalogue
    from ..bridges.jax_functions import JaxFunctions
    from ..bridges.torch_functions import TorchFunctions

OF_LOOPS = ("closure", "closure_jacobian", "closure_bias")
# how many results each returns
OF_CLOSED_LOOPS = {
    "constrained_forward_dynamics": 2,
    "constrained_regressor": 1,
    "freedom_basis": 1,
}


class BridgeMethods(ConstrainedDynamicsMethods):
    """Export of a robot's functions to other libraries. See docs/bridges.md."""

    _single_calls: ClassVar[Mapping[str, str]]  # methods that are one algorithm, see single_call.py

    def to_casadi(
        self,
        frame: str | None = None,
        wrench: Sequence[str] = (),
        base: bool = False,
        parameters: bool = False,
    ) -> CasadiFunctions:
        """Return the functions as objects of type `casadi.Function` with named arguments.

        Needs the extra `casadi`. Functions with options take them after their arrays, in the order
        wrench, base, parameters. Vectors are columns (n, 1), Christoffel symbols (n, n n).
        Jacobians of inverse and forward dynamics come from `inverse_dynamics_derivatives` and
        `forward_dynamics_derivatives`.

        Parameters
        ----------
        frame : name of the frame that kinematics are of; the end-effector by default.
        wrench : names of frames with a wrench; functions take them as one matrix (frames, 6) [N, N
            m].
        base : whether functions take the motion of the base (9, 1) [m/s2, rad/s, rad/s2].
        parameters : whether functions take parameters (p, 1) in place of the robot's own.

        Returns
        -------
        `CasadiFunctions`: .inverse_dynamics, .mass_matrix and all others, by the names of the
        robot's methods.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.to_casadi().inverse_dynamics  # doctest: +SKIP
        Function(inverse_dynamics:(q[2],qd[2],qdd[2])->(tau[2]) SXFunction)
        """
        from ..bridges.casadi_functions import CasadiFunctions

        return CasadiFunctions(self._catalogue(), frame, wrench, base, parameters)

    def to_jax(self, dtype: str | None = None) -> JaxFunctions:
        """Return the robot's functions over JAX arrays, for `jit`, `vmap` and `grad` to any order.

        Needs the extra `jax`. They take the arguments of the robot's methods, except `out`.
        Derivatives are exact, from the expression graph. Where JAX computes in float32, a
        SteelyardWarning names the setting for float64.

        Parameters
        ----------
        dtype : "float64" or "float32" that arguments are converted to; theirs by default.

        Returns
        -------
        `JaxFunctions`: .inverse_dynamics, .mass_matrix and all others, by the names of the robot's
        methods.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> functions = robot.to_jax(dtype="float32")  # doctest: +SKIP
        >>> functions.inverse_dynamics([0.1, 0.2], [0.5, 0.5], [1.0, -1.0])  # doctest: +SKIP
        Array([395.27228 ,  79.051735], dtype=float32)
        """
        from ..bridges.jax_functions import JaxFunctions

        return JaxFunctions(self._catalogue(), dtype)

    def to_torch(self) -> TorchFunctions:
        """Return the robot's functions over PyTorch tensors (..., n), differentiable to any order.

        Needs the extra `torch`. They take the arguments of the robot's methods, except `out`.
        Derivatives are exact, from the expression graph. float64 tensors on the CPU run in the
        robot's kernels, others in the operations of PyTorch.

        Returns
        -------
        `TorchFunctions`: .inverse_dynamics, .mass_matrix and all others, by the names of the
        robot's methods.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.to_torch().inverse_dynamics([0.1, 0.2], [0.5, 0.5], [1.0, -1.0])  # doctest: +SKIP
        tensor([395.2723,  79.0517], dtype=torch.float64)
        """
        from ..bridges.torch_functions import TorchFunctions

        return TorchFunctions(self._catalogue())

    def _catalogue(self) -> Catalogue:
        """Return the functions that bridges export: all single calls, and functions of loops."""
        from ..bridges.catalogue import Catalogue, entry

        cls = type(self)
        entries = {
            name: entry(algorithm, self.tree, signature(getattr(cls, name)))
            for name, algorithm in self._single_calls.items()
        }
        if self.tree.loops:
            entries |= {
                name: entry(name, self.tree, signature(getattr(cls, name))) for name in OF_LOOPS
            }
            closed = self.closed_tree
            loop_functions = OF_CLOSED_LOOPS if closed.rows else {}
            entries |= {
                name: entry(name, closed, signature(getattr(cls, name)), count)
                for name, count in loop_functions.items()
            }
        return Catalogue(self.name, self.fingerprint, entries, self._frame)
