"""Search for faults of a log: hypotheses compared by their Bayesian evidence."""
