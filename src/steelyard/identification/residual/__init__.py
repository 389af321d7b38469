"""The learned residual: torque that the identified model misses, learned where it helps."""
