"""The page: a robot, its logs and its identification in a browser, served to this machine alone."""
