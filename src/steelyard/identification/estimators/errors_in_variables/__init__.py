"""Estimators that count the noise of positions, which is in the regressor, beside that of the torque."""
