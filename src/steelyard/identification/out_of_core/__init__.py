"""Out-of-core identification: each log is folded into factors, and only factors are merged."""
