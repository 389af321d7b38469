"""Joint terms: what a row says of its factor is what the factor does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.identification.model.joint_terms import TERMS
from steelyard.mechanism.joint_terms import BY_KEY, JOINT_TERMS, JointState, JointTerm, Terms
from steelyard.simulation.dry_friction import DRY
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

LINEAR = [row for row in JOINT_TERMS if row.linear]
EVERY = pytest.mark.parametrize("row", LINEAR, ids=lambda row: row.key)
NOTATION = Path(__file__).parents[2] / "docs" / "notation.md"


def value(row: JointTerm, qd: float, q: float = 0.3, qdd: float = 0.7, load: float = 2.0) -> float:
    """The factor of a term without a width, at a state of its joint; z = 0.4 with memory."""
    values = Terms.of(dict.fromkeys((row.key, *row.needs), 0.9))
    assert row.factor is not None
    memory = 0.4 if row.memory else None
    return float(row.factor(values, JointState(q, qd, qdd, load, memory)))


@EVERY
def test_dry_terms_are_those_that_jump_at_rest(row: JointTerm) -> None:
    jump = abs(value(row, 1e-9) - value(row, -1e-9))
    assert row.dry == (jump > 1e-6)
    assert (row in DRY) == row.dry


@EVERY
def test_a_row_says_what_its_factor_reads(row: JointTerm) -> None:
    assert ("q" in row.reads) == (value(row, 0.4, q=0.3) != value(row, 0.4, q=0.5))
    changes = [value(row, qd, load=2.0) != value(row, qd, load=3.0) for qd in (0.4, -0.4)]
    assert ("load" in row.reads) == any(changes)
    assert row.inertial == (value(row, 0.4, qdd=0.7) != value(row, 0.4, qdd=0.9))


@EVERY
def test_a_row_says_whether_its_factor_has_memory(row: JointTerm) -> None:
    """Without a presliding state, a term with memory has its sliding value."""
    shape = (row.memory,) if row.memory else ()
    values = Terms.of(dict.fromkeys((row.key, *row.needs, *shape), 0.9))
    assert row.factor is not None
    sliding, fixed = (
        float(row.factor(values, JointState(0.3, 0.5, 0.7, 2.0, z))) for z in (None, -0.2)
    )
    assert (fixed == pytest.approx(-0.2 * sliding)) if row.memory else sliding == fixed
    assert not row.memory or row.memory in row.shapes


@EVERY
def test_a_row_is_complete(row: JointTerm) -> None:
    assert row.meaning
    assert row.latex
    assert len(row.unit) == 2
    assert all(not BY_KEY[key].linear for key in row.shapes)
    assert all(row.key in BY_KEY[key].needs for key in row.needs if BY_KEY[key].linear)


def test_every_friction_word_is_in_the_help(run: Run) -> None:
    shown = set(re.findall(r"\w+", run("identify", "--help").out))
    waves = {row.key for row in LINEAR if "gear" in row.needs}
    assert set(TERMS) - waves <= shown
