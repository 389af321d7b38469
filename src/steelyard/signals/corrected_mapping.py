"""A mapping file with a correction added, as the doctor writes it beside a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import LogError
from .clean.correction import Correction
from .read.mapping import read_mapping


def corrected_mapping(
    correction: Correction,
    joints: Sequence[str],
    file: Path | None = None,
    reasons: Iterable[str] = (),
) -> str:
    """Return the text of a mapping file that corrects the log after what `file` does.

    `reasons` become comments. The file keeps its comments; if it has a correction already, both are
    combined.
    """
    import tomlkit

    first = None if file is None else read_mapping(file, joints).correction
    document = tomlkit.document() if file is None else tomlkit.parse(_text(file))
    whole = correction if first is None else correction.after(first)
    table = tomlkit.table()
    for reason in reasons:
        table.add(tomlkit.comment(" ".join(reason.split())))
    for name, value in whole.table(joints).items():
        if isinstance(value, dict):
            inline = tomlkit.inline_table()
            inline.update(value)
            table.add(name, inline)
        else:
            table.add(name, value)
    document["correction"] = table
    return tomlkit.dumps(document)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise LogError(f"{path}: it cannot be read: {error.strerror}") from None
