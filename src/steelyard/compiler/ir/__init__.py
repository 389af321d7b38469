"""The expression graph: nodes, rewrites, programs, exact derivatives."""
