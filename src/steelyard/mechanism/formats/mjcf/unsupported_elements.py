"""Elements of an MJCF that a mechanism does not have, with their effect on the torques."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

import numpy as np

_SLIDE = 2


def unsupported_in_spec(mujoco: Any, spec: Any) -> list[str]:
    """Return sentences about equalities without a loop, tendons and contacts, before compiling."""
    coupling = {tendon.name for tendon in spec.tendons if couples_joints(mujoco, tendon)}
    used = {
        name
        for e in spec.equalities
        if e.active and e.type == mujoco.mjtEq.mjEQ_TENDON
        for name in (e.name1, e.name2)
    } & coupling
    others = [e for e in spec.equalities if e.active and not is_loop(mujoco, e, coupling)]
    remarks = [
        f"an equality constraint between {e.name1!r} and {e.name2!r} is left out: they move freely"
        " of each other"
        for e in others
    ]
    remarks += [
        _tendon(tendon)
        for tendon in spec.tendons
        if tendon.name not in used or _force_attributes(tendon)
    ]
    bodies = _colliding_bodies(spec)
    if bodies and not spec.option.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        remarks.append(
            "contacts are left out: torques differ where bodies touch"
            f" ({', '.join(bodies[:8])}{', ...' if len(bodies) > 8 else ''})"
        )
    return remarks


def couples_joints(mujoco: Any, tendon: Any) -> bool:
    """Return whether a tendon of a specification is fixed: a sum of joint positions."""
    return len(tendon.path) > 0 and all(
        int(wrap.type) == int(mujoco.mjtWrap.mjWRAP_JOINT) for wrap in tendon.path
    )


def is_loop(mujoco: Any, equality: Any, coupling: Collection[str]) -> bool:
    """Return whether an equality of a specification becomes a loop or a mimic.

    `coupling` are the names of the fixed tendons.
    """
    if equality.type == mujoco.mjtEq.mjEQ_TENDON:
        return all(name in coupling for name in (equality.name1, equality.name2) if name)
    return equality.type in (
        mujoco.mjtEq.mjEQ_CONNECT,
        mujoco.mjtEq.mjEQ_WELD,
        mujoco.mjtEq.mjEQ_JOINT,
    )


def _force_attributes(tendon: Any) -> dict[str, float]:
    """Return the numbers of a tendon that cause forces."""
    stated = {
        key: float(np.ravel(getattr(tendon, key, 0.0))[0])
        for key in ("stiffness", "damping", "frictionloss", "armature")
    }
    return {key: value for key, value in stated.items() if value}


def _tendon(tendon: Any) -> str:
    terms = ", ".join(f"{key} {value:g}" for key, value in _force_attributes(tendon).items())
    return f"tendon {tendon.name!r} is left out: torques differ by its force" + (
        f" ({terms})" if terms else ""
    )


def _colliding_bodies(spec: Any) -> list[str]:
    """Return the bodies whose geoms may collide by contype and conaffinity, except with parents."""
    bodies = [body for body in spec.bodies if len(body.geoms)]
    types = [np.bitwise_or.reduce([geom.contype for geom in body.geoms]) for body in bodies]
    affinities = [
        np.bitwise_or.reduce([geom.conaffinity for geom in body.geoms]) for body in bodies
    ]
    touching = {
        i
        for pair in combinations(range(len(bodies)), 2)
        if types[pair[0]] & affinities[pair[1]] or types[pair[1]] & affinities[pair[0]]
        if not _are_neighbours(bodies[pair[0]], bodies[pair[1]])
        for i in pair
    }
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    named = [i for i, body in enumerate(bodies) if any(geom.name in paired for geom in body.geoms)]
    return [bodies[i].name or "an unnamed body" for i in sorted({*touching, *named})]


def _are_neighbours(parent: Any, child: Any) -> bool:
    return parent.name != "world" and any(body == child for body in parent.bodies)


def unsupported_in_model(mujoco: Any, model: Any) -> Iterator[str]:
    """Return sentences about springs, nonlinear damping, gravity compensation and fluid."""
    for joint in range(model.njnt):
        if np.any(model.jnt_stiffness[joint]) or np.any(
            _polynomial(model, "jnt_stiffnesspoly", joint)
        ):
            yield _spring(mujoco, model, joint)
        if np.any(_polynomial(model, "dof_dampingpoly", model.jnt_dofadr[joint])):
            yield _damping(mujoco, model, joint)
    for body in range(model.nbody):
        if model.body_gravcomp[body]:
            yield _gravity_compensation(model, body)
    if model.opt.density or model.opt.viscosity:
        yield _fluid(mujoco, model)


def _polynomial(model: Any, name: str, i: int) -> Any:
    """Return higher coefficients of a spring or damper; older versions of MuJoCo have none."""
    return getattr(model, name)[i] if hasattr(model, name) else 0.0


def _gravity_compensation(model: Any, body: int) -> str:
    force = float(
        model.body_gravcomp[body] * model.body_mass[body] * np.linalg.norm(model.opt.gravity)
    )
    name = model.body(body).name or f"body{body}"
    return (
        f"gravity compensation of body {name!r} is left out: gravity torques differ by a force of"
        f" {force:.3g} N at its centre of mass"
    )


def joint_name(model: Any, joint: int) -> str:
    """Return a joint's name, or a generated one."""
    return model.joint(int(joint)).name or f"joint{joint}"


