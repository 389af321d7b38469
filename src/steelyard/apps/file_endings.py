"""Endings of files that commands and the page read and write, from the tables of formats.

Help texts have a placeholder for them, which is filled when the help is shown: the tables are not
loaded before.
"""

from __future__ import annotations

LOG_ENDINGS, MOTION_ENDINGS = "{log endings}", "{motion endings}"


def log_endings() -> tuple[str, ...]:
    """Return the endings of log files that can be read, such as '.csv'."""
    from ..signals.read.log_formats import LOG_FORMATS

    return tuple(LOG_FORMATS)


def motion_endings() -> tuple[str, ...]:
    """Return the endings of files that a motion can be written to."""
    from ..motion.trajectory_files.formats import FORMATS

    return tuple(ending for row in FORMATS.values() for ending in row.endings)


def with_endings(text: str) -> str:
    """Return a help text with its placeholders replaced by file endings."""
    if LOG_ENDINGS in text:
        text = text.replace(LOG_ENDINGS, " ".join(log_endings()))
    if MOTION_ENDINGS in text:
        text = text.replace(MOTION_ENDINGS, " ".join(motion_endings()))
    return text
