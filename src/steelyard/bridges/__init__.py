"""A robot's functions for other libraries: CasADi's optimal control, and the learning of JAX and PyTorch, with exact derivatives."""
