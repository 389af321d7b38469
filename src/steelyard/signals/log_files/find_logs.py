"""find_logs: the logs of a folder, pattern, data set or object store."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ...errors import LogError, suggest, translate_errors
from ...resource_limits import exists, names_beside, read_regular
from ..read.log_formats import LOG_FORMATS
from ..read.read_log import ReadLogKeywords, check_options
from .log_file import LogFile
from .remote import file_system, is_remote

if TYPE_CHECKING:
    from typing_extensions import Unpack

BAG_FILE, DATA_SET = "metadata.yaml", "meta/info.json"
OF_READ_LOG = ("mapping", "effort", "clean")

LogSource = str | os.PathLike[str] | LogFile


def find_logs(
    source: LogSource | Iterable[LogSource], **options: Unpack[ReadLogKeywords]
) -> tuple[LogFile, ...]:
    """Find the logs of a source in the order of their names, without reading them.

    `identify` takes them for many logs. The source is a file; a folder, searched with all folders
    below; a pattern such as 'logs/*/run*.parquet'; an address such as s3://bucket/logs, read
    through fsspec; or several of these.

    Folders named key=value are Hive partitions and give the logs their `keys`. Of a LeRobot data
    set only the episodes are logs; a folder with metadata.yaml is a rosbag2; each file of a folder
    of .mcap files is a log.

    Parameters
    ----------
    source : a path, pattern or address, or several.
    **options : of `read_log`.

    Returns
    -------
    `LogFile`s, each with `name`, `keys`, `size` [bytes], `digest()` and `read(robot)`.

    Examples
    --------
    >>> t = np.arange(30) * 0.1
    >>> np.savez("run1.npz", t=t, q=np.sin(t)[:, None], tau=np.cos(t)[:, None])
    >>> [log.name for log in sy.find_logs("run*.npz")]
    ['run1.npz']
    """
    check_options({name: value for name, value in options.items() if name not in OF_READ_LOG})
    read_options = tuple(
        sorted((name, value) for name, value in options.items() if value is not None)
    )
    places = [source] if isinstance(source, (str, os.PathLike, LogFile)) else list(source)
    logs: list[LogFile] = []
    for each in places:
        if isinstance(each, LogFile):
            logs.append(each)
        elif isinstance(each, (str, os.PathLike)):
            logs += [
                LogFile(path, keys=partitions(path), options=read_options)
                for path in find_paths(os.fspath(each))
            ]
        else:
            raise LogError(
                f"expected the path of a log, a folder or a pattern, not {type(each).__name__}"
            )
    return tuple(logs)


def partitions(path: str) -> tuple[tuple[str, str], ...]:
    """Return the keys and values of the folders key=value in a path."""
    pairs = [part.partition("=") for part in PurePosixPath(path.replace("\\", "/")).parts[:-1]]
    return tuple((key, value) for key, equals, value in pairs if equals and key)


def find_paths(source: str) -> list[str]:
    """Return the paths of the logs of one source, sorted; LogError if there is none."""
    if is_remote(source):
        return paths_in_store(source)
    if exists(Path(source), LogError):
        return logs_below(Path(source)) if Path(source).is_dir() else [source]
    if not has_magic(source):
        near = names_beside(Path(source))
        raise LogError(
            f"{source}: no such file or folder: {suggest(Path(source).name, near)}"
            if near
            else f"{source}: no such file or folder"
        )
    matched = sorted(glob(source, recursive=True))
    paths = [
        path
        for each in matched
        for path in (
            logs_below(Path(each)) if Path(each).is_dir() else [each] if is_log(each) else []
        )
    ]
    if not paths:
        kinds = ", ".join(LOG_FORMATS)
        raise LogError(
            f"{source}: no log matches the pattern; of {len(matched)} paths none ends in one of"
            f" {kinds}"
        )
    return paths


def logs_below(folder: Path) -> list[str]:
    """Return the logs of a folder and of all folders below it, sorted.

    LogError if there is none.
    """
    if (folder / BAG_FILE).is_file():
        return [str(folder)]
    if (folder / DATA_SET).is_file():
        folder = data_of(folder)
    paths: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            paths += [str(path)] if (path / BAG_FILE).is_file() else logs_or_none(path)
        elif is_log(path.name):
            paths.append(str(path))
    if not paths:
        raise LogError(
            f"{folder}: no log is in this folder; expected files that end in"
            f" {', '.join(LOG_FORMATS)}"
        )
    return paths


def logs_or_none(folder: Path) -> list[str]:
    """Return the logs of a folder, none if it has none."""
    try:
        return logs_below(folder)
    except LogError:
        return []


def data_of(folder: Path) -> Path:
    """Return the folder of a LeRobot data set with its episodes, as in meta/info.json."""
    content = read_regular(folder / DATA_SET, "text", LogError)
    with translate_errors(f"{folder / DATA_SET}: not an info.json of LeRobot", LogError):
        pattern = json.loads(content).get("data_path", "data/")
        data = folder / str(pattern).split("/")[0]
    if not data.is_dir():
        raise LogError(
            f"{folder}: its meta/info.json says that the data are in {data.name}/, which does not"
            " exist"
        )
    return data


def is_log(name: str) -> bool:
    """Return whether a file's name has the ending of a log format."""
    return Path(name).suffix.lower() in LOG_FORMATS


def paths_in_store(address: str) -> list[str]:
    """Return the addresses of logs in an object store, sorted.

    The address is a file, a pattern, or a folder, searched with all folders below.
    """
    store, path = file_system(address)
    with translate_errors(f"{address}: the store could not be listed", LogError):
        if has_magic(path):
            names = store.glob(path)
        else:
            names = store.find(path) if store.isdir(path) else [path] if store.exists(path) else []
    addresses = sorted(store.unstrip_protocol(name) for name in names if is_log(name))
    if not addresses:
        raise LogError(
            f"{address}: no log is there; expected names that end in {', '.join(LOG_FORMATS)}"
        )
    return addresses
