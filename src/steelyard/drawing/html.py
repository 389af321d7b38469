"""Cards for notebooks in HTML: facts, tables and sentences.

They take the colours of the page that they are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .table import Table
from .visible import escape_control_chars

CARD = "font-family:Charter,Georgia,serif;max-width:60em;line-height:1.35"


def card(
    title: str, facts: str = "", tables: Sequence[Table] = (), sentences: Iterable[str] = ()
) -> str:
    """Return a title, a line of facts, sentences as a list, and tables."""
    parts = [
        f'<div style="{CARD}"><div style="font-size:1.15em;font-weight:bold">{_text(title)}</div>'
    ]
    parts += [f"<div>{_text(facts)}</div>"] if facts else []
    listed = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    parts += [f'<ul style="margin:.3em 0 .3em 1.2em;padding:0">{listed}</ul>'] if listed else []
    return "".join([*parts, *(table.to_html() for table in tables), "</div>"])


def _text(text: str) -> str:
    return escape(escape_control_chars(text))
