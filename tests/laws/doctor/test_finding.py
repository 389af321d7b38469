"""Finding: details of `finding`."""

from __future__ import annotations

from types import SimpleNamespace

from steelyard.identification.doctor.finding import Diagnosis


def test_findings_as_data_have_every_field() -> None:
    finding = SimpleNamespace(
        fault="clock",
        severity=2,
        probability=0.9,
        sentence="Late.",
        fix="Wait.",
        joints=("a", "b"),
        hypotheses=("x", "y"),
    )
    data = Diagnosis.table(SimpleNamespace(findings=(finding,))).data  # type: ignore[arg-type]
    assert {name: values[0] for name, values in data.items()} == {
        **vars(finding),
        "joints": "a, b",
        "hypotheses": "x; y",
    }
