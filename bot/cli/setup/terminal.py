"""The border to the person at the keyboard."""

from __future__ import annotations

import getpass
import sys
from typing import Protocol


class Terminal(Protocol):
    """Somebody who is asked and told, line by line."""

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        """The answer without blanks around it. A secret is not shown while it is typed. Raises EOFError."""
        ...

    def tell(self, text: str) -> None:
        """Show a line."""
        ...


class Keyboard:
    """The real one. Without a terminal (a pipe) lines are read as they come."""

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        """See Terminal."""
        if secret and sys.stdin.isatty():
            return getpass.getpass(prompt).strip()
        return input(prompt).strip()

    def tell(self, text: str) -> None:
        """See Terminal."""
        print(text, flush=True)
