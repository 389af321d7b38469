"""A robot's functions for CasADi, JAX and PyTorch, with exact derivatives."""
