"""`python -m steelyard` is the command line."""

from __future__ import annotations

from .apps.cli import main

if __name__ == "__main__":
    main()
