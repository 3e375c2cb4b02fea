"""The command line: `merlax COMMAND …`."""

from merlax.cli.main import main

__all__ = ["main"]
