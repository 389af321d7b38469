"""Every group of options: keywords, parsers, command line, schema, form and documentation agree."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.apps.commands.excite import excite as excite_command
from steelyard.apps.commands.identify import IdentifyCommandOptions
from steelyard.apps.commands.payload import payload as payload_command
from steelyard.apps.commands.simulate import SimulateCommandOptions
from steelyard.apps.config import TABLES, read_config
from steelyard.apps.group_options import options_of_command, typed_values
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.samples.preparation import Preparation
from steelyard.option_groups.collision import CollisionKeywords, CollisionOptions
from steelyard.option_groups.excitation import ExcitationKeywords, ExcitationOptions
from steelyard.options import json_schema, markdown_table, options_of

GROUPS = (CollisionOptions, ExcitationOptions, IdentifyCommandOptions, SimulateCommandOptions)
KEYWORDS = {
    CollisionOptions: (CollisionKeywords, sy.static_poses),
    ExcitationOptions: (ExcitationKeywords, sy.excite),
}
DOCS = Path(__file__).parents[2] / "docs"
TEXTS: dict[str, tuple[Any, Any]] = {  # option -> text, value
    "ground": ("none", None),
    "workspace": (["tool0=-1,-1,0,1,1,2"], {"tool0": ([-1, -1, 0], [1, 1, 2])}),
    "half_spaces": (["0,0,1,2"], [([0, 0, 1], 2)]), "velocity": ("1.5", 1.5),
    "acceleration": ("1,2", [1, 2]), "jerk": ("a=1,b=2", {"a": 1, "b": 2}), "effort": ("3", 3),
    "payload": ("2,0,0,0.1", [2, 0, 0, 0.1]), "gravity": ("0,0,-9.81", [0, 0, -9.81]),
    "noise": ("0.1", 0.1), "accuracy": (["link3.mcx=0.02"], {"link3.mcx": 0.02}),
    "region": (["joint1=-1,1"], {"joint1": (-1, 1)}), "hold": (["a,b=1"], {"a": None, "b": 1}),
    "known_mass": ("3", 3), "coupling": (["a,b"], [("a", "b")]), "gear_ratio": ("100", 100),
    "mask": ("0.1", 0.1),
}  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_every_field_is_an_option_with_a_sentence(group: type) -> None:
    assert [each.name for each in fields(group)] != []
    assert {each.name for each in options_of(group)} == {each.name for each in fields(group)}
    for each in options_of(group):
        assert each.spec.help.rstrip(".,) ")[:1].strip(), each.name
        assert each.spec.panel, f"{each.name} has no panel"
        assert each.spec.choices == () or each.default in (None, *each.spec.choices)


@pytest.mark.parametrize("group", KEYWORDS)
def test_keywords_are_the_fields_with_their_types(group: type) -> None:
    keywords, function = KEYWORDS[group]
    named = inspect.signature(function).parameters
    types = {each.name: each.type for each in fields(group) if each.name not in named}
    typed = {
        name: getattr(kind, "__forward_arg__", kind)
        for each in reversed(keywords.__mro__ if hasattr(keywords, "__mro__") else (keywords,))
        for name, kind in getattr(each, "__annotations__", {}).items()
    }
    assert typed == types


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
    schema = json.loads(json.dumps(json_schema(group)))
    assert set(schema["properties"]) == {each.name for each in fields(group)}
    for each in options_of(group):
        row = schema["properties"][each.name]
        assert row["description"] == each.spec.help
        assert row.get("unit", "") == each.spec.unit
        known = each.kind is not None or each.spec.schema or each.spec.choices
        assert not known or {"type", "enum", "anyOf"} & set(row), f"{each.name} has no type"


@pytest.mark.parametrize(
    ("command", "group"), [(excite_command, ExcitationOptions), (payload_command, CollisionOptions)]
)
def test_a_command_offers_its_group(command: Any, group: type) -> None:
    options = options_of_command(command)
    assert set(options) == {x.name for x in options_of(group) if x.spec.command_line}
    values = {name: TEXTS[name][0] for name in options if name in TEXTS}
    assert typed_values(options, values) == {name: TEXTS[name][1] for name in values}
    assert typed_values(options, dict.fromkeys(options)) == {}, "what is not typed is not passed"


def test_options_of_identify_are_fields_of_the_identification() -> None:
    known = {each.name for group in (Preparation, ModelOptions) for each in fields(group)}
    assert {each.name for each in fields(IdentifyCommandOptions)} - {"estimator"} <= known


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


@pytest.mark.parametrize(("page", "group"), [("excitation.md", ExcitationOptions)])
def test_the_documentation_has_the_table(page: str, group: type, request: Any) -> None:
    begin, end = f"<!-- options of {group.__name__} -->\n\n", "\n<!-- end of options -->"
    text = (DOCS / page).read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    table, found, after = rest.partition(end)
    assert found, f"docs/{page} has no place for the table"
    if request.config.getoption("--update"):
        (DOCS / page).write_text(before + begin + markdown_table(group) + end + after)
        return
    assert table == markdown_table(group), "run pytest --update on this test"


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
