"""The version, in one place.

Read by the package metadata, the command line and the headers of generated code.
"""

__version__ = "0.1.0"
