"""`opengui doctor`: looks at everything once, and says how to mend what is wrong."""

from bot.cli.doctor.look import doctor

__all__ = ["doctor"]
