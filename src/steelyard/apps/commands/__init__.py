"""One file per command. Each imports the library when it runs, so that `--help` answers at once."""
