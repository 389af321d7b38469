"""Benchmarks of the claimed speeds: `python -m benchmarks`, with the test dependencies."""
