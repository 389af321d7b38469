"""Laws of files: what was written is read back, to the last digit, and every way of writing the
same log is the same log.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from steelyard.signals import Log, Transmission, read_log, read_mapping, to_csv, to_npz, to_parquet
from steelyard.signals.read import csv

JOINTS = ("shoulder_pan_joint", "elbow_joint")
ROBOT = SimpleNamespace(joint_names=JOINTS)
T = np.arange(40) / 50
Q = np.stack([np.sin(T) / 3, np.cos(2 * T) / 7], axis=1)
TAU = 10 * Q[:, ::-1] + 1 / 3
LOG = Log(t=T, q=Q, qd=Q / 11, tau=TAU, joint_names=JOINTS, effort="torque", remarks=("made up",))


@pytest.fixture(params=["polars", "numpy"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways a CSV is parsed: what one can read, the other can."""
    if request.param == "numpy":
        monkeypatch.setattr(csv, "by_polars", lambda *_: None)
    return request.param


def same(log: Log, reference: Log = LOG, exact: bool = True) -> None:
    tolerance = 0.0 if exact else 1e-12
    for name in ("t", "q", "tau"):
        np.testing.assert_allclose(
            getattr(log, name), getattr(reference, name), rtol=0, atol=tolerance
        )


def text(
    path: Path,
    header: str | None,
    delimiter: str = ",",
    comma: bool = False,
    columns: np.ndarray | None = None,
) -> Path:
    table = np.column_stack([T, Q, TAU]) if columns is None else columns
    rows = [
        delimiter.join(repr(float(x)).replace(".", "," if comma else ".") for x in row)
        for row in table
    ]
    path.write_text("\n".join(([] if header is None else [header]) + rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("write", "name"), [(to_csv, "a.csv"), (to_npz, "a.npz"), (to_parquet, "a.parquet")]
)
def test_written_and_read_back(
    write: Callable[[Log, Path], Path], name: str, tmp_path: Path
) -> None:
    path = write(LOG, tmp_path / name)
    for robot in (ROBOT, JOINTS, None):
        log = read_log(path, robot)
        same(log)
        np.testing.assert_array_equal(log.qd, LOG.qd)
        assert log.joint_names == JOINTS
        assert log.effort == "torque"
    turned = read_log(path, JOINTS[::-1])
    np.testing.assert_array_equal(turned.q, LOG.q[:, ::-1])
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "header",
    [
        "t,q1,q2,tau1,tau2",
        "time [s],q_1,q_2,torque_1 [Nm],torque_2 [Nm]",
        "Time (s),q[0],q[1],tau[0],tau[1]",
        "timestamp,actual_q_0,actual_q_1,joint_torque_0,joint_torque_1",
        "t,q_shoulder_pan_joint,q_elbow_joint,tau_shoulder_pan_joint,tau_elbow_joint",
        (
            "t,shoulder_pan_joint.position,elbow_joint.position,"
            "shoulder_pan_joint.torque,elbow_joint.torque"
        ),
        (
            "t,position.shoulder_pan_joint,position.elbow_joint,"
            "torque.shoulder_pan_joint,torque.elbow_joint"
        ),
        (
            "__time,/joint_states/shoulder_pan_joint/position,/joint_states/elbow_joint/position,"
            "/trq/shoulder_pan_joint/torque,/trq/elbow_joint/torque"
        ),
        (
            "t,- shoulder_pan_joint_position,- elbow_joint_position,- shoulder_pan_joint_torque,-"
            " elbow_joint_torque"
        ),
        "t,Shoulder_Pan pos,Elbow pos,Shoulder_Pan torque,Elbow torque",
        '"t","q 1","q 2","tau 1","tau 2"',
    ],
)
def test_however_the_columns_are_called(header: str, parser: str, tmp_path: Path) -> None:
    same(read_log(text(tmp_path / "a.csv", header), ROBOT))


