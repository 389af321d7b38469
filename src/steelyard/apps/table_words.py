"""Words that commands and the page list, from the tables of formats, estimators and joint terms.

Help texts have a placeholder for them, which is filled when the help is shown: the tables are not
loaded before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..option_groups.identification import ESTIMATOR_NAMES, FRICTION_WORDS

LOG_ENDINGS, MOTION_ENDINGS = "{log endings}", "{motion endings}"


def log_endings() -> tuple[str, ...]:
    """Return the endings of log files that can be read, such as '.csv'."""
    from ..signals.read.log_formats import LOG_FORMATS

    return tuple(LOG_FORMATS)


def motion_endings() -> tuple[str, ...]:
    """Return the endings of files that a motion can be written to."""
    from ..motion.trajectory_files.formats import FORMATS

    return tuple(ending for row in FORMATS.values() for ending in row.endings)


def estimator_names() -> tuple[str, ...]:
    """Return the names of estimators, 'auto' first."""
    from ..identification.estimators.registry import ESTIMATORS

    return tuple(ESTIMATORS)


def friction_words() -> tuple[str, ...]:
    """Return the words of --friction, 'auto' first; 'ripple' stands for all its waves."""
    from ..identification.model.joint_terms import RIPPLE, TERMS

    return ("auto", *(word for word in TERMS if word not in RIPPLE))


PLACEHOLDERS: Mapping[str, tuple[Callable[[], tuple[str, ...]], str]] = {
    LOG_ENDINGS: (log_endings, " "),
    MOTION_ENDINGS: (motion_endings, " "),
    ESTIMATOR_NAMES: (estimator_names, ", "),
    FRICTION_WORDS: (friction_words, ", "),
}
"""Placeholder of a help text -> its words, and what stands between them."""


def with_table_words(text: str) -> str:
    """Return a help text with its placeholders replaced by the words of tables."""
    for placeholder, (words, separator) in PLACEHOLDERS.items():
        if placeholder in text:
            text = text.replace(placeholder, separator.join(words()))
    return text
