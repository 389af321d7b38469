"""read_log: read a file that holds a motion as a Log."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import short_repr
from ...errors import CallError, LogError, mention, suggest
from ...floating_point import default_errstate
from ...resource_limits import exists, names_beside
from ..clean.cleaning import clean as cleaned
from ..clean.transmission import Transmission
from ..log import Log
from ..log_checks import joint_names_of
from .column_table import ColumnTable, is_text, merge
from .columns import SCHEMA, parse_column
from .data_frame import is_table, table_of_memory
from .joint_states import joint_states_of_text
from .log_formats import LOG_FORMATS, Rows, read_columns
from .mapping import Mapping, MappingKeywords, mapping_of, read_mapping
from .to_log import to_log

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path_ = str | Path


class ReadLogKeywords(MappingKeywords, total=False):
    """Keywords of `read_log` that files are found with."""

    mapping: Mapping | Transmission | Dictionary[str, Any] | Path_ | None
    effort: str | None
    clean: bool


@default_errstate
def read_log(
    path: Path_ | Sequence[Path_] | Dictionary[str, Any] | Any,
    robot: Any = None,
    mapping: Mapping | Transmission | Dictionary[str, Any] | Path_ | None = None,
    effort: str | None = None,
    *,
    clean: bool = True,
    rows: Rows | None = None,
    **options: Unpack[MappingKeywords],
) -> Log:
    """Read the log in a file, a DataFrame or a dictionary of arrays.

    The format follows from the ending (`LOG_FORMATS`): text, Parquet, npz, mat, bags; or a .toml
    that names files and their meaning.

    Columns are matched to the robot's joints by name, otherwise by number. For robots with loops,
    the joints that determine the others are enough. `path` may be a list of files with columns side
    by side, or {quantity: file} such as {'q': 'positions.csv', 'tau': 'torques.csv'}.

    Parameters
    ----------
    path : a file or folder, a list of files with columns side by side, or {quantity: file}.
    robot : a `Robot`, or joint names: columns are matched by name, else by number.
    mapping : what the columns are: a `Mapping`, its TOML file, a dictionary of the same, or a
        `Transmission`.
    effort : what a column of efforts holds: 'torque' [N m|N] or 'current' [A].
    clean : whether repeated and unordered samples, short gaps and NaN are repaired, with remarks.
    rows : (first, one after the last) row of a Parquet file [rows]; all by default.
    options : fields of `Mapping`: columns, joints, rate [Hz], time_unit, angle, layout, topic,
        transmission, correction.

    Returns
    -------
    A `Log`.

    Examples
    --------
    >>> t = np.arange(3) * 0.1
    >>> np.savez("run.npz", t=t, q=np.sin(t)[:, None], tau=np.cos(t)[:, None])
    >>> sy.read_log("run.npz").signals
    ('q', 'tau')
    """
    if hasattr(path, "joint_names"):
        raise CallError(
            "read_log takes the file first, then the robot: sy.read_log('run.csv', robot)",
            argument="path",
        )
    joints = joint_names_of(robot)
    settings = as_mapping(mapping, joints)
    if isinstance(path, (str, Path)) and Path(path).suffix.lower() == ".toml":
        described = read_mapping(path, joints)
        path = named_files(Path(path), described)
        settings = described.updated(
            **{name: value for name, value in vars(settings).items() if value}
        )
    check_options(options)
    settings = settings.updated(**options, effort=effort)
    try:
        log = to_log(read_tables(path, joints, settings, rows), joints, settings)
    except LogError:
        # of a robot with loops, whose other joints follow
        few = getattr(robot, "measured_joints", joints)
        if few == joints:
            raise
        log = to_log(read_tables(path, few, settings, rows), few, settings)
    correction = settings.correction
    log = log if correction is None else correction.correct_samples(log)
    log = cleaned(log) if clean else log
    log = settings.transmission.apply(log) if settings.transmission is not None else log
    return log if correction is None else correction.correct_columns(log)


def as_mapping(mapping: Any, joints: tuple[str, ...] | None) -> Mapping:
    """Return a mapping from a Mapping, Transmission, dictionary, TOML file or None."""
    if mapping is None:
        return Mapping()
    if isinstance(mapping, Mapping):
        return mapping
    if isinstance(mapping, Transmission):
        return Mapping(transmission=mapping)
    return (
        mapping_of(mapping, "mapping", joints)
        if isinstance(mapping, dict)
        else read_mapping(mapping, joints)
    )


def check_options(options: Dictionary[str, Any]) -> None:
    """Raise LogError for an option that no mapping has."""
    known = [name for name in Mapping.__dataclass_fields__ if name != "files"]
    wrong = [name for name in options if name not in known]
    if wrong:
        raise LogError(f"read_log: no option '{wrong[0]}': {suggest(wrong[0], known)}")


def named_files(toml: Path, mapping: Mapping) -> list[Path] | dict[str, Path]:
    """Return the files that a TOML file names, in its folder."""
    if not mapping.files:
        raise LogError(
            f"{toml}: it names no files: add files = ['run.csv'], or give it as"
            f" {mention('mapping')} of a log"
        )
    if isinstance(mapping.files, dict):
        return {quantity: toml.parent / name for quantity, name in mapping.files.items()}
    return [toml.parent / name for name in mapping.files]


def read_tables(
    path: Any, joints: tuple[str, ...] | None, mapping: Mapping, rows: Rows | None = None
) -> ColumnTable:
    """Read one table from one file or some of its rows, several files, or one per quantity.

    Or from a table in memory.
    """
    if is_table(path):
        if rows is not None:
            raise LogError("read_log: rows= is for a Parquet file; take rows of the table itself")
        table = table_of_memory(path)
        return joint_states_of_text(table, joints, mapping.columns.get("t"), mapping.time_unit)
    if isinstance(path, (str, Path)):
        return read_table(Path(path), joints, mapping, rows)
    if rows is not None:
        raise LogError("read_log: rows= is for one Parquet file, not for several files")
    if isinstance(path, dict):
        return merge(
            [
                of_quantity(read_table(Path(file), joints, mapping), quantity, joints)
                for quantity, file in path.items()
            ]
        )
    if not isinstance(path, Sequence):
        raise LogError(
            f"read_log: {short_repr(path)} is not a log; expected a file, a list of files, a"
            " DataFrame or a dictionary of arrays: sy.read_log('run.csv', robot)"
        )
    if not path:
        raise LogError("read_log: an empty list of files")
    return merge([read_table(Path(file), joints, mapping) for file in path])


def read_table(
    path: Path, joints: tuple[str, ...] | None, mapping: Mapping, rows: Rows | None = None
) -> ColumnTable:
    """Return the table of one file, by the reader of its format."""
    if not exists(path, LogError):
        near = names_beside(path)
        raise LogError(
            f"{path}: no such file: {suggest(path.name, near)}" if near else f"{path}: no such file"
        )
    if path.is_dir():
        return read_columns(path, joints, mapping.topic, rows)
    if path.suffix.lower() not in LOG_FORMATS:
        raise LogError(
            f"{path}: no reader for '{path.suffix}':"
            f" {suggest(path.suffix, [*LOG_FORMATS, '.toml'])}"
        )
    table = read_columns(path, joints, mapping.topic, rows)
    return joint_states_of_text(table, joints, mapping.columns.get("t"), mapping.time_unit)


def of_quantity(table: ColumnTable, quantity: str, joints: tuple[str, ...] | None) -> ColumnTable:
    """Name the columns of a file after the one quantity that it holds.

    A time column keeps its name.
    """
    components = tuple(SCHEMA[quantity].components) if quantity in SCHEMA else ()
    count = len(components or joints or table.names)
    timed = (
        table.headless
        and sum(not is_text(column) for column in table.columns.values()) == count + 1
    )
    columns: dict[str, Any] = {}
    for name, column in table.columns.items():
        parsed = parse_column(name, joints or ())
        if parsed.quantity == "t" or (timed and not columns and bool(np.all(np.diff(column) > 0))):
            columns["t" if timed else name] = column
            continue
        label = name if name.strip() in (joints or ()) else parsed.label or name
        columns[f"{quantity}.{label.strip()}" + (f" [{parsed.unit}]" if parsed.unit else "")] = (
            column
        )
    values = [name for name in columns if name.startswith(f"{quantity}.")]
    in_order = (
        dict(zip(values, components, strict=True))
        if table.headless and len(values) == len(components)
        else {}
    )
    return replace(
        table,
        columns={
            f"{quantity}.{in_order[name]}" if name in in_order else name: x
            for name, x in columns.items()
        },
    )