@pytest.mark.parametrize(
    ("delimiter", "comma"),
    [
        (",", False),
        (";", False),
        (";", True),
        ("\t", False),
        ("\t", True),
        (" ", False),
        ("  ", True),
        ("|", False),
    ],
)
def test_whatever_divides_the_cells(
    delimiter: str, comma: bool, parser: str, tmp_path: Path
) -> None:
    header = delimiter.join(["t", "q1", "q2", "tau1", "tau2"])
    same(read_log(text(tmp_path / "a.txt", header, delimiter, comma), ROBOT))
    same(read_log(text(tmp_path / "b.csv", None, delimiter, comma), ROBOT, layout="t q tau"))


@pytest.mark.parametrize(
    "comments", ["# a robot\n", "% t q1 q2 tau1 tau2\n", "# run 3\n# t,q1,q2,tau1,tau2\n", "\n\n"]
)
def test_comments_and_a_header_in_a_comment(comments: str, parser: str, tmp_path: Path) -> None:
    path = text(
        tmp_path / "a.csv",
        None if "q1" in comments else "t,q1,q2,tau1,tau2",
        " " if "%" in comments else ",",
    )
    path.write_text(comments + path.read_text(encoding="utf-8"), encoding="utf-8")
    same(read_log(path, ROBOT))


def test_a_byte_order_mark_and_empty_cells(parser: str, tmp_path: Path) -> None:
    path = text(tmp_path / "a.csv", "t,q1,q2,tau1,tau2")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[11] = lines[11].replace(repr(float(Q[10, 0])), "")
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    raw = read_log(path, ROBOT, clean=False)
    assert np.isnan(raw.q[10, 0])
    assert np.isnan(raw.q).sum() == 1
    mended = read_log(path, ROBOT)
    np.testing.assert_allclose(mended.q, Q, atol=1e-4)
    assert "interpolated" in mended.remarks[-1]


def test_degrees_milliseconds_and_milliamperes(parser: str, tmp_path: Path) -> None:
    table = np.column_stack([1e3 * T, np.rad2deg(Q), 1e3 * TAU])
    log = read_log(
        text(
            tmp_path / "a.csv",
            "time_ms,q1 [deg],q2 [deg],current1 [mA],current2 [mA]",
            columns=table,
        ),
        ROBOT,
    )
    np.testing.assert_allclose(log.t, T, atol=1e-12)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)
    np.testing.assert_allclose(log.current, TAU, atol=1e-12)
    assert (log.tau, log.effort) == (None, "current")
    log = read_log(
        text(tmp_path / "b.csv", "t,q1,q2,tau1,tau2", columns=table),
        ROBOT,
        angle="deg",
        time_unit="ms",
    )
    np.testing.assert_allclose(log.q, Q, atol=1e-12)


@pytest.mark.parametrize(
    "units", ["ms,deg,deg,Nm,Nm", "[ms],[deg],[deg],[Nm],[Nm]", "ms,deg,deg,,-"]
)
def test_a_row_of_units_below_the_header(units: str, parser: str, tmp_path: Path) -> None:
    table = np.column_stack([1e3 * T, np.rad2deg(Q), TAU])
    same(
        read_log(text(tmp_path / "a.csv", f"t,q1,q2,tau1,tau2\n{units}", columns=table), ROBOT),
        exact=False,
    )


