"""Output of a command: tables and sentences, one JSON object, or verdict and paths alone."""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..drawing.visible import visible_line
from ..errors import CallError, SteelyardError
from ..version import __version__
from .completions import completed
from .error_text import command_flags, command_line_text, typed_flags
from .group_options import PLACEHOLDER, expanded, typed_values
from .help_text import OUTPUT_PANEL

if TYPE_CHECKING:
    from ..drawing.table import Table
    from ..options import Option

BAD_INPUT = 2  # exit code
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object with all digits and units, and nothing else.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        help="Print only the verdict and the paths of written files.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="Print to stderr what was read and chosen, and the time of each step.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
FORMS = {"json": Json, "quiet": Quiet, "verbose": Verbose}


class Stop(SteelyardError):
    """An error of a command, its sentence in words that can be typed."""


class Output:
    """Where a command's results go."""

    def __init__(
        self, command: str = "", as_json: bool = False, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.json, self.quiet, self.verbose = as_json, quiet, verbose
        self.found: dict[str, Any] = {"command": command, "steelyard": __version__}
        self._loading = False  # whether the line of `begin` is shown
        self._begun = False  # whether a line has been printed
        self._step: tuple[str, float] | None = None

    def begin(self) -> None:
        """Show on a terminal that the command works, before its slow imports."""
        if sys.stderr.isatty() and not (self.quiet or self.verbose):
            self._loading = True
            self._erase("loading …")

    def clear(self) -> None:
        """Clear the line of `begin`."""
        if self._loading:
            self._loading = False
            self._erase()

    def _erase(self, text: str = "") -> None:
        """Replace the line that the cursor is on, on the terminal of stderr."""
        if sys.__stderr__ is not None:
            print(f"\r\x1b[K{text}", end="", file=sys.__stderr__, flush=True)

    def show(self, *parts: Any) -> None:
        """Print tables, sentences and what else a terminal shows.

        Neither with --json nor with --quiet.
        """
        from .show.terminal import console, shown

        self.clear()
        if not (self.json or self.quiet):
            for part in parts:
                console().print(shown(part, gap=self._begun))
                self._begun = True

    def judge(
        self, sentence: str, good: bool, reasons: Iterable[str] = (), style: str = "", **more: Any
    ) -> None:
        """Print the verdict, with --quiet without its reasons.

        `more` goes beside it into the JSON, such as its word.
        """
        from .show.terminal import console, judgement

        reasons = list(reasons)
        self.record(verdict={"sentence": sentence, "good": bool(good), "reasons": reasons, **more})
        self.clear()
        if not self.json:
            console().print(judgement(sentence, good, () if self.quiet else reasons, style))
            self._begun = True

    def first_line(self, line: str, **values: Any) -> None:
        """Print a line above the results, with --quiet too; `values` go into the JSON."""
        from .show.terminal import console, shown

        self.record(check=line, **values)
        self.clear()
        if self.quiet:
            print(visible_line(line))
        elif not self.json:
            console().print(shown(line), soft_wrap=True)
            self._begun = True

    def record(self, **values: Any) -> None:
        """Keep numbers with all digits for --json."""
        self.found |= values

    def wrote(self, sentence: str, *paths: Path) -> None:
        """Say what was written, or with --quiet where alone."""
        from .show.terminal import console, shown

        self.clear()
        self.found.setdefault("written", []).extend(str(path) for path in paths)
        if self.quiet:
            for path in paths:
                print(shown_path(path))
        elif not self.json:
            console().print(shown(sentence))

    def next(self, sentence: str) -> None:
        """Print the next step; a command line in it stands on a separate line."""
        self.show("Next: " + sentence.replace(": steelyard ", ":\n  steelyard ", 1))

    def remark(self, sentence: str) -> None:
        """Print a remark on stderr, unless --quiet; it goes into the JSON too."""
        self.clear()
        self.found.setdefault("remarks", []).append(sentence)
        if not self.quiet:
            print(f"steelyard: {visible_line(sentence)}", file=sys.stderr)

    def say(self, sentence: str) -> None:
        """With --verbose, print on stderr what was read or chosen."""
        if self.verbose:
            print(f"steelyard: {visible_line(sentence)}", file=sys.stderr)

    def step(self, sentence: str = "") -> None:
        """Begin a step; with --verbose, print how long the last one took."""
        now = time.perf_counter()
        if self._step is not None and self._step[0] == sentence:
            return
        if self._step is not None and self._step[0]:
            self.say(f"{now - self._step[1]:.2f} s {self._step[0]}")
        self._step = (sentence, now) if sentence else None

    def finish(self, code: int) -> None:
        """Print the JSON, if it was asked for."""
        self.clear()
        self.step()
        if self.json:
            from ..identification.result.provenance import plain

            sys.stdout.write(
                json.dumps(
                    plain({**self.found, "exit_code": code}),
                    ensure_ascii=False,
                    indent=1,
                    allow_nan=False,
                )
                + "\n"
            )


def shown_path(path: Path | str) -> str:
    """Return a path for a sentence: on one line, so that the name of a file forges no output."""
    return visible_line(str(path))


_output: ContextVar[Output | None] = ContextVar("output", default=None)


def output() -> Output:
    """Return where the results of the command that runs go."""
    return _output.get() or Output()


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return a table's numbers with all digits, row by row."""
    columns = table.whole_columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def with_output_options(
    command: Callable[..., None], options: Mapping[str, Option] | None = None
) -> Callable[..., None]:
    """Return a command with --json, --quiet and --verbose, whose errors name options.

    Parameters
    ----------
    command : function of the command
    options : options of its groups, which take the place of its parameter `options`
    """
    from_groups = options or {}
    parameters = [completed(each) for each in expanded(command, from_groups)]
    flags = command_flags(parameters)

    def run(json: bool = False, quiet: bool = False, verbose: bool = False, **values: Any) -> None:
        results = Output(command.__name__, json, quiet, verbose)
        token = _output.set(results)
        try:
            if json and quiet:
                raise CallError("--json and --quiet exclude each other: give one of them")
            results.begin()
            arguments = {name: value for name, value in values.items() if name not in from_groups}
            if options is not None:
                arguments[PLACEHOLDER] = typed_values(from_groups, values)
            code = _code_of(command, arguments)
        except SteelyardError as error:
            sentence = command_line_text(error, flags | typed_flags(parameters, sys.argv))
            results.record(error=" ".join(sentence.split()), argument=error.argument)
            results.finish(BAD_INPUT)
            raise Stop(sentence) from error
        finally:
            _output.reset(token)
        results.finish(code)
        if code:
            raise typer.Exit(code)

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in FORMS.items()
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in (*parameters, *more)}
    run.__signature__ = inspect.Signature([*parameters, *more])  # type: ignore[attr-defined]
    return run


def _code_of(command: Callable[..., None], options: Mapping[str, Any]) -> int:
    """Run a command and return its exit code."""
    try:
        command(**options)
    except typer.Exit as stop:
        return stop.exit_code
    return 0
