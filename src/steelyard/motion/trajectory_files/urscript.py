"""URScript programs for Universal Robots controllers: servoj, point by point."""

from __future__ import annotations

import numpy as np

from ...errors import CallError
from ...files import Content
from ...names import comment_names, program_comment, program_identifier
from ...version import __version__
from .sampled_motion import SampledMotion

LONGEST = 60  # characters of the function's name
LOOK_AHEAD, GAIN = 0.1, 300  # s, and the proportional gain: servoj's own defaults
APPROACH = "a=0.5, v=0.3"  # rad/s2 and rad/s of the move to the first point


def urscript(motion: SampledMotion, name: str) -> Content:
    """Return a function that moves slowly to the first point, then plays the others in time.

    servoj(q, a, v, t, lookahead_time, gain): Universal Robots, The URScript Programming Language,
    module motion.
    """
    if motion.n != 6:
        raise CallError(
            f"URScript moves six joints, and this motion has {motion.n}: {', '.join(motion.labels)}"
        )
    step = float(np.mean(np.diff(motion.t)))
    title = program_identifier(name, LONGEST)
    lines = [
        f"# {program_comment(motion.safety.line)}",
        f"def play_{title}():",
        (
            f"  # {len(motion.t)} points every {step:.6g} s, {motion.duration:.6g} s in all; joints"
            f" {comment_names(motion.labels)} [rad]"
        ),
        f"  # steelyard {__version__}; the move to the first point is not checked",
        f"  movej({_point(motion.q[0])}, {APPROACH})",
        "  sleep(0.5)",
        *(f"  servoj({_point(q)}, 0, 0, {step:.6g}, {LOOK_AHEAD}, {GAIN})" for q in motion.q[1:]),
        "  stopj(2.0)",
        "end",
        f"play_{title}()",
    ]
    return "\n".join(lines) + "\n"


def _point(q: np.ndarray) -> str:
    return "[" + ", ".join(f"{x:.7f}" for x in q) + "]"
