"""Why the console could not be opened; each text is for the person who runs the service."""

from __future__ import annotations


class ConsoleError(Exception):
    """The console could not be opened. The service goes on without it."""


class ConsoleHostRefused(ConsoleError):
    """CONSOLE_HOST would open the console to other machines."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"CONSOLE_HOST={host} would open the console to other machines, and it has no sign-in for them: it was "
            "not started. Set CONSOLE_HOST=127.0.0.1 and reach it from elsewhere through an SSH tunnel."
        )


class ConsolePortInUse(ConsoleError):
    """Another program listens on CONSOLE_PORT."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"The console was not started: port {port} on {host} is in use by another program. "
            "Set CONSOLE_PORT to a free port (0 takes any) and start the service again."
        )
