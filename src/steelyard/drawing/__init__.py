"""Pictures, tables and HTML fragments from arrays and text alone."""
