"""Equality constraints of MJCF as loops: connect, weld, joint and tendon.

Drives are the joints that have an actuator.

The numbers come from the compiled model (`eq_data`), so that anchors and relative poses are as
MuJoCo understands them at qpos0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ....algebra.rotation import from_quaternion
from ....algebra.spatial import Pose
from ....algebra.vector import IDENTITY
from ... import near_integers as snap
from ...loops import Loop
from .unsupported_elements import joint_name

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
_SITE, _JOINT_WRAP = 6, 1  # mjtObj, mjtWrap


def equality_loops(
    model: Any, body: Callable[[int], str], site: Callable[[int], str], mimics: Collection[int]
) -> tuple[Loop, ...]:
    """Return a loop for every active equality, except mimics and flexible bodies."""
    loops = []
    for row in map(int, np.flatnonzero(model.eq_active0)):
        kind = int(model.eq_type[row])
        name = model.eq(row).name or f"equality{row}"
        if kind in (CONNECT, WELD):
            link = site if int(model.eq_objtype[row]) == _SITE else body
            a, b = (link(int(model.eq_obj1id[row])), link(int(model.eq_obj2id[row])))
            at_a, at_b = _frames(model.eq_data[row], kind, link is site)
            loops.append(
                Loop(
                    name=name,
                    kind="point" if kind == CONNECT else "weld",
                    a=a,
                    b=b,
                    at_a=at_a,
                    at_b=at_b,
                )
            )
        elif kind == JOINT and row not in mimics:
            loops.append(
                Loop(name, "residual", expressions=(_polynomial(model, row, _joint_position),))
            )
        elif kind == TENDON:
            loops.append(
                Loop(name, "residual", expressions=(_polynomial(model, row, _tendon_length),))
            )
    return tuple(loops)


def _frames(data: Any, kind: int, sites: bool) -> tuple[Pose, Pose]:
    """Return the two frames that must coincide, in the frames of their bodies or sites."""
    if sites:
        return Pose(), Pose()
    if kind == CONNECT:
        return Pose(IDENTITY, _three(data[:3])), Pose(IDENTITY, _three(data[3:6]))
    w, x, y, z = map(float, data[6:10])
    turn = snap.matrix(from_quaternion((w, x, y, z))) if any((w, x, y, z)) else IDENTITY
    return Pose(turn, _three(data[3:6])), Pose(IDENTITY, _three(data[:3]))


def _polynomial(model: Any, row: int, value: Callable[[Any, int], str]) -> str:
    """Return y - y0 = a0 + a1 (x - x0) + ... + a4 (x - x0)^4 as an expression that is zero.

    Without x only the constant.
    """
    y, x = value(model, int(model.eq_obj1id[row])), int(model.eq_obj2id[row])
    coefficients = [float(a) for a in model.eq_data[row, :5]]
    if x < 0:
        return f"({y}) - ({coefficients[0]!r})"
    variable, text = value(model, x), repr(coefficients[-1])
    for a in reversed(coefficients[:-1]):
        text = repr(a) if text == "0.0" else f"{a!r} + ({variable}) * ({text})"
    return f"({y}) - ({text})"


def _joint_position(model: Any, joint: int) -> str:
    """Return the expression q - q0."""
    return f"q[{joint_name(model, joint)!r}] - {float(model.qpos0[model.jnt_qposadr[joint]])!r}"


def _tendon_length(model: Any, tendon: int) -> str:
    """Return the length of a fixed tendon relative to qpos0: a sum of scaled positions."""
    wraps = range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon])
    terms = [
        f"{float(model.wrap_prm[k])!r} * q[{joint_name(model, model.wrap_objid[k])!r}]"
        for k in wraps
    ]
    return f"{' + '.join(terms)} - {float(model.tendon_length0[tendon])!r}"


def driven_joints(model: Any, joints: Sequence[int]) -> tuple[str, ...] | None:
    """Return the joints with an actuator; None where there is no actuator at all."""
    moved = {
        int(model.actuator_trnid[k, 0]) for k in range(model.nu) if model.actuator_trntype[k] == 0
    }
    return tuple(joint_name(model, joint) for joint in joints if joint in moved) if moved else None


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = map(float, values)
    return (x, y, z)
