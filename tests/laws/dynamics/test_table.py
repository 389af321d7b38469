"""Every algorithm obeys some law on a robot with every feature.

`pytest --update` writes docs/measured/laws.md from the tests.
"""

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
    "driving",
    "driven",
}  # features of one robot each, which cannot have all the others too
HEAD = """# Laws

Each law is a test that runs every listed algorithm on every listed robot of `tests/zoo.py`.
Together the laws test every algorithm on a robot with every feature, and a test fails where an \
algorithm and a feature never meet.
`pytest tests/laws/dynamics/test_table.py --update` writes this page from the tests of \
`tests/laws/dynamics`.
Algorithms for closed loops have their laws in `tests/laws/loops/test_loops.py`: linkages, \
parallel robots and one robot with a loop of every kind.

## The laws

| law | algorithms | robots |
|---|---|---|
"""


def laws() -> list[Law]:
    """Return all laws of this folder and its sub-folders by name."""
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("test_*.py")):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        importlib.import_module(f"tests.laws.dynamics.{module}")
    return [LAWS[name] for name in sorted(LAWS)]


def cell(algorithm: str, feature: str) -> list[str]:
    """Return the names of the laws that test the algorithm on a robot with the feature."""
    robots = [name for name in ZOO if feature in features(name)]
    return [law.test for law in laws() if any((algorithm, name) in law.cells for name in robots)]


def row(law: Law) -> str:
    """Return the line of one law; it names nothing that another law changes."""
    algorithms = [a for a in ALGORITHMS if any((a, name) in law.cells for name in ZOO)]
    named = ", ".join(f"`{a}`" for a in algorithms) if len(algorithms) < len(ALGORITHMS) else "all"
    robots = ", ".join(law.robots) if len(law.robots) < len(ZOO) else "all"
    return f"| `{law.test.removeprefix('test_')}` | {named} | {robots} |"


def page() -> str:
    robots = [f"- `{name}`: {'; '.join(features(name))}" for name in ZOO]
    return HEAD + "\n".join([*map(row, laws()), "", "## The robots", "", *robots, ""])


def test_no_cell_is_empty() -> None:
    empty = [(a, f) for a in ALGORITHMS for f in FEATURES if not cell(a, f)]
    assert not empty, f"no law tests these algorithms on robots with these features: {empty}"


def test_the_page_shows_the_laws(root: Path, update: bool) -> None:
    path = root / "docs" / "measured" / "laws.md"
    if update:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), (
        "the laws changed; run pytest with --update and look at the difference"
    )


def test_features_come_together() -> None:
    """Each feature and each pair of features is on some robot."""
    assert all(any(feature in features(name) for name in ZOO) for feature in FEATURES)
    pairs = [pair for pair in combinations(FEATURES, 2) if not ALONE & set(pair)]
    apart = [pair for pair in pairs if not any(set(pair) <= set(features(name)) for name in ZOO)]
    assert not apart, f"no robot of the zoo has both: {apart}"
