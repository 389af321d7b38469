"""Mutants: bugs planted into the source one at a time, and the tests that notice them (`python -m benchmarks.mutants`)."""
