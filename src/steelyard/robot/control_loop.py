"""Functions for control loops, which call with one state at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import CallError, suggest
from ..kernels import ALGORITHMS, interpreter
from ..kernels.tick import algorithm_row, tick
from ..mechanism import Mechanism
from .description import Description


class ControlLoopMethods(Description):
    """Bare functions of one state, without the overhead of a method."""

    def kernel(self, name: str, frame: str | None = None) -> Callable[..., Any]:
        """Return the bare function of an algorithm, a built-in that takes arrays and `out=`.

        One state in float64 arrays goes straight to compiled code. Other inputs of the method work
        too, at its speed.

        Parameters
        ----------
        name : an algorithm, such as "mass_matrix": the methods of the robot that take q have its
            name.
        frame : name of the frame, of kinematics; the end-effector by default.

        Returns
        -------
        The function. It shares the robot's compiled code and outlives it.

        Examples
        --------
        >>> mass_matrix = sy.load("planar_2r").kernel("mass_matrix")
        >>> mass_matrix(np.array([0.1, 0.2])).round(3)
        array([[43.137, 10.789],
               [10.789,  3.34 ]])
        """
        return self._kernel(name, frame=self._frame_of("kernel", name, frame)).bare(
            self._origin("kernel", name, frame=frame)
        )

    def interpreted(self, name: str, frame: str | None = None) -> Callable[..., Any]:
        """Return an algorithm that runs operation by operation on NumPy arrays, without compiling.

        Batch dimensions come first. Useful for a few calls of a large robot, whose kernels take
        seconds to compile; a compiled kernel is hundreds of times faster. Results differ from the
        kernel's by rounding.

        Parameters
        ----------
        name : an algorithm, such as "regressor": the methods of the robot that take q have its
            name.
        frame : name of the frame, of kinematics; the end-effector by default.

        Returns
        -------
        The function; it takes the arrays that the method of this name takes first.

        Examples
        --------
        >>> sy.load("planar_2r").interpreted("mass_matrix")([0.1, 0.2]).round(3)
        array([[43.137, 10.789],
               [10.789,  3.34 ]])
        """
        return interpreter(self.tree, name, self._frame_of("interpreted", name, frame))

    def _frame_of(self, asked: str, name: str, frame: str | None) -> str | None:
        """Return the frame of an algorithm that has one.

        Raise CallError for an unknown algorithm, and for a frame of an algorithm without one.
        """
        if name not in ALGORITHMS:
            raise CallError(
                f"{asked}: no algorithm is called {name!r}; {suggest(str(name), ALGORITHMS)}"
            )
        framed = ALGORITHMS[name].needs_frame
        if frame is not None and not framed:
            raise CallError(f"{asked}: {name} is not about a frame; leave out frame={frame!r}")
        return self._frame(frame) if framed else None

    def tick(self, *names: str, frame: str | None = None) -> Callable[..., Any]:
        """Return one function for several results of one state: a single kernel with shared work.

        It takes the arrays that any of the algorithms takes, in the order q, qd, qdd, tau.

        Parameters
        ----------
        frame : name of the frame, of kinematics; the end-effector by default.
        names : algorithms, such as "inverse_dynamics", "mass_matrix", "jacobian".

        Returns
        -------
        The function; it returns a tuple of their results, in the order of the names.

        Examples
        --------
        >>> tick = sy.load("planar_2r").tick("gravity_torque", "mass_matrix")
        >>> g, M = tick(np.array([0.1, 0.2]))
        >>> g.round(3), M.shape
        (array([364.056,  71.226]), (2, 2))
        """
        if not names:
            raise CallError(
                'tick: expected the names of algorithms, such as tick("inverse_dynamics",'
                ' "mass_matrix")'
            )
        rows = [algorithm_row(str(name)) for name in names]
        framed = any(row.needs_frame for row in rows)
        if frame is not None and not framed:
            raise CallError(
                f"tick: none of {', '.join(names)} is about a frame; leave out frame={frame!r}"
            )
        return tick(self.tree, names, self._frame(frame) if framed else None).bare(
            self._origin("tick", *names, frame=frame)
        )

    def _origin(self, method: str, *names: str, frame: str | None) -> tuple[Any, ...]:
        """Return what a bare function is pickled as: how another process builds it.

        It does not keep this robot in memory.
        """
        return _bare, (type(self), self.mechanism, method, names, frame)


def _bare(
    kind: type[ControlLoopMethods],
    mechanism: Mechanism,
    method: str,
    names: tuple[str, ...],
    frame: str | None,
) -> Callable[..., Any]:
    """Return the bare function that a method of a robot returns."""
    return getattr(kind(mechanism), method)(*names, frame=frame)