def _units(model: Any, joint: int) -> tuple[str, str]:
    return ("N", "m") if model.jnt_type[joint] == _SLIDE else ("N m", "rad")


def _spring(mujoco: Any, model: Any, joint: int) -> str:
    data, address = mujoco.MjData(model), model.jnt_qposadr[joint]
    rest, (torque, angle) = float(model.qpos_spring[address]), _units(model, joint)
    limited = bool(model.jnt_limited[joint])
    largest = 0.0
    for q in model.jnt_range[joint] if limited else (rest + 1.0,):
        data.qpos[:] = model.qpos_spring
        data.qpos[address] = q
        mujoco.mj_forward(model, data)
        largest = max(largest, abs(float(data.qfrc_spring[model.jnt_dofadr[joint]])))
    where = "over its range" if limited else f"1 {angle} from rest"
    stiffness = (
        f"{float(np.ravel(model.jnt_stiffness[joint])[0]):g} {torque}/{angle} about {rest:.3g}"
        f" {angle}"
    )
    name = joint_name(model, joint)
    return (
        f"joint {name!r} has a spring of {stiffness} that is left out: torques differ by up to"
        f" {largest:.3g} {torque} {where}"
    )


def _damping(mujoco: Any, model: Any, joint: int) -> str:
    dof, (torque, angle) = model.jnt_dofadr[joint], _units(model, joint)
    data = mujoco.MjData(model)
    data.qvel[dof] = 1.0
    mujoco.mj_forward(model, data)
    rest = abs(float(data.qfrc_damper[dof]) + linear_terms(model, joint)["viscous"])
    return (
        f"the damping of joint {joint_name(model, joint)!r} is not linear: only its linear part is"
        f" used, and torques differ by {rest:.3g} {torque} at 1 {angle}/s"
    )


def _fluid(mujoco: Any, model: Any) -> str:
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_forward(model, data)
    largest = int(np.argmax(np.abs(data.qfrc_fluid))) if model.nv else 0
    size = abs(float(data.qfrc_fluid[largest])) if model.nv else 0.0
    medium = f"density {model.opt.density:g} kg/m3, viscosity {model.opt.viscosity:g} Pa s"
    return (
        f"the fluid ({medium}) is left out: torques differ by up to {size:.3g} N m or N when every"
        " joint moves at 1 rad/s or m/s"
    )


def linear_terms(model: Any, joint: int) -> dict[str, float]:
    """Return viscous and Coulomb friction and armature of a joint, including its motors."""
    dof = model.jnt_dofadr[joint]
    motors = np.flatnonzero((model.actuator_trnid[:, 0] == joint) & (model.actuator_trntype == 0))
    squared = model.actuator_gear[motors, 0] ** 2
    added = {
        key: float(squared @ getattr(model, f"actuator_{key}", np.zeros(model.nu))[motors])
        for key in ("damping", "armature")
    }
    return {
        "viscous": float(np.ravel(model.dof_damping[dof])[0]) + added["damping"],
        "coulomb": float(model.dof_frictionloss[dof]),
        "armature": float(model.dof_armature[dof]) + added["armature"],
    }
