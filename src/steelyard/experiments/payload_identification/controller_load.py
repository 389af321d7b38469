"""Load settings of robot controllers: Franka, Universal Robots, KUKA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from .load_verdict import LoadVerdict

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ControllerLoad:
    """Load settings of a controller: its parameter names with values, and the line to paste.

    `values` is empty and `text` is "" where the load is not trusted; `notes` explain what is
    missing or set to a safe value.
    """

    controller: str
    values: dict[str, Any]
    text: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text or " ".join(self.notes)


def franka(mass: float, com: Array, inertia: Array) -> ControllerLoad:
    """Return the arguments of libfranka's Robot::setLoad.

    Kg; m in the flange frame; kg m2 about the centre of mass, column-major.

    franka_msgs/SetLoad: "the provided 3x3 matrix is in column major form"; libfranka,
    robot_state.h: I_load "with respect to center of mass", F_x_Cload "with respect to flange
    frame".
    """
    values = {
        "load_mass": mass,
        "F_x_Cload": com.tolist(),
        "load_inertia": inertia.T.reshape(-1).tolist(),
    }
    centre, entries = _comma_separated(com), _comma_separated(inertia.T.reshape(-1))
    return ControllerLoad(
        "franka", values, f"robot.setLoad({mass:.6g}, {{{centre}}}, {{{entries}}});"
    )


def ur(mass: float, com: Array, inertia: Array) -> ControllerLoad:
    """Return the arguments of URScript's set_target_payload.

    Kg; m in the tool flange's frame; kg m2 about the centre of gravity.

    The six are Ixx, Iyy, Izz, Ixy, Ixz, Iyz, with axes as the flange: URScript manual,
    set_target_payload; ur_msgs/SetPayload has the same fields in this order.
    """
    six = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    values = {"m": mass, "cog": com.tolist(), "inertia": six.tolist()}
    return ControllerLoad(
        "ur",
        values,
        f"set_target_payload({mass:.6g}, [{_comma_separated(com)}], [{_comma_separated(six)}])",
    )


def kuka(mass: float, com: Array, inertia: Array) -> ControllerLoad:
    """Return KUKA's LOAD_DATA.

    M [kg]; CM with X, Y, Z [mm] and A, B, C [deg] of the principal axes in the flange frame; J [kg
    m2].

    A turns about Z, B about the new Y, C about the new X; J are the principal moments about the
    centre of mass: KUKA, "KR IONTEC assembly instructions", 2021, section 4.4, "Load center of
    gravity and mass moment of inertia".
    """
    moments, axes = _principal(inertia)
    A, B, C = Rotation.from_matrix(axes).as_euler("ZYX", degrees=True).tolist()
    X, Y, Z = (1e3 * com).tolist()
    values = {
        "M": mass,
        "CM": {"X": X, "Y": Y, "Z": Z, "A": A, "B": B, "C": C},
        "J": dict(zip("XYZ", moments.tolist(), strict=True)),
    }
    centre, turning = (
        ", ".join(f"{key} {x:.6g}" for key, x in values[name].items())  # type: ignore[attr-defined]
        for name in ("CM", "J")
    )
    return ControllerLoad(
        "kuka", values, f"LOAD_DATA[1] = {{M {mass:.6g}, CM {{{centre}}}, J {{{turning}}}}}"
    )


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Return principal moments (3,) and right-handed axes (3, 3), ordered as the frame's axes."""
    moments, axes = np.linalg.eigh(inertia)
    if np.allclose(
        inertia, np.diag(np.diag(inertia)), atol=1e-9 * max(float(np.trace(inertia)), 1e-300)
    ):
        return np.diag(inertia).copy(), np.eye(3)
    order = _nearest(np.abs(axes))
    moments, axes = moments[order], axes[:, order]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    if np.linalg.det(axes) < 0:
        axes[:, int(np.argmin(np.abs(np.diag(axes))))] *= -1.0
    return moments, axes


def _nearest(size: Array) -> list[int]:
    """Return the order of the columns with the largest sum on the diagonal of |axes|."""
    orders = ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0])
    return max(orders, key=lambda order: float(size[[0, 1, 2], order].sum()))


def _comma_separated(values: Array) -> str:
    return ", ".join(f"{x:.6g}" for x in values)


CONTROLLERS: dict[str, Callable[[float, Array, Array], ControllerLoad]] = {
    "franka": franka,
    "ur": ur,
    "kuka": kuka,
}
"""Controllers by name: (mass [kg], centre (3,) [m], inertia (3, 3) [kg m2]) -> load settings."""


def controller_load(
    name: str, numbers: tuple[float, Array, Array], verdict: LoadVerdict
) -> ControllerLoad:
    """Return the load settings of a controller; no line where a value is not trusted.

    If an entry of the inertia is not identified, the inertia is zero, as of a point mass. No
    controller then computes a torque from a value without measurements, and the inertia is
    physically consistent.

    Parameters
    ----------
    name : a key of CONTROLLERS
    numbers : mass [kg], centre (3,) [m] and inertia about it (3, 3) [kg m2] in the controller's
        flange frame
    verdict : on the load

    Returns
    -------
    ControllerLoad, with `text` and `values` empty where there is no line to give.
    """
    mass, com, inertia = numbers
    missing = [each for each in verdict.unseen if not each.startswith("I")]
    if not verdict.trusted or missing:
        why = (
            f"{', '.join(missing)} not identified"
            if verdict.trusted
            else f"the load is {verdict.word}"
        )
        return ControllerLoad(name, {}, "", (f"No line for the controller ({name}): {why}.",))
    if not verdict.unseen:
        return CONTROLLERS[name](mass, com, inertia)
    point = CONTROLLERS[name](mass, com, np.zeros((3, 3)))
    note = (
        f"{', '.join(verdict.unseen)} not identified: the inertia is set to zero, as for a point "
        "mass at the centre."
    )
    return replace(point, notes=(note,))
