"""A robot watched while it works: recursive identification, change detection, collisions, and the live sources they read."""
