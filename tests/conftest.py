"""What every test shares.

A kernel cache that is kept, a seeded generator, golden files that `--update` rewrites, the example
robots.
"""

from __future__ import annotations

import gc
import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tests import case_costs

ROOT = Path(__file__).resolve().parent.parent

# the same examples in every run, on machines of any speed
settings.register_profile("steelyard", deadline=None, derandomize=True)
settings.load_profile("steelyard")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite the golden files with what the code gives now",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run every case of every test; without paths, the costly tests run some of them",
    )
    parser.addoption(
        "--measure-costs",
        action="store_true",
        help="write the processor time of all cases, by which the test command chooses",
    )
    parser.addoption(
        "--all-looks",
        action="store_true",
        help="work the page at every width and in every theme, not in two of them",
    )


def pytest_configure(config: pytest.Config) -> None:
    case_costs.configure(config)
    share_kernel_cache(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    case_costs.choose(config, items)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from visiting collected tests, which live as long as the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with case_costs.measured(item):
        return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    case_costs.write(session.config)


def share_kernel_cache(config: pytest.Config) -> None:
    """Use one kernel cache for all workers, and for the next run; never the user's own.

    Keys of kernels are digests of everything they are compiled from, the package's source included,
    so that a kept kernel is the one that would be compiled. STEELYARD_TEST_CACHE names another
    folder, such as an empty one.
    """
    if not hasattr(config, "workerinput"):
        default = str(Path.home() / ".cache" / "steelyard-tests")
        os.environ["STEELYARD_CACHE"] = os.environ.get("STEELYARD_TEST_CACHE", default)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's own name.

    The same numbers in every run, others in every test.
    """
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """The folder of URDFs that the test dependency example-robot-data installs.

    Absent is an error, not a skip.
    """
    installed = importlib.metadata.distribution("example-robot-data")
    folder = Path(str(installed.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    assert folder.is_dir(), f"example-robot-data is installed but holds no {folder}"
    return folder
