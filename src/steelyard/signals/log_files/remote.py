"""Files in object stores, through fsspec where the user has it."""

from __future__ import annotations

from typing import Any

from ...errors import LogError, require_package


def is_remote(path: str) -> bool:
    """Return whether a path is an address such as s3://bucket/logs."""
    return "://" in path


def file_system(address: str) -> tuple[Any, str]:
    """Return the file system of fsspec that an address belongs to, and the path there.

    MissingExtra without fsspec.
    """
    require_package("fsspec", "fleet", f"reading {address}")
    import fsspec

    try:
        store, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise LogError(f"{address}: no file system for this address ({error})") from None
    return store, str(path)
