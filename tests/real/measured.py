"""The measured logs beside the project, and the robots they are of.

Tests that need them are skipped, saying so, where they are absent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.robot import Robot
from steelyard.signals.log import Log

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def folder(name: str) -> Path:
    """The folder of one robot's logs."""
    path = DATA / name
    if not path.is_dir():
        pytest.skip(
            f"the measured log of {name} is not beside the project: {path.parent.name}/{name}"
        )
    return path


def held_out(fit: sy.Fit, logs: list[Log] | tuple[Log, ...]) -> float:
    """Total relative error over several logs, as a fraction."""
    results = [fit.validate(log) for log in logs]
    squares = sum(float(np.sum(v.residuals**2)) for v in results)
    return float(np.sqrt(squares / sum(float(np.sum((v.measured * v.keep) ** 2)) for v in results)))


def ur10() -> tuple[Robot, Log]:
    """Universal Robots UR10: q, qd, torque = K current."""
    path = folder("ur10")
    data = np.load(path / "ur10_exciting_trajectory.npz", allow_pickle=True)
    robot = sy.load(path / "ur10_robot.urdf")
    return robot, Log(
        t=data["t"],
        q=data["q"],
        qd=data["qd"],
        tau=data["tau"],
        joint_names=tuple(map(str, data["names"])),
    )


def tx40() -> tuple[Robot, Log]:
    """Stäubli TX40 with its coupled wrist: q and torque."""
    path = folder("staubli_tx40")
    data = np.load(path / "tx40.npz")
    robot = sy.load(path / "tx40_mdh_modified.urdf")
    return robot, Log(t=data["t"], q=data["q"], tau=data["tau"], joint_names=robot.joint_names)


def tiago() -> tuple[Robot, Log]:
    """TIAGo's torso and arm, torque from current."""
    path = folder("tiago")
    q, qd, effort = (
        np.loadtxt(path / f"tiago_{name}.csv", delimiter=",", skiprows=1)
        for name in ("position", "velocity", "effort")
    )
    joints = ("torso_lift_joint", *(f"arm_{i}_joint" for i in range(1, 8)))
    with pytest.warns(sy.SteelyardWarning, match="no real body has"):  # its antennas and two links
        whole = sy.load(path / "tiago_no_hand.urdf")
    robot = whole.freeze({name: 0.0 for name in whole.joint_names if name not in joints})
    gain = np.array([1, 100, 100, 100, 100, 336, 336, 336]) * np.array(
        [1, 0.136, 0.136, -0.087, -0.087, -0.0613, -0.0613, -0.0613]
    )
    return robot, Log(
        t=q[:, 0], q=q[:, 1:], qd=qd[:, 1:], tau=effort[:, 1:] * gain, joint_names=joints
    )


def kr300(tmp_path: Path, payload: float = 150.0) -> tuple[Robot, Log, Log]:
    """KUKA KR300 with a payload [kg] of about that much, and its two runs.

    Motor angles and torques at the joints.
    """
    path = folder("kuka_kr300")
    model = json.loads((path / "kr300_model.json").read_text())
    file = tmp_path / "kr300.toml"
    file.write_text(kr300_toml(model, payload))
    robot = sy.load(file)
    logs = []
    for run in "AB":
        data = np.load(path / f"kr300_{run}.npz")
        logs.append(
            Log(
                t=data["t"],
                q=data["q_mot"],
                tau=data["tau_motor"] * data["gear"],
                joint_names=robot.joint_names,
            )
        )
    return robot, logs[0], logs[1]


def kr300_toml(model: dict[str, Any], payload: float) -> str:
    """The published table and CAD numbers as a DH table."""
    mass = [*model["mass"][:5], 17.78 + payload]
    com = [[x / 1000 for x in row] for row in model["com_mm"][:5]] + [
        [0, 0, (100 * payload - 50 * 17.78) / (payload + 17.78) / 1000]
    ]
    # fractions such as "1798/7"
    gear = [eval(g) if isinstance(g, str) else g for g in model["gear_ratio"]]
    lines = [
        'name = "kr300"',
        'convention = "standard"',
        "degrees = true",
        "base = { rpy = [180, 0, 0] }",
    ]
    for i in range(6):
        xx, yy, zz, xy, yz, xz = (
            x * 1e-6 for x in model["inertia_com_Ixx_Iyy_Izz_Ixy_Iyz_Ixz_1e6"][i]
        )
        lines += [
            "[[joints]]",
            f"d = {model['dh_d'][i]}",
            f"a = {model['dh_a'][i]}",
            f"alpha = {180 * model['dh_alpha_over_pi'][i]}",
            f"theta = {model['dh_offset_deg'][i] + model['qs_deg'][i]}",
            f"armature = {gear[i] ** 2 * model['motor_inertia'][i]}",
            (
                f"link = {{ mass = {mass[i]}, com = {com[i]}, inertia = [{xx}, {xy}, {xz}, {yy},"
                f" {yz}, {zz}] }}"
            ),
        ]
    return "\n".join(lines) + "\n"


def kr300_counterbalance(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """The hydraulic counterbalance's torque on joint 2, by the published formula, (N, 6) [N m]."""
    h = json.loads((folder("kuka_kr300") / "kr300_model.json").read_text())["hydraulic"]
    D, k = h["D"], h["k"]
    # the formula's angle begins at the arm's upright pose
    delta = q[:, 1] + np.deg2rad(95.0 - 90.0)
    length = np.sqrt(D * D + k * k - 2 * D * k * np.cos(delta))
    area = np.pi * (h["d_piston"] ** 2 - h["d_rod"] ** 2) / 4
    pressure = h["Z"] * h["R_N2"] * h["T"] * h["mass_N2"] / (h["v_max"] - (length - (D - k)) * area)
    tau = np.zeros_like(q)  # of expressions too, so that the robot can carry it
    tau[:, 1] = D * k * np.sin(delta) / length * pressure * area
    return tau
