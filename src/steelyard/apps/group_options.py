"""Options of commands from groups of options: signature, help panels and values.

A command that takes groups has a parameter `options`. On the command line it is replaced by the
options of the groups; the command gets a dictionary of those that were typed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from ..errors import CallError
from ..option_values import check_units, number
from ..options import Option, options_of
from .help_text import EXAMPLES, PANELS
from .table_words import with_table_words

Groups: TypeAlias = "Callable[[], Sequence[type]]"
TypedOptions: TypeAlias = "Mapping[str, Any]"
Command: TypeAlias = "Callable[..., None]"
METAVARS = {float: "NUMBER", int: "N", str: "TEXT", Path: "FILE"}
ARGUMENT_KIND = re.compile(r" <[^<>]*>$")  # of typer's help, which the metavar says already
BRACES = re.compile(r"\{(.*?)\}(?:\.\.\.)?$")  # around a required argument
PLACEHOLDER = "options"  # parameter of a command that its groups replace
_groups: dict[str, Groups] = {}


def takes_options(groups: Groups) -> Callable[[Command], Command]:
    """Declare that a command takes the options of groups.

    Parameters
    ----------
    groups : function that returns the dataclasses; it is called when the command is, so that
        `steelyard --help` loads none of them

    Returns
    -------
    Decorator of the command.
    """

    def declare(command: Command) -> Command:
        _groups[command.__name__] = groups
        return command

    return declare


def options_of_command(command: Command) -> dict[str, Option]:
    """Return the options of a command's groups by name; the first group that has one wins."""
    groups = _groups.get(command.__name__, tuple)()
    options: dict[str, Option] = {}
    for group in groups:
        for each in options_of(group):
            if each.spec.offered:
                options.setdefault(each.name, each)
    return options


def expanded(command: Command, options: Mapping[str, Option]) -> list[inspect.Parameter]:
    """Return the parameters of a command, with the placeholder replaced by options."""
    parameters: list[inspect.Parameter] = []
    for name, each in inspect.signature(command, eval_str=True).parameters.items():
        if name == PLACEHOLDER:
            parameters += [option_parameter(option) for option in options.values()]
        else:
            parameters.append(each)
    return [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]


def option_parameter(option: Option) -> inspect.Parameter:
    """Return an option as a parameter that typer reads; None stands for one that is not typed."""
    spec = option.spec
    kind: Any = str if spec.parse is not None or option.kind is None else option.kind
    kind = bool if option.is_switch else kind
    metavar = spec.metavar or "|".join(spec.choices) or METAVARS.get(kind)
    info = typer.Option(
        option.flag,
        help=option.sentence,
        metavar=metavar if kind is not bool else None,
        rich_help_panel=spec.panel or None,
        min=None if spec.least is None or kind is float else kind(spec.least),
        parser=number_parser(spec.unit) if kind is float else None,
        # what is not typed is None, and would show no default
        show_default=option.flag[2:].partition("/")[0] if option.default is True else False,
    )
    annotation: Any = list[kind] | None if spec.repeated else kind | None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[annotation, info],
    )


def number_parser(unit: str) -> Callable[[str], float]:
    """Return a parser of one number, which may end in the unit of its option."""

    def read(text: Any) -> float:
        if isinstance(text, float):
            return text
        try:
            check_units([text], unit)
            return number(text)
        except CallError as error:
            raise typer.BadParameter(error.message) from None

    return read


def typed_values(options: Mapping[str, Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options that were typed, read from their texts."""
    return {
        name: option.read(values[name])
        for name, option in options.items()
        if values.get(name) not in (None, [], ())
    }


class PanelCommand(TyperCommand):
    """A command whose help shows options under the headings of their panels."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, arguments as their metavars spell them."""
        return [BRACES.sub(r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a panel, and the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            row = each.get_help_record(ctx)
            heading = "Arguments" if each.param_type_name == "argument" else "Options"
            if row is not None:
                row = (ARGUMENT_KIND.sub("", row[0]), row[1])
                panel = getattr(each, "rich_help_panel", None) or heading
                panels.setdefault(panel, []).append((row[0], with_table_words(row[1])))
        for heading, rows in panels.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, each whole on its line."""
        with formatter.section("Examples"):
            for line in EXAMPLES[str(self.name)]:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class LazyCommands(TyperGroup):
    """The commands of the program; groups of options are loaded for the one that is called."""

    build: Callable[[str], Command]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their summaries, whole, under the headings of PANELS."""
        for heading, names in PANELS.items():
            with formatter.section(heading):
                for name in names:
                    summary = (self.commands[name].help or "").partition("\n")[0]
                    formatter.write(f"  {name:<{max(map(len, self.commands))}}  {summary}\n")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called, with the options of its groups."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _groups and command is not None:
            info = CommandInfo(name=name, callback=type(self).build(name), cls=PanelCommand)
            command = get_command_from_info(
                info, pretty_exceptions_short=False, rich_markup_mode=None
            )
        return name, command, rest
