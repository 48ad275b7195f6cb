"""One running command: its words, its input and what it says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from devices.virtual_phone.device import Device

OUT = 1
ERR = 2


@dataclass(slots=True)
class Output:
    """What a line wrote, in the order it was written: pairs of descriptor and bytes."""

    chunks: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, descriptor: int, data: bytes) -> None:
        """Adds bytes to standard output (1) or standard error (2)."""
        if data:
            self.chunks.append((descriptor, data))

    def of(self, *descriptors: int) -> bytes:
        """Everything written to these descriptors."""
        return b"".join(data for descriptor, data in self.chunks if descriptor in descriptors)


@dataclass(slots=True)
class Call:
    """A command with its arguments, expanded. `words[0]` is its name."""

    phone: Device
    words: tuple[str, ...]
    standard_input: bytes
    output: Output

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the name."""
        return self.words[1:]

    def say(self, text: str) -> None:
        """A line to standard output."""
        self.output.write(OUT, text.encode("utf-8", "surrogateescape") + b"\n")

    def complain(self, text: str) -> None:
        """A line to standard error."""
        self.output.write(ERR, text.encode("utf-8", "surrogateescape") + b"\n")

    def send(self, data: bytes) -> None:
        """Bytes to standard output."""
        self.output.write(OUT, data)


Command = Callable[[Call], Awaitable[int]]
"""A program: runs and gives its exit code."""

Family = dict[str, Command]
"""Programs by name."""
