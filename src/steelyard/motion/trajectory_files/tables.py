"""Tables of numbers: CSV, npz, a plain list of points."""

from __future__ import annotations

import io

import numpy as np

from ...csv_text import csv_text
from ...files import Content
from ...names import escape_name, program_comment
from .sampled_motion import SampledMotion


def csv(motion: SampledMotion, name: str) -> Content:
    """Return columns t, q.JOINT, qd.JOINT, qdd.JOINT with all digits, below a comment on what was checked."""
    columns = [f"{quantity}.{label}" for quantity in ("q", "qd", "qdd") for label in motion.labels]
    rows = np.column_stack([motion.t, motion.q, motion.qd, motion.qdd]).tolist()
    return f"# {program_comment(motion.safety.line)}\n" + csv_text(["t", *columns], rows)


def npz(motion: SampledMotion, name: str) -> Content:
    """The arrays t (N,), q, qd, qdd (N, n), joint_names (n,) and `check`, a line on what was checked."""
    file = io.BytesIO()
    np.savez_compressed(
        file, t=motion.t, q=motion.q, qd=motion.qd, qdd=motion.qdd, joint_names=np.array(motion.labels), check=np.array(motion.safety.line)
    )
    return file.getvalue()


def points(motion: SampledMotion, name: str) -> Content:
    """One position a line [rad|m], joints separated by spaces; the rate and the joints in a comment on top."""
    steps = np.diff(motion.t)
    names = " ".join(escape_name(label) for label in motion.labels)
    head = f"# {program_comment(motion.safety.line)}\n# {names} [rad|m]; one line every {float(steps.mean()):.9g} s\n"
    return head + "".join(" ".join(f"{x:.9f}" for x in row) + "\n" for row in motion.q.tolist())
