"""The page in a real browser.

Every feature at both widths, light and dark, and by keys alone; and what a checker of access finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.signals.write import to_csv
from tests.page.browser import ABSENT, CHROMIUM, LOOKS, Hand, Look, browser
from tests.page.features import FEATURES, Visit
from tests.page.served import Served, served

TABLE = Path(__file__).parents[2] / "docs" / "measured" / "page_features.md"
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason=ABSENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with logs of a robot.

    A good one, one with a torque that is cut off, and one with a load.
    """
    result = tmp_path_factory.mktemp("page")
    robot = sy.load("planar_2r")
    motion = sy.excite(robot, seconds=5, starts=1)
    true = sy.perturbed(robot, 1)
    log = sy.record(true, motion, 100.0, 1)
    to_csv(log, result / "log.csv")
    top = np.quantile(np.abs(log.tau[:, 1]), 0.85)
    to_csv(
        log.replace(tau=np.column_stack([log.tau[:, 0], np.clip(log.tau[:, 1], -top, top)])),
        result / "faulty.csv",
    )
    to_csv(
        sy.record(true, sy.excite(robot, seconds=3, starts=1, seed=2), 100.0, 3),
        result / "tuesday.csv",
    )
    to_csv(sy.record(true.with_payload(2.0), motion, 100.0, 2), result / "loaded.csv")
    robot.to_toml(result / "arm.toml")
    text = (result / "arm.toml").read_text().replace('"planar_2r"', '"arm"')
    (result / "arm.toml").write_text(text)
    (result / "arm.xacro").write_text("<robot/>")
    return result


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[Served]:
    with served("planar_2r", "log.csv", folder=folder) as result:
        yield result


def work(visit: Visit, name: str) -> None:
    """Do what a feature is for; a failure says where, what the page said, and keeps a picture."""
    try:
        FEATURES[name](visit)
    except Exception as error:
        picture = visit.folder / "failed.png"
        visit.hand.page.screenshot(path=picture)
        message = visit.hand.page.inner_text("#said")
        raise AssertionError(
            f"{name!r} fails at {visit.hand.look.name}: {error}; the page said {message!r}; see"
            f" {picture}"
        ) from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "look" in metafunc.fixturenames:
        looks = LOOKS if metafunc.config.getoption("--all-looks") else (LOOKS[0], LOOKS[-1])
        metafunc.parametrize("look", looks, ids=lambda look: look.name)


@needs_chromium
def test_features(page: Served, folder: Path, look: Look) -> None:
    with browser() as chromium:
        hand = Hand.at(chromium, page.url, look)
        for name in FEATURES:
            work(Visit(hand, folder), name)
        assert not hand.errors


@needs_chromium
def test_access(page: Served) -> None:
    """axe-core finds nothing serious on any tab, in either scheme."""
    from axe_playwright_python.sync_playwright import Axe

    from steelyard.apps.page.views.layout import VIEWS

    with browser() as chromium:
        hand = Hand.at(chromium, page.url, LOOKS[0])
        hand.wait(".view[data-built]")
        for name in VIEWS:
            hand.tab(name)
            if name == "identify":
                hand.press("#identify-start")
                hand.wait("#verdict")
            if name == "simulate":
                hand.press("#simulate")
                hand.wait("#simulated")
            for scheme in ("light", "dark"):
                hand.page.emulate_media(color_scheme=scheme)
                hand.until(f"document.body.classList.contains('body--{scheme}')")
                violations = Axe().run(hand.page).response["violations"]
                serious = [
                    (each["id"], [node["html"][:120] for node in each["nodes"][:3]])
                    for each in violations
                    if each["impact"] in ("serious", "critical")
                ]
                assert not serious, (name, scheme, serious)


def table() -> str:
    """The table of features and the looks in which a browser does each of them."""
    rows = [
        f"| {name} | {' '.join((feature.__doc__ or '').split())} | "
        + " | ".join("`" + feature.__name__ + "`" for _ in LOOKS)
        + " |"
        for name, feature in FEATURES.items()
    ]
    head = f"| feature | expected result | {' | '.join(look.name for look in LOOKS)} |"
    return "\n".join([
        "# Features of the web page and their tests", "",
        "Written by `pytest tests/page/test_browser.py --update`.",
        "Each cell names the function of `tests/page/features.py` that a headless Chromium runs.",
        "The test command runs the first and the last column,",
        "`pytest tests/page --all-looks` all.",
        "", head, "|---" * (2 + len(LOOKS)) + "|", *rows, "",
    ])  # fmt: skip


def test_the_table_of_features_is_whole(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        TABLE.write_text(table(), encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == table()
    asked = {
        "open",
        "move",
        "play a log",
        "design",
        "identify",
        "cancel",
        "compare",
        "export",
        "reload",
    }
    assert asked <= set(FEATURES)
    assert all(feature.__doc__ for feature in FEATURES.values())
    cells = [
        cell.strip()
        for line in table().splitlines()
        if line.startswith("|")
        for cell in line.strip("|").split("|")
    ]
    assert all(cells)
    assert {(look.width, look.scheme) for look in LOOKS} == {
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    }
    assert any(look.keys for look in LOOKS)
