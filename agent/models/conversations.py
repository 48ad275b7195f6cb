"""What an endpoint holds of each conversation, and what is new for it in the next request."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.models.base import Message, Model, ModelReply
from agent.picture import IMAGE_REMOVED, ImagePart

MOST_CONVERSATIONS = 64
"""Conversations that are followed at once; more than there are phones. The one unused for longest goes first."""


@runtime_checkable
class _Keeping(Protocol):
    @property
    def keeps_conversation(self) -> bool: ...

    def end_conversation(self, conversation: str, /) -> None: ...


def keeps_conversation(model: Model) -> bool:
    """Whether the model's endpoint keeps what it was sent, so that only what is new has to be said."""
    return model.keeps_conversation if isinstance(model, _Keeping) else False


def end_conversation(model: Model, conversation: str) -> None:
    """Have the endpoint delete what it keeps of a conversation that is over; not waited for."""
    if isinstance(model, _Keeping):
        model.end_conversation(conversation)


@dataclass(frozen=True, slots=True)
class Held:
    """A response at an endpoint, and everything that it builds on.

    `seen` are digests of the messages sent, so that no picture stays in memory.
    """

    response: str
    seen: tuple[bytes, ...]
    answer: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What to send: `messages` after the response `previous`, whose tool `calls` still want an output.

    `previous` is "" when the conversation is sent in full; `stale` are stored responses that lead nowhere then.
    """

    messages: tuple[Message, ...]
    previous: str = ""
    calls: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class Conversations:
    """The conversations at one endpoint: for each the stored responses, from the first to the last."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[Held, ...]] = OrderedDict()

    def next_turn(self, conversation: str, messages: tuple[Message, ...]) -> Turn:
        """Only what is new after the last response that these messages go on from; all where there is none.

        An answer to a screen that was gone before it was done is left: the conversation branches before it.
        """
        held = self._held.get(conversation, ())
        digested = digests(messages)
        for number in range(len(held), 0, -1):
            if (rest := _rest(held[number - 1], messages, digested)) is not None:
                stale = tuple(each.response for each in held[number:])
                return Turn(rest, held[number - 1].response, held[number - 1].calls, stale)
        return Turn(messages, stale=tuple(each.response for each in held))

    def answered(
        self, conversation: str, messages: tuple[Message, ...], turn: Turn, response: str, reply: ModelReply
    ) -> tuple[str, ...]:
        """Remember a stored response to this turn. Returns the stored responses that nobody needs any more."""
        held = self._held.pop(conversation, ())
        calls = tuple(call.id for call in reply.tool_calls)
        kept = tuple(each for each in held if turn.previous and each.response not in turn.stale)
        self._held[conversation] = (*kept, Held(response, digests(messages), reply.text, calls))
        if len(self._held) <= MOST_CONVERSATIONS:
            return turn.stale
        _, oldest = self._held.popitem(last=False)
        return (*turn.stale, *(each.response for each in oldest))

    def lost(self, conversation: str) -> tuple[str, ...]:
        """The endpoint cannot continue the conversation. Returns the responses that it may still keep."""
        return tuple(each.response for each in self._held.pop(conversation, ()))

    def all_kept(self) -> tuple[str, ...]:
        """Every stored response; nothing is followed any more."""
        kept = tuple(each.response for held in self._held.values() for each in held)
        self._held.clear()
        return kept


def _rest(held: Held, messages: tuple[Message, ...], digested: tuple[bytes, ...]) -> tuple[Message, ...] | None:
    """What these messages say after a response and all that it builds on; None where they do not go on from it."""
    if digested[: len(held.seen)] != held.seen:
        return None
    rest = messages[len(held.seen) :]
    if rest and rest[0].role == "assistant":
        # The endpoint has its own answer. With tool calls the caller tells it in words of its own.
        if not held.calls and _text(rest[0]) != held.answer.strip():
            return None
        rest = rest[1:]
    return rest or None


def digests(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """One digest a message; equal messages have equal ones, whatever has become of their pictures since: of a past one
    fewer bytes or none may be sent, and the endpoint has it as it was.
    """
    return tuple(_digest(message) for message in messages)


def _digest(message: Message) -> bytes:
    digest = hashlib.sha256(message.role.encode())
    for call in message.calls:
        digest.update(f"\0call {call.id}\0{call.name}\0{call.arguments}".encode())
    digest.update(message.call_id.encode())
    for part in message.parts:
        data = IMAGE_REMOVED.encode() if isinstance(part, ImagePart) else part.encode()
        digest.update(f"\0{len(data)}\0".encode())
        digest.update(data)
    return digest.digest()


def _text(message: Message) -> str:
    return "\n".join(part for part in message.parts if isinstance(part, str)).strip()
