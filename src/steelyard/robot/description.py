"""Names, parameters and frames of a robot, and the lookup of its kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cached import cached_property
from ..compiler.runtime.kernel import Kernel
from ..content_digest import content_digest
from ..dynamics.customise.right_angles import HARMLESS, with_right_angles
from ..dynamics.kinematics import find_frame
from ..errors import CallError, suggest
from ..kernels import kernel
from ..mechanism import Mechanism, Tree, reduce
from ..mechanism.check import present_remarks
from ..mechanism.edit import tip
from ..mechanism.model import fingerprint
from ..mechanism.near_integers import LOOSE
from ..mechanism.parameter_vector import (
    parameter_names,
    parameter_units,
    parameters,
    root_parameters,
)

Array = NDArray[np.float64]
Wrench = ArrayLike | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of all joints, infinite where there is none.

    Parameters
    ----------
    position : lower and upper limit (n, 2) [rad|m]
    velocity : largest speed (n,) [rad/s|m/s]
    effort : largest torque (n,) [N m|N]
    """

    position: Array
    velocity: Array
    effort: Array


class Description:
    """A mechanism, reduced to moving bodies, with its kernels."""

    # a slot is found faster than an entry of the dict
    __slots__ = ("__dict__", "__weakref__", "_calls")

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._calls: dict[str, Any] = {}  # of single calls, see single_call.py

    @property
    def mechanism(self) -> Mechanism:
        """The description: links, joints, gravity. Edits return new robots."""
        return self._mechanism

    @cached_property
    def tree(self) -> Tree:
        """The moving bodies that the algorithms use.

        Nearly right angles are exact where no acceleration changes noticeably.
        """
        return with_right_angles(reduce(self.mechanism))

    @property
    def name(self) -> str:
        """The name of the robot in its description."""
        return self.mechanism.name

    @property
    def n(self) -> int:
        """The number of coordinates: joints that move independently."""
        return self.tree.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of q."""
        return self.tree.coordinates

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames with a pose and a Jacobian: every link, moving or fixed."""
        return tuple(self.tree.frames)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the moving bodies, in the order of wrenches and reactions.

        A body has the name of the link that its joint carries.
        """
        return tuple(body.name for body in self.tree.bodies)

    @cached_property
    def end_effector(self) -> str:
        """Name of the default frame: the last one on the last body of the arm.

        Raises CallError where there are several tips.
        """
        return tip(self.mechanism)

    @cached_property
    def parameters(self) -> Array:
        """The parameter vector pi (p,): ten per link, then the joint terms that are present.

        Joint terms are Ia, Fv, Fc, ...; units are in `parameter_units`.
        """
        pi = np.array(parameters(self.tree), dtype=np.float64)
        pi.flags.writeable = False
        return pi

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Labels of `parameters`, such as link3.mcx and joint3.Fv."""
        return parameter_names(self.tree)

    @cached_property
    def parameter_units(self) -> tuple[str, ...]:
        """Units of `parameters`, such as kg, kg m, kg m2, N m s/rad."""
        return parameter_units(self.tree)

    @cached_property
    def limits(self) -> JointLimits:
        """Limits of position [rad|m], velocity [rad/s|m/s] and effort [N m|N], in joint order."""
        rows = self.tree.limits
        arrays = (
            np.array([[row.lower, row.upper] for row in rows], dtype=float).reshape(-1, 2),
            np.array([row.velocity for row in rows], dtype=float),
            np.array([row.effort for row in rows], dtype=float),
        )
        for array in arrays:
            array.flags.writeable = False
        position, velocity, effort = arrays
        return JointLimits(position=position, velocity=velocity, effort=effort)

    @property
    def torque_units(self) -> tuple[str, ...]:
        """Units of each joint's torque: N m, or N of a prismatic joint."""
        return tuple(
            "N" if self.mechanism.joint(name).kind == "prismatic" else "N m"
            for name in self.joint_names
        )

    @cached_property
    def root_parameters(self) -> Array:
        """The ten parameters of the base and all links fixed to it (10,) [kg, kg m, kg m2].

        About the origin of the base; (0,) without inertia.
        """
        ten = np.array(root_parameters(self.tree), dtype=np.float64)
        ten.flags.writeable = False
        return ten

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall in the base frame (3,) [m/s2]."""
        return np.array(self.mechanism.gravity)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every number and name of the mechanism."""
        return fingerprint(self.mechanism)

    @cached_property
    def __content_digest__(self) -> str:
        """The digest of the mechanism, for keys of caches."""
        return content_digest(self.mechanism)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about changes at loading and about physically impossible values."""
        remarks = (*self.mechanism.remarks, *present_remarks(self.mechanism))
        if self.tree.bodies == reduce(self.mechanism).bodies:
            return remarks
        return (
            *remarks,
            (
                f"rotations within {LOOSE:g} of a right angle were made exact: no acceleration"
                f" changes by {HARMLESS:g}"
            ),
        )

    @property
    def known_function(self) -> Callable[..., Array] | None:
        """The known torque that is a Python function (q, qd, qdd) -> (N, n) [N m|N].

        None for robots that can be compiled.
        """
        return None

    @property
    def drive_model(self) -> str:
        """The model of the rotors, in a sentence."""
        spinning = sum(rotor.mount >= 0 for rotor in self.tree.rotors)
        felt = sum("armature" in terms for terms in self.tree.terms)
        if spinning:
            return (
                f"{spinning} of {self.n} rotors spin on moving links: their gyroscopic coupling is"
                " in the model"
            )
        return (
            f"{felt} of {self.n} joints have a rotor inertia on the diagonal only"
            if felt
            else "no rotor inertia"
        )

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, n={self.n}, {len(self.parameters)} parameters)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Description) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __getstate__(self) -> Mechanism:
        return self.mechanism

    def __setstate__(self, mechanism: Mechanism) -> None:
        self.__init__(mechanism)  # type: ignore[misc]

    def _call(
        self,
        name: str,
        arrays: tuple[Any, ...],
        parameters: Any,
        out: Any,
        wrench: Any = None,
        frame: str | None = None,
        base: Any = None,
    ) -> Any:
        """Call the kernel of an algorithm with arrays."""
        if wrench is None and parameters is None and base is None:
            return self._kernel(name, frame=frame)(*arrays, out=out)
        frames, wrenches = self._wrenches(wrench)
        extra = [x for x in (wrenches, base, parameters) if x is not None]
        compiled = self._kernel(name, frames, parameters is not None, frame, base is not None)
        return compiled(*arrays, *extra, out=out)

    def _wrenches(self, wrench: Wrench | None) -> tuple[tuple[str, ...] | None, Any]:
        """Return the frames of a wrench argument, () for bodies, and one array (..., frames, 6)."""
        if wrench is None or not isinstance(wrench, Mapping):
            return (None if wrench is None else ()), wrench
        for frame in wrench:
            if not isinstance(frame, str):
                raise CallError(
                    f"wrench: {frame!r} is not the name of a frame;"
                    f" {suggest(str(frame), self.frame_names)}"
                )
        if not wrench:
            return (), np.zeros((len(self.tree.bodies), 6))
        frames = tuple(sorted(wrench))
        arrays = [np.asarray(wrench[self._frame(frame)], dtype=np.float64) for frame in frames]
        for frame, array in zip(frames, arrays, strict=True):
            if array.shape[-1:] != (6,):
                raise CallError(
                    f"wrench at {frame!r} has shape {array.shape}; expected (..., 6): force [N],"
                    " then moment [N m]"
                )
        try:
            return frames, np.stack(np.broadcast_arrays(*arrays), axis=-2)
        except ValueError:
            shapes = ", ".join(
                f"{frame!r} {array.shape}" for frame, array in zip(frames, arrays, strict=True)
            )
            raise CallError(
                f"wrenches of shapes {shapes} cannot be broadcast; expected (..., 6)"
            ) from None

    def _kernel(
        self,
        name: str,
        wrench: tuple[str, ...] | None = None,
        parameters: bool = False,
        frame: str | None = None,
        base: bool = False,
    ) -> Kernel:
        return kernel(self.tree, name, wrench=wrench, base=base, parameters=parameters, frame=frame)

    def _prepare(self, name: str, *frame: str | None) -> None:
        """Keep what computes an algorithm in single calls, by frame where it has one."""
        if frame:
            self._calls.setdefault(name, {})[frame[0]] = self._kernel(
                name, frame=self._frame(frame[0])
            ).small_batch_call()
        else:
            self._calls[name] = self._kernel(name).small_batch_call()

    def _bind(self, method: str, name: str) -> None:
        """Replace a method of this robot by the built-in function of an algorithm."""
        if builtin := self._kernel(name).as_builtin(getattr(self, method)):
            self.__dict__[method] = builtin

    def _frame(self, frame: str | None) -> str:
        if frame is None:
            return self.end_effector
        find_frame(self.tree, frame)  # says which frames there are when there is no such one
        return frame
