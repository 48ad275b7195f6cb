"""Live video of a screen for a person who watches. Not every phone can give it: ask `isinstance(phone, Films)`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from devices.geometry import Size


@runtime_checkable
class Films(Protocol):
    """A phone that encodes its own screen."""

    def film(self, size: Size) -> AsyncGenerator[bytes]:
        """The screen as H.264: one access unit at a time (ITU-T H.264, 7.4.1.2.3), in the form of its Annex B, the
        first with its parameter sets. Units come when something on the screen moves, and end when the phone ends the
        recording, which Android does after three minutes.

        `size` is that of the screen as it is turned now; the video has the same shape and fits into 720×1600. A screen
        that is turned later is shown smaller inside of it. Closing the generator ends the recording. Nothing is written
        to the phone's storage. Raises PhoneGone, CaptureFailed when the phone records nothing.
        """
        ...
