"""The kinds of faults, and the one place that turns an exception into sentences for people and an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agent.models.errors import ModelError
from agent.models.state import ABOUT_THE_REQUEST, Cause
from agent.ports.journal import LeaseLost
from agent.ports.leases import NoPhone, PhoneLeft
from agent.ports.stores import FileLost
from agent.run import Outcome
from agent.wording import paragraph, sentence
from devices.errors import (
    CaptureFailed,
    FileRejected,
    NoMemory,
    PhoneError,
    PhoneGone,
    PhoneTimeout,
    PhoneUnavailable,
)
from devices.wording import Words, said, sentence_of


class FaultKind(StrEnum):
    """The part of the system in which a fault occurred."""

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
    """A fault, as sentences for people: what happened, what was therefore not done, and what to do next."""

    kind: FaultKind
    happened: str
    not_done: str
    next: str
    outcome: Outcome = Outcome.FAILED

    @property
    def sentence(self) -> str:
        """All sentences of the fault as one paragraph."""
        return paragraph(self.happened, self.not_done, self.next)

    def data(self) -> dict[str, str]:
        """Return the fault as plain data, for the state of a graph."""
        return {"kind": self.kind.value, "outcome": self.outcome.value, "summary": self.sentence}


BY_PERSON: Final = Fault(FaultKind.PERSON, "", "", "", Outcome.CANCELLED)
"""The end of work that a person cancelled, which needs no words."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How faults of one sort end. `name` is the prefix of the kinds of their sentences."""

    name: str
    kind: FaultKind
    outcome: Outcome = Outcome.FAILED
    begun: bool = True
    """Whether the task was already working; otherwise the fault's own sentence says what was not done."""


_FORMS: tuple[tuple[type[BaseException], _Form], ...] = (
    (PhoneLeft, _Form("no_phone", FaultKind.PHONE, Outcome.BLOCKED)),
    (NoPhone, _Form("no_phone", FaultKind.PHONE, Outcome.BLOCKED, begun=False)),
    (LeaseLost, _Form("lease_lost", FaultKind.PHONE, Outcome.BLOCKED)),
    (FileLost, _Form("file_lost", FaultKind.STORAGE, Outcome.BLOCKED, begun=False)),
    (FileRejected, _Form("file_rejected", FaultKind.PHONE, Outcome.BLOCKED, begun=False)),
    (PhoneUnavailable, _Form("phone_unavailable", FaultKind.PHONE, Outcome.BLOCKED)),
    (PhoneGone, _Form("phone_gone", FaultKind.PHONE, Outcome.BLOCKED, begun=False)),
    (NoMemory, _Form("no_memory", FaultKind.STORAGE, Outcome.BLOCKED)),
    (MemoryError, _Form("no_memory", FaultKind.STORAGE, Outcome.BLOCKED)),
    (CaptureFailed, _Form("no_picture", FaultKind.PHONE)),
    (PhoneTimeout, _Form("phone_silent", FaultKind.PHONE)),
    (PhoneError, _Form("phone", FaultKind.PHONE)),
    (OSError, _Form("storage", FaultKind.STORAGE)),
)
"""The form for each exception type; the first match counts."""
_BUG = _Form("bug", FaultKind.BUG)


def fault_of(error: BaseException) -> Fault:
    """Return the fault for an exception. An exception of an unknown type is reported as a bug, without its message."""
    if isinstance(error, ModelError):
        # If no endpoint answers, the task is blocked; if only one request was refused, it has failed.
        outcome = Outcome.FAILED if error.cause in ABOUT_THE_REQUEST else Outcome.BLOCKED
        return Fault(FaultKind.MODEL, said(sentence_of(error)), sentence("fault.stopped"), remedy(error.cause), outcome)
    form = next((form for sort, form in _FORMS if isinstance(error, sort)), _BUG)
    why = _why(error, form)
    whole = form.name == "storage" and isinstance(why, Words)  # what the system says is no sentence for people
    happened = said(why) if whole else sentence(f"fault.{form.name}.happened", why=why)
    not_done = sentence("fault.stopped") if form.begun else sentence(f"fault.{form.name}.not_done")
    then = "" if whole or form.name == "no_phone" else sentence(f"fault.{form.name}.next")
    return Fault(form.kind, happened, not_done, then, form.outcome)


def remedy(cause: Cause) -> str:
    """Return a sentence for people about what helps against this cause of a model's failure."""
    return sentence(f"remedy.{cause}")


def _why(error: BaseException, form: _Form) -> str:
    """Return the reason for a fault; for errors that may contain paths or code, only their type or short text."""
    if form is _BUG:
        return type(error).__name__
    if isinstance(error, OSError) and form.name == "storage":
        return error.strerror or type(error).__name__
    return sentence_of(error)