def test_clocks_that_count_from_1970(tmp_path: Path) -> None:
    start = 1_700_000_000
    nano = np.round((start + T) * 1e3).astype(np.int64) * 10**6
    for name, ticks in (("stamp", nano), ("timestamp", nano // 10**3), ("time", nano // 10**6)):
        rows = "\n".join(f"{a},{b},{c}" for a, (b, c) in zip(ticks, Q, strict=True))
        (tmp_path / "a.csv").write_text(f"{name},q1,q2\n{rows}\n", encoding="utf-8")
        np.testing.assert_allclose(read_log(tmp_path / "a.csv", ROBOT).t, T, atol=1e-6)
    rows = "\n".join(
        f"{np.datetime64(int(a), 'ns')},{b},{c}" for a, (b, c) in zip(nano, Q, strict=True)
    )
    (tmp_path / "a.csv").write_text(f"time,q1,q2\n{rows}\n", encoding="utf-8")
    np.testing.assert_allclose(read_log(tmp_path / "a.csv", ROBOT).t, T, atol=1e-9)
    rows = "\n".join(f"{a // 10**9},{a % 10**9},{b},{c}" for a, (b, c) in zip(nano, Q, strict=True))
    (tmp_path / "a.csv").write_text(
        f"header.stamp.sec,header.stamp.nanosec,q1,q2\n{rows}\n", encoding="utf-8"
    )
    np.testing.assert_allclose(read_log(tmp_path / "a.csv", ROBOT).t, T, atol=1e-9)


def test_joint_states_as_text(tmp_path: Path) -> None:
    order = [1, 0]
    names = [JOINTS[j] for j in order]
    expected = Log(t=T, q=Q, tau=TAU)
    echo = [
        ",".join(
            [
                str(int(t)),
                str(round((t % 1) * 1e9)),
                "base",
                *names,
                *map(repr, map(float, q[order])),
                "0",
                "0",
                *map(repr, map(float, e[order])),
            ]
        )
        for t, q, e in zip(T, Q, TAU, strict=True)
    ]
    tidy = ["time,joint_name,position,effort"] + [
        f"{t},{JOINTS[j]},{q[j]!r},{e[j]!r}"
        for t, q, e in zip(T.tolist(), Q.tolist(), TAU.tolist(), strict=True)
        for j in order
    ]
    cells = ["time;name;position;effort"] + [
        f"{t};{names};{[q[j] for j in order]};{[e[j] for j in order]}"
        for t, q, e in zip(T.tolist(), Q.tolist(), TAU.tolist(), strict=True)
    ]
    for lines in (echo, tidy, cells):
        (tmp_path / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        log = read_log(tmp_path / "a.csv", ROBOT, effort="torque")
        same(log, expected, exact=False)
        assert read_log(tmp_path / "a.csv", effort="current").current.shape == (40, 2)


def test_one_file_for_each_quantity_and_files_side_by_side(tmp_path: Path) -> None:
    for name, table in (("q", Q), ("tau", TAU)):
        text(tmp_path / f"{name}.csv", "Joint_1,Joint_2", columns=table)
        text(tmp_path / f"{name}_headless.csv", None, columns=np.column_stack([T, table]))
        text(
            tmp_path / f"{name}_named.csv",
            f"t,{JOINTS[0]}_{name},{JOINTS[1]}_{name}",
            columns=np.column_stack([T, table]),
        )
    same(read_log({"q": tmp_path / "q.csv", "tau": tmp_path / "tau.csv"}, ROBOT, rate=50))
    same(read_log({"q": tmp_path / "q_headless.csv", "tau": tmp_path / "tau_headless.csv"}, ROBOT))
    same(read_log([tmp_path / "q_named.csv", tmp_path / "tau_named.csv"], ROBOT))


def test_a_toml_file_says_what_the_columns_mean(tmp_path: Path) -> None:
    gears = Transmission.of(
        ratio=[100, 50], coupling=[(2, 1, 10)], offset=[0.5, 0], torque_constant=[0.1, 0.2]
    )
    motor = gears.undo(LOG)
    text(
        tmp_path / "run.csv",
        "clock,m1,m2,i1,i2",
        columns=np.column_stack([1e3 * T, motor.q, motor.tau / [0.1, 0.2]]),
    )
    (tmp_path / "run.toml").write_text(
        """
        files = ["run.csv"]
        effort = "current"
        time_unit = "ms"
        [columns]
        t = "clock"
        q = ["m1", "m2"]
        effort = { elbow_joint = "i2", shoulder_pan_joint = "i1" }
        [transmission]
        ratio = { elbow_joint = 50, shoulder_pan_joint = 100 }
        coupling = [[2, 1, 10]]
        offset = [0.5, 0.0]
        torque_constant = [0.1, 0.2]
        """,
        encoding="utf-8",
    )
    same(read_log(tmp_path / "run.toml", ROBOT), exact=False)
    same(read_log(tmp_path / "run.csv", ROBOT, mapping=tmp_path / "run.toml"), exact=False)
    same(
        read_log(tmp_path / "run.csv", ROBOT, mapping=read_mapping(tmp_path / "run.toml", JOINTS)),
        exact=False,
    )


def test_matlab_files_old_and_new(tmp_path: Path) -> None:
    import h5py
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"t": T, "q": Q.T, "tau": TAU})
    same(read_log(tmp_path / "a.mat", ROBOT))
    savemat(
        tmp_path / "b.mat",
        {"rec": {"time": T, "pos_deg": np.rad2deg(Q), "torque": TAU}, "gear": np.ones(2)},
    )
    same(read_log(tmp_path / "b.mat", ROBOT), exact=False)
    with h5py.File(tmp_path / "c.mat", "w", userblock_size=512) as file:
        file["rec/time"], file["rec/q"], file["rec/tau"] = T[None], Q.T, TAU.T
    same(read_log(tmp_path / "c.mat", ROBOT))


def test_parquet_with_lists_in_cells(tmp_path: Path) -> None:
    import polars as pl

    names = [list(JOINTS[::-1])] * len(T)
    pl.DataFrame(
        {
            "timestamp": (T * 1e9).round().astype(np.int64) + 17 * 10**17,
            "name": names,
            "position": Q[:, ::-1].tolist(),
            "effort": TAU[:, ::-1].tolist(),
        }
    ).write_parquet(tmp_path / "a.parquet")
    log = read_log(tmp_path / "a.parquet", ROBOT, effort="torque")
    same(log, exact=False)


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_bags_with_partial_and_disordered_messages(storage: str, tmp_path: Path) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    folder = tmp_path / "bag"

    def message(
        t: float, names: list[str], q: np.ndarray, tau: np.ndarray, stamp: bool = True
    ) -> bytes:
        time = types["builtin_interfaces/msg/Time"](
            sec=int(t) if stamp else 0, nanosec=round((t % 1) * 1e9) if stamp else 0
        )
        header = types["std_msgs/msg/Header"](stamp=time, frame_id="")
        return store.serialize_cdr(
            types["sensor_msgs/msg/JointState"](
                header, names, np.asarray(q), np.zeros(0), np.asarray(tau)
            ),
            "sensor_msgs/msg/JointState",
        )

    with Writer(folder, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        whole = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        parts = writer.add_connection("/parts", "sensor_msgs/msg/JointState", typestore=store)
        for i, t in enumerate(T):
            point = round((5 + t) * 1e9)
            order = [0, 1] if i % 3 else [1, 0]
            writer.write(
                whole,
                point,
                message(
                    t,
                    ["gripper", *(JOINTS[j] for j in order)],
                    [9.0, *Q[i, order]],
                    [0.0, *TAU[i, order]],
                    stamp=False,
                ),
            )
            writer.write(parts, point, message(t, [JOINTS[0]], Q[i, :1], TAU[i, :1]))
            writer.write(parts, point, message(t + 0.004, [JOINTS[1]], Q[i, 1:], TAU[i, 1:]))
    same(read_log(folder, ROBOT, effort="torque"), exact=False)
    file = next(p for p in folder.iterdir() if p.suffix in (".db3", ".mcap"))
    same(read_log(file, ROBOT, effort="torque"), exact=False)
    assert read_log(file, effort="current").n == 3
    apart = read_log(folder, ROBOT, effort="torque", topic="/parts")
    np.testing.assert_allclose(apart.q[:, 0], np.interp(apart.t, T, Q[:, 0]), atol=1e-3)
    np.testing.assert_allclose(apart.q[:, 1], np.interp(apart.t - 0.004, T, Q[:, 1]), atol=1e-3)
    assert "interpolated" in " ".join(apart.remarks)
