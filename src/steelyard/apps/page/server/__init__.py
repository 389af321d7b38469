"""Access control of the page, and limits on requests and uploads."""
