"""`opengui setup`: asks for what is needed, tries each answer, and writes the settings file."""

from bot.cli.setup.conversation import setup

__all__ = ["setup"]
