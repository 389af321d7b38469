"""Calls that may crash or exhaust memory, made in a child process."""
