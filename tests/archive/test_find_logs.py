"""Logs in folders, patterns, data sets and object stores.

What is found, what it is called, and what is said where there is none.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.out_of_core import sources
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.signals import to_csv, to_npz, to_parquet
from tests.archive.archives import small_arm, wave_log, write_logs


def names(path: object) -> list[str]:
    return [Path(log.name).name for log in sy.find_logs(path)]  # type: ignore[arg-type]


def test_a_folder_a_pattern_and_a_list(tmp_path: Path) -> None:
    write_logs(tmp_path / "day1", 2, 50)
    write_logs(tmp_path / "day2" / "night", 1, 50)
    to_csv(wave_log(0, 50), tmp_path / "day2" / "run.csv")
    (tmp_path / "day2" / "notes.md").write_text("no log", encoding="utf-8")
    (tmp_path / "day2" / ".hidden").mkdir()
    to_npz(wave_log(0, 50), tmp_path / "day2" / ".hidden" / "run.npz")
    assert names(tmp_path) == ["run00.parquet", "run01.parquet", "run00.parquet", "run.csv"]
    assert names(str(tmp_path / "*" / "run*")) == ["run00.parquet", "run01.parquet", "run.csv"]
    assert names(str(tmp_path / "**" / "*.parquet")) == [
        "run00.parquet",
        "run01.parquet",
        "run00.parquet",
    ]
    assert names([tmp_path / "day2" / "run.csv", tmp_path / "day1"]) == [
        "run.csv",
        "run00.parquet",
        "run01.parquet",
    ]


def test_partitions_of_hive_are_keys(tmp_path: Path) -> None:
    for robot in ("a", "b"):
        write_logs(tmp_path / "site=oslo" / f"robot={robot}", 1, 50)
    paths = sy.find_logs(tmp_path)
    assert [log.key("robot") for log in paths] == ["a", "b"]
    assert paths[0].key("site") == "oslo"
    assert paths[0].key("shift") is None
    assert np.array_equal(paths[0].read(small_arm()).q, wave_log(0, 50).q)


def test_a_data_set_of_lerobot(tmp_path: Path) -> None:
    """Version 3: many episodes in a file, the names in meta/info.json, and tables of meta that are
    no logs.
    """
    import polars as pl

    arm, log = small_arm(), wave_log(0, 60)
    assert log.tau is not None
    (tmp_path / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    (tmp_path / "data" / "chunk-000").mkdir(parents=True)
    features = {
        "observation.state": {
            "dtype": "float32",
            "shape": [2],
            "names": [f"{name}.pos" for name in arm.joint_names],
        }
    }
    info = {
        "codebase_version": "v3.0",
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "features": features,
    }
    (tmp_path / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    pl.DataFrame({"episode_index": [0, 1]}).write_parquet(
        tmp_path / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    )
    columns = {
        "timestamp": np.concatenate([log.t[:30], log.t[:30]]),
        "episode_index": np.repeat([0, 1], 30),
        "observation.state": log.q.tolist(),
        "observation.torque": log.tau.tolist(),
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "data" / "chunk-000" / "file-000.parquet")
    paths = sy.find_logs(tmp_path)
    assert [Path(each.path).name for each in paths] == ["file-000.parquet"]
    assert paths[0].path.split("/")[-3:-1] == ["data", "chunk-000"]
    read = paths[0].read(arm)
    assert np.allclose(read.q, log.q)
    assert read.t[30] - read.t[29] > 0.5, "episodes are apart"
    part = sy.LogFile(paths[0].path, rows=(30, 60)).read(arm)
    assert np.allclose(part.q, log.q[30:])


def test_an_object_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = write_logs(tmp_path / "robot=a", 3)
    store = fsspec.filesystem("memory")
    store.put(str(tmp_path / "robot=a"), "/fleet/robot=a", recursive=True)
    paths = sy.find_logs("memory://fleet")
    assert [log.key("robot") for log in paths] == ["a"] * 3
    assert paths[0].size == files[0].stat().st_size
    assert len({log.digest() for log in paths}) == 3
    assert names("memory://fleet/*/run0[12].parquet") == ["run01.parquet", "run02.parquet"]
    assert np.array_equal(paths[2].read(small_arm()).q, wave_log(2).q)
    with pytest.raises(sy.LogError, match="no log is there"):
        sy.find_logs("memory://nowhere")
    with pytest.raises(sy.LogError, match="no file system for this address"):
        sy.find_logs("teleport://fleet")


def test_content_makes_the_digest(tmp_path: Path) -> None:
    a, b = (sy.LogFile(str(file)) for file in write_logs(tmp_path, 2, 50))
    copy = sy.LogFile(shutil.copy(a.path, tmp_path / "copy.parquet"))
    assert a.digest() == copy.digest() != b.digest()
    assert len({a.digest(), *(part.digest() for part in a.parts(20))}) == 4


def test_a_file_of_many_parts_is_read_once_for_their_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sy.LogFile(str(write_logs(tmp_path, 1, 100)[0]))
    expected = [(part, part.digest()) for part in file.parts(30)]
    read, plain = list[str](), sy.LogFile.content_digest
    monkeypatch.setattr(
        sy.LogFile, "content_digest", lambda self: (read.append(self.name), plain(self))[1]
    )
    assert list(sources.look_at(file, 30)) == expected
    assert read == [file.name]


def test_rows_of_parquet(tmp_path: Path) -> None:
    file, whole = write_logs(tmp_path, 1, 100)[0], wave_log(0, 100)
    parts = sy.LogFile(str(file)).parts(30)
    assert [part.rows for part in parts] == [(0, 25), (25, 50), (50, 75), (75, 100)]
    assert np.array_equal(np.concatenate([part.read(small_arm()).q for part in parts]), whole.q)
    assert sy.LogFile(str(file)).parts(100) == (sy.LogFile(str(file)),)
    to_npz(whole, tmp_path / "run.npz")
    with pytest.raises(sy.LogError, match=r"run\.npz: rows= needs a Parquet file"):
        sy.read_log(tmp_path / "run.npz", rows=(0, 10))
    with pytest.raises(sy.LogError, match="rows= is for one Parquet file"):
        sy.read_log([file, file], rows=(0, 10))


def test_lists_in_cells_become_blocks_without_objects(tmp_path: Path) -> None:
    import polars as pl

    from steelyard.signals.read.parquet import array_of

    blocks = np.arange(12.0).reshape(6, 2)
    assert np.array_equal(array_of(pl.Series(blocks.tolist())), blocks)
    assert np.array_equal(
        array_of(pl.Series(blocks.tolist(), dtype=pl.Array(pl.Float64, 2))), blocks
    )
    assert array_of(pl.Series([[1.0], [2.0, 3.0]])).dtype == object
    assert array_of(pl.Series([["a"], ["b"]])).dtype == object
    assert array_of(pl.Series([[1.0], None])).dtype == object


def test_options_reach_the_reader(tmp_path: Path) -> None:
    to_csv(wave_log(0, 50), tmp_path / "run.csv")
    assert sy.find_logs(tmp_path, angle="deg")[0].read(small_arm()).q[3, 0] == pytest.approx(
        np.radians(wave_log(0, 50).q[3, 0])
    )
    with pytest.raises(sy.LogError, match="no option 'angel'"):
        sy.find_logs(tmp_path, angel="deg")


def test_where_there_is_no_log_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        sy.LogError, match=r"no log is in this folder; expected files that end in \.csv"
    ):
        sy.find_logs(tmp_path / "empty")
    with pytest.raises(sy.LogError, match="no such file or folder"):
        sy.find_logs(tmp_path / "nothing")
    with pytest.raises(sy.LogError, match="no log matches the pattern"):
        sy.find_logs(str(tmp_path / "*.parquet"))
    with pytest.raises(
        sy.LogError, match="expected the path of a log, a folder or a pattern, not int"
    ):
        sy.find_logs([3])  # type: ignore[list-item]
    (tmp_path / "set" / "meta").mkdir(parents=True)
    (tmp_path / "set" / "meta" / "info.json").write_text("{", encoding="utf-8")
    with pytest.raises(sy.LogError, match=r"not an info\.json of LeRobot"):
        sy.find_logs(tmp_path / "set")


def test_files_are_taken_by_identify_as_logs_are(tmp_path: Path) -> None:
    files = write_logs(tmp_path, 2)
    fit = sy.identify(small_arm(), tmp_path, diagnose=False)
    same = sy.identify(
        small_arm(), [sy.read_log(file, small_arm()) for file in files], diagnose=False
    )
    assert np.array_equal(fit.parameters, same.parameters)
    assert THRESHOLDS.bytes_in_memory > 1e6
    to_parquet(wave_log(5), tmp_path / "other.parquet")
    assert (
        len(
            sy.identify(
                small_arm(), [tmp_path / "other.parquet", wave_log(6)], diagnose=False
            ).provenance["logs"]
        )
        == 2
    )


def test_bags_and_folders_of_mcap(tmp_path: Path) -> None:
    """A folder with metadata.yaml is one log; a folder of .mcap files has one in each."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types, arm, log = store.types, small_arm(), wave_log(0, 30)
    assert log.tau is not None
    with Writer(tmp_path / "bags" / "one", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for t, q, tau in zip(log.t, log.q, log.tau, strict=True):
            header = types["std_msgs/msg/Header"](
                types["builtin_interfaces/msg/Time"](int(t), round((t % 1) * 1e9)), ""
            )
            message = types["sensor_msgs/msg/JointState"](
                header, list(arm.joint_names), q, np.zeros(0), tau
            )
            writer.write(
                topic,
                round((5 + t) * 1e9),
                store.serialize_cdr(message, "sensor_msgs/msg/JointState"),
            )
    paths = sy.find_logs(tmp_path / "bags", effort="torque")
    assert [Path(each.path).name for each in paths] == ["one"]
    assert np.allclose(paths[0].read(arm).q, log.q)
    (tmp_path / "loose").mkdir()
    bag = next((tmp_path / "bags" / "one").glob("*.mcap"))
    for name in ("a.mcap", "b.mcap"):
        shutil.copy(bag, tmp_path / "loose" / name)
    loose = sy.find_logs(tmp_path / "loose", effort="torque")
    assert [Path(each.path).name for each in loose] == ["a.mcap", "b.mcap"]
    assert np.allclose(loose[1].read(arm).q, log.q)
