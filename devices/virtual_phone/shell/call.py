"""One running program of the phone's shell: its words, its input and its output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from devices.virtual_phone.device import Device

OUT = 1
ERR = 2


@dataclass(slots=True)
class Output:
    """The output of a command line, in order: pairs of a file descriptor (1 or 2) and bytes."""

    chunks: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, descriptor: int, data: bytes) -> None:
        """Append bytes to standard output (1) or standard error (2)."""
        if data:
            self.chunks.append((descriptor, data))

    def of(self, *descriptors: int) -> bytes:
        """Return all bytes written to these file descriptors (1, 2)."""
        return b"".join(data for descriptor, data in self.chunks if descriptor in descriptors)


@dataclass(slots=True)
class Call:
    """A running program with its arguments. `words[0]` is its name."""

    phone: Device
    words: tuple[str, ...]
    standard_input: bytes
    output: Output

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the command's name."""
        return self.words[1:]

    def say(self, text: str) -> None:
        """Write a line to standard output."""
        self.output.write(OUT, text.encode("utf-8", "surrogateescape") + b"\n")

    def complain(self, text: str) -> None:
        """Write a line to standard error."""
        self.output.write(ERR, text.encode("utf-8", "surrogateescape") + b"\n")

    def send(self, data: bytes) -> None:
        """Write bytes to standard output."""
        self.output.write(OUT, data)


Command = Callable[[Call], Awaitable[int]]
"""A program: runs a call and returns its exit code."""

Family = dict[str, Command]
"""A set of programs by name."""
