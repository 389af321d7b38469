"""One quantity has one value in all outputs of a run, and one function decides."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.drawing.numbers import NOTHING, percent, short
from steelyard.identification.result.provenance import plain
from steelyard.identification.result.verdict import rules
from steelyard.reporting.content import gather
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run
from tests.house.sources import PACKAGE

__all__ = ["run"]  # the fixture

ROBOT = "spatial_3r"
HARDLY = "error that unseen motion in the region hardly exceeds"  # the tile of verdict.error


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with log.csv, near.csv of the same motion, and wide.csv."""
    folder, robot = (
        tmp_path_factory.mktemp("logs"),
        sy.load(ROBOT).with_friction(viscous=4.0, coulomb=3.0),
    )
    real = sy.perturbed(robot, 2)
    for name, seed, noise in (("log", 1, 1), ("near", 1, 2), ("wide", 5, 5)):
        motion = sy.excite(robot, 8.0, 4, 0.125, seed, candidates=10, starts=1)
        to_csv(sy.record(real, motion, 100.0, noise), folder / f"{name}.csv")
    return folder


def texts(error: Any) -> tuple[str, str]:
    """An error as the table of words shows it."""
    return (
        (NOTHING, NOTHING) if error is None else (short(error.error), short(error.percent_of_rated))
    )


def cells_of(text: str) -> list[list[str]]:
    """The rows of joints in the table of words, on a terminal or in a page."""
    plain_text = unescape(re.sub(r"</t[dh]>", "  ", re.sub(r"</tr>", "\n", text)))
    lines = re.sub(r"<[^>]*>", "", plain_text).splitlines()
    words = "trusted within|trusted|doubtful|refused"
    return [
        [name, word, *rest.split()]
        for line in lines
        for name, word, rest in re.findall(rf"^\s*(joint\d)\s+({words})\s+N m\s+(.*)$", line)
    ]


@pytest.mark.parametrize("other", ["near", "wide"])
def test_every_output_of_a_run_has_the_same_values(
    run: Run, logs: Path, tmp_path: Path, other: str
) -> None:
    """Return terminal output, --json, fit.json, report.html, Python, and a later `validate`."""
    command = [
        "identify",
        ROBOT,
        logs / "log.csv",
        "--validate",
        logs / f"{other}.csv",
        "--estimator",
        "wls",
    ]
    shown = run(*command, "-o", tmp_path / "out", "--full")
    as_json = json.loads(run(*command, "--json").out)
    saved = json.loads((tmp_path / "out" / "fit.json").read_text(encoding="utf-8"))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    robot = sy.load(ROBOT)
    fit = sy.identify(robot, sy.read_log(logs / "log.csv", robot), "wls")
    validation = fit.validate(sy.read_log(logs / f"{other}.csv", robot))
    verdict = validation.verdict
    assert (validation.errors.share_inside > 0) == (other == "near")
    assert validation.errors.share_inside < 1

    expected = plain(verdict.to_dict())
    assert saved["verdict"] == expected
    assert as_json["verdict"] == {"good": verdict.trusted, **expected}
    assert as_json["fit"]["verdict"] == expected
    terminal = " ".join(shown.out.split())
    for sentence in (str(verdict), *verdict.reasons, verdict.next_step):
        assert " ".join(sentence.split()) in terminal.replace(" • ", " "), sentence
        assert sentence in unescape(page), sentence
    assert shown.out.count(str(verdict)) == 1, "the verdict is shown once"
    if str(fit.verdict) != str(verdict):
        assert str(fit.verdict) not in shown.out + page

    rests = any(each.resting is not None for each in verdict.joints)
    assert rests == ("at rest" in shown.out) == ("at rest" in page)
    rows = [
        [
            each.name,
            each.word,
            *texts(each.inside),
            *texts(each.outside),
            *(texts(each.resting) if rests else ()),
        ]
        for each in verdict.joints
    ]
    assert cells_of(shown.out) == rows
    assert cells_of(page) == rows
    total = validation.total_relative_error
    assert (
        saved["validation"]["total_relative_error"]
        == as_json["fit"]["validation"]["total_relative_error"]
        == total
    )
    assert saved["validation"]["inside"] == validation.errors.share_inside
    assert re.search(rf"^all .* {re.escape(percent(total, 2))}\s*$", shown.out, re.MULTILINE)
    tiles = {tile.label: tile.value for tile in gather(fit, validation).tiles}
    assert tiles["relative error on the validation log"] == percent(total, 2)
    assert tiles[HARDLY] == percent(verdict.error, 1)
    assert f"{verdict.error:.1%}" == f"{tiles[HARDLY]}%"

    after = json.loads(run("validate", tmp_path / "out", logs / f"{other}.csv", "--json").out)
    assert after["model"]["total_relative_error"] == pytest.approx(total, rel=1e-6)
    assert after["verdict"]["word"] == verdict.word
    assert after["verdict"]["reasons"] == list(verdict.reasons)
    assert after["verdict"]["error"] == pytest.approx(verdict.error, rel=1e-6)
    assert [each["resting"] for each in after["verdict"]["joints"]] == [
        each["resting"] for each in expected["joints"]
    ]
    for mine, theirs in zip(expected["joints"], after["verdict"]["joints"], strict=True):
        assert (mine["name"], mine["word"]) == (theirs["name"], theirs["word"])
        assert (mine["inside"] is None) == (theirs["inside"] is None) == (other == "wide")
        for where in ("inside", "outside") if other == "near" else ("outside",):
            assert mine[where]["error"] == pytest.approx(theirs[where]["error"], rel=1e-5)


