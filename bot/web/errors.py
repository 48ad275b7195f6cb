"""The errors for a console that cannot be opened. Their texts are for the person who runs the service."""

from __future__ import annotations


class ConsoleError(Exception):
    """The console could not be opened. The service runs without it."""


class ConsoleHostRefused(ConsoleError):
    """CONSOLE_HOST or CONSOLE_URL would open the console to other machines without a sign-in."""

    def __init__(self, host: str, url: str = "") -> None:
        setting = f"CONSOLE_URL={url}" if url else f"CONSOLE_HOST={host}"
        super().__init__(
            f"{setting} would open the console to other machines, and no password is set for them: it was not "
            "started. Set CONSOLE_PASSWORD to what `opengui password` prints. Or set CONSOLE_HOST=127.0.0.1 without "
            "CONSOLE_URL, and reach it from elsewhere through an SSH tunnel."
        )


class ConsoleAddressMissing(ConsoleError):
    """The settings name no usable address at which people open the console."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The console was not started: {why}. Set CONSOLE_URL to the address that people open, such as "
            "https://phones.example.org."
        )


class ConsolePasswordUnfit(ConsoleError):
    """CONSOLE_PASSWORD is neither a usable password nor a valid hash of one."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The console was not started: CONSOLE_PASSWORD cannot be used, {why}. Set it to what `opengui password` "
            "prints."
        )


class ConsolePortInUse(ConsoleError):
    """Another program listens on CONSOLE_PORT."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"The console was not started: port {port} on {host} is in use by another program. "
            "Set CONSOLE_PORT to a free port (0 takes any) and start the service again."
        )
