"""Everything a phone can fail with.

PhoneError
├── PhoneGone            cable out, adb server or daemon away, or the link offline: it may come back
├── PhoneUnavailable     there, but not usable (unauthorized, no permission)
│   └── PhoneTaken       another service works on it
├── PhoneTimeout         did not answer within its limit
├── CommandFailed        a program of the phone has told of a fault in place of an answer
├── CaptureFailed        no usable picture came
│   └── NoMemory         there is no memory here for one
├── InputRejected        the input cannot be done; nothing was sent
│   ├── UnknownApp       no installed app has that name
│   ├── AmbiguousApp     several have
│   ├── ScreenChanged    another window came up, or the phone was turned, since it was looked at
│   └── UntypableText    this phone has no way to type that text
├── FileRejected         a file that could not be moved
├── PairingFailed        a phone in the network that did not take the code, or does not answer
├── NameTaken            another phone has this name
└── NameUnfit            no name for a phone
"""

from __future__ import annotations


class PhoneError(Exception):
    """A phone could not do what was asked.

    `uncertain` tells that an input may have reached the phone all the same: look again, never repeat.
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
    """The phone is known to adb but cannot be used; the message says why and how to mend it."""


class PhoneTaken(PhoneUnavailable):
    """Another service works on the phone now."""


class PhoneTimeout(PhoneError):
    """The phone did not answer within the time limit."""

    uncertain = True


class CommandFailed(PhoneError):
    """A program of the phone has failed, so what was asked is not known."""


class CaptureFailed(PhoneError):
    """No picture, a broken one, or one of no size."""


class NoMemory(CaptureFailed):
    """There is no memory on our side for a picture, which takes 10 MB and more; it may have some later."""


class InputRejected(PhoneError):
    """The input is impossible; nothing was sent to the phone."""


class UnknownApp(InputRejected):
    """No installed app has this name."""


class AmbiguousApp(InputRejected):
    """More than one installed app fits the name; the message lists them."""


class ScreenChanged(InputRejected):
    """The screen is not the one that the input was meant for."""


class UntypableText(InputRejected):
    """No way to type this text on this phone."""


class FileRejected(PhoneError):
    """A file could not be moved to or from the phone."""


class PairingFailed(PhoneError):
    """A phone in the network could not be paired with or connected to."""


class NameTaken(PhoneError):
    """Another phone is called that already."""


class NameUnfit(PhoneError):
    """A text that cannot be the name of a phone."""
