"""What sensors make of true motions: logs."""