def test_every_interface_shows_what_the_function_decides(
    run: Run, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another decision all words, numbers, sentences, exit codes and names of files follow."""
    true = rules.decide

    def decided(inputs: Any, validations: Any = ()) -> Any:
        result = true(inputs, validations)
        joints = tuple(replace(each, word="doubtful") for each in result.joints)
        step = "Paint the robot: steelyard paint"
        return replace(
            result,
            word="refused",
            joints=joints,
            error=0.4321,
            reasons=("It is green.",),
            next_step=step,
        )

    monkeypatch.setattr(rules, "decide", decided)
    command = ["identify", ROBOT, logs / "log.csv", "--estimator", "wls"]
    for more in ([], ["--validate", logs / "wide.csv"]):
        out = tmp_path / f"out{len(more)}"
        ran = run(*command, *more, "-o", out, "--full")
        page = (out / "report.html").read_text(encoding="utf-8")
        saved = json.loads((out / "fit.json").read_text(encoding="utf-8"))
        assert ran.code == 4
        assert (out / "refused.toml").exists()
        for text in (ran.out, page):
            assert "Refused: this log does not identify this robot." in text
            assert "It is green." in text
            assert "Paint the robot: steelyard paint" in text
            assert [row[1] for row in cells_of(text)] == ["doubtful"] * 3
            assert not re.search(
                "[Tt]rusted",
                re.sub(r"<style.*?</style>|<script.*?</script>", "", text, flags=re.DOTALL),
            )
        assert saved["verdict"]["reasons"] == ["It is green."]
        assert saved["verdict"]["error"] == 0.4321
    again = run("validate", tmp_path / "out0", logs / "wide.csv")
    assert again.code == 4
    assert "It is green." in again.out
    robot = sy.load(ROBOT)
    fit = sy.identify(robot, sy.read_log(logs / "log.csv", robot), "wls")
    for text in (fit.summary(), " ".join(fit.check()), fit._repr_html_()):
        assert "It is green." in text


def test_the_page_shows_what_the_function_decides(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steelyard.apps.page.window import NamedFit

    robot = sy.load(ROBOT)
    log = sy.read_log(logs / "log.csv", robot)
    fit = sy.identify(robot, log, "wls", diagnose=False)
    validation = fit.validate(sy.read_log(logs / "wide.csv", robot))
    true = rules.decide
    monkeypatch.setattr(
        rules,
        "decide",
        lambda inputs, others=(): replace(
            true(inputs, others), word="doubtful", reasons=(f"{len(others)} logs",)
        ),
    )
    for named, count in (
        (NamedFit("1", fit, "", "", log), 0),
        (NamedFit("1", fit, "", "", log, validation, "wide.csv"), 1),
    ):
        content = gather(named.fit, named.validation)
        assert (named.verdict.word, content.word) == ("doubtful", "doubtful")
        assert named.verdict.reasons == content.reasons == (f"{count} logs",)
        assert content.verdict == str(named.verdict)
        assert content.advice == (named.verdict.next_step,)


JUDGED = {
    "relative_error",
    "total_relative_error",
    "r2",
    "total_r2",
    "outside_error",
    "share_inside",
    "percent_of_rated",
    "percent_of_torque",
}
OLD_WORDS = re.compile(r"carr(y|ies) over|promis|clearly worse|about as well as", re.IGNORECASE)


def comparisons(path: Path) -> Iterator[str]:
    """Comparisons of the size of an error, where an interface would judge by itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops
        ):
            names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            yield from (f"{path.name}:{node.lineno} {name}" for name in names & JUDGED)


@pytest.mark.parametrize("folder", ["apps", "reporting"])
def test_no_interface_judges_by_itself(folder: str) -> None:
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        assert not list(comparisons(path))
        assert not OLD_WORDS.search(path.read_text(encoding="utf-8")), path


def test_a_judgement_in_an_interface_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "worse = validation.total_relative_error > 1.5 * fit.total_relative_error + 0.01\n"
    )
    assert list(comparisons(path))
