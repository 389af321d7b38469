"""From a problem to an estimate: the estimators, and what is estimated around them (delay, shapes of friction, drive gains)."""
