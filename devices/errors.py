"""All errors that a phone can raise.

PhoneError
├── PhoneGone            unplugged, adb server or daemon away, or link offline; it may return
├── PhoneUnavailable     attached but not usable (unauthorized, no permission)
│   └── PhoneTaken       another service is using it
├── PhoneTimeout         no answer within the time limit
├── CommandFailed        a program on the phone reported an error instead of an answer
├── CaptureFailed        no usable picture arrived
│   └── NoMemory         the service has no memory left for a picture
├── InputRejected        the input is impossible, and it had no effect
│   ├── UnknownApp       no installed app has that name
│   ├── AmbiguousApp     several installed apps fit the name
│   ├── ScreenChanged    the screen is no longer the one that was looked at
│   └── UntypableText    this phone cannot type that text
├── FileRejected         a file could not be transferred or moved
├── PairingFailed        a network phone refused the code or did not answer
├── NameTaken            another phone has this name
└── NameUnfit            the text cannot be a phone name
"""

from __future__ import annotations


class PhoneError(Exception):
    """A phone could not do what was asked.

    If `uncertain` is True, the input may have reached the phone anyway: observe the phone again, and never repeat the
    input.
    """

    uncertain = False

    def __init__(self, message: str, *, uncertain: bool | None = None) -> None:
        super().__init__(message)
        if uncertain is not None:
            self.uncertain = uncertain


class PhoneGone(PhoneError):
    """The link to the phone is lost."""

    uncertain = True


class PhoneUnavailable(PhoneError):
    """The phone is known to adb but cannot be used; the message says why and what to do about it."""


class PhoneTaken(PhoneUnavailable):
    """Another service is using the phone now."""


class PhoneTimeout(PhoneError):
    """The phone did not answer within the time limit."""

    uncertain = True


class CommandFailed(PhoneError):
    """A program on the phone reported an error instead of an answer."""


class CaptureFailed(PhoneError):
    """The phone sent no picture, a broken one, or one without a size."""


class NoMemory(CaptureFailed):
    """The service has not enough memory for a picture (10 MB or more). Later it may have."""


class InputRejected(PhoneError):
    """The input is impossible, and it had no effect."""


class UnknownApp(InputRejected):
    """No installed app has this name."""


class AmbiguousApp(InputRejected):
    """More than one installed app fits the name; the message lists them."""


class ScreenChanged(InputRejected):
    """The screen is no longer the one that the input was meant for."""


class UntypableText(InputRejected):
    """The phone has no way to type this text."""


class FileRejected(PhoneError):
    """A file could not be moved to or from the phone."""


class PairingFailed(PhoneError):
    """Pairing with or connecting to a phone on the network failed."""


class NameTaken(PhoneError):
    """Another phone already has this name."""


class NameUnfit(PhoneError):
    """The text cannot be used as the name of a phone."""
