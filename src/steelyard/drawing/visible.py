"""Text that shows everything that is in it.

No character that a terminal or a browser would obey in place of showing.
"""

from __future__ import annotations

import re
from typing import Any

_HIDDEN = re.compile(
    # control characters, escape among them; line ends and tabs may stay
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # direction of writing, zero width, separators
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"  # halves of characters, which no encoding has
)


def escape_control_chars(text: str) -> str:
    r"""Return the text with control, direction and invisible characters as \x1b or \u202e.

    Unicode Technical Report 36, "Unicode Security Considerations", section 2.5 (bidirectional text
    spoofing).
    """
    return _HIDDEN.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def visible_line(text: str) -> str:
    r"""Return the text on one line: as `visible`, and line ends and tabs written as \n and \t.

    For names and paths in sentences.
    """
    return escape_control_chars(text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"))


def visible_parts(value: Any) -> Any:
    """Return lists and dictionaries with every text in them made visible."""
    if isinstance(value, str):
        return escape_control_chars(value)
    if isinstance(value, dict):
        return {key: visible_parts(item) for key, item in value.items()}
    return [visible_parts(item) for item in value] if isinstance(value, (list, tuple)) else value


class VisibleStream:
    """A text stream whose every write is made visible.

    `plain` is the stream itself, for colours and bars.
    """

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def write(self, text: str) -> int:
        """Write text, made visible."""
        return int(self.plain.write(escape_control_chars(text)))

    def writelines(self, lines: Any) -> None:
        """Write several texts, made visible."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)
