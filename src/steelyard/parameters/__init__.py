"""The vector of dynamic parameters: what can be seen of it, how it groups, what a real body allows."""
