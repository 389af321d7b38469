"""Forward dynamics: by articulated bodies, through the mass matrix, and with a free base."""
