"""Elastic joints: stiffness and damping beside a rigid model."""
