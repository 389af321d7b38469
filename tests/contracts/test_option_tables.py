"""Every group of options: keywords, parsers, command line, schema, form and documentation agree."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard import option_groups
from steelyard.apps import cli
from steelyard.apps.config import LOGS, TABLES, TOP, config_keys, file_options, read_config
from steelyard.apps.group_options import options_of_command, typed_values
from steelyard.apps.output import FORMS
from steelyard.apps.table_words import with_table_words
from steelyard.option_groups.c_export import CExportOptions
from steelyard.option_groups.checks import CheckOptions
from steelyard.option_groups.collision import CollisionKeywords
from steelyard.option_groups.excitation import ExcitationKeywords, ExcitationOptions
from steelyard.option_groups.identification import (
    EstimatorOptions,
    FleetOptions,
    FoldingOptions,
    IdentifyKeywords,
    IdentifyOptions,
)
from steelyard.option_groups.kinematics import InverseKinematicsOptions
from steelyard.option_groups.logs import (
    ColumnOptions,
    JointSelectionOptions,
    LogReadingOptions,
    TransmissionOptions,
)
from steelyard.option_groups.payload import PayloadOptions, StaticPoseOptions
from steelyard.option_groups.simulation import StartOptions, StepOptions
from steelyard.options import json_schema, markdown_table, options_of
from steelyard.simulation.options import SimulationKeywords, SimulationOptions

WITH_LOG = ("doctor", "identify", "validate", "payload")


@dataclass(frozen=True)
class Row:
    """Where the options of a group are: functions with their keywords, commands, file, form, page.

    `form` is the key of a tab, `table` of a file "" for its top; None where there is none.
    """

    functions: tuple[Callable[..., Any], ...]
    commands: tuple[str, ...]
    page: str = "options.md"
    keywords: type | None = None
    table: str | None = None
    form: str | None = None


ROWS = {
    ExcitationOptions: Row(
        (sy.excite,), ("excite",), "excitation.md", ExcitationKeywords, "excite", "design"
    ),
    IdentifyOptions: Row(
        (sy.identify,), ("identify",), "options.md", IdentifyKeywords, "", "identify"
    ),
    EstimatorOptions: Row((sy.identify, sy.identify_fleet), ("identify", "fleet")),
    FoldingOptions: Row((sy.identify, sy.identify_fleet), ("identify", "fleet"), table=""),
    FleetOptions: Row((sy.identify_fleet,), ("fleet",)),
    JointSelectionOptions: Row((), (*WITH_LOG, "excite", "check", "new"), table=""),
    LogReadingOptions: Row((sy.read_log,), (*WITH_LOG, "fleet", "page"), table=""),
    ColumnOptions: Row((sy.signals.Mapping,), ("new",)),
    TransmissionOptions: Row((sy.signals.Transmission.of,), ("new",)),
    StartOptions: Row((sy.simulate,), ("simulate",)),
    StepOptions: Row((sy.simulate,), ("simulate",), form="simulate"),
    SimulationOptions: Row(
        (sy.simulate,), ("simulate",), "options.md", SimulationKeywords, form="simulate"
    ),
    PayloadOptions: Row((sy.payload,), ("payload",), table="payload", form="payload"),
    StaticPoseOptions: Row(
        (sy.static_poses,), ("payload",), "options.md", CollisionKeywords, "payload"
    ),
    InverseKinematicsOptions: Row((sy.inverse_kinematics,), ("ik",)),
    CheckOptions: Row((sy.check,), ("check",)),
    CExportOptions: Row((sy.Robot.to_c,), ("export",)),
}
GROUPS = tuple(ROWS)
COMMANDS = {command.__name__: command for command in cli.COMMANDS}
INPUTS = {"robot", "log", "logs", "loaded", "empty", "controller"}
"""Arguments of functions that are no options: commands read them from files, or by name."""
DOCS = Path(__file__).parents[2] / "docs"
TEXTS: dict[str, tuple[Any, Any]] = {  # option -> text, value
    "ground": ("none", None),
    "workspace": (["tool0=-1,-1,0,1,1,2"], {"tool0": ([-1, -1, 0], [1, 1, 2])}),
    "half_spaces": (["0,0,1,2"], [([0, 0, 1], 2)]),
    "velocity": ("1.5", 1.5),
    "acceleration": ("1,2", [1, 2]),
    "jerk": ("a=1,b=2", {"a": 1, "b": 2}),
    "effort": ("3", 3),
    "payload": ("2,0,0,0.1", [2, 0, 0, 0.1]),
    "gravity": ("0,0,-9.81", [0, 0, -9.81]),
    "noise": ("0.1", 0.1),
    "accuracy": (["link3.mcx=0.02"], {"link3.mcx": 0.02}),
    "region": (["joint1=-1,1"], {"joint1": (-1, 1)}),
    "hold": (["a,b=1"], {"a": None, "b": 1}),
    "known_mass": ("3", 3),
    "coupling": (["a,b"], [("a", "b")]),
    "gear_ratio": ("100", 100),
    "mask": ("0.1", 0.1),
    "delay": ("estimate", "estimate"),
    "coulomb_width": ("a=0.1", {"a": 0.1}),
    "drive_gains": (["a,b", "c"], ["a", "b", "c"]),
    "friction": (["viscous", "coulomb"], ["viscous", "coulomb"]),
    "sigma": ("1,2", [1, 2]),
    "free": ("0.1,30deg", [0.1, np.pi / 6]),
    "wrench": (["tool0"], ["tool0"]),
    "ratio": ("100,50", [100, 50]),
    "torque_constant": ("a=0.1", {"a": 0.1}),
}


def offered(*groups: type) -> set[str]:
    """Return the names of the options of groups that commands and forms have."""
    return {each.name for group in groups for each in options_of(group) if each.spec.offered}


def of_command(command: str) -> tuple[type, ...]:
    """Return the groups of a command."""
    return tuple(group for group, row in ROWS.items() if command in row.commands)


def test_every_group_is_a_row_or_a_part_of_one() -> None:
    modules = [
        importlib.import_module(f"{option_groups.__name__}.{each.name}")
        for each in pkgutil.iter_modules(option_groups.__path__)
    ]
    declared = {
        each
        for module in modules
        for each in vars(module).values()
        if inspect.isclass(each) and is_dataclass(each) and each.__module__ == module.__name__
    }
    assert len(modules) > 5
    assert declared <= {part for group in ROWS for part in group.__mro__}


@pytest.mark.parametrize("group", GROUPS)
def test_every_field_is_an_option_with_a_sentence(group: type) -> None:
    assert [each.name for each in fields(group)] != []
    assert {each.name for each in options_of(group)} == {each.name for each in fields(group)}
    for each in options_of(group):
        assert each.spec.help.rstrip(".,) ")[:1].strip(), each.name
        assert each.spec.panel, f"{each.name} has no panel"
        assert each.spec.choices == () or each.default in (None, *each.spec.choices)


@pytest.mark.parametrize("group", GROUPS)
def test_functions_take_every_option(group: type) -> None:
    """As a parameter with the default of the field, or as a typed keyword."""
    row = ROWS[group]
    typed = {} if row.keywords is None else annotations(row.keywords)
    for function in row.functions:
        named = inspect.signature(function).parameters
        for each in fields(group):
            if each.name in named:
                default = named[each.name].default
                assert default is None or default == each.default, (function, each.name)
            else:
                assert typed.get(each.name) == each.type, (function, each.name)
        assert typed.keys() <= {each.name for each in fields(group)}, function


def annotations(keywords: type) -> dict[str, str]:
    """Return the annotations of a TypedDict as they are written."""
    return {
        name: getattr(kind, "__forward_arg__", kind)
        for name, kind in keywords.__annotations__.items()
    }


@pytest.mark.parametrize("group", GROUPS)
def test_every_parser_reads_its_text(group: type) -> None:
    for each in options_of(group):
        if each.spec.parse is None:
            continue
        text, value = TEXTS[each.name]
        assert each.read(text) == value, each.name
        assert each.read(value) == value, "a value stays as it is"
        if each.name not in ("hold",):
            with pytest.raises(sy.CallError, match=f"^{each.name}: ") as caught:
                each.read(["x=y"] if each.spec.repeated else "x=y")
            assert caught.value.argument == each.name


@pytest.mark.parametrize("group", GROUPS)
def test_the_schema_has_every_option(group: type) -> None:
    schema = json.loads(json.dumps(json_schema(group, with_table_words)))
    written = [each for each in options_of(group) if not each.spec.python_only]
    assert set(schema["properties"]) == {each.name for each in written}
    for each in written:
        row = schema["properties"][each.name]
        assert row["description"] == with_table_words(each.spec.help)
        assert row.get("unit", "") == each.spec.unit
        assert {"type", "enum", "anyOf"} & set(row), f"{each.name} has no type"


@pytest.mark.parametrize("command", sorted({x for row in ROWS.values() for x in row.commands}))
def test_a_command_offers_its_groups(command: str) -> None:
    options = options_of_command(COMMANDS[command])
    assert set(options) == offered(*of_command(command))
    values = {name: TEXTS[name][0] for name, each in options.items() if each.spec.parse}
    read = typed_values(options, values)
    assert read == {
        name: pytest.approx(x) if name == "free" else x
        for name, (_, x) in TEXTS.items()
        if name in values
    }
    assert typed_values(options, dict.fromkeys(options)) == {}, "what is not typed is not passed"
    for name, each in options.items():
        if each.is_switch:
            assert typed_values(options, {name: True}) == {name: each.spec.switch or True}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_declares_an_option_of_its_function_again(command: str) -> None:
    functions = {each for group in of_command(command) for each in ROWS[group].functions}
    keywords = {name for each in functions for name in inspect.signature(each).parameters}
    keywords |= {each.name for group in of_command(command) for each in fields(group)}
    declared = set(inspect.signature(COMMANDS[command]).parameters) - {"options"}
    again = declared & (keywords | set(FORMS)) - INPUTS
    assert again == ({"position"} if command == "new" else set()), "`new` has its own default"


def test_a_file_takes_every_option_that_can_be_written() -> None:
    groups = {group: row.table for group, row in ROWS.items() if row.table is not None}
    assert {*TOP, *LOGS} == {group for group, table in groups.items() if table == ""}
    for command, tables in TABLES.items():
        assert set(tables) == {group for group, table in groups.items() if table == command}
    for group in groups:
        written = {each.name for each in options_of(group) if not each.spec.python_only}
        assert written <= set(file_options((group,)))
    assert set(file_options((*TOP, *LOGS))) == set(config_keys())


def test_the_top_of_a_file_reads_texts_as_a_command_line_does(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text(
        'mask = "joint1=0.1"\nhold = ["link1.m=2"]\ndecimate = 2\ndamaged = "leave out"\n'
    )
    assert read_config(path) == {
        "mask": {"joint1": 0.1},
        "hold": {"link1.m": 2.0},
        "decimate": 2,
        "damaged": "leave out",
    }
    path.write_text("controller = 3\n")
    with pytest.raises(sy.CallError, match="'controller' is not an option"):
        read_config(path)


@pytest.mark.parametrize("tab", sorted({row.form for row in ROWS.values() if row.form}))
def test_a_form_has_every_option(tab: str, tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from nicegui import Client
    from nicegui.page import page

    from steelyard.apps.page.server.folder import Folder
    from steelyard.apps.page.views.layout import view_of
    from steelyard.apps.page.window import Windows

    window = Windows(Folder.of(tmp_path)).open()
    robot = sy.load("planar_2r")
    window.take_robot(robot, "planar_2r")
    motion = sy.excite(robot, 4.0, candidates=2, ground=None, collision="none")
    window.log = sy.record(robot, motion, rate=50)
    with Client(page(f"/{tab}")) as client:
        view = view_of(tab)(window, SimpleNamespace())
    shown = {each.props.get("id") for each in client.elements.values()}
    names = offered(*(group for group, row in ROWS.items() if row.form == tab))
    assert set(view.form.options) == names
    assert {f"{tab}-{name}" for name in names} <= shown
    for name, option in view.form.options.items():
        if option.spec.parse is not None:
            text = TEXTS[name][0]
            view.form.set_text(name, text if isinstance(text, str) else "; ".join(text))
            assert view.form.values[name] == TEXTS[name][1]
        elif option.is_switch:
            view.form.set_text(name, str(not option.default))
            assert view.form.values[name] is not option.default
    words = view.form.words.split()
    line = COMMANDS[next(row.commands[0] for row in ROWS.values() if row.form == tab)]
    flags = {flag for each in options_of_command(line).values() for flag in each.flag.split("/")}
    assert {word for word in words if word.startswith("--")} <= flags


@pytest.mark.parametrize("command", TABLES)
def test_a_table_of_the_file_takes_the_options_of_a_command(command: str, tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text(f'[{command}]\nclearance = 0.05\nground = "none"\nhalf-spaces = ["0,0,1,2"]\n')
    assert read_config(path)[command] == {
        "clearance": 0.05,
        "ground": None,
        "half_spaces": [([0, 0, 1], 2)],
    }
    path.write_text(f"[{command}]\nclearence = 0.05\n")
    with pytest.raises(sy.CallError, match=rf"\[{command}\] 'clearence' .*'clearance'"):
        read_config(path)


@pytest.mark.parametrize("group", GROUPS)
def test_the_documentation_has_the_table(group: type, request: Any) -> None:
    page = ROWS[group].page
    begin, end = f"<!-- options of {group.__name__} -->\n\n", "\n<!-- end of options -->"
    text = (DOCS / page).read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    table, result, after = rest.partition(end)
    assert result, f"docs/{page} has no place for the table"
    if request.config.getoption("--update"):
        (DOCS / page).write_text(
            before + begin + markdown_table(group, with_table_words) + end + after
        )
        return
    assert table == markdown_table(group, with_table_words), "run pytest --update on this test"


def test_options_and_keywords_are_the_same() -> None:
    robot = sy.load("planar_2r")
    few = {"candidates": 2, "seed": 3, "ground": None, "collision": "none"}
    one = sy.excite(robot, 4.0, **few)
    other = sy.excite(robot, options=ExcitationOptions(seconds=4.0, **few))
    assert (one.q == other.q).all()
    third = sy.excite(robot, options=ExcitationOptions(seconds=9.0, **few), seconds=4.0)
    assert (one.q == third.q).all()
    with pytest.raises(sy.CallError, match="excite has no option called 'startz'; did you mean"):
        sy.excite(robot, startz=1)
