"""The claims, measured: `python -m benchmarks` from the project's folder, with the test dependencies installed."""
