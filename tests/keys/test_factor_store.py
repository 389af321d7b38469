"""The store of factors is untrusted input.

What was changed, exchanged, linked or forged is folded again and reported.
"""

from __future__ import annotations

import hmac
import io
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.out_of_core import factor_store, log_factor
from steelyard.identification.out_of_core.factor_store import MAGIC, TAG, FactorStore
from steelyard.identification.out_of_core.log_factor import LogFactor
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from tests.archive.archives import identified, write_logs

OPTIONS: dict[str, Any] = {
    "estimator": "wls",
    "friction": ("viscous", "coulomb", "offset"),
    "delay": 0.0,
    "coulomb_width": 0.0,
    "decimate": 1,
}
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are those of POSIX")


@pytest.fixture(autouse=True)
def every_size_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)


class StoredFactors:
    """Three logs with their kept factors, and the numbers of a fit that trusts nothing."""

    def __init__(self, folder: Path) -> None:
        self.files = write_logs(folder, 3, 200)
        self.expected = identified(self.files, **OPTIONS).base_values
        identified(self.files, keep=True, **OPTIONS)
        self.folder = folder / ".steelyard"
        self.factors = sorted(self.folder.iterdir())
        self.contents = [file.read_bytes() for file in self.factors]
        assert len(self.factors) == 3

    def restore(self) -> None:
        for file, content in zip(self.factors, self.contents, strict=True):
            if file.is_symlink() or not file.is_file():
                file.unlink(missing_ok=True)
            file.write_bytes(content)
            file.chmod(0o600)

    def again(self) -> sy.Fit:
        return identified(self.files, keep=True, **OPTIONS)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> StoredFactors:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)
        return StoredFactors(tmp_path_factory.mktemp("store"))


def rejects(stored: StoredFactors, count: int, reason: str) -> None:
    """So many factors are not used, the numbers are those of the logs, and the result says why."""
    fit = stored.again()
    np.testing.assert_array_equal(fit.base_values, stored.expected)
    assert fit.archive is not None
    assert fit.archive.reused == 3 - count
    assert len(fit.archive.rejected) == count
    assert all(reason in why for _, why in fit.archive.rejected), fit.archive.rejected
    assert f"Stored factors of {count} logs were not used" in " ".join(fit.status)
    assert [each["log"] for each in fit.archive.to_dict()["rejected"]] == [
        name for name, _ in fit.archive.rejected
    ]


def test_what_is_whole_is_used(stored: StoredFactors) -> None:
    fit = stored.again()
    assert (fit.archive.reused, fit.archive.rejected, fit.archive.not_stored) == (3, (), "")
    np.testing.assert_array_equal(fit.base_values, stored.expected)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in stored.factors)
    assert stat.S_IMODE(stored.folder.stat().st_mode) == 0o700


# what is not as it was written
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_anywhere_is_noticed(stored: StoredFactors, seed: int) -> None:
    """Through the store for 200 places, and through an identification for one of them."""
    rng = np.random.default_rng(seed)
    store, log, most = opened(stored)
    whole = stored.contents[0]
    for path in rng.integers(0, len(whole), 200):
        damaged = bytearray(whole)
        damaged[path] ^= 1 << rng.integers(8)
        stored.factors[0].write_bytes(damaged)
        result = store.find(*log, most)
        assert result.content is None
        assert "tag" in result.reason
    rejects(stored, 1, "tag")
    assert stored.factors[0].read_bytes() == whole, "and it is made again"


def test_every_truncation_is_noticed(stored: StoredFactors) -> None:
    store, log, most = opened(stored)
    whole = stored.contents[0]
    for length in (
        0,
        1,
        len(MAGIC),
        len(MAGIC) + TAG,
        len(MAGIC) + TAG + 1,
        1000,
        len(whole) // 2,
        len(whole) - 1,
    ):
        stored.factors[0].write_bytes(whole[:length])
        assert store.find(*log, most).content is None
    stored.factors[0].write_bytes(whole + b"\0")
    assert store.find(*log, most).content is None
    rejects(stored, 1, "tag")


def test_factors_under_the_names_of_others_are_noticed(stored: StoredFactors) -> None:
    """All permutations of the three files that leave none where it was, and a copy of one in the
    place of another.
    """
    for order in ((1, 2, 0), (2, 0, 1)):
        for k, other in enumerate(order):
            stored.factors[k].write_bytes(stored.contents[other])
        rejects(stored, 3, "tag")
        assert [file.read_bytes() for file in stored.factors] == stored.contents
    stored.factors[0].write_bytes(stored.contents[1])
    rejects(stored, 1, "tag")


def test_forged_numbers_are_noticed(stored: StoredFactors) -> None:
    """A file that is right in all but its numbers: without the user's key it has no tag."""
    for forge in (lambda R: 2.0 * R, lambda R: R * np.nan, lambda R: np.zeros_like(R)):
        payload = forged(stored.contents[0], forge)
        for tag in (
            stored.contents[0][len(MAGIC) : len(MAGIC) + TAG],
            bytes(TAG),
            hmac.digest(b"guessed", payload, "sha256"),
        ):
            stored.factors[0].write_bytes(MAGIC + tag + payload)
            rejects(stored, 1, "tag")


