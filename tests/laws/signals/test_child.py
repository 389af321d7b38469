"""Child: details of `child`."""

from __future__ import annotations

import signal

from steelyard.isolation.child import _why_ended


def test_a_reader_that_computes_too_long_is_told_from_one_that_crashes() -> None:
    assert "takes more than 5 s" in _why_ended(-signal.SIGXCPU, 5.0)
    assert "takes more than 5 s" in _why_ended(1, 5.0)
    assert "ended with SIGSEGV" in _why_ended(-signal.SIGSEGV, 5.0)
    assert "exit code 24" in _why_ended(int(signal.SIGXCPU), 5.0)
