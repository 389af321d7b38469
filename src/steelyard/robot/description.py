"""What a robot is: its names, numbers and frames, and how its kernels are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ..mechanism.parameter_vector import parameter_names, parameter_units, parameters, root_parameters

Array = NDArray[np.float64]
Wrench = ArrayLike | Mapping[str, ArrayLike]


class Description:
    """A mechanism, reduced to moving bodies, with the kernels that were made for it."""

    __slots__ = ("__dict__", "__weakref__", "_calls")  # a slot is found faster than an entry of the dict

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._calls: dict[str, Any] = {}  # of single calls, see single_call.py

    @property
    def mechanism(self) -> Mechanism:
        """The description: links, joints, gravity. It cannot be replaced; edits make new robots."""
        return self._mechanism

    @cached_property
    def tree(self) -> Tree:
        """The moving bodies, as the algorithms see them; right angles as they are meant where that is harmless."""
        return with_right_angles(reduce(self.mechanism))

    @property
    def name(self) -> str:
        """The name of the robot in its description."""
        return self.mechanism.name

    @property
    def n(self) -> int:
        """The number of coordinates: joints that move on their own."""
        return self.tree.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the order of q."""
        return self.tree.coordinates

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The frames whose pose and Jacobian can be asked for: every link, moving or fixed."""
        return tuple(self.tree.frames)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving bodies, each named after the link that its joint carries: the order of the rows of wrenches and reactions."""
        return tuple(body.name for body in self.tree.bodies)

    @cached_property
    def end_effector(self) -> str:
        """The frame meant where none is named: the last one on the last body of the arm. Raises CallError where there are several tips."""
        return tip(self.mechanism)

    @cached_property
    def parameters(self) -> Array:
        """The vector pi, (p,): ten per link, then the joint terms that are present (Ia, Fv, Fc, ...). Units are in `parameter_units`."""
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

    @property
    def torque_units(self) -> tuple[str, ...]:
        """Units of the torque of each joint: N m, or N where it slides."""
        return tuple("N" if self.mechanism.joint(name).kind == "prismatic" else "N m" for name in self.joint_names)

    @cached_property
    def root_parameters(self) -> Array:
        """The ten numbers of the base with all that is fixed to it, (10,) [kg, kg m, kg m2], about its origin; (0,) without inertia."""
        ten = np.array(root_parameters(self.tree), dtype=np.float64)
        ten.flags.writeable = False
        return ten

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall in the base frame, (3,) [m/s2]."""
        return np.array(self.mechanism.gravity)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every number and name of the mechanism."""
        return fingerprint(self.mechanism)

    @cached_property
    def __content_digest__(self) -> str:
        """The digest for keys of caches: of the mechanism, which is all that a robot is made of."""
        return content_digest(self.mechanism)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about what loading changed, and about what this robot has that no real one has."""
        remarks = (*self.mechanism.remarks, *present_remarks(self.mechanism))
        if self.tree.bodies == reduce(self.mechanism).bodies:
            return remarks
        return (*remarks, f"rotations within {LOOSE:g} of a right angle are taken as one: no acceleration changes by {HARMLESS:g}")

    @property
    def known_function(self) -> Callable[..., Array] | None:
        """The known torque that is a Python function (q, qd, qdd) -> (N, n) [N m|N]; None for robots that can be compiled."""
        return None

    @property
    def drive_model(self) -> str:
        """Which model of the drives the robot has, in a sentence."""
        spinning = sum(rotor.mount >= 0 for rotor in self.tree.rotors)
        felt = sum("armature" in terms for terms in self.tree.terms)
        if spinning:
            return f"{spinning} of {self.n} rotors spin on moving links: their gyroscopic coupling is in the model"
        return f"{felt} of {self.n} joints feel a rotor inertia on the diagonal only" if felt else "no rotor inertia"

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
        self, name: str, arrays: tuple[Any, ...], parameters: Any, out: Any, wrench: Any = None, frame: str | None = None, base: Any = None
    ) -> Any:
        """The kernel of an algorithm on some arrays."""
        if wrench is None and parameters is None and base is None:
            return self._kernel(name, frame=frame)(*arrays, out=out)
        frames, wrenches = self._wrenches(wrench)
        extra = [x for x in (wrenches, base, parameters) if x is not None]
        made = self._kernel(name, frames, parameters is not None, frame, base is not None)
        return made(*arrays, *extra, out=out)

    def _wrenches(self, wrench: Wrench | None) -> tuple[tuple[str, ...] | None, Any]:
        """The frames of a wrench argument, () for the bodies' own, and one array of all, (..., frames, 6)."""
        if wrench is None or not isinstance(wrench, Mapping):
            return (None if wrench is None else ()), wrench
        for frame in wrench:
            if not isinstance(frame, str):
                raise CallError(f"wrench: {frame!r} is no name of a frame; {suggest(str(frame), self.frame_names)}")
        if not wrench:
            return (), np.zeros((len(self.tree.bodies), 6))
        frames = tuple(sorted(wrench))
        arrays = [np.asarray(wrench[self._frame(frame)], dtype=np.float64) for frame in frames]
        for frame, array in zip(frames, arrays, strict=True):
            if array.shape[-1:] != (6,):
                raise CallError(f"wrench at {frame!r} has shape {array.shape}; expected (..., 6): force [N], then moment [N m]")
        try:
            return frames, np.stack(np.broadcast_arrays(*arrays), axis=-2)
        except ValueError:
            shapes = ", ".join(f"{frame!r} {array.shape}" for frame, array in zip(frames, arrays, strict=True))
            raise CallError(f"wrenches of shapes {shapes} do not go together; expected (..., 6) that broadcast") from None

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
            self._calls.setdefault(name, {})[frame[0]] = self._kernel(name, frame=self._frame(frame[0])).few()
        else:
            self._calls[name] = self._kernel(name).few()

    def _bind(self, method: str, name: str) -> None:
        """Let a method of this robot be the built-in function of an algorithm, where Python has one."""
        if made := self._kernel(name).in_place_of(getattr(self, method)):
            self.__dict__[method] = made

    def _frame(self, frame: str | None) -> str:
        if frame is None:
            return self.end_effector
        find_frame(self.tree, frame)  # says which frames there are when there is no such one
        return frame
