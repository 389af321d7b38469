"""The command line: `steelyard COMMAND`.

An error is one sentence on stderr and exit code 2, never a traceback.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from ..compiler.progress import compile_progress
from ..drawing.visible import VisibleStream, visible_line
from ..errors import SteelyardError, SteelyardWarning
from ..version import __version__
from .commands import (
    bench,
    demo,
    excite,
    export,
    fleet,
    identify,
    ik,
    logs,
    new,
    page,
    payload,
    robots,
    simulate,
    torque,
)
from .group_options import LazyCommands, PanelCommand, options_of_command
from .output import BAD_INPUT, output, with_output_options

INTERRUPTED, DEFECT = 130, 70  # exit codes

app = typer.Typer(
    name="steelyard",
    help=(
        "The dynamics of robot manipulators, and their identification from logs."
        " ROBOT is a built-in name (see `steelyard robots`) or a .urdf, .xml or .toml file."
    ),
    cls=LazyCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo.demo, new.new, robots.robots, robots.info, torque.torque, ik.ik, simulate.simulate,
    excite.excite, logs.doctor, identify.identify, fleet.fleet, logs.validate, payload.payload,
    robots.check, export.export, page.page, bench.bench,
)  # fmt: skip
for command in COMMANDS:
    app.command(command.__name__, cls=PanelCommand)(with_output_options(command))


def _with_groups(name: str) -> Callable[..., None]:
    """Return a command with the options of its groups."""
    command = next(each for each in COMMANDS if each.__name__ == name)
    return with_output_options(command, options_of_command(command))


LazyCommands.build = staticmethod(_with_groups)


def _version(asked: bool) -> None:
    if asked:
        print(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Run the command line and leave with its exit code.

    A warning of the library is a sentence on stderr.
    """
    with warnings.catch_warnings(), _visible_streams():
        warnings.simplefilter("always", SteelyardWarning)
        warnings.showwarning = _warn
        with compile_progress(_compiling):
            _run()


def _run() -> None:
    try:
        app()
    except SteelyardError as error:
        _stop(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        _stop("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # nobody reads standard output any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _stop(
            f"{error.strerror or error}: {error.filename}" if error.filename else str(error),
            BAD_INPUT,
        )
    except Exception as error:
        if os.environ.get("STEELYARD_TRACEBACK"):
            raise
        _stop(
            f"a defect in steelyard, {type(error).__name__}: {error}. Set STEELYARD_TRACEBACK=1 to"
            " see where, and please report it",
            DEFECT,
        )


@contextmanager
def _visible_streams() -> Iterator[None]:
    """Escape control characters in messages, and in results that go to a terminal.

    Characters that the output's encoding lacks are escaped too.
    """
    before = sys.stdout, sys.stderr
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout.isatty():
        sys.stdout = VisibleStream(sys.stdout)
    sys.stderr = VisibleStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    # what other packages warn their developers of is not for users
    if issubclass(category, SteelyardWarning):
        print(f"steelyard: warning: {visible_line(str(message))}", file=sys.stderr)


def _compiling(sentence: str, share: float) -> None:
    """Show the progress of compilation, on a terminal only, in a line that is cleared."""
    if sys.__stderr__ is not None and sys.__stderr__.isatty() and not output().quiet:
        print(
            f"\r\x1b[K{f'{sentence} … {share:.0%}' if share < 1.0 else ''}",
            end="",
            file=sys.__stderr__,
            flush=True,
        )


def _stop(sentence: str, code: int) -> NoReturn:
    print(f"steelyard: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(code)
