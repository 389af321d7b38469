"""Every Python example of the documentation runs and prints what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.house.documents.pages import examples, run
from tests.house.sources import ROOT
from tests.real.measured import DATA

PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if "```python" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT / "docs").as_posix())
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.setenv("STEELYARD_DATASETS", str(DATA))
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path / "downloads"))
    if "datasets.fetch" in text.partition("<!-- expensive -->")[0] and not DATA.exists():
        pytest.skip("the public logs that the page downloads are not available")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    if page.parent.name == "tutorials":  # readers paste what they see
        page = tmp_path / page.name
        page.write_text(without_setups(text), encoding="utf-8")
    assert run(page) or "<!-- expensive -->" in text


def without_setups(text: str) -> str:
    """Return a page without its hidden setups; all other lines keep their numbers."""
    return re.sub(
        r"^<!-- setup\n.*?^-->",
        lambda part: "\n" * part[0].count("\n"),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )


def test_tutorials_need_nothing_that_they_do_not_show() -> None:
    """A reader begins a tutorial in an empty folder.

    No hidden setup prepares it, and no file is offered but never fetched.
    """
    for page in (ROOT / "docs" / "tutorials").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "<!-- setup" not in text, page
        assert "{download}" not in text, page


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_notebook_runs_and_holds_no_output(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not [
        cell
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell.get("outputs")
    ]
    assert run(notebook) >= 4


def test_every_block_of_python_is_an_example() -> None:
    """No block escapes the runner by its indentation or by a word after `python`."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks, setups = (
            len(re.findall(r"^\s*```+\s*\{?python", text, re.MULTILINE)),
            text.count("<!-- setup"),
        )
        assert len(list(examples(text))) + text.count("<!-- not run: ") == blocks + setups, page


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("print(1 / 0)", "line 2 fails: ZeroDivisionError"),
        ("print(3)\n```\n\n```text\n4", "line 2 prints\n3\nand not\n4"),
    ],
)
def test_a_wrong_example_is_noticed(block: str, says: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{block}\n```\n")
    with pytest.raises(AssertionError, match=says):
        run(page)


def test_marks_are_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- setup\na = 2\n-->\n```python\nprint(a)\n```\n```text\n2\n```\n<!-- not run: asks a"
        " robot -->\n```python\n1 / 0\n```\n```python\na = 3\n```\n<!-- expensive -->\n```python\n1"
        " / 0\n```\n"
    )
    assert run(page) == 3
    with pytest.raises(AssertionError, match="line 19 fails"):
        run(page, expensive=True)
