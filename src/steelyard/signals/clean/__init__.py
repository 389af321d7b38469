"""Find and mend the faults of a log: time stamps, holes, delays, transmissions."""
