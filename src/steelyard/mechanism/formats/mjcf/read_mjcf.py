"""Reader of MJCF through the package mujoco, which compiles it.

A body's link has the frame and the name that the body has in MuJoCo. Where a body has several
joints, or one that does not pass through its frame, links without mass named `body@joint` stand
between. Sites become frames. A linear joint equality becomes a mimic, other equalities become loops
(`equalities`). A warning names what is not modelled (springs, tendons, fluid, contacts) and how
much the torques change.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....algebra.rotation import from_quaternion, unit
from ....algebra.spatial import Inertia, Pose, from_com, rotated
from ....algebra.vector import IDENTITY, ZERO, Matrix, Symmetric, Vector, neg
from ....errors import ModelError, SteelyardWarning
from ... import near_integers as snap
from ...check import check_count, validated
from ...joint_terms import Terms
from ...model import Joint, Limits, Link, Mechanism, Mimic, Source
from ...near_integers import displaced
from .compile_mjcf import compiled, import_mujoco
from .equalities import JOINT, driven_joints, equality_loops
from .unsupported_elements import joint_name, linear_terms

_OTHER_JOINTS = {
    0: "a free joint is not supported: take it out to hold the base still",
    1: "a ball joint is not supported: write it as three hinges",
}
_SLIDE = 2


def read_mjcf(path: Path, text: str) -> Mechanism:
    """Return a mechanism from the text of an MJCF file and its includes.

    Meshes are needed only where there is no <inertial>.
    """
    model, sentences = compiled(path, text)
    check_count(str(path), model.njnt + model.nbody + model.nsite)
    names = _Names(model, str(path))
    links, joints = [Link(names.body(0))], []
    for body in range(1, model.nbody):
        parts = _body(model, names, body)
        links += parts[0]
        joints += parts[1]
    for site in range(model.nsite):
        links.append(Link(names.site(site)))
        pose = _pose(model.site_pos[site], model.site_quat[site])
        joints.append(
            Joint(
                f"{names.site(site)}_fixed",
                "fixed",
                names.body(model.site_bodyid[site]),
                names.site(site),
                pose,
            )
        )
    mechanism = Mechanism(
        name=names.model(),
        links=tuple(links),
        joints=tuple(joints),
        gravity=_gravity(model),
        source=Source("mjcf", "", str(path)),
        remarks=tuple(sentences),
        loops=equality_loops(model, names.body, names.site, _mimics(model).values()),
        driven=driven_joints(model, range(model.njnt)),
    )
    if sentences:  # their names are checked by now
        warnings.warn(f"{path}: " + "; ".join(sentences), SteelyardWarning, stacklevel=3)
    return validated(
        mechanism, lambda what, name: str(path) if what == "robot" else f"{path}, {what} {name!r}"
    )


def _body(model: Any, names: _Names, body: int) -> tuple[list[Link], list[Joint]]:
    """Add a body with its joints, base first: X = X_body prod_k T(p_k) J_k(q_k - ref_k) T(-p_k)."""
    links: list[Link] = []
    joints: list[Joint] = []
    name, parent, reach = (
        names.body(body),
        names.body(model.body_parentid[body]),
        _pose(model.body_pos[body], model.body_quat[body]),
    )
    for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
        anchor = _vector(model.jnt_pos[joint])
        last = joint == model.body_jntadr[body] + model.body_jntnum[body] - 1
        child = name if last and anchor == ZERO else f"{name}@{names.joint(joint)}"
        links += [] if child == name else [Link(child)]
        joints.append(
            _joint(model, names, joint, parent, child, reach.compose(Pose(IDENTITY, anchor)))
        )
        parent, reach = child, Pose(IDENTITY, neg(anchor))
    if parent != name:
        joints.append(Joint(f"{name}_fixed", "fixed", parent, name, reach))
    return [*links, Link(name, _inertia(model, body))], joints


def _joint(model: Any, names: _Names, joint: int, parent: str, child: str, origin: Pose) -> Joint:
    kind = int(model.jnt_type[joint])
    if kind in _OTHER_JOINTS:
        raise ModelError(
            f"{names.where}: joint {names.joint(joint)!r} of body"
            f" {names.body(model.jnt_bodyid[joint])!r}: {_OTHER_JOINTS[kind]}"
        )
    ref = float(model.qpos0[model.jnt_qposadr[joint]])
    axis = snap.axis(unit(_vector(model.jnt_axis[joint])) or (0.0, 0.0, 1.0))
    sliding, limited = kind == _SLIDE, bool(model.jnt_limited[joint])
    result = Joint(
        name=names.joint(joint),
        kind="prismatic" if sliding else "revolute" if limited else "continuous",
        parent=parent,
        child=child,
        origin=displaced("prismatic" if sliding else "revolute", origin, axis, -ref),
        axis=axis,
        limits=_limits(model, joint),
        mimic=_mimic(model, names, joint),
    )
    return replace(
        result,
        terms=Terms.of(
            {term: value for term, value in linear_terms(model, joint).items() if value}
        ),
    )


def _limits(model: Any, joint: int) -> Limits:
    """Return the range, and the largest effort that the joint and its motors allow."""
    lower, upper = (
        map(float, model.jnt_range[joint]) if model.jnt_limited[joint] else (-math.inf, math.inf)
    )
    efforts = (
        [float(np.abs(model.jnt_actfrcrange[joint]).max())]
        if model.jnt_actfrclimited[joint]
        else []
    )
    motors = np.flatnonzero(
        (model.actuator_trnid[:, 0] == joint) & (model.actuator_forcelimited != 0)
    )
    efforts += [
        float(np.abs(model.actuator_forcerange[motor]).max() * abs(model.actuator_gear[motor, 0]))
        for motor in motors
    ]
    return Limits(lower, upper, effort=min((e for e in efforts if e > 0), default=math.inf))


def _mimics(model: Any) -> dict[int, int]:
    """Return the first active joint equality that ties each joint linearly to another one."""
    joints = [int(row) for row in np.flatnonzero(model.eq_active0) if model.eq_type[row] == JOINT]
    rows = [
        row for row in joints if model.eq_obj2id[row] >= 0 and not np.any(model.eq_data[row, 2:5])
    ]
    return {int(model.eq_obj1id[row]): row for row in reversed(rows)}


def _mimic(model: Any, names: _Names, joint: int) -> Mimic | None:
    """Return the mimic y = y0 + a0 + a1 (x - x0) of an active joint equality."""
    row = _mimics(model).get(joint)
    if row is None:
        return None
    leader, (a0, a1) = int(model.eq_obj2id[row]), map(float, model.eq_data[row, :2])
    y0, x0 = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (joint, leader))
    return Mimic(names.joint(leader), a1, y0 + a0 - a1 * x0)


def _inertia(model: Any, body: int) -> Inertia | None:
    m, diagonal = float(model.body_mass[body]), _vector(model.body_inertia[body])
    if m == 0.0 and diagonal == ZERO:
        return None
    I = rotated(  # noqa: E741
        Symmetric(diagonal[0], 0.0, 0.0, diagonal[1], 0.0, diagonal[2]),
        _rotation(model.body_iquat[body]),
    )
    return from_com(m, _vector(model.body_ipos[body]), I)


def _gravity(model: Any) -> Vector:
    off = model.opt.disableflags & import_mujoco().mjtDisableBit.mjDSBL_GRAVITY
    return ZERO if off else _vector(model.opt.gravity)


class _Names:
    """Names of bodies, joints and sites; unnamed ones get a generated name."""

    def __init__(self, model: Any, where: str) -> None:
        self._model, self.where = model, where

    def model(self) -> str:
        return bytes(self._model.names).split(b"\0", 1)[0].decode()

    def body(self, i: int) -> str:
        return self._model.body(int(i)).name or f"body{i}"

    def joint(self, i: int) -> str:
        return joint_name(self._model, i)

    def site(self, i: int) -> str:
        name = self._model.site(int(i)).name or f"site{i}"
        taken = {self.body(body) for body in range(self._model.nbody)}
        return f"{name}_site" if name in taken else name


def _pose(position: Any, quaternion: Any) -> Pose:
    return Pose(_rotation(quaternion), _vector(position))


def _rotation(quaternion: Any) -> Matrix:
    w, x, y, z = map(float, quaternion)
    return snap.matrix(from_quaternion((w, x, y, z)))


def _vector(values: Any) -> Vector:
    x, y, z = map(float, values)
    return (x, y, z)
