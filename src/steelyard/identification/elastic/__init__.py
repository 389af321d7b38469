"""Elastic joints: stiffness and damping in addition to a rigid model."""
