"""What is built on an identification: excitation, and rehearsals on a simulated robot."""

from .excitation.excite import excite

__all__ = ["excite"]
