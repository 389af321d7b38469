"""Reader of TOML files: a DH table where it has a `convention`, else the general form."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ..errors import ModelError
from .check import finished
from .dh import denavit_hartenberg
from .general import general
from .mechanism import Mechanism, Source
from .table import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(text: str, path: str | None = None, warn: bool = True) -> Mechanism:
    """A mechanism from the text of a TOML file; the path names it in messages."""
    where = path or "TOML"
    problems: list[str] = []
    table = Table(parsed(text, where), where, problems)
    mechanism = denavit_hartenberg(table) if table.has("convention") else general(table)
    if problems:
        raise ModelError("\n".join(problems))
    mechanism = replace(mechanism, source=Source("toml", text, path))
    return finished(mechanism, lambda what, name: where if what == "robot" else f"{where}, {what} {name!r}", warn)


def parsed(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text, floats as exact decimals."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, ArithmeticError, RecursionError) as error:
        sentence = re.sub(r"^(.*) \(at (.*)\)$", r"\2: \1", str(error))
        raise ModelError(f"{where}: not a TOML file ({sentence})") from None
