"""Design pages are numbered without gaps and have a date and a status; layout names real paths."""

from __future__ import annotations

import datetime
import re
from itertools import chain

import pytest

from tests.house.sources import ROOT

PAGES = sorted((ROOT / "docs" / "design").glob("[0-9]*.md"))
STATUS = re.compile(r"- Status: (?:accepted|superseded by (\d{3}))")
LAYOUT = ROOT / "docs" / "layout.md"
NAMED = re.compile(r"`([\w.-]+(?:/[\w.*-]+)*/?)`")
ENDINGS = (".py", ".md", ".toml", ".sh", "/")


def test_numbers_have_no_gap() -> None:
    assert [int(path.name[:3]) for path in PAGES] == list(range(1, len(PAGES) + 1))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name[:3])
def test_a_page_has_its_number_a_date_and_a_status(path) -> None:
    title, blank, date, status, *_ = path.read_text(encoding="utf-8").split("\n")
    assert title.startswith(f"# {path.name[:3]}: ")
    assert not blank
    datetime.date.fromisoformat(date.removeprefix("- Date: "))
    state = STATUS.fullmatch(status)
    assert state, f"{path.name}: '{status}'; write '- Status: accepted' or 'superseded by NNN'"
    assert state[1] is None or any(other.name.startswith(state[1]) for other in PAGES)


def named_paths(text: str) -> list[str]:
    """Return the paths in backticks: names with a folder or a known ending."""
    return [name for name in NAMED.findall(text) if "/" in name or name.endswith(ENDINGS)]


def test_every_path_in_the_layout_exists() -> None:
    """A path is below the repository, the package, or a folder that its table row names first."""
    bases = [ROOT, ROOT / "src" / "steelyard"]
    missing = []
    for line in LAYOUT.read_text(encoding="utf-8").split("\n"):
        names = named_paths(line)
        folders = [base / name for base in bases for name in names if name.endswith("/")]
        nested = [a / name for a in folders for name in names if name.endswith("/")]
        for name in names:
            places = chain(bases, folders, nested)
            if not any(any(path.glob(name.rstrip("/"))) for path in places if path.is_dir()):
                missing.append(name)
    assert not missing, f"docs/layout.md names paths that do not exist: {missing}"


@pytest.mark.parametrize(
    ("text", "paths"),
    [("`robot/x.py` and `rnea`", ["robot/x.py"]), ("`files/`", ["files/"]), ("`Fit`", [])],
)
def test_paths_are_recognised(text: str, paths: list[str]) -> None:
    assert named_paths(text) == paths


def recipe_steps() -> list[tuple[str, list[str]]]:
    """Return title and steps of every recipe of the layout, without its tests and pages."""
    recipes = re.split(r"^### ", LAYOUT.read_text(encoding="utf-8"), flags=re.M)[1:]
    split = (recipe.partition("\nTests:")[0].partition("\n") for recipe in recipes)
    return [(title, re.split(r"^\d+\. ", body, flags=re.M)[1:]) for title, _, body in split]


@pytest.mark.parametrize(
    ("title", "steps"), recipe_steps(), ids=lambda x: x if type(x) is str else ""
)
def test_a_recipe_names_what_its_files_have(title: str, steps: list[str]) -> None:
    """Tables, classes and options in a step occur in one of the files that the step names."""
    assert steps
    assert len(steps) <= 3 or "more than three files" in LAYOUT.read_text(encoding="utf-8")
    for step in steps:
        files = [ROOT / "src" / "steelyard" / name for name in named_paths(step)]
        text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
        names = re.findall(r"`([A-Z]\w+|\w+(?==\w+`))", step)
        missing = [name for name in names if text and not re.search(rf"\b{name}\b", text)]
        assert not missing, f"{title}: {missing} are in none of {named_paths(step)}"
