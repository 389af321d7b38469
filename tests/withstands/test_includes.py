"""Includes: files are found from the file that includes them, and never outside its folder unless
allowed.
"""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import polars
import pytest

import steelyard as sy
from steelyard.errors import LogError, ModelError

HEAD = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>"
ARM = (
    "<link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/><child"
    " link='b'/></joint>"
)
BODY = "<body name='b'><joint name='j'/><geom size='.1'/></body>"


def xacro(folder: Path, included: str, name: str = "main.xacro") -> Path:
    (folder / name).write_text(f"{HEAD}<xacro:include filename='{included}'/></robot>")
    return folder / name


def mjcf(folder: Path, included: str, name: str) -> Path:
    (folder / name).write_text(
        f"<mujoco><worldbody><include file='{included}'/></worldbody></mujoco>"
    )
    return folder / name


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `robot` with parts, beside another folder with the same names that hold nothing,
    from which the tests run.
    """
    for path, arm, body in (("robot", ARM, BODY), ("elsewhere", "", "")):
        (tmp_path / path / "parts").mkdir(parents=True)
        (tmp_path / path / "parts" / "arm.xacro").write_text(f"{HEAD}{arm}</robot>")
        (tmp_path / path / "parts" / "limits.yaml").write_text(f"name: {path}")
        for name in ("arm.xml", "arm.mjcf"):
            (tmp_path / path / "parts" / name).write_text(f"<mujoco>{body}</mujoco>")
        xacro(tmp_path / path / "parts", "arm.xacro", "more.xacro")
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "robot"


@pytest.mark.parametrize(
    "included", ["parts/arm.xacro", "parts/more.xacro", "./parts/../parts/arm.xacro"]
)
def test_xacro_finds_files_from_the_one_that_includes_them(included: str, folder: Path) -> None:
    for path in (xacro(folder, included), Path("..") / "robot" / "main.xacro"):
        assert sy.load(path).joint_names == ("j",)


@pytest.mark.parametrize("ending", ["xml", "mjcf"])
@pytest.mark.parametrize("included", ["xml", "mjcf"])
def test_mjcf_finds_files_from_the_one_that_includes_them(
    ending: str, included: str, folder: Path
) -> None:
    path = mjcf(folder, f"parts/arm.{included}", f"main.{ending}")
    for file in (path, Path("..") / "robot" / path.name):
        assert sy.load(file).joint_names == ("j",)
    assert os.getcwd() == str(folder.parent / "elsewhere")
    assert not list(folder.parent.rglob("MUJOCO_LOG*"))


@pytest.mark.parametrize("way", ["relative", "absolute", "link"])
@pytest.mark.parametrize("kind", ["xacro", "xml", "mjcf", "nested mjcf"])
def test_a_file_outside_the_folder_is_not_included(kind: str, way: str, folder: Path) -> None:
    ending = kind.split()[-1]
    secret = folder.parent / f"secret.{ending}"
    secret.write_text(f"{HEAD}{ARM}</robot>" if kind == "xacro" else f"<mujoco>{BODY}</mujoco>")
    name = {"relative": f"../secret.{ending}", "absolute": str(secret), "link": f"alias.{ending}"}[
        way
    ]
    (folder / f"alias.{ending}").symlink_to(secret)
    path = xacro(folder, name) if kind == "xacro" else mjcf(folder, name, f"main.{ending}")
    if kind == "nested mjcf":
        path = mjcf(folder, "main.mjcf", "outer.mjcf")
    with pytest.raises(
        ModelError, match=rf"it includes .*, which is not in {folder}; .*reading_limits\(folder="
    ):
        sy.load(path)
    with sy.reading_limits(folder=folder.parent):
        if kind != "nested mjcf":  # the outer one has no such body
            assert sy.load(path).joint_names == ("j",)


def test_values_of_a_file_outside_the_folder_are_not_read(folder: Path) -> None:
    (folder.parent / "secret.yaml").write_text("name: secret")
    for name, allowed in (
        ("parts/limits.yaml", True),
        ("../secret.yaml", False),
        (str(folder.parent / "secret.yaml"), False),
    ):
        (folder / "main.xacro").write_text(
            f"{HEAD}<link name=\"${{load_yaml('{name}')['name']}}\"/></robot>"
        )
        if allowed:
            assert sy.load(folder / "main.xacro").mechanism.links[0].name == "robot"
        else:
            with pytest.raises(ModelError, match="which is not in"):
                sy.load(folder / "main.xacro")


def test_the_folder_of_a_package_is_that_of_its_package_xml(folder: Path) -> None:
    (folder.parent / "package.xml").write_text("<package/>")
    (folder.parent / "common.xacro").write_text(f"{HEAD}{ARM}</robot>")
    assert sy.load(xacro(folder, "../common.xacro")).joint_names == ("j",)


@pytest.mark.parametrize(
    "trick",
    [
        "<include x='>' file='../s.xml'/>",
        "<include file='&#46;&#46;/s.xml'/>",
        "<!-- <include file='../s.xml'/> -->",
    ],
)
def test_includes_cannot_be_hidden(trick: str, folder: Path) -> None:
    (folder.parent / "s.xml").write_text(f"<mujoco>{BODY}</mujoco>")
    (folder / "main.xml").write_text(f"<mujoco><worldbody>{trick}</worldbody></mujoco>")
    with pytest.raises(ModelError, match=r"which is not in|cannot be understood"):
        sy.load(folder / "main.xml")


@pytest.mark.parametrize("kind", ["external", "virtual", "link"])
def test_a_log_takes_its_numbers_from_no_other_file(kind: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(range(40)))
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.arange(5.0)
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["t"], file["q"] = np.arange(5.0), np.arange(5.0)
        if kind == "external":
            file.create_dataset("tau", (5,), "f8", external=[(str(tmp_path / "secret"), 0, 40)])
        elif kind == "virtual":
            layout = h5py.VirtualLayout((5,), "f8")
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "secret", (5,))
            file.create_virtual_dataset("tau", layout)
        else:
            file["tau"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "secret")
    if kind == "link":
        assert sy.read_log(tmp_path / "a.mat").tau is None
    else:
        with pytest.raises(LogError, match=r"a\.mat: 'tau' takes its numbers from another file"):
            sy.read_log(tmp_path / "a.mat")


def test_a_name_of_a_file_is_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "robot=7"
    folder.mkdir()
    for name, value in (("run[12].parquet", 1.0), ("run1.parquet", 2.0)):
        polars.DataFrame({"t": [0.0, 1.0], "q1": [value, value]}).write_parquet(folder / name)
    log = sy.read_log(folder / "run[12].parquet")
    assert log.q.tolist() == [[1.0], [1.0]]
    assert not any("robot=7" in remark or "column" in remark for remark in log.remarks)
