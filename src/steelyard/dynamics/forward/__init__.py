"""From torques to accelerations: by articulated bodies, through the mass matrix, and with a base that nothing holds."""
