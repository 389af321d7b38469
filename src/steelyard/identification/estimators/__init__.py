"""From a problem to an estimate: one estimator a file, one contract for all."""
