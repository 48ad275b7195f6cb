"""The `opengui setup` command: asks for the settings, tries each answer, and writes the settings file."""

from bot.cli.setup.conversation import setup

__all__ = ["setup"]
