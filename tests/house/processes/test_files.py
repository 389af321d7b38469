"""The one file writer: whole or not at all, over nothing unless asked, one rule for permissions."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest

from steelyard.errors import CallError
from steelyard.files import (
    check_file,
    check_folder,
    whole_folder,
    write_atomic,
    write_files,
    write_into,
)

posix = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def write_more(file: BinaryIO) -> None:
    file.write(b"from a function")


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"bytes", "bytes"), ("text, é\n", "text, é\n"), (write_more, "from a function")],
)
def test_every_kind_of_content(content, text: str, tmp_path: Path) -> None:
    assert write_atomic(tmp_path / "a.txt", content) == tmp_path / "a.txt"
    with pytest.raises(CallError, match=r"a\.txt exists already; pass overwrite=True"):
        write_atomic(tmp_path / "a.txt", b"other")
    write_atomic(tmp_path / "b.txt", b"much longer than what replaces it")
    write_atomic(tmp_path / "b.txt", content, overwrite=True)
    assert [(tmp_path / name).read_bytes() for name in ("a.txt", "b.txt")] == [text.encode()] * 2
    assert len(list(tmp_path.iterdir())) == 2


@posix
@pytest.mark.parametrize("content", [b"bytes", write_more])
def test_a_new_file_follows_the_umask_and_a_replaced_one_keeps_its_mode(
    content, tmp_path: Path
) -> None:
    previous = os.umask(0o027)
    try:
        modes = [stat.S_IMODE(write_atomic(tmp_path / "new", content).stat().st_mode)]
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o666)
        modes += [
            stat.S_IMODE(write_atomic(tmp_path / "old", content, overwrite=True).stat().st_mode)
        ]
        with whole_folder(tmp_path / "folder"):
            pass
        modes += [stat.S_IMODE((tmp_path / "folder").stat().st_mode)]
    finally:
        os.umask(previous)
    assert modes == [0o640, 0o666, 0o750]


def test_a_link_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "alias").symlink_to("real")
    with pytest.raises(
        CallError,
        match=r"alias is a symbolic link.*: name what it points to, .*real, or remove the link",
    ):
        write_atomic(tmp_path / "alias", "new", overwrite=True)
    assert (tmp_path / "alias").is_symlink()
    assert contents(tmp_path) == {"real": "old", "alias": "old"}


def test_a_link_above_the_target_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    write_atomic(tmp_path / "home" / "a", "new")
    assert contents(tmp_path / "real") == {"a": "new"}
    with pytest.raises(CallError, match=r"home is a symbolic link"):
        write_atomic(tmp_path / "home" / "b", "new", within=tmp_path)
    with pytest.raises(CallError, match=r"home is a symbolic link"):
        write_atomic(tmp_path / "home" / "b", "new", within=tmp_path / "home")
    with pytest.raises(CallError, match=r"is not within"):
        write_atomic(tmp_path / "real" / ".." / "b", "new", within=tmp_path / "real")
    assert contents(tmp_path / "real") == {"a": "new"}


def test_folders_within_folders_are_merged_all_or_none(tmp_path: Path) -> None:
    def fill(text: str) -> None:
        with whole_folder(tmp_path / "out", overwrite=True) as folder:
            for name in ("c", "d"):
                (folder / name).mkdir()
                write_atomic(folder / name / "a", text)

    fill("1")
    (tmp_path / "out" / "d" / "a").unlink()
    (tmp_path / "out" / "d").rmdir()
    (tmp_path / "out" / "c" / "mine").write_text("stays")
    fill("2")
    assert contents(tmp_path / "out" / "c") == {"a": "2", "mine": "stays"}
    (tmp_path / "out" / "d" / "a").unlink()
    (tmp_path / "out" / "d" / "a").mkdir()
    with pytest.raises(CallError, match="is a folder"):
        fill("3")
    assert contents(tmp_path / "out" / "c") == {"a": "2", "mine": "stays"}


def test_a_folder_made_for_files_that_cannot_be_written_is_removed(tmp_path: Path) -> None:
    def broken(file: BinaryIO) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_into(tmp_path / "c", {"a": "1", "b": broken})
    assert contents(tmp_path) == {}
    write_into(tmp_path / "c", {"a": "1", "b": "2"})
    assert contents(tmp_path / "c") == {"a": "1", "b": "2"}


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_that_appears_meanwhile_stays(
    hard_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*names: str, **options: object) -> None:
        raise OSError("not supported")

    if not hard_links:
        monkeypatch.setattr(os, "link", no_link)

    def another_writes(file: BinaryIO) -> None:
        file.write(b"mine")
        (tmp_path / "a").write_text("theirs")

    with pytest.raises(CallError, match="exists already"):
        write_atomic(tmp_path / "a", another_writes)
    write_atomic(tmp_path / "b", "mine")
    assert contents(tmp_path) == {"a": "theirs", "b": "mine"}


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def broken(file: BinaryIO) -> None:
        file.write(b"half")
        raise ZeroDivisionError

    for overwrite in (False, True):
        with pytest.raises(ZeroDivisionError):
            write_files({tmp_path / "a": "whole", tmp_path / "b": broken}, overwrite)
        with (
            pytest.raises(ZeroDivisionError),
            whole_folder(tmp_path / "folder", overwrite) as folder,
        ):
            write_files({folder / "a": "half", folder / "b": broken})
    assert contents(tmp_path) == {}


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomic(tmp_path / "a", "old")
    real = os.replace

    def failing(source: str, target: str, **handles: int) -> None:
        if Path(target).name == "b":
            raise OSError(28, "No space left on device")
        real(source, target, **handles)

    monkeypatch.setattr(os, "replace", failing)
    for several in (["a", "b"], ["c", "b"]):
        with pytest.raises(CallError, match="b cannot be written: No space left"):
            write_files({tmp_path / name: "new" for name in several}, overwrite=True)
        with (
            pytest.raises(CallError, match="b cannot be written: No space left"),
            whole_folder(tmp_path, overwrite=True) as folder,
        ):
            write_files({folder / name: "new" for name in reversed(several)})
    assert contents(tmp_path) == {"a": "old"}


def test_a_folder_is_filled_only_if_free_or_asked(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with whole_folder(target) as folder:
        (folder / "a").write_text("1")
        assert not target.exists()
    with (
        pytest.raises(CallError, match="out exists already and is not empty; pass overwrite=True"),
        whole_folder(target),
    ):
        pass
    with whole_folder(target, overwrite=True) as folder:
        (folder / "b").write_text("2")
    assert contents(target) == {"a": "1", "b": "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_stands_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CallError, match="is a folder; expected the name of a file"):
        check_file(tmp_path)
    with pytest.raises(CallError, match="is a file; expected the name of a folder"):
        check_folder(tmp_path / "file")
    for check in (check_file, check_folder):
        with pytest.raises(CallError, match=r"there is no folder .*absent"):
            check(tmp_path / "absent" / "x")
