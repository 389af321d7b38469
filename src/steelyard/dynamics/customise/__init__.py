"""Model transformations that keep the joint-space dynamics and need fewer constants."""
