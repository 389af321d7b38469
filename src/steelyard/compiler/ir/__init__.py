"""The expression graph: nodes, rewrite rules, programs, exact derivatives."""
