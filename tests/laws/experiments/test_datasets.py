"""Public logs are listed with licence and source, and fetched by address and checksum.

Here from a server on this machine.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.experiments.datasets import DATASETS, Dataset

TEXT = b"t,q1,tau1\n0,0,1\n0.1,0.2,1\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "run.csv").write_bytes(TEXT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def listed(monkeypatch: pytest.MonkeyPatch, address: str, digest: str) -> None:
    monkeypatch.setitem(
        DATASETS, "arm", Dataset("an arm", "CC0-1.0", "here", {"run.csv": (address, digest)})
    )


def test_a_log_is_fetched_once_and_read(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(monkeypatch, f"{address}/run.csv", hashlib.sha256(TEXT).hexdigest())
    paths = sy.datasets.fetch("arm", tmp_path / "kept")
    assert paths == {"run.csv": tmp_path / "kept" / "arm" / "run.csv"}
    assert sy.read_log(paths["run.csv"]).N == 2
    listed(monkeypatch, "http://127.0.0.1:9/gone.csv", hashlib.sha256(TEXT).hexdigest())
    assert sy.datasets.fetch("arm", tmp_path / "kept") == paths, (
        "what is there is not fetched again"
    )


def test_another_file_than_the_one_listed_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(monkeypatch, f"{address}/run.csv", "0" * 64)
    with pytest.raises(
        sy.LogError,
        match=(
            r"arm: run.csv from .*: what came is not the file that is listed: its SHA-256 differs"
        ),
    ):
        sy.datasets.fetch("arm", tmp_path / "kept")
    assert not (tmp_path / "kept" / "arm" / "run.csv").exists()


def test_a_file_that_cannot_be_fetched_is_named(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(monkeypatch, f"{address}/gone.csv", "0" * 64)
    with pytest.raises(
        sy.LogError,
        match=(
            r"arm: run.csv cannot be fetched from http://127.*gone.csv: .*404.*put it into .*kept"
        ),
    ):
        sy.datasets.fetch("arm", tmp_path / "kept")


def test_bad_names_and_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sy.CallError, match="no log is called 'tx4'; did you mean 'tx40'"):
        sy.datasets.fetch("tx4")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(sy.MissingExtra, match=re.escape("pip install 'steelyard[datasets]'")):
        sy.datasets.fetch("tx40")


@pytest.mark.parametrize("name", sy.datasets.names())
def test_every_listed_log_has_licence_source_addresses_and_checksums(name: str) -> None:
    text = sy.datasets.describe(name)
    assert re.search(r"\[rad", text)
    assert re.search(r"licence: (Apache-2.0|BSD-3-Clause|MIT)\nsource: .+\nfiles: .+", text)
    for address, digest in DATASETS[name].files.values():
        assert address.startswith("https://")
        assert re.fullmatch(r"[0-9a-f]{64}", digest)


def test_the_checksums_are_those_of_the_files_at_hand() -> None:
    folder = Path(__file__).resolve().parents[4] / "shared" / "data"
    if not folder.exists():
        pytest.skip(f"no measured logs in {folder}")
    fixed = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.suffix in (".csv", ".urdf", ".db3", ".mat")
    }
    missing = [
        file
        for each in DATASETS.values()
        for file, (_, digest) in each.files.items()
        if digest not in fixed
    ]
    assert not missing


def test_copies_of_a_folder_are_taken_in_place_of_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name and checksum, at any depth; a file that only has the name is not taken."""
    pytest.importorskip("pooch")
    content = b"t,q\n0,0\n"
    address = "http://127.0.0.1:9/absent"  # where nobody answers
    files = {"run.csv": (f"{address}/run.csv", hashlib.sha256(content).hexdigest())}
    monkeypatch.setitem(DATASETS, "small", Dataset("a log", "MIT", "here", files))
    monkeypatch.setenv("STEELYARD_DATASETS", str(tmp_path / "mirror"))
    for folder, text in (("a", b"another file"), ("b/c", content)):
        (tmp_path / "mirror" / folder).mkdir(parents=True)
        (tmp_path / "mirror" / folder / "run.csv").write_bytes(text)
    assert sy.datasets.fetch("small", tmp_path / "kept")["run.csv"].read_bytes() == content
    (tmp_path / "mirror" / "b" / "c" / "run.csv").write_bytes(b"changed")
    with pytest.raises(sy.LogError, match="cannot be fetched"):
        sy.datasets.fetch("small", tmp_path / "fresh")
