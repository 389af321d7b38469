"""Estimators for noise in the positions, which enters the regressor, and in the torque."""
