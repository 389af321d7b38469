"""find_logs: the logs of a folder, a pattern, a data set or an object store."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import LogError, foreign, suggest
from ...resource_limits import exists, names_beside, read_regular
from ..read.log_formats import LOG_FORMATS
from ..read.read_log import check_options
from .log_file import LogFile
from .remote import file_system, is_remote

BAG_FILE, DATA_SET = "metadata.yaml", "meta/info.json"
OF_READ_LOG = ("mapping", "effort", "clean")

Place = str | os.PathLike[str] | LogFile


def find_logs(place: Place | Iterable[Place], **options: Any) -> tuple[LogFile, ...]:
    """Return the logs of a place in the order of their names, without reading them: what `identify` takes for many logs.

    place: a file; a folder, searched with all folders below; a pattern such as 'logs/*/run*.parquet'; an address such as s3://bucket/logs,
    read through fsspec; or several of these. Folders named key=value are Hive's partitions and give the logs their `keys`. Of a LeRobot
    data set only its data are logs; a folder with metadata.yaml is a rosbag2, a folder of .mcap files has a log in each.
    options: how each of them is read: mapping, effort and the other options of `read_log`.

    Parameters:
        place: a path, pattern or address, or several.
        **options: of `read_log`.
    Returns:
        `LogFile`s, each with `name`, `keys`, `size` [bytes], `digest()` and `read(robot)`.
    Example:
        >>> t = np.arange(30) * 0.1
        >>> np.savez("run1.npz", t=t, q=np.sin(t)[:, None], tau=np.cos(t)[:, None])
        >>> [log.name for log in sy.find_logs("run*.npz")]
        ['run1.npz']
    """
    check_options({name: value for name, value in options.items() if name not in OF_READ_LOG})
    given = tuple(sorted((name, value) for name, value in options.items() if value is not None))
    places = [place] if isinstance(place, (str, os.PathLike, LogFile)) else list(place)
    found: list[LogFile] = []
    for each in places:
        if isinstance(each, LogFile):
            found.append(each)
        elif isinstance(each, (str, os.PathLike)):
            found += [LogFile(path, keys=partitions(path), options=given) for path in paths_of(os.fspath(each))]
        else:
            raise LogError(f"expected the path of a log, a folder or a pattern, not {type(each).__name__}")
    return tuple(found)


def partitions(path: str) -> tuple[tuple[str, str], ...]:
    """Return the keys and values of the folders key=value in a path."""
    pairs = [part.partition("=") for part in PurePosixPath(path.replace("\\", "/")).parts[:-1]]
    return tuple((key, value) for key, equals, value in pairs if equals and key)


def paths_of(place: str) -> list[str]:
    """Return the paths of the logs of one place, sorted; LogError if there is none."""
    if is_remote(place):
        return paths_in_store(place)
    if exists(Path(place), LogError):
        return logs_below(Path(place)) if Path(place).is_dir() else [place]
    if not has_magic(place):
        near = names_beside(Path(place))
        raise LogError(
            f"{place}: no such file or folder: {suggest(Path(place).name, near)}" if near else f"{place}: no such file or folder"
        )
    matched = sorted(glob(place, recursive=True))
    found = [path for each in matched for path in (logs_below(Path(each)) if Path(each).is_dir() else [each] if is_log(each) else [])]
    if not found:
        kinds = ", ".join(LOG_FORMATS)
        raise LogError(f"{place}: no log matches the pattern; of {len(matched)} paths none ends in one of {kinds}")
    return found


def logs_below(folder: Path) -> list[str]:
    """Return the logs of a folder and of all folders below it, sorted; LogError if there is none."""
    if (folder / BAG_FILE).is_file():
        return [str(folder)]
    if (folder / DATA_SET).is_file():
        folder = data_of(folder)
    found: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            found += [str(path)] if (path / BAG_FILE).is_file() else logs_or_none(path)
        elif is_log(path.name):
            found.append(str(path))
    if not found:
        raise LogError(f"{folder}: no log is in this folder; expected files that end in {', '.join(LOG_FORMATS)}")
    return found


def logs_or_none(folder: Path) -> list[str]:
    """Return the logs of a folder, none if it has none."""
    try:
        return logs_below(folder)
    except LogError:
        return []


def data_of(folder: Path) -> Path:
    """Return the folder of a LeRobot data set that holds its episodes, by the paths of its meta/info.json."""
    content = read_regular(folder / DATA_SET, "text", LogError)
    with foreign(f"{folder / DATA_SET}: not an info.json of LeRobot", LogError):
        pattern = json.loads(content).get("data_path", "data/")
        place = folder / str(pattern).split("/")[0]
    if not place.is_dir():
        raise LogError(f"{folder}: its meta/info.json says that the data are in {place.name}/, which does not exist")
    return place


def is_log(name: str) -> bool:
    """Return whether a file's name ends as that of a log."""
    return Path(name).suffix.lower() in LOG_FORMATS


def paths_in_store(place: str) -> list[str]:
    """Return the addresses of the logs of an object store: of a file, a pattern, or of all below a folder; sorted."""
    store, path = file_system(place)
    with foreign(f"{place}: the store could not be listed", LogError):
        if has_magic(path):
            names = store.glob(path)
        else:
            names = store.find(path) if store.isdir(path) else [path] if store.exists(path) else []
    found = sorted(store.unstrip_protocol(name) for name in names if is_log(name))
    if not found:
        raise LogError(f"{place}: no log is there; expected names that end in {', '.join(LOG_FORMATS)}")
    return found
