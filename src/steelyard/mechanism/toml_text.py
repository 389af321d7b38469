"""TOML text of plain data: tables, arrays of tables, numbers as exact as they are."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 120


def dumps(document: dict[str, Any]) -> str:
    """A TOML document: values first, then [tables], then [[arrays of tables]], keys in the order that they have."""
    plain = {key: value for key, value in document.items() if not _is_rows(value)}
    parts = [_lines(plain)]
    for key, rows in document.items():
        if _is_rows(rows):
            parts += [f"[[{_key(key)}]]\n{_lines(row)}" for row in rows]
    return "\n".join(part for part in parts if part)


def _lines(table: dict[str, Any]) -> str:
    return "".join(_line(key, value) for key, value in table.items())


def _line(key: str, value: Any) -> str:
    line = f"{_key(key)} = {_value(value)}\n"
    if isinstance(value, dict) and len(line) > _WIDE:  # an inline table may not be broken; dotted keys may
        return "".join(f"{_key(key)}.{_key(inner)} = {_value(item)}\n" for inner, item in value.items())
    return line


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Decimal):
        return str(value).lower().replace("infinity", "inf")
    return repr(value + 0.0) if isinstance(value, float) else repr(value)
