"""Edited copies of a robot: parameters, gravity, payload, friction, rotors, loops, fixed joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.spatial import Pose
from ..arguments import real_number, short_repr
from ..errors import CallError, refuse_known_function, suggest
from ..mechanism import Mechanism, edit
from ..mechanism.known_torque import traced, with_expressions
from ..mechanism.loops import Loop, link_and_frame, loop_problems, residual_texts
from .description import Description

if TYPE_CHECKING:
    from typing_extensions import Self

Values = float | Sequence[float] | Mapping[str, float]


class EditMethods(Description):
    """Methods that return an edited copy of the robot."""

    def with_parameters(self, pi: ArrayLike) -> Self:
        """Return a copy of this robot with other parameters, in the order of `parameter_names`.

        Parameters
        ----------
        pi : (p,) parameters in the order and units of `parameter_names` and `parameter_units`.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> heavier = robot.with_parameters(2.0 * robot.parameters)
        >>> heavier.gravity_torque([0, 0]) / robot.gravity_torque([0, 0])
        array([2., 2.])
        """
        if isinstance(pi, Mapping):
            raise CallError(
                "with_parameters: expected all parameters as an array, not a dictionary; to change"
                f" {next(iter(pi), 'one')}: robot.with_parameters([{short_repr(dict(pi))}.get(name,"
                " value) for name, value in zip(robot.parameter_names, robot.parameters)])"
            )
        return self._like(edit.with_parameters(self.mechanism, np.asarray(pi, dtype=float)))

    def with_gravity(self, gravity: Sequence[float]) -> Self:
        """Return a copy of this robot with another gravity vector in the base frame [m/s2].

        Parameters
        ----------
        gravity : (3,) acceleration of free fall in the base frame [m/s2].

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").with_gravity((0, 0, 0)).gravity_torque([0, 0])
        array([0., 0.])
        """
        return self._like(edit.with_gravity(self.mechanism, gravity))

    def with_payload(
        self,
        mass: float,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        inertia: Any = 0.0,
        frame: str | None = None,
    ) -> Self:
        """Return a copy of this robot with a payload at a frame, by default the end-effector.

        Mass [kg], centre of mass [m] and inertia about it [kg m2], in the axes of the frame.

        Parameters
        ----------
        mass : mass of the payload [kg].
        com : (3,) its centre of mass in the frame [m].
        inertia : about the centre [kg m2]: (3, 3), six numbers Ixx Ixy Ixz Iyy Iyz Izz, three of a
            diagonal one, or one.
        frame : name of a frame, one of `frame_names`; the end-effector by default.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> loaded = robot.with_payload(2.0, com=(0.8, 0, 0))
        >>> (loaded.gravity_torque([0, 0]) - robot.gravity_torque([0, 0])).round(3)
        array([35.316, 15.696])
        """
        return self._like(edit.with_payload(self.mechanism, mass, com, inertia, self._frame(frame)))

    def with_friction(
        self,
        viscous: Values | None = None,
        coulomb: Values | None = None,
        offset: Values | None = None,
        **terms: Values | None,
    ) -> Self:
        """Return a copy of this robot with joint friction Fv qd + Fc sign(qd) + F0 [N m|N].

        Each is one number, one per joint, or by joint name. Further terms are the keys of
        `mechanism.joint_terms.FRICTION`: `negative` Fn is the Coulomb friction of backward motion,
        `stiction` Fs decays with the velocity `stribeck` [rad/s|m/s], `width` [rad/s|m/s] makes
        Coulomb friction smooth, tanh(qd / width); `load` Fl is Coulomb friction per gravity torque,
        `driving` Fld and `driven` Flb in [0, 1) the same where the motor drives the load and where
        the load drives the motor, `sine1`, `cosine1`, ... torque ripple of a motor behind the ratio
        `gear`. The shapes stribeck, width and gear have no column in the regressor.
        Armstrong-Helouvry, Dupont and Canudas de Wit 1994, section 2.2.

        Parameters
        ----------
        viscous : Fv [N m s/rad|N s/m].
        coulomb : Fc [N m|N].
        offset : F0 [N m|N].
        **terms : further terms by their keys.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r").with_friction(viscous=0.5, coulomb={"joint2": 2.0})
        >>> robot.friction_torque([1.0, 1.0])
        array([0.5, 2.5])
        """
        return self._like(
            edit.with_friction(
                self.mechanism, viscous=viscous, coulomb=coulomb, offset=offset, **terms
            )
        )

    def with_coupling(self, joint_a: str, joint_b: str, **terms: float | None) -> Self:
        """Return a copy of this robot with a motor that two joints share.

        Terms armature Iam, viscous Fvm, coulomb Fcm and width, as in `mechanism.Coupling`.

        Parameters
        ----------
        joint_a, joint_b : names of the joints.
        **terms : armature [kg m2], viscous [N m s/rad], coulomb [N m], width [rad/s].

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").with_coupling("joint1", "joint2", armature=0.1).parameter_names[-1]
        'joint2.Iam'
        """
        return self._like(edit.with_coupling(self.mechanism, joint_a, joint_b, **terms))

    def with_known_torque(self, torque: Mapping[str, str] | Callable[..., Any]) -> Self:
        """Return a copy of this robot with a known torque [N m|N], such as a spring's.

        An expression by joint, such as {"joint2": "5.0 * sin(q['joint2'])"}, or a function (q, qd,
        qdd) -> torque over arrays (..., n), of arithmetic and NumPy functions of q and qd alone.

        Parameters
        ----------
        torque : joint name -> expression [N m|N], or a function of arrays.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> sprung = robot.with_known_torque({"joint2": "5.0 * sin(q['joint2'])"})
        >>> sprung.friction_torque([0, 0], [0, np.pi / 2]).round(3)
        array([0., 5.])
        """
        if callable(torque):
            expressions = traced(torque, self.joint_names)
            if expressions is None:
                allowed = "arithmetic and NumPy's sin, cos, sqrt, exp, tanh and abs of q and qd"
                raise CallError(
                    f"the known torque cannot be traced; expected a function of {allowed}"
                )
            torque = {each.joint: each.expression for each in expressions}
        return self._like(
            replace(
                self.mechanism,
                known=with_expressions(self.mechanism.known, torque, self.joint_names),
            )
        )

    def with_loop(
        self,
        name: str,
        kind: str,
        a: str | tuple[str, Any] | Mapping[str, Any] = "",
        b: str | tuple[str, Any] | Mapping[str, Any] = "",
        at_a: Pose | Sequence[Any] | Mapping[str, Any] | None = None,
        at_b: Pose | Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        length: float = 0.0,
        ratio: float = 1.0,
        offset: float = 0.0,
        residual: str | Sequence[str] | Callable[..., Any] = (),
    ) -> Self:
        """Return a copy of this robot with a loop between frames at_a of link a and at_b of link b.

        `kind` is one of `mechanism.loops.KINDS`. A frame is a point in its link [m], a point and
        roll, pitch, yaw [rad], {"xyz": point, "rpy": angles}, a matrix (4, 4) or a `Pose`. Links a
        and b may be pairs (link, frame). A "gear" or "rack" couples joints a and b: q_a = ratio q_b
        + offset. A "residual" is user-defined: text such as "q['slide'] - 0.1 * sin(q['crank'])",
        several of them, or a function of the positions (n scalars) that is traced. See
        docs/loops.md.

        Parameters
        ----------
        name : of the loop.
        kind : one of `mechanism.loops.KINDS`.
        a, b : names of links, or of joints for a gear or rack; (link, frame) instead of a
            name and a frame.
        at_a, at_b : frames in their links, such as a point (3,) [m].
        length : of a distance [m].
        ratio, offset : of a gear [-, rad] or rack [m/rad, m].
        residual : expressions that are zero where the loop is closed.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> geared = robot.with_loop("wheels", "gear", "joint2", "joint1", ratio=-0.5)
        >>> geared.closure([0.2, 0.4]).round(3)
        array([0.5])
        """
        for argument, value in (("name", name), ("kind", kind)):
            if not isinstance(value, str):
                raise CallError(
                    f"with_loop: {argument} is {short_repr(value)}; expected a text, such as"
                    " name='closure', kind='point'"
                )
        texts = (
            residual_texts(residual, self.joint_names) if callable(residual) else _texts(residual)
        )
        (link_a, frame_a), (link_b, frame_b) = (
            link_and_frame(a, at_a, "a"),
            link_and_frame(b, at_b, "b"),
        )
        loop = Loop(
            name=name,
            kind=kind,
            a=link_a,
            b=link_b,
            at_a=frame_a,
            at_b=frame_b,
            length=real_number("with_loop: length", length),
            ratio=real_number("with_loop: ratio", ratio),
            offset=real_number("with_loop: offset", offset),
            expressions=tuple(texts),
        )
        return self._checked(replace(self.mechanism, loops=(*self.mechanism.loops, loop)))

    def without_loops(self, *names: str) -> Self:
        """Return a copy of this robot with some loops opened, by default all.

        Parameters
        ----------
        *names : of loops; all by default.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("four_bar").without_loops().closure_names
        ()
        """
        known = [loop.name for loop in self.mechanism.loops]
        for name in names:
            if name not in known:
                raise CallError(f"no loop is called {name!r}; {suggest(name, known)}")
        remaining = tuple(loop for loop in self.mechanism.loops if names and loop.name not in names)
        return self._like(replace(self.mechanism, loops=remaining))

    def with_drives(self, *joints: str) -> Self:
        """Return a copy of this robot with drives at these joints only.

        Parameters
        ----------
        *joints : names of joints.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").with_drives("joint1").driven_joints
        ('joint1',)
        """
        return self._checked(replace(self.mechanism, driven=tuple(joints)))

    def _checked(self, mechanism: Mechanism) -> Self:
        """Return the robot of a mechanism; raise CallError for invalid loops or drives."""
        kinds = {joint.name: joint.kind for joint in mechanism.joints}
        for name, sentence in loop_problems(
            mechanism.loops, [link.name for link in mechanism.links], kinds, mechanism.driven
        ):
            raise CallError(
                sentence if sentence.startswith("driven") else f"loop {name!r}: {sentence}"
            )
        return self._like(mechanism)

    def with_joint_terms(self, keys: Sequence[str]) -> Self:
        """Return a copy of this robot with parameters for these joint terms at every joint.

        Terms are armature, viscous, ...; new ones are zero.

        Parameters
        ----------
        keys : of terms, such as "armature" [kg m2|kg] and "viscous" [N m s/rad|N s/m].

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").with_joint_terms(["armature", "viscous"]).parameter_names[-4:]
        ('joint1.Ia', 'joint1.Fv', 'joint2.Ia', 'joint2.Fv')
        """
        return self._like(edit.with_joint_terms(self.mechanism, keys))

    def without_friction(self) -> Self:
        """Return a copy of this robot without joint friction.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("puma560").without_friction().friction_torque(np.ones(6))
        array([0., 0., 0., 0., 0., 0.])
        """
        return self._like(edit.without_friction(self.mechanism))

    def with_rotors(
        self,
        armature: Values | None = None,
        ratio: Values | None = None,
        axis: Any = None,
        mount: str | Sequence[str] | Mapping[str, str] | None = None,
    ) -> Self:
        """Return a copy of this robot with rotor inertias Ia = ratio^2 Im at the joints [kg m2|kg].

        This is the diagonal approximation. With a gear `ratio` the rotors spin on the link `mount`
        (the joint's parent by default) about the unit vector `axis` of that link (the joint's axis
        by default): the full model with gyroscopic coupling. Lecture "Newton-Euler formulation",
        augmented link.

        Parameters
        ----------
        armature : Ia [kg m2|kg].
        ratio : gear ratio, turns of the motor per turn of the joint [-].
        axis : (3,) unit vector in the frame of the mount, by joint.
        mount : name of the link that carries the motor, by joint.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> (robot.with_rotors(0.3).mass_matrix([0, 0]) - robot.mass_matrix([0, 0])).round(3)
        array([[0.3, 0. ],
               [0. , 0.3]])
        """
        return self._like(edit.with_rotors(self.mechanism, armature, ratio, axis, mount))

    def without_known_torque(self) -> Self:
        """Return a copy of this robot without known torques.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").without_known_torque().friction_torque([0, 0], [0, 0])
        array([0., 0.])
        """
        return self._like(replace(self.mechanism, known=()))

    def without_known_function(self) -> Self:
        """Return a copy of this robot without a known torque that is a Python function.

        Fits may have one: see `fit.robot`.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").without_known_function().n
        2
        """
        return self

    def without_rotors(self) -> Self:
        """Return a copy of this robot without rotor inertia, shared motors included.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("puma560").without_rotors().drive_model
        'no rotor inertia'
        """
        return self._like(edit.without_rotors(self.mechanism))

    def freeze(self, positions: Mapping[str, float]) -> Self:
        """Return a copy of this robot with some joints fixed at positions [rad|m].

        Parameters
        ----------
        positions : joint name -> position [rad|m].

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> sy.load("planar_2r").freeze({"joint2": 0.5}).joint_names
        ('joint1',)
        """
        return self._like(edit.freeze(self.mechanism, positions))

    def thaw(self, whole: Description) -> Self:
        """Return a copy of this robot with the frozen joints of `whole` movable again.

        This unlocks joints that `freeze` fixed. `fit.robot.thaw(robot)` is the whole robot with the
        parameters that were identified while some joints were frozen.

        Parameters
        ----------
        whole : the robot from which `freeze` made this one.

        Returns
        -------
        A new robot; this one is not changed.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.freeze({"joint2": 0.5}).thaw(robot).joint_names
        ('joint1', 'joint2')
        """
        refuse_known_function(whole, "thaw")
        return self._like(edit.thaw(self.mechanism, whole.mechanism))

    def _like(self, mechanism: Mechanism) -> Self:
        return type(self)(mechanism)


def _texts(residual: Any) -> tuple[str, ...]:
    """Return the expressions of a loop's residual."""
    texts = (
        (residual,)
        if isinstance(residual, str)
        else tuple(residual)
        if isinstance(residual, (tuple, list))
        else (residual,)
    )
    if not all(isinstance(text, str) for text in texts):
        line = "residual=\"q['slide'] - 0.1 * sin(q['crank'])\""
        raise CallError(
            f"with_loop: residual is {short_repr(residual)}; expected text, texts or a function:"
            f" {line}"
        )
    return texts
