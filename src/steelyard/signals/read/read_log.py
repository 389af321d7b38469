"""read_log: any file that holds a motion, as a Log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dictionary
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LogError, choices
from ..clean.clean import clean as cleaned
from ..clean.transmission import Transmission
from ..log import Log, joint_names_of
from .bag import read_bag
from .clock import read_time
from .column_table import Table, merge
from .columns import parse
from .csv import read_csv
from .joint_states import field_columns, messages_of, names_column, table_of
from .mapping import Mapping, mapping_of, read_mapping
from .mat import read_mat
from .npz import read_npz
from .parquet import read_parquet
from .to_log import assemble

Path_ = str | Path

READERS: dict[str, Callable[..., Table]] = {
    ".csv": read_csv, ".txt": read_csv, ".tsv": read_csv, ".dat": read_csv,
    ".parquet": read_parquet, ".pq": read_parquet,
    ".npz": read_npz, ".mat": read_mat,
    ".db3": read_bag, ".mcap": read_bag, ".bag": read_bag,
}  # fmt: skip


def read_log(
    path: Path_ | Sequence[Path_] | Dictionary[str, Path_],
    robot: Any = None,
    mapping: Mapping | Transmission | Dictionary[str, Any] | Path_ | None = None,
    effort: str | None = None,
    *,
    clean: bool = True,
    **options: Any,
) -> Log:
    """The log in a file: csv, txt, parquet, npz, mat, rosbag2 (folder or .db3), mcap, or a .toml that names files and what they mean.

    robot: anything with joint_names, or the names, or None: columns are matched to them by name, else by number.
    path may be a list of files with columns side by side, or {quantity: file} such as {'q': 'positions.csv', 'tau': 'torques.csv'}.
    mapping: a Mapping, its TOML file, a dictionary of the same, or a Transmission alone. effort: 'torque' or 'current'.
    options: any field of Mapping (columns, joints, rate [Hz], time_unit, angle, layout, topic, transmission).
    clean: repeated and disordered samples, short holes and NaN are mended, and log.remarks say so.
    """
    joints = joint_names_of(robot)
    settings = settle(mapping, joints)
    if isinstance(path, (str, Path)) and Path(path).suffix.lower() == ".toml":
        described = read_mapping(path, joints)
        path = beside(Path(path), described)
        settings = described.updated(**{name: value for name, value in vars(settings).items() if value})
    if effort is not None:
        options["effort"] = effort
    check_options(options)
    settings = settings.updated(**options)
    table = merged(path, joints, settings)
    log = assemble(table, joints, settings)
    log = cleaned(log) if clean else log
    return settings.transmission.apply(log) if settings.transmission is not None else log


def settle(mapping: Any, joints: tuple[str, ...] | None) -> Mapping:
    """The mapping, in whichever form it came."""
    if mapping is None:
        return Mapping()
    if isinstance(mapping, Mapping):
        return mapping
    if isinstance(mapping, Transmission):
        return Mapping(transmission=mapping)
    return mapping_of(mapping, "mapping", joints) if isinstance(mapping, dict) else read_mapping(mapping, joints)


def check_options(options: Dictionary[str, Any]) -> None:
    """Raise LogError for an option that no mapping has."""
    known = [name for name in Mapping.__dataclass_fields__ if name != "files"]
    wrong = [name for name in options if name not in known]
    if wrong:
        raise LogError(f"read_log: no option '{wrong[0]}': {choices(wrong[0], known)}")


def beside(toml: Path, mapping: Mapping) -> list[Path] | dict[str, Path]:
    """The files that a TOML file names, which lie beside it."""
    if not mapping.files:
        raise LogError(f"{toml}: it names no files: add files = ['run.csv'], or give it as mapping= of a log")
    if isinstance(mapping.files, dict):
        return {quantity: toml.parent / name for quantity, name in mapping.files.items()}
    return [toml.parent / name for name in mapping.files]


def merged(path: Any, joints: tuple[str, ...] | None, mapping: Mapping) -> Table:
    """One table of one file, of several, or of a file for each quantity."""
    if isinstance(path, (str, Path)):
        return read_table(Path(path), joints, mapping)
    if isinstance(path, dict):
        return merge([named(read_table(Path(file), joints, mapping), quantity, joints) for quantity, file in path.items()])
    if not path:
        raise LogError("read_log: an empty list of files")
    return merge([read_table(Path(file), joints, mapping) for file in path])


def read_table(path: Path, joints: tuple[str, ...] | None, mapping: Mapping) -> Table:
    """The table of one file, by the reader for its suffix."""
    if not path.exists():
        near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise LogError(f"{path}: no such file: {choices(path.name, sorted(near))}" if near else f"{path}: no such file")
    if path.is_dir():
        return read_bag(path, joints=joints, topic=mapping.topic)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise LogError(f"{path}: no reader for '{path.suffix}': {choices(path.suffix, [*READERS, '.toml'])}")
    try:
        table = reader(path, joints=joints, topic=mapping.topic)
    except PermissionError:
        raise LogError(f"{path}: it may not be read (permission denied)") from None
    return unfolded(echoed(table), joints, mapping)


def echoed(table: Table) -> Table:
    """Rows as `ros2 topic echo --csv` writes them: seconds, nanoseconds, frame, names, positions, velocities, efforts; no header."""
    columns = list(table.columns.values())
    text = [i for i, column in enumerate(columns) if column.dtype.kind == "O"]
    if not table.facts.get("headless") or not text or text[-1] < 3:
        return table
    first = next(i for i in text if i >= 2 and all(j in text for j in range(i, text[-1] + 1)))
    names = [str(columns[i][0]) for i in range(max(first, 3), text[-1] + 1)]
    numbers = columns[text[-1] + 1 :]
    if not names or len(numbers) % len(names) or any(len(set(columns[i])) != 1 for i in range(max(first, 3), text[-1] + 1)):
        return table
    fields = ("position", "velocity", "effort")[: len(numbers) // len(names)]
    named_columns = {f"{name}.{field}": numbers[k * len(names) + j] for k, field in enumerate(fields) for j, name in enumerate(names)}
    return Table({"stamp.sec": columns[0], "stamp.nanosec": columns[1], **named_columns}, table.source, tuple(names))


def unfolded(table: Table, joints: tuple[str, ...] | None, mapping: Mapping) -> Table:
    """Tables with a column of joint names, one joint a row or lists in cells, as one column for each joint."""
    names = names_column(table)
    if names is None or not field_columns(table):
        return table
    found = [parse(name) for name in table.names]
    t, said = read_time(table, found, mapping.columns.get("t"), mapping.time_unit)
    if t is None:
        raise LogError(f"{table.source}: joint states without a column of time: {', '.join(table.names)}")
    wide = table_of(messages_of(table, t, names), table.source, joints)
    return Table(wide.columns, wide.source, wide.joint_names, table.effort, said + wide.remarks)


def named(table: Table, quantity: str, joints: tuple[str, ...] | None) -> Table:
    """The columns of a file that holds one quantity, called so; a column of time keeps its name."""
    columns: dict[str, Any] = {}
    numeric = [name for name, column in table.columns.items() if column.dtype.kind not in "OUS"]
    extra = joints is not None and table.facts.get("headless") and len(numeric) == len(joints) + 1
    for i, name in enumerate(table.names):
        found = parse(name, joints or ())
        if found.quantity == "t" or (extra and i == 0 and bool(np.all(np.diff(table.columns[name]) > 0))):
            columns["t" if extra else name] = table.columns[name]
        else:
            label = next((joint for joint in joints or () if joint == name.strip()), found.label) or name
            columns[f"{quantity}.{label}" + (f" [{found.unit}]" if found.unit else "")] = table.columns[name]
    return Table(columns, table.source, table.joint_names, table.effort, table.remarks)
