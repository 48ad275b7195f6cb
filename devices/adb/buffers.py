"""Room for the bytes of pictures: a few pieces of memory that are used again.

A raw picture has ten megabytes, and a run takes several in a second. To get that memory from the system each time costs
more than to read the picture, and with many phones at once it would be hundreds of megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 4
"""Pictures that are received at the same time; the others wait in their sockets. More cores than that are rare."""
STEP = 4 * 1024 * 1024
"""By so many bytes a piece grows that is too small."""


class Buffers:
    """Lends out at most `MOST` pieces at a time."""

    def __init__(self) -> None:
        self._turn = threading.BoundedSemaphore(MOST)
        self._idle: list[bytearray] = []

    @contextmanager
    def lent(self, timeout: float) -> Iterator[bytearray]:
        """One piece, of any size, for this thread. Raises TimeoutError when none is free for so many seconds."""
        if not self._turn.acquire(timeout=timeout):
            raise TimeoutError
        piece = self._idle.pop() if self._idle else bytearray(STEP)
        try:
            yield piece
        finally:
            self._idle.append(piece)
            self._turn.release()


def fill(piece: bytearray, first: bytes, receive: Callable[[memoryview], int], most: int) -> int:
    """Writes `first` and then all that `receive` gives (0 at the end) into the piece, which grows; the length.

    It ends as soon as there are more bytes than `most`: the piece is kept, and must not grow for ever.
    """
    length = len(first)
    if length > len(piece):
        piece.extend(bytes(length - len(piece)))
    piece[:length] = first
    while True:
        if length == len(piece):
            piece.extend(bytes(STEP))
        with memoryview(piece) as whole, whole[length:] as room:
            taken = receive(room)
        length += taken
        if not taken or length > most:
            return length
