"""TOML: Denavit-Hartenberg tables and the general form, read and written."""
