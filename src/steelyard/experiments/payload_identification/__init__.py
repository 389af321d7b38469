"""The mass, centre and inertia of what a robot carries, from its torques with and without it."""
