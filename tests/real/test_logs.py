"""The measured logs: every folder loads, by each way it can be loaded, and what is wrong with each
is said.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import LogError
from steelyard.signals import Log, Transmission, estimate_delay, lowpass, read_log
from steelyard.signals.clean import find_faults
from steelyard.signals.smooth import smooth

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
UR10 = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
TIAGO = ("torso_lift_joint", *(f"arm_{i}_joint" for i in range(1, 8)))
TX40 = Transmission.of(
    ratio=[32, 32, 45, -48, 45, 32],
    coupling=[(6, 5, 32)],
    offset=[0, -np.pi / 2, np.pi / 2, 0, 0, 0],
)


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"the measured log '{name}' is not there: ../shared/data/{name}")
    return DATA / name


def test_tx40_from_its_motors() -> None:
    path = folder("staubli_tx40")
    log = read_log(
        {"q": path / "pos_read_data.csv", "tau": path / "curr_data.csv"},
        mapping=TX40,
        rate=5000.0,
    )
    ready = read_log(path / "tx40.npz")
    for name in ("t", "q", "tau"):
        np.testing.assert_allclose(getattr(log, name), getattr(ready, name), atol=1e-12)
    assert (log.N, log.n) == (45000, 6)
    motors = read_log({"q": path / "pos_read_data.csv", "tau": path / "curr_data.csv"}, rate=5000.0)
    assert "gear ratios" in " ".join(find_faults(motors))
    assert find_faults(log) == ()


def test_tx40_smoothed_agrees_with_the_classical_way() -> None:
    log = read_log(folder("staubli_tx40") / "tx40.npz")
    kalman, classical = smooth(log), smooth(log, "butterworth", 50.0)
    for name, tolerance in (("qd", 0.01), ("qdd", 0.03)):
        # the way to the regressor
        a, b = (lowpass(getattr(log, name), log.t, 20.0) for log in (kalman, classical))
        assert np.all(np.std(a - b, axis=0) < tolerance * np.std(b, axis=0)), name
    assert np.all((kalman.bandwidth > 20) & (kalman.bandwidth < 500))
    np.testing.assert_allclose(
        kalman.smoother.noise.sigma_q, [8e-6, 9e-6, 2e-5, 3e-5, 7e-6, 1.3e-5], rtol=0.5
    )
    assert 0.5 < kalman.sigma[20000, 0, 2] < 2.0  # rad/s2, at 5 kHz


def test_ur10_bag_and_npz_are_one_log() -> None:
    path = folder("ur10")
    npz = read_log(path / "ur10_exciting_trajectory.npz", UR10)
    bag = read_log(path / "ur10_exciting_trajectory.db3", UR10, effort="torque")
    for name in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(bag, name), getattr(npz, name))
    np.testing.assert_allclose(bag.t, npz.t, atol=2e-9)
    assert bag.joint_names == UR10
    with pytest.raises(LogError, match="effort='torque' or effort='current'"):
        read_log(path / "ur10_exciting_trajectory.db3", UR10)
    gain = np.load(path / "ur10_exciting_trajectory.npz")["drive_gain"]
    currents = Log(t=npz.t, q=npz.q, current=npz.current, joint_names=UR10)
    driven = Transmission.of(torque_constant=gain, position="joint", torque="joint").apply(currents)
    np.testing.assert_allclose(driven.tau, npz.tau, rtol=1e-12)


def test_ur10_was_filtered_before_and_that_is_said() -> None:
    log = smooth(read_log(folder("ur10") / "ur10_exciting_trajectory.npz", UR10))
    assert "cannot be separated from motion" in " ".join(log.remarks)
    half = slice(20, -20)
    np.testing.assert_allclose(log.qd[half], np.gradient(log.q, log.t, axis=0)[half], atol=0.05)


@pytest.mark.parametrize("run", ["A", "B"])
def test_kr300_mat_and_npz_are_one_log(run: str) -> None:
    path = folder("kuka_kr300")
    columns = {
        "t": "rec.time_cont",
        "q": "rec.act_pos_mot_deg",
        "qd": "rec.act_vel_mot_deg_per_s",
        "tau": "rec.act_torque_abs_nm",
    }
    mat = read_log(path / f"rec_{run}.mat", columns=columns)
    npz = read_log(
        path / f"kr300_{run}.npz", columns={"q": "q_mot", "qd": "qd_mot", "tau": "tau_motor"}
    )
    for name in ("t", "q", "qd", "tau"):
        np.testing.assert_allclose(getattr(mat, name), getattr(npz, name), atol=1e-12)
    with pytest.raises(LogError, match="q_mot, q_link"):
        read_log(path / f"kr300_{run}.npz")
    smoothed = smooth(npz)
    assert np.all(smoothed.smoother.noise.sigma_q < 3e-6)
    assert np.all(np.isfinite(smoothed.smoother.noise.sigma_qd))


def test_tiago_says_what_is_wrong_with_it() -> None:
    path = folder("tiago")
    files = [path / f"tiago_{name}.csv" for name in ("position", "velocity", "effort")]
    log = read_log(files, TIAGO, effort="current")
    assert (log.N, log.n, log.joint_names) == (8022, 8, TIAGO)
    assert log.tau is None
    message = " ".join(find_faults(log))
    assert (
        "exactly zero in more than half of the samples for arm_5_joint, arm_6_joint, arm_7_joint"
        in message
    )
    assert "qd of arm_1_joint is 0.143 s late" in message
    smoothed = smooth(log)
    assert "The measured velocity was not used" in " ".join(smoothed.remarks)
    assert "not uniform" in " ".join(smoothed.remarks)
    late = estimate_delay(smoothed.qd, log.qd, log.dt, 0.5)
    assert np.all((late.seconds > 0.13) & (late.seconds < 0.2))
    assert np.all(late.correlation > 0.99)
    ratio, k = (
        [1, 100, 100, 100, 100, 336, 336, 336],
        [
            1,
            0.136,
            0.136,
            -0.087,
            -0.087,
            -0.0613,
            -0.0613,
            -0.0613,
        ],
    )
    torques = Transmission.of(ratio=ratio, torque_constant=k, position="joint").apply(log)
    np.testing.assert_allclose(torques.tau, log.current * ratio * k, rtol=1e-12)
    np.testing.assert_array_equal(torques.q, log.q)
