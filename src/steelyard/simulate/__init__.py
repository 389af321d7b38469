"""Made-up measurements that behave like real ones: hidden true robots, sensor models, synthetic logs."""

from .record import record
from .sensors import Sensors
from .truth import hidden

__all__ = ["Sensors", "hidden", "record"]
