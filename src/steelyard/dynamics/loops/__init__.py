"""Kinematic loops: closure residuals, and constrained dynamics."""
