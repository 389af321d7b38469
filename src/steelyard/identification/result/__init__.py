"""What an identification found: fit, validation, uncertainty, verdict."""
