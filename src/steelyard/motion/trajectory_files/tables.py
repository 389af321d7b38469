"""Tables of numbers: CSV, npz, a plain list of points."""

from __future__ import annotations

import io

import numpy as np

from ...csv_text import csv_text
from ...files import Content
from ...names import escape_name
from .sampled_motion import SampledMotion


def csv(motion: SampledMotion, name: str) -> Content:
    """Columns t, q.JOINT, qd.JOINT, qdd.JOINT, with all digits."""
    columns = [f"{quantity}.{label}" for quantity in ("q", "qd", "qdd") for label in motion.labels]
    return csv_text(["t", *columns], np.column_stack([motion.t, motion.q, motion.qd, motion.qdd]).tolist())


def npz(motion: SampledMotion, name: str) -> Content:
    """The arrays t (N,), q, qd, qdd (N, n) and joint_names (n,)."""
    file = io.BytesIO()
    np.savez_compressed(file, t=motion.t, q=motion.q, qd=motion.qd, qdd=motion.qdd, joint_names=np.array(motion.labels))
    return file.getvalue()


def points(motion: SampledMotion, name: str) -> Content:
    """One position a line [rad|m], joints separated by spaces; the rate and the joints in a comment on top."""
    steps = np.diff(motion.t)
    names = " ".join(escape_name(label) for label in motion.labels)
    head = f"# {names} [rad|m]; one line every {float(steps.mean()):.9g} s\n"
    return head + "".join(" ".join(f"{x:.9f}" for x in row) + "\n" for row in motion.q.tolist())
