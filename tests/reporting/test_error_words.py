"""A verdict names each of its errors for what it is: an upper one, an average, or measured."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from steelyard.identification.result.result_thresholds import THRESHOLDS
from steelyard.identification.result.verdict.rules import decide
from steelyard.identification.result.verdict.verdict import SENTENCES, WORDS
from tests.verdicts import errors, inputs, joint


@pytest.mark.parametrize("word", [word for word in WORDS if word != "refused"])
def test_every_word_states_an_upper_error(word: str) -> None:
    sentence = SENTENCES[word].format(error="4.0%", exceptions="", ratio=1.5)
    assert "up to 4.0%" in sentence
    assert "about" not in sentence


def test_a_trusted_fit_states_what_holds_outside_the_region() -> None:
    """An error elsewhere that is larger than inside, but not enough for another word."""
    verdict = decide(inputs(errors={"within": 0.02, "anywhere": 0.029}))
    assert verdict.word == "trusted"
    assert "up to 2.0% within the region" in str(verdict)
    assert f"at most {THRESHOLDS.outside_ratio:g} times as large elsewhere" in str(verdict)


def test_the_reason_of_a_word_is_an_average_and_the_error_of_the_verdict_is_not() -> None:
    """Average errors decide; the sentence of the verdict has the error that motions hardly
    exceed.
    """
    rows = tuple(joint(f"joint{k}", expected_inside=4.0, mean_inside=3.0) for k in (1, 2, 3))
    verdict = decide(inputs(rows, errors={"within": 0.4, "mean": 0.3, "anywhere": 0.4}))
    assert verdict.word == "doubtful"
    assert "up to 40.0% are expected" in str(verdict)
    text = "\n".join(verdict.reasons)
    assert "An average torque error of 30% is expected on unseen motion" in text
    refused = inputs((joint(expected_inside=9.0, mean_inside=6.0, rated=20.0),))
    text = "\n".join(decide(refused).reasons)
    assert "joint1 is refused: its average error is 6 N m, 60% of its torque" in text


def test_a_measured_error_is_not_called_an_average() -> None:
    rows = tuple(joint(f"joint{k}", rated=20.0) for k in (1, 2, 3))
    text = "\n".join(decide(inputs(rows), (errors(0.6, None),)).reasons)
    assert "A torque error of 60% is measured on the validation log" in text
    assert "joint1 is refused: its error on the validation log is 6 N m, 60%" in text


@pytest.mark.parametrize("validated", [False, True])
def test_errors_at_rest_are_of_the_identified_log(validated: bool) -> None:
    """They have one value in the table, in the reasons and as plain data, with any validation."""
    rows = (joint("joint1", resting=1.25), joint("joint2"), joint("joint3"))
    verdict = decide(inputs(rows), (errors(0.02, 0.02),) if validated else ())
    table = verdict.table()
    assert "Errors at rest are of the identified log." in table.to_text()
    assert [row[7] for row in table.rows] == ["1.25", "–", "–"]
    assert [row[8] for row in table.rows] == ["1.25", "–", "–"]
    assert "joint1 1.25 N m" in " ".join(verdict.reasons)
    resting = verdict.joints[0].resting
    assert resting is not None
    assert resting.error == 1.25
    assert verdict.to_dict()["joints"][0]["resting"] == asdict(resting)
    assert "rest" not in decide(inputs()).table().to_text()


def test_the_error_of_a_part_is_relative_to_the_torque_there() -> None:
    """A quiet part may exceed the error of the verdict, which is of the torque of the log."""
    verdict = decide(inputs(errors={"within": 0.022, "anywhere": 0.022, "worst_part": 0.05}))
    assert verdict.word == "trusted within"
    assert "up to 2.2% there" in str(verdict)
    assert "One part of the log has an error of 5.0% of the torque there." in verdict.reasons
