"""From logs to samples: checked, smoothed, delayed, decimated."""