def test_a_factor_of_another_users_key_is_not_looked_at(
    stored: StoredFactors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "other user"))
    fit = stored.again()
    assert (fit.archive.reused, fit.archive.rejected) == (0, ())
    assert stored.again().archive.reused == 3
    for file in set(stored.folder.iterdir()) - set(stored.factors):
        file.unlink()


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda R: R * np.nan, "not finite"),
        (lambda R: np.full_like(R, np.inf), "not finite"),
        (lambda R: R[:-1], "shapes"),
        (lambda R: R.astype(complex), "not finite"),
        (lambda R: np.array([None]), "cannot be used"),
    ],
    ids=["nan", "infinite", "shape", "complex", "objects"],
)
def test_numbers_that_no_factor_has_are_refused_with_a_valid_tag_too(
    stored: StoredFactors, forge: Callable[[Any], Any], reason: str
) -> None:
    store, (_, digest), _ = opened(stored)
    payload = forged(stored.contents[0], forge)
    stored.factors[0].write_bytes(MAGIC + store.tag(digest, payload) + payload)
    rejects(stored, 1, reason)


def test_shapes_that_no_memory_holds_are_refused_with_a_valid_tag_too(
    stored: StoredFactors,
) -> None:
    store, (_, digest), _ = opened(stored)
    payload = stored.contents[0][len(MAGIC) + TAG :].replace(
        b"'shape': (3, 200, 2), }", b"'shape': (3,2**60,2), }", 1
    )
    stored.factors[0].write_bytes(MAGIC + store.tag(digest, payload) + payload)
    rejects(stored, 1, "cannot be used")
    header = (
        np.lib.format.magic(1, 0)
        + b"v\0{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846975,), }".ljust(
            120
        )
        + b"\n"
    )
    stored.factors[0].write_bytes(MAGIC + store.tag(digest, header) + header)
    rejects(stored, 1, "cannot be used")


# what is no regular file of the user's own
# --------------------------------------------------------------------------------


@posix
def test_links_pipes_devices_and_folders_are_not_read(
    stored: StoredFactors, tmp_path: Path
) -> None:
    """A right factor behind a link is none.

    A pipe is not waited for; the target of a link stays as it was.
    """
    target, file = tmp_path / "target", stored.factors[0]
    target.write_bytes(stored.contents[0])
    target.chmod(0o600)
    for make, reason in (
        (lambda: file.symlink_to(target), "link"),
        (lambda: file.symlink_to(tmp_path / "missing"), "link"),
        (lambda: file.symlink_to("/dev/zero"), "link"),
        (lambda: os.mkfifo(file, 0o600), "regular"),
    ):
        file.unlink()
        make()
        rejects(stored, 1, reason)
        assert not file.is_file() or file.is_symlink()
    assert target.read_bytes() == stored.contents[0]
    assert not (tmp_path / "missing").exists()
    file.unlink()
    file.mkdir()
    rejects(stored, 1, "regular")
    file.rmdir()
    stored.restore()


@posix
def test_a_folder_behind_a_link_is_neither_read_nor_written(
    stored: StoredFactors, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    stored.folder.rename(elsewhere)
    stored.folder.symlink_to(elsewhere)
    (elsewhere / stored.factors[0].name).unlink()
    before = sorted(elsewhere.iterdir())
    try:
        rejects(stored, 3, "link")
        assert sorted(elsewhere.iterdir()) == before
    finally:
        stored.folder.unlink()
        elsewhere.rename(stored.folder)
        stored.restore()


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o777])
def test_what_others_can_write_is_not_read(stored: StoredFactors, mode: int) -> None:
    stored.factors[0].chmod(mode)
    rejects(stored, 1, "others")
    assert stat.S_IMODE(stored.factors[0].stat().st_mode) == 0o600, "and is replaced"
    stored.folder.chmod(0o700 | mode & 0o077)
    try:
        rejects(stored, 3, "others")
    finally:
        stored.folder.chmod(0o700)


@posix
def test_what_belongs_to_another_user_is_not_read(stored: StoredFactors) -> None:
    if os.getuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(stored.factors[0], 12345, 12345)
    rejects(stored, 1, "another user")
    assert stored.factors[0].stat().st_uid == 0
    os.chown(stored.folder, 12345, 12345)
    try:
        rejects(stored, 3, "another user")
    finally:
        os.chown(stored.folder, 0, 0)


def test_a_file_that_is_too_large_is_not_read(stored: StoredFactors) -> None:
    with stored.factors[0].open("r+b") as file:
        file.truncate(1 << 40)  # a terabyte without blocks
    rejects(stored, 1, "bytes")


# the key
# --------------------------------------------------------------------------------------------------


