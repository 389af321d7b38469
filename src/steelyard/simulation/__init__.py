"""Made-up measurements that behave like real ones: hidden true robots, sensor models, synthetic logs."""

from .perturbed import hidden
from .record import record
from .sensors import Sensors

__all__ = ["Sensors", "hidden", "record"]
