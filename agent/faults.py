"""The closed set of things that go wrong, and the one place that gives each its words and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.files import FileLost
from agent.models.errors import ModelError, ModelKeyRejected, ModelUnreachable, NoVision, UnknownModel
from agent.outcome import Outcome
from agent.ports.journal import LeaseLost
from agent.ports.leases import NoPhone
from devices.errors import CaptureFailed, FileRejected, PhoneError, PhoneGone, PhoneTimeout, PhoneUnavailable


class FaultKind(StrEnum):
    """Where a fault comes from."""

    PHONE = "phone"
    MODEL = "model"
    CHAT = "chat"
    PERSON = "person"
    POLICY = "policy"
    BUDGET = "budget"
    STORAGE = "storage"
    BUG = "bug"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happened, what was not done, and what to do next: three sentences for a person."""

    kind: FaultKind
    happened: str
    not_done: str
    next: str
    outcome: Outcome = Outcome.FAILED

    @property
    def sentence(self) -> str:
        """All of it in one paragraph."""
        return " ".join(part for part in (self.happened, self.not_done, self.next) if part)


def fault_of(error: BaseException) -> Fault:
    """The fault that an exception stands for. An unknown one is a bug, and says so without its message."""
    stopped = "The task stopped there; nothing is repeated by itself."
    match error:
        case NoPhone():
            return Fault(FaultKind.PHONE, str(error), "The task was not started on a phone.", "", Outcome.BLOCKED)
        case LeaseLost():
            return Fault(
                FaultKind.PHONE,
                "Another run holds the phone now.",
                stopped,
                "Give the task again; it will queue.",
                Outcome.BLOCKED,
            )
        case FileLost():
            return Fault(
                FaultKind.STORAGE,
                str(error),
                "Nothing was done on the phone with it.",
                "Give the task again with the file.",
                Outcome.BLOCKED,
            )
        case FileRejected():
            return Fault(
                FaultKind.PHONE,
                str(error),
                "The task was not begun on the phone.",
                "Make room on the phone, or give the task without the file.",
                Outcome.BLOCKED,
            )
        case PhoneUnavailable():
            return Fault(FaultKind.PHONE, str(error), stopped, "Then give the task again.", Outcome.BLOCKED)
        case PhoneGone():
            return Fault(
                FaultKind.PHONE,
                f"The phone was lost: {error}",
                "The last action may or may not have arrived; it was not sent again.",
                "Check the cable and `devices`, then give the task again.",
                Outcome.BLOCKED,
            )
        case CaptureFailed():
            return Fault(FaultKind.PHONE, f"No picture came from the phone: {error}", stopped, "See `opengui doctor`.")
        case PhoneTimeout():
            return Fault(
                FaultKind.PHONE,
                f"The phone did not answer in time: {error}",
                stopped,
                "See `opengui doctor`.",
            )
        case PhoneError():
            return Fault(FaultKind.PHONE, str(error), stopped, "See `opengui doctor`.")
        case ModelKeyRejected():
            return Fault(
                FaultKind.MODEL,
                str(error),
                stopped,
                "Set VLM_API_KEY (or BASIC_API_KEY, REASONING_API_KEY) and start again.",
                Outcome.BLOCKED,
            )
        case UnknownModel():
            return Fault(FaultKind.MODEL, str(error), stopped, "Check VLM_MODEL and VLM_BASE_URL.", Outcome.BLOCKED)
        case NoVision():
            return Fault(
                FaultKind.MODEL,
                str(error),
                stopped,
                "Choose a model that takes pictures in VLM_MODEL.",
                Outcome.BLOCKED,
            )
        case ModelUnreachable():
            return Fault(FaultKind.MODEL, str(error), stopped, "Try again in a few minutes.")
        case ModelError():
            return Fault(FaultKind.MODEL, str(error), stopped, "Try again, or choose another model.")
        case OSError():
            return Fault(
                FaultKind.STORAGE,
                f"The data directory could not be used: {error.strerror or type(error).__name__}.",
                stopped,
                "Check disk space and file rights.",
            )
        case _:
            return Fault(
                FaultKind.BUG,
                f"Something in the program went wrong ({type(error).__name__}).",
                stopped,
                "The log has the details; please report it.",
            )
