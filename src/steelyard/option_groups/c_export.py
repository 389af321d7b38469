"""Options of the export to C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..option_values import NAMES_SCHEMA, names_parser
from ..options import option

PANEL = "C"
REALS = (DOUBLE := "double", FLOAT := "float")


@dataclass(frozen=True, kw_only=True)
class CExportOptions:
    """Options of `Robot.to_c`."""

    real: str = option(
        DOUBLE,
        help="Single precision in the C.",
        choices=REALS,
        flag="--float",
        switch=FLOAT,
        panel=PANEL,
    )
    functions: Sequence[str] | None = option(
        None,
        help="Names of the functions; all by default.",
        schema=NAMES_SCHEMA,
        command_line=False,
        panel=PANEL,
    )
    frame: str | None = option(
        None,
        help="Frame whose kinematics the C has; the end-effector if not given.",
        metavar="FRAME",
        panel=PANEL,
    )
    wrench: Sequence[str] = option(
        (),
        help="Let functions of the C take a wrench at this link.",
        metavar="LINK",
        parse=names_parser,
        schema=NAMES_SCHEMA,
        repeated=True,
        panel=PANEL,
    )
