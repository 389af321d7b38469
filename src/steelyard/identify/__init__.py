"""From logs to a model: problems, the accumulator, estimators, frozen results, validation, doctor."""
