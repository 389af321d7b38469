"""What people run: the command line. Parse, call, show; no mathematics."""
