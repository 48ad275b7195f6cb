"""The `opengui doctor` command: checks everything once, and says how to fix what is wrong."""

from bot.cli.doctor.look import doctor

__all__ = ["doctor"]
