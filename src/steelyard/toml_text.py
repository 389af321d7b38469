"""TOML as plain data; tables nested deeper than any description are refused."""

from __future__ import annotations

import re
import sys
from typing import Any

from .errors import SteelyardError, translate_errors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# tables and lists within each other; the parser's time grows with the square of a key's parts
DEEPEST = 50
_SEPARATORS = re.compile(r"[\n=,{}\[\]]")
_PLACE = re.compile(r"^(.*) \(at (.*)\)$")


def parse_toml(text: str, where: str, family: type[SteelyardError]) -> dict[str, Any]:
    """Parse a TOML text.

    An error of the family that begins with `where` if it is invalid or nested too deep.
    """
    with translate_errors(f"{where}: not a TOML file", family):
        if any(_is_deep_key(part) for part in _SEPARATORS.split(text)):
            raise family(f"{where}: a key has more than {DEEPEST} parts")
        try:
            data = tomllib.loads(text.replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            sentence = _PLACE.sub(r"\2: \1", str(error))
            raise family(f"{where}: not a TOML file ({sentence})") from None
    if _depth(data) > DEEPEST:
        raise family(f"{where}: tables and lists are nested deeper than {DEEPEST}")
    return data


def _is_deep_key(text: str) -> bool:
    """Return whether a piece of text may be a key of very many parts, such as a.b.c.

    Sentences have spaces between their words.
    """
    if text.count(".") < DEEPEST:
        return False
    parts = [part.strip() for part in text.split(".")]
    return all(part and not any(sign.isspace() for sign in part) for part in parts)


def _depth(data: Any) -> int:
    """Return how many tables and lists are within each other."""
    level, depth = [data], 0
    while level:
        depth += 1
        inside = [
            tuple(item.values()) if isinstance(item, dict) else item
            for item in level
            if isinstance(item, (dict, list))
        ]
        level = [item for items in inside for item in items]
    return depth
