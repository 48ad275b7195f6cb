"""The command line: `opengui`."""

from bot.cli.main import main

__all__ = ["main"]
