"""CSV of ur_rtde: columns actual_q_0, ... beside many others of a UR's controller."""

from __future__ import annotations

from dataclasses import replace

from ..column_table import ColumnTable

MEASURED = ("actual_q", "actual_qd", "actual_current", "target_q")
"""Positions [rad], velocities [rad/s], motor currents [A], commanded positions [rad]; the other columns are computed or not of joints."""

OF_A_UR = ("actual_TCP_pose_0", "target_moment_0", "joint_control_output_0", "speed_scaling")
"""Columns by which a recording of ur_rtde is known: others call positions actual_q too."""


def ur_rtde_table(table: ColumnTable) -> ColumnTable:
    """Return what a recording of ur_rtde has of the joints; any other table as it is."""
    joints = [name for name in table.names if name.rpartition("_")[0] == "actual_q"]
    if "timestamp" not in table.columns or not joints or not any(name in table.columns for name in OF_A_UR):
        return table
    kept = {name: column for name, column in table.columns.items() if name == "timestamp" or name.rpartition("_")[0] in MEASURED}
    found = [name for name in MEASURED if f"{name}_0" in kept]
    left = len(table.columns) - len(kept)
    others = f"; {left} other columns are left out" if left else ""
    return replace(table, columns=kept, remarks=(*table.remarks, f"The columns are those of ur_rtde: {', '.join(found)} are read{others}."))
