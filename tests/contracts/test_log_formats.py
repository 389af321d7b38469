"""One suite that every row of the table of log formats passes.

A new row needs a writer of a sample in `SAMPLES`, and nothing else here.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import LogError
from steelyard.signals import Log, to_csv, to_npz, to_parquet
from steelyard.signals.read.log_formats import LOG_FORMATS, LogFormat

JOINTS = ("shoulder", "elbow")
T = np.arange(60) / 50
Q = np.stack([np.sin(T) / 3, np.cos(2 * T) / 7], axis=1)
LOG = Log(t=T, q=Q, qd=Q / 11, tau=10 * Q[:, ::-1] + 1 / 3, joint_names=JOINTS, effort="torque")
ROWS = sorted(set(LOG_FORMATS.values()), key=lambda row: row.name)
EVERY_ROW = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
EVERY_ENDING = pytest.mark.parametrize("ending", LOG_FORMATS)
ROOT = Path(__file__).resolve().parents[2]


def write_text(path: Path) -> None:
    to_csv(LOG, path)
    if path.suffix in (".tsv", ".dat"):
        path.write_text(path.read_text().replace(",", "\t" if path.suffix == ".tsv" else " "))


def write_mat(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {name: getattr(LOG, name) for name in ("t", "q", "qd", "tau")})


def write_bag(path: Path) -> None:
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import Stores, get_typestore

    ros1 = path.suffix == ".bag"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    kind, types = "sensor_msgs/msg/JointState", store.types
    first = {"seq": 0} if ros1 else {}
    if ros1:
        writer = rosbag1.Writer(path)
    else:
        plugin = rosbag2.StoragePlugin.MCAP if path.suffix == ".mcap" else None
        plugin = plugin or rosbag2.StoragePlugin.SQLITE3
        writer = rosbag2.Writer(path.parent / "bag", version=8, storage_plugin=plugin)
    with writer:
        connection = writer.add_connection("/joint_states", kind, typestore=store)
        for t, q, qd, tau in zip(LOG.t, LOG.q, LOG.qd, LOG.tau, strict=True):
            stamp = types["builtin_interfaces/msg/Time"](sec=int(t), nanosec=round(t % 1 * 1e9))
            header = types["std_msgs/msg/Header"](**first, stamp=stamp, frame_id="")
            message = types[kind](header, list(JOINTS), q, qd, tau)
            data = (store.serialize_ros1 if ros1 else store.serialize_cdr)(message, kind)
            writer.write(connection, round(t * 1e9), data)
    if not ros1:
        next((path.parent / "bag").glob(f"*{path.suffix}")).rename(path)


SAMPLES = {
    "CSV": write_text,
    "Parquet": lambda path: to_parquet(LOG, path),
    "NumPy": lambda path: to_npz(LOG, path),
    "MATLAB": write_mat,
    "ROS bag": write_bag,
}


def test_every_row_has_a_sample() -> None:
    assert sorted(SAMPLES) == [row.name for row in ROWS]


@EVERY_ROW
def test_a_row_is_complete(row: LogFormat) -> None:
    assert row.endings
    for ending in row.endings:
        assert re.fullmatch(r"\.[a-z0-9]+", ending)
        assert LOG_FORMATS[ending] is row, "an ending belongs to one format"
    assert "\n" not in row.description
    assert 20 <= len(row.description) <= 80
    assert row.valid_file
    assert not (row.extra and not row.packages), "an extra installs the first of the packages"


@EVERY_ROW
def test_its_extra_exists(row: LogFormat) -> None:
    if row.extra:
        assert re.search(rf"^{row.extra} = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


@EVERY_ENDING
def test_a_sample_is_read_back(ending: str, tmp_path: Path) -> None:
    names = [f"run{ending}"]
    if LOG_FORMATS[ending].name != "ROS bag":  # rosbags knows lower-case endings only
        names.append(f"RUN{ending.upper()}")
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        path = folder / f"run{ending}"
        SAMPLES[LOG_FORMATS[ending].name](path)
        path = path.rename(folder / name)
        log = sy.read_log(path, JOINTS, effort="torque")
        assert log.joint_names == JOINTS
        for signal in ("t", "q", "qd", "tau"):
            expected = getattr(LOG, signal)
            np.testing.assert_allclose(getattr(log, signal), expected, rtol=0, atol=1e-9)


@EVERY_ENDING
@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04\0 nothing of the kind \0\1\2", b"\xff\xfe\0\x89" * 100]
)
def test_a_file_of_other_content_is_a_log_error(
    ending: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / f"damaged{ending}"
    path.write_bytes(content)
    with pytest.raises(LogError, match=re.escape(path.name)):
        sy.read_log(path, JOINTS, effort="torque")


@EVERY_ENDING
def test_a_truncated_file_is_read_or_a_log_error(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{ending}"
    SAMPLES[LOG_FORMATS[ending].name](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    message, samples = "", 0
    try:
        samples = sy.read_log(path, JOINTS, effort="torque").N
    except LogError as error:
        message = str(error)
    assert path.name in message or 0 < samples < LOG.N


@EVERY_ENDING
def test_it_is_found_in_a_folder(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"run{ending}").write_bytes(b"")
    (tmp_path / "notes.md").write_bytes(b"")
    assert [Path(log.path).name for log in sy.find_logs(tmp_path)] == [f"run{ending}"]


def test_an_unknown_ending_lists_all(tmp_path: Path) -> None:
    (tmp_path / "run.xls").write_bytes(b"")
    with pytest.raises(LogError, match=r"run\.xls") as caught:
        sy.read_log(tmp_path / "run.xls")
    with pytest.raises(LogError) as searched:
        sy.find_logs(tmp_path)
    for ending in LOG_FORMATS:
        assert ending in str(caught.value)
        assert ending in str(searched.value)


@EVERY_ROW
def test_the_documentation_has_it(row: LogFormat) -> None:
    text = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \|", text.partition("## File formats")[2], re.MULTILINE)
    words = {"CSV": "CSV", "ROS bag": "ROS 1 bag"}
    assert any(words.get(row.name, row.name) in each for each in rows)
