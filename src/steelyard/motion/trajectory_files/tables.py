"""Tables of numbers: CSV, npz, a plain list of points."""

from __future__ import annotations

import io

import numpy as np

from ...files import Content
from .sampled_motion import SampledMotion


def csv(motion: SampledMotion, name: str) -> Content:
    """Columns t, q.JOINT, qd.JOINT, qdd.JOINT, with all digits, below a comment on what was checked."""
    text = io.StringIO()
    text.write(f"# {motion.safety.line}\n")
    text.write(",".join(["t", *(f"{quantity}.{label}" for quantity in ("q", "qd", "qdd") for label in motion.labels)]) + "\n")
    for row in np.column_stack([motion.t, motion.q, motion.qd, motion.qdd]).tolist():
        text.write(",".join(map(repr, row)) + "\n")
    return text.getvalue()


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
    head = f"# {motion.safety.line}\n# {' '.join(motion.labels)} [rad|m]; one line every {float(steps.mean()):.9g} s\n"
    return head + "".join(" ".join(f"{x:.9f}" for x in row) + "\n" for row in motion.q.tolist())
