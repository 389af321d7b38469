"""What the columns of a file mean.

Quantity, joint and unit by their names, or by their order, which is said.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import LogError
from steelyard.signals import read_log, to_npz
from steelyard.signals.read.columns import parse_column
from tests.laws.signals.test_signals_files import LOG, ROBOT, TAU, Q, T, same, text


@pytest.mark.parametrize(
    ("name", "quantity", "label", "unit"),
    [
        ("current_position_3", "q", "3", None),
        ("motor_current_3", "current", "3", None),
        ("rec.act_vel_mot_deg_per_s", "qd", None, "deg/s"),
        ("velocity_limit_1", None, None, None),
        ("header.stamp.nanosec", "t", "header.stamp", None),
        ("J4 torque / Nm", "tau", "J4", "nm"),
        ("frame_id", None, None, None),
    ],
)
def test_what_a_name_says(
    name: str, quantity: str | None, label: str | None, unit: str | None
) -> None:
    result = parse_column(name)
    assert result.quantity == quantity
    assert label is None or result.label == label
    assert unit is None or result.unit == unit


def test_a_commanded_position_is_the_reference_and_other_commands_are_left_out(
    tmp_path: Path,
) -> None:
    table = np.column_stack([T, Q, Q + 1, TAU, TAU + 1])
    log = read_log(
        text(
            tmp_path / "a.csv",
            "t,actual_q_0,actual_q_1,target_q_0,target_q_1,tau_0,tau_1,tau_ff_0,tau_ff_1",
            columns=table,
        ),
        ROBOT,
    )
    same(log)
    np.testing.assert_array_equal(log.reference, Q + 1)
    assert "tau_ff_0" in log.remarks[-1]
    assert "target_q_0" not in log.remarks[-1]


IN_ORDER = "name no joints of the robot and were taken in its order"


def test_columns_that_are_matched_by_their_order_are_said(tmp_path: Path) -> None:
    """A number, an array without names or a layout says nothing about whose column it is."""
    numbered = read_log(text(tmp_path / "numbered.csv", "t,q2,q1,tau1,tau2"), ROBOT)
    pairs = "q1 is shoulder_pan_joint, q2 is elbow_joint"
    assert f"Columns of q, tau {IN_ORDER}: {pairs}. Is that right?" in numbered.remarks
    np.testing.assert_array_equal(numbered.q, Q[:, ::-1])
    np.savez(tmp_path / "arrays.npz", t=T, q=Q, tau=TAU)
    assert any(
        f"Columns of q, tau {IN_ORDER}: q[0] is shoulder" in remark
        for remark in read_log(tmp_path / "arrays.npz", ROBOT).remarks
    )
    headless = read_log(text(tmp_path / "headless.csv", None), ROBOT, layout="t q tau")
    assert any(IN_ORDER in remark for remark in headless.remarks)


def test_columns_that_are_matched_by_name_need_no_remark(tmp_path: Path) -> None:
    named = text(
        tmp_path / "named.csv", "t,q_shoulder_pan_joint,q_elbow_joint,tau_shoulder_pan,tau_elbow"
    )
    plain = text(tmp_path / "plain.csv", "t,q1,q2,tau1,tau2")
    listed = {"q": ["q1", "q2"], "tau": ["tau1", "tau2"]}
    to_npz(LOG, tmp_path / "named.npz")
    for log in (
        read_log(named, ROBOT),
        read_log(plain, ("joint_1", "joint_2")),
        read_log(plain, ROBOT, columns=listed),
        read_log(tmp_path / "named.npz", ROBOT),
        read_log(plain),
    ):
        assert not any(IN_ORDER in remark for remark in log.remarks), log.remarks


def test_a_number_among_names_is_no_order(tmp_path: Path) -> None:
    """Columns are taken by number if all have one.

    Of 'shoulder' and '2' nobody knows which is the first joint.
    """
    with pytest.raises(LogError, match="no column of q for joint"):
        read_log(text(tmp_path / "mixed.csv", "t,q_shoulder,q_2,tau_shoulder,tau_2"), ROBOT)
