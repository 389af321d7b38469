"""Every algorithm is held to some law on a robot with every feature: docs/laws.md, written from the tests by `pytest --update`."""

from __future__ import annotations

import importlib
from itertools import combinations
from pathlib import Path

from steelyard.kernels import ALGORITHMS
from tests.laws.dynamics.law import LAWS, Law
from tests.zoo import FEATURES, ZOO, features

ALONE = {
    "one joint",
    "twelve joints",
    "weightless",
    "no inertia",
    "load",
}  # features of one robot each, which cannot have all the others too
HEAD = """# Laws

Every algorithm (row) is tested on robots with every feature (column) by the laws whose numbers stand in the cell. The page is generated
from the tests of `tests/laws/dynamics` by `pytest tests/laws/dynamics/test_table.py --update`, and a test fails where a cell is empty.
Algorithms for loops are held to theirs by `tests/laws/test_loops.py`, on linkages, parallel robots and a robot with a loop of every kind.
"""


def laws() -> list[Law]:
    """All laws of this folder, those that concern few algorithms first."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        importlib.import_module(f"tests.laws.dynamics.{path.stem}")
    return sorted(LAWS.values(), key=lambda law: (len(law.algorithms), law.test))


def cell(algorithm: str, feature: str) -> list[int]:
    """Numbers of the laws that test the algorithm on a robot with the feature."""
    robots = [name for name in ZOO if feature in features(name)]
    return [k for k, law in enumerate(laws(), 1) if any((algorithm, name) in law.cells for name in robots)]


def page() -> str:
    rows = [["algorithm", *FEATURES], ["---"] * (len(FEATURES) + 1)]
    rows += [[f"`{a}`", *(" ".join(map(str, cell(a, f))) for f in FEATURES)] for a in ALGORITHMS]
    robots = [f"- `{name}`: {', '.join(features(name))}" for name in ZOO]
    numbered = [f"{k}. `{law.test}` on {', '.join(law.robots)}" for k, law in enumerate(laws(), 1)]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([HEAD, *table, "", "## The laws", "", *numbered, "", "## The robots", "", *robots, ""])


def test_no_cell_is_empty() -> None:
    empty = [(a, f) for a in ALGORITHMS for f in FEATURES if not cell(a, f)]
    assert not empty, f"no law tests these algorithms on robots with these features: {empty}"


def test_the_page_shows_the_laws(root: Path, update: bool) -> None:
    path = root / "docs" / "laws.md"
    if update:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), "the laws changed; run pytest with --update and look at the difference"


def test_features_come_together() -> None:
    """Each feature is on some robot, and each pair too, so that a defect in their combination has a place to show."""
    assert all(any(feature in features(name) for name in ZOO) for feature in FEATURES)
    pairs = [pair for pair in combinations(FEATURES, 2) if not ALONE & set(pair)]
    apart = [pair for pair in pairs if not any(set(pair) <= set(features(name)) for name in ZOO)]
    assert not apart, f"no robot of the zoo has both: {apart}"
