"""KRL programs for KUKA controllers: a timed PTP spline through axis positions."""

from __future__ import annotations

import re

import numpy as np

from ...errors import CallError
from ...files import Content
from ...names import comment_names, program_comment, program_identifier
from ...version import __version__
from .sampled_motion import SampledMotion

AXES = 6
LONGEST = 24  # characters of a module's name
KEYWORDS = frozenset(re.findall(r"\w+", """
    AND ANIN ANOUT ANY AXIS B_AND B_EXOR B_NOT B_OR BAS BOOL BRAKE C_DIS C_ORI C_PTP C_SPL C_VEL
    CASE CAST_FROM CAST_TO CHANNEL CHAR CIRC CIRC_REL CONFIRM CONST CONTINUE COPEN DEC DECL DEF
    DEFAULT DEFDAT DEFFCT DELAY DIGIN DIGOUT DISTANCE DO E6AXIS E6POS ELSE END ENDDAT ENDFCT ENDFOR
    ENDIF ENDLOOP ENDSPLINE ENDSWITCH ENDWHILE ENUM EXIT EXOR EXT EXTFCT FALSE FOR FRAME GLOBAL GO
    GOTO HALT IF IMPORT INI INT INTERRUPT INVERSE IS LIN LIN_REL LOOP MAXIMUM MINIMUM NOT OFF ON OR
    PATH POS PRIO PTP PTP_REL PTP_SPLINE PUBLIC PULSE REAL REPEAT RESUME RETURN SCIRC SEC SIGNAL
    SLIN SPL SPLINE SPTP SREAD STRUC SWITCH SWRITE SYNC THEN TIME_BLOCK TO TRIGGER TRUE UNTIL WAIT
    WHEN WHILE
"""))  # fmt: skip
APPROACH = 10  # percent of the axes' speed on the move to the first point


def krl(motion: SampledMotion, name: str) -> Content:
    """Return a PTP_SPLINE block of SPTP points in degrees as axes A1 to A6.

    A TIME_BLOCK gives each part its share of the duration.

    The axes have the signs and zeros of the robot's description. KUKA System Software 8.3,
    Operating and Programming Instructions for System Integrators, sections on PTP spline blocks and
    TIME_BLOCK.
    """
    if motion.n > AXES:
        raise CallError(
            f"KRL has the axes A1 to A{AXES}, and this motion has {motion.n} joints:"
            f" {', '.join(motion.labels)}"
        )
    if motion.sliding:
        raise CallError(f"KRL axes are written in degrees, and {', '.join(motion.sliding)} slides")
    title = program_identifier(name, LONGEST, KEYWORDS)
    parts = 100.0 * np.diff(motion.t) / motion.duration
    body = (
        f"  SPTP {_point(q)}\n  TIME_BLOCK PART = {part:.6g}\n"
        for q, part in zip(motion.q[1:-1], parts[:-1], strict=True)
    )
    last = f"  SPTP {_point(motion.q[-1])}\n  TIME_BLOCK END = {motion.duration:.6g}\n"
    axes = f"{comment_names(motion.labels)} as A1 to A{motion.n}"
    head = (
        f"&COMMENT {program_comment(motion.safety.line)}\n&ACCESS RVP\nDEF {title}()\n"
        f"; {len(motion.t)} points, {motion.duration:.6g} s; {axes}\n"
        f"; steelyard {__version__}; the move to the first point is not checked\n"
        f"BAS(#INITMOV, 0)\nBAS(#VEL_PTP, {APPROACH})\nPTP {_point(motion.q[0])}\n"
    )
    return (
        f"{head}PTP_SPLINE\n  SPTP {_point(motion.q[0])}\n  TIME_BLOCK"
        f" START\n{''.join(body)}{last}ENDSPLINE\nEND\n"
    )


def _point(q: np.ndarray) -> str:
    return "{" + ", ".join(f"A{i + 1} {x:.6f}" for i, x in enumerate(np.degrees(q))) + "}"