@posix
def test_the_key_is_private_random_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = []
    for name in ("one", "two"):
        monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / name))
        keys.append(factor_store.user_key())
        assert factor_store.user_key() == keys[-1]
        assert stat.S_IMODE((tmp_path / name / factor_store.KEY_FILE).stat().st_mode) == 0o600
    assert len(set(keys)) == 2
    assert all(len(key) == 32 and not reason for key, reason in keys)


@posix
@pytest.mark.parametrize("damage", ["readable", "short", "long", "link", "fifo", "folder writable"])
def test_a_key_that_others_may_know_is_not_used(
    damage: str, stored: StoredFactors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read or kept, the result says so, and its numbers are right."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    factor_store.user_key()
    path = tmp_path / "cache" / factor_store.KEY_FILE
    key = path.read_bytes()
    if damage == "readable":
        path.chmod(0o640)
    elif damage in ("short", "long"):
        path.write_bytes(key[:31] if damage == "short" else key + b"x")
    elif damage == "folder writable":
        path.parent.chmod(0o777)
    else:
        path.rename(tmp_path / "key")
        path.symlink_to(tmp_path / "key") if damage == "link" else os.mkfifo(path)
    before = sorted(stored.folder.iterdir())
    fit = stored.again()
    assert fit.archive.not_stored
    assert fit.archive.reused == 0
    assert "Factors are neither read nor stored" in " ".join(fit.status)
    assert sorted(stored.folder.iterdir()) == before
    np.testing.assert_array_equal(fit.base_values, stored.expected)


def test_without_a_cache_folder_nothing_is_kept(
    stored: StoredFactors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", "")
    assert "no cache folder" in stored.again().archive.not_stored


def test_workers_get_a_key_of_the_recipe_and_never_that_of_the_user(
    stored: StoredFactors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent to workers authenticates factors of one recipe alone.

    Workers need no key of their own.
    """
    sent: list[FactorStore] = []
    plain = log_factor.fold_log
    monkeypatch.setattr(
        "steelyard.identification.out_of_core.identify_archive.fold_log",
        lambda *call: sent.append(call[3]) or plain(*call),
    )
    stored.again()
    identified(stored.files, keep=True, **(OPTIONS | {"mask": 0.01}))
    user, _ = factor_store.user_key()
    secrets = {store.secret for store in sent}
    assert len(secrets) == 2
    assert user not in secrets
    assert all(
        user.hex() not in repr(store) and store.secret.hex() not in repr(store) for store in sent
    )
    for file in set(stored.folder.iterdir()) - set(stored.factors):
        file.unlink()


def test_processes_read_and_keep_as_one_does(stored: StoredFactors) -> None:
    stored.factors[0].write_bytes(stored.contents[1])
    fit = identified(stored.files, keep=True, executor=2, **OPTIONS)
    assert (fit.archive.reused, len(fit.archive.rejected)) == (2, 1)
    np.testing.assert_array_equal(fit.base_values, stored.expected)
    assert [file.read_bytes() for file in stored.factors] == stored.contents


# helpers
# --------------------------------------------------------------------------------------------------


def opened(stored: StoredFactors) -> tuple[FactorStore, tuple[sy.LogFile, str], int]:
    """The store with the key of the recipe that the factors were made with, the log of the first
    factor with its digest, and the limit.
    """
    seen: list[tuple[Any, ...]] = []
    with pytest.MonkeyPatch.context() as patch:
        plain = log_factor.fold_log
        name = "steelyard.identification.out_of_core.identify_archive.fold_log"
        patch.setattr(name, lambda *call: seen.append(call) or plain(*call))
        stored.restore()
        stored.again()
    for source, digest, recipe, store, _ in seen:
        if store.path(source, digest) == stored.factors[0]:
            return store, (source, digest), recipe.most_bytes
    raise AssertionError("no log has the first factor")


def forged(whole: bytes, forge: Callable[[Any], Any]) -> bytes:
    """The payload of a factor with other numbers."""
    with np.load(io.BytesIO(whole[len(MAGIC) + TAG :])) as arrays:
        parts = {
            name: forge(arrays[name]) if name.startswith("part") else arrays[name]
            for name in arrays.files
        }
    target = io.BytesIO()
    np.savez(target, **parts)
    return target.getvalue()


def test_what_is_written_is_what_is_read(stored: StoredFactors) -> None:
    store, (source, digest), most = opened(stored)
    content = store.find(source, digest, most).content
    assert content is not None
    reach = LogFactor.from_bytes(content, digest, reach_of(content)).parts[0].reach
    outcome = LogFactor.from_bytes(content, digest, reach)
    assert replace(outcome, name="x").to_bytes() != content
    assert len(outcome.to_bytes()) == len(content)
    with pytest.raises(ValueError, match="another log"):
        LogFactor.from_bytes(content, digest[::-1], reach)
    with pytest.raises(ValueError, match="another model"):
        LogFactor.from_bytes(content, digest, reach[:-1])
    assert stored.folder.name == factor_store.FOLDER


def reach_of(payload: bytes) -> Any:
    import json

    with np.load(io.BytesIO(payload)) as arrays:
        return json.loads(arrays["told"].tobytes())["reach"]
