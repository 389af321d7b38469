"""Sizes: a file that asks for more than a limit is refused, in a sentence that says how to allow
it; loading takes time in proportion.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import steelyard as sy
from steelyard.errors import CallError, LogError, ModelError, suggest
from steelyard.mechanism.check import check_count
from steelyard.mechanism.formats.urdf.xml_text import parse
from steelyard.resource_limits import VARIABLE, limits_in_force
from steelyard.signals import read_mapping
from steelyard.toml_text import parse_toml

MORE = (
    r"; if it is meant to, allow more: steelyard.reading_limits\({}=.*\) or"
    r" STEELYARD_READING_LIMITS='{}=.*'"
)


def more(name: str) -> str:
    return MORE.format(name, name)


def mat_bomb(path: Path, count: int) -> None:
    """A MAT 5 file whose one variable says that it holds `count` zeros, compressed."""
    small = io.BytesIO()
    savemat(small, {"q": np.zeros((4, 1))}, do_compression=False)
    head, variable = small.getvalue()[:128], small.getvalue()[128:]
    old, new = np.uint32([4, 1]).tobytes(), np.uint32([count, 1]).tobytes()
    size = np.uint32([8 * count]).tobytes()
    body = variable[8:].replace(old, new, 1)[: -4 * 8 - 4] + size
    packer = zlib.compressobj()
    compressed = [packer.compress(np.uint32([14, len(body) + 8 * count]).tobytes() + body)]
    compressed += [packer.compress(bytes(1 << 20)) for _ in range(8 * count >> 20)]
    content = b"".join([*compressed, packer.flush()])
    path.write_bytes(head + np.uint32([15, len(content)]).tobytes() + content)


def test_a_small_mat_file_that_inflates_is_refused(tmp_path: Path) -> None:
    mat_bomb(tmp_path / "ok.mat", 1 << 18)
    assert np.shape(sy.read_log(tmp_path / "ok.mat", rate=100.0).q) == (1 << 18, 1)
    mat_bomb(tmp_path / "bomb.mat", 1 << 24)  # 128 MiB
    assert (tmp_path / "bomb.mat").stat().st_size < 3e5
    with sy.reading_limits(memory=3e7), pytest.raises(LogError, match=r"bomb\.mat: .*memory"):
        sy.read_log(tmp_path / "bomb.mat")


def test_a_small_npz_file_that_inflates_is_refused(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("q.npy", "w", force_zip64=True) as part,
    ):
        np.lib.format.write_array_header_1_0(
            part, {"descr": "<f8", "fortran_order": False, "shape": (8 << 20,)}
        )
        for _ in range(64):
            part.write(bytes(1 << 20))
    sentence = r"bomb\.npz: its arrays take 67.11 MB, more than the 50 MB allowed" + more("memory")
    with sy.reading_limits(memory=5e7), pytest.raises(LogError, match=sentence):
        sy.read_log(tmp_path / "bomb.npz")
    np.savez(tmp_path / "small.npz", t=np.arange(100.0), q=np.zeros(100))
    with (
        sy.reading_limits(memory=1000),
        pytest.raises(LogError, match=r"more than the 0.001 MB allowed"),
    ):
        sy.read_log(tmp_path / "small.npz")


def test_large_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,q1\n0,1\n1,2\n2,3\n")
    (tmp_path / "a.urdf").write_text("<robot name='r'><link name='l'/></robot>")
    assert sy.load(tmp_path / "a.urdf").name == "r"
    with sy.reading_limits(memory=10, text=10):
        with pytest.raises(LogError, match=r"a\.csv: it has .* MB allowed" + more("memory")):
            sy.read_log(tmp_path / "a.csv")
        with pytest.raises(ModelError, match=r"a\.urdf: it has .* MB allowed" + more("text")):
            sy.load(tmp_path / "a.urdf")


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
@pytest.mark.parametrize(
    "ending",
    [".csv", ".npz", ".mat", ".parquet", ".mcap", ".urdf", ".xml", ".mjcf", ".toml", ".xacro"],
)
def test_devices_and_pipes_are_refused_at_once(ending: str, tmp_path: Path) -> None:
    endless, pipe = tmp_path / f"zero{ending}", tmp_path / f"pipe{ending}"
    endless.symlink_to("/dev/zero")
    os.mkfifo(pipe)
    read, family = (
        (sy.load, ModelError)
        if ending in (".urdf", ".xml", ".mjcf", ".toml", ".xacro")
        else (sy.read_log, LogError)
    )
    for path in (endless, pipe):
        with pytest.raises(family, match=f"{path.name}: it is not a regular file"):
            read(path)


def test_an_expression_without_end_is_ended(tmp_path: Path) -> None:
    text = (
        "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><link"
        " name='${9**9**9}'/></robot>"
    )
    (tmp_path / "a.xacro").write_text(text)
    with (
        sy.reading_limits(seconds=0.5),
        pytest.raises(ModelError, match=r"a\.xacro: .*takes more than 0.5 s" + more("seconds")),
    ):
        sy.load(tmp_path / "a.xacro")


def test_numbers_of_bodies_that_no_memory_holds_are_refused(tmp_path: Path) -> None:
    body = (
        "<replicate count='100000' offset='.1 0 0'><body><joint/><geom"
        " size='.1'/></body></replicate>"
    )
    (tmp_path / "a.mjcf").write_text(
        f"<mujoco><worldbody><replicate count='1000'>{body}</replicate></worldbody></mujoco>"
    )
    with sy.reading_limits(seconds=1, memory=1e8), pytest.raises(ModelError, match=r"a\.mjcf: "):
        sy.load(tmp_path / "a.mjcf")


def chain(count: int) -> str:
    links = "".join(f"<link name='l{i}'/>" for i in range(count + 1))
    axis = "<axis xyz='0 0 1'/>"
    joints = (
        f"<joint name='j{i}' type='continuous'><parent link='l{i}'/><child"
        f" link='l{i + 1}'/>{axis}</joint>"
        for i in range(count)
    )
    return f"<robot name='chain'>{links}{''.join(joints)}</robot>"


def test_a_chain_of_ten_thousand_joints_is_refused_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_text(chain(10_000))
    with pytest.raises(
        ModelError,
        match=r"it has 10001 links and joints, more than the 2000 allowed" + more("joints"),
    ):
        sy.load(tmp_path / "a.urdf")
    check_count("here", 2000)


LARGE = {
    "comments": "<!--" * 1_000_000,
    "texts": f"<robot>{'a&#10;' * 500_000}</robot>",
    "chain": chain(4000),
    "array": f"a = [{'0, ' * 200_000}]",
    "cells": "t,q1\n" + "0.5,1\n" * 60_000 + "x,y\n",
}


@pytest.mark.parametrize("kind", LARGE)
def test_loading_takes_time_in_proportion_to_the_file(kind: str, tmp_path: Path) -> None:
    """Work that grows with the square of these sizes would not end."""
    path = tmp_path / f"a{ {'array': '.toml', 'cells': '.csv'}.get(kind, '.xml') }"
    path.write_text(LARGE[kind])
    with sy.reading_limits(joints=1e6):
        if kind == "chain":
            assert sy.load(path).n == 4000
        else:
            with pytest.raises((ModelError, LogError)):
                (sy.read_log if kind == "cells" else sy.load)(path)


def test_text_in_pieces_is_whole() -> None:
    assert parse("<a>1&#10;<b>2</b>3&amp;</a>", "here").text == "1\n3&"


def test_limits_are_those_of_the_innermost_block_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "memory=8e9; folder=/opt/my robots")
    assert (limits_in_force().memory, limits_in_force().folder) == (8e9, "/opt/my robots")
    with sy.reading_limits(memory=5, seconds=3):
        with sy.reading_limits(memory=7):
            assert (limits_in_force().memory, limits_in_force().seconds) == (7, 3)
        assert limits_in_force().memory == 5
    for text, sentence in (
        ("memroy=3", "did you mean 'memory'"),
        ("memory=many", "has no number"),
        ("memory=-1", "positive number"),
    ):
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(CallError, match=sentence):
            limits_in_force()
    monkeypatch.delenv(VARIABLE)
    for wrong in (0, -1, "8", True, float("nan")):
        with (
            pytest.raises(CallError, match="memory must be a positive number"),
            sy.reading_limits(memory=wrong),
        ):  # type: ignore[arg-type]
            pass


DEEP = {
    "a key": "a." * 20_000 + "a = 1",
    "a quoted key": '"a".' * 20_000 + "a = 1",
    "a table's name": "[links." + "a." * 20_000 + "a]",
    "a key in a table": "links = [{" + "a." * 900 + "a = 1}]",
    "lists": "gravity = " + "[" * 300 + "]" * 300,
    "many lists": "gravity = " + "[" * 5000 + "]" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_tables_that_are_nested_too_deep_are_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(DEEP[kind])
    for read, family in ((sy.load, ModelError), (read_mapping, LogError)):
        with pytest.raises(
            family,
            match=(
                r"a\.toml: (a key has more than 50 parts|tables and lists are nested|not a TOML"
                r" file)"
            ),
        ):
            read(tmp_path / "a.toml")


def test_sentences_may_have_many_dots() -> None:
    text = "A sentence. " * 200
    assert parse_toml(f'description = "{text}"', "here", ModelError) == {"description": text}


def test_names_that_are_long_or_many_are_not_compared_for_long() -> None:
    names = ["q1", "x" * 1_000_000, *(f"column{i}" for i in range(100_000))]
    sentence = suggest("q2" + "x" * 1_000_000, names)
    assert sentence.startswith("known: q1, xxx")
    assert sentence.endswith(", and 99962 more")
    assert len(sentence) < 1000
    assert suggest("q1x", names).startswith("did you mean 'q1'? ")
