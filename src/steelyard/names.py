"""Names of robots, links, joints and frames: allowed characters, and escapes in text."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable

from .errors import LONG_NAME, SteelyardError

REFUSED = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories: control, format (bidirectional too), surrogates, line separators."""

LONG_LINE = 1000  # characters of a line about a whole motion
_SIGNS = re.compile(r"[^A-Za-z0-9_]+")


def refused_characters(name: str) -> str:
    """Return the characters of a name that no name may have, '' for a usable name.

    Unicode Technical Report 36, "Unicode Security Considerations", section 2.5.
    """
    if name.isprintable():
        return ""
    return "".join(dict.fromkeys(c for c in name if unicodedata.category(c) in REFUSED))


def check_names(
    kind: str, names: Iterable[object], where: str, family: type[SteelyardError]
) -> None:
    """Raise an error of the family if a name has a control character.

    Parameters
    ----------
    kind : what is named, such as "joint"
    names : the names
    where : the file or object, to begin the message with
    family : the class of the error
    """
    for name in names:
        if isinstance(name, str) and (refused := refused_characters(name)):
            codes = ", ".join(f"U+{ord(c):04X}" for c in refused[:8])
            raise family(
                f"{escape_name(where)}: the {kind} name '{escape_name(name[:LONG_NAME])}' has"
                f" control characters ({codes}); names must not have control, format or line-break"
                f" characters: rename the {kind}"
            )


def escape_name(name: str) -> str:
    r"""Return a name with every character that no name may have written as \n, \x1b or \u202e."""
    if name.isprintable():
        return name
    return "".join(_escaped(c) if unicodedata.category(c) in REFUSED else c for c in name)


def comment_text(text: str, longest: int = LONG_NAME) -> str:
    """Return text for the comment of a robot program.

    Printable ASCII on one line, all else escaped, long text shortened.
    """
    plain = "".join(c if c.isascii() and c.isprintable() else _escaped(c) for c in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 3]}..."


def program_comment(text: str) -> str:
    """Return a line about a whole motion for the head of a program or table."""
    return comment_text(text, LONG_LINE)


def comment_names(names: Iterable[str]) -> str:
    """Return names for the comment of a robot program, with commas between."""
    return ", ".join(comment_text(name) for name in names)


def program_identifier(name: str, longest: int, reserved: frozenset[str] = frozenset()) -> str:
    """Return an identifier of robot programs.

    ASCII letters, digits and underscores after a first letter.

    Parameters
    ----------
    name : what it is made from, such as the name of a file
    longest : its largest number of characters
    reserved : words in capital letters that it must not be
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = _SIGNS.sub("_", plain).strip("_")
    if not word or not word[0].isalpha() or word.upper() in reserved:
        word = f"motion_{word}".rstrip("_")
    return word[:longest].rstrip("_")


def quoted_text(text: str) -> str:
    """Return text in double quotes, as YAML 1.2 and JSON-like formats read it.

    YAML 1.2.2, section 5.7.
    """
    special = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(special.get(c, c if c.isprintable() else _escaped(c)) for c in text) + '"'


def shell_word(name: str) -> str:
    r"""Return a name as one word of a POSIX shell.

    Control characters as in $'a\nb', which bash and zsh read.
    """
    if not refused_characters(name):
        return shlex.quote(name)
    special = {"'": "\\'", "\\": "\\\\"}
    return (
        "$'"
        + "".join(special.get(c, _escaped(c) if refused_characters(c) else c) for c in name)
        + "'"
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
