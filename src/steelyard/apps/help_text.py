"""Help texts of the command line that are tables: groups of commands, and examples."""

from __future__ import annotations

from collections.abc import Mapping

OUTPUT_PANEL = "Output"
"""Heading of the options of a command that say where its results go."""

PANELS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "new", "page"),
    "Identify": ("excite", "doctor", "identify", "validate", "payload", "fleet"),
    "Robots": ("robots", "info", "check", "torque", "ik", "simulate", "export", "bench"),
}
"""Heading of `steelyard --help` -> its commands, in the order of use."""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("steelyard demo", "steelyard demo puma560 -o puma-demo"),
    "new": ("steelyard new panda --robot panda.urdf --log arm.csv",),
    "page": ("steelyard page", "steelyard page arm.urdf monday.csv"),
    "excite": (
        "steelyard excite arm.urdf -o motion.csv",
        "steelyard excite arm.urdf --seconds 30s --speed 0.3 -o motion.csv",
        "steelyard excite arm.urdf --payload 2.5kg,0,0,10cm -o motion.csv",
    ),
    "doctor": ("steelyard doctor arm.urdf monday.csv", "steelyard doctor arm.urdf run.csv --fix"),
    "identify": (
        "steelyard identify arm.urdf monday.csv -o results",
        "steelyard identify arm.urdf monday.csv --validate tuesday.csv -o results",
        "steelyard identify arm.urdf run.csv --known-mass 28.7kg --full",
    ),
    "validate": (
        "steelyard validate results tuesday.csv",
        "steelyard validate arm.urdf tuesday.csv --against other.urdf",
    ),
    "payload": (
        "steelyard payload results loaded.csv -o loaded.urdf",
        "steelyard payload arm.urdf loaded.csv --empty empty.csv --controller ur",
        "steelyard payload arm.urdf --poses 10 -o poses.csv",
    ),
    "fleet": ("steelyard fleet arm.urdf logs -o fleet",),
    "robots": ("steelyard robots",),
    "info": ("steelyard info arm.urdf", "steelyard info puma560 --json"),
    "check": ("steelyard check arm.urdf",),
    "torque": (
        "steelyard torque planar_2r --q 20deg,40deg",
        "steelyard torque arm.urdf --motion motion.csv -o torques.csv",
    ),
    "ik": (
        "steelyard ik elbow_6r --xyz 0.9,0.1,0.8 --rpy 180deg,0,90deg",
        "steelyard ik elbow_6r --poses poses.csv -o positions.csv",
    ),
    "simulate": (
        "steelyard simulate planar_2r --q0 30deg,0 --seconds 2 -o run.csv",
        "steelyard simulate planar_2r --to 1,1 --controller computed-torque --kp 100 --kd 20",
    ),
    "export": (
        "steelyard export puma560 --urdf puma.urdf --toml puma.toml",
        "steelyard export puma560 --c controller",
    ),
    "bench": ("steelyard bench", "steelyard bench arm.urdf"),
}
"""Command -> lines that its help shows."""
