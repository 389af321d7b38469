"""What is built on an identification: excitation, and rehearsals of an experiment with a known truth."""

from .excitation.excite import excite

__all__ = ["excite"]
