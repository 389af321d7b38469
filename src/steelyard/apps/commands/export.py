"""`steelyard export ROBOT --urdf FILE`: write a robot in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import CallError
from ...names import shell_word
from ...option_groups.c_export import PANEL, CExportOptions
from ..group_options import TypedOptions, takes_options
from ..inputs import ForceFile, RobotName, require_files


@takes_options(lambda: (CExportOptions,))
def export(
    robot: RobotName,
    urdf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a URDF file here.")
    ] = None,
    toml: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a TOML file here.")
    ] = None,
    tex: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the closed form as a LaTeX document here."),
    ] = None,
    c: Annotated[
        Path | None,
        typer.Option(
            "--c",
            metavar="DIR",
            help="Write C99 for a controller into this folder.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    force: ForceFile = False,
    *,
    options: TypedOptions,
) -> None:
    """Write a robot as URDF, TOML, C or LaTeX.

    An existing file is replaced only with --force.
    """
    require_files(robot)

    from ..inputs import load_robot
    from ..output import output, shown_path
    from ..show.progress import progress_bar
    from ..targets import check_out_file, make_parents

    targets = {
        kind: path
        for kind, path in (("urdf", urdf), ("toml", toml), ("tex", tex))
        if path is not None
    }
    if not targets and c is None:
        raise CallError(
            "export needs to know what to write: --urdf FILE, --toml FILE, --tex FILE, --c DIR or"
            " several of them"
        )
    if c is None and options:
        raise CallError(
            "--float, --frame and --wrench are options of the C: give --c DIR with them"
        )
    for path in targets.values():
        check_out_file(path, force)
    if c is not None:
        check_out_file(c / "x.c", True)
    loaded = load_robot(robot)
    for kind, path in targets.items():
        make_parents(path)
        with progress_bar(f"writing {shown_path(path)}"):
            if kind == "tex":
                loaded.symbolic().write_tex(path, overwrite=force)
            else:
                getattr(loaded, f"to_{kind}")(path, overwrite=force)
        output().wrote(f"wrote {shown_path(path)}", path)
    if c is not None:
        make_parents(c)
        with progress_bar(f"writing C to {shown_path(c)}"):
            written = loaded.to_c(c, **options, overwrite=force)
        for path in written:
            output().wrote(f"wrote {shown_path(path)}", path)
    for path in [targets[kind] for kind in ("urdf", "toml") if kind in targets][:1]:
        output().next(f"Test it: steelyard check {shell_word(str(path))}")
