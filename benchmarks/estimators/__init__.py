"""Estimators compared: true torque error over noise, filters and controllers (`python -m benchmarks.estimators`)."""
