"""Choices by held-out torque: smoothing of the samples, and the model that predicts torques."""
