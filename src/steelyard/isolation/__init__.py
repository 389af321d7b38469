"""Work that could end or exhaust the process, in one child process of its own."""
