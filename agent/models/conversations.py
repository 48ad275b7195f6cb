"""Tracks what an endpoint stores of each conversation, and what is new for it in the next request."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.models.base import Message, Model, ModelReply
from agent.picture import IMAGE_REMOVED, ImagePart

MOST_CONVERSATIONS = 64
"""How many conversations are tracked; more than there are phones. The least recently used one goes first."""


@runtime_checkable
class _Keeping(Protocol):
    @property
    def keeps_conversation(self) -> bool: ...

    def end_conversation(self, conversation: str, /) -> None: ...


def keeps_conversation(model: Model) -> bool:
    """Whether the model's endpoint stores what it was sent, so that only new messages must be sent."""
    return model.keeps_conversation if isinstance(model, _Keeping) else False


def end_conversation(model: Model, conversation: str) -> None:
    """Have the endpoint delete, in the background, what it stored of a conversation that is over."""
    if isinstance(model, _Keeping):
        model.end_conversation(conversation)


@dataclass(frozen=True, slots=True)
class Held:
    """A response stored at an endpoint, and everything that it builds on.

    `seen` are digests of the messages sent, so that no picture stays in memory.
    """

    response: str
    seen: tuple[bytes, ...]
    answer: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What to send: `messages` after the response `previous`, whose tool `calls` still need an output.

    `previous` is "" if the conversation is sent in full. `stale` are stored responses that are then useless.
    """

    messages: tuple[Message, ...]
    previous: str = ""
    calls: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class Conversations:
    """The conversations at one endpoint, each with its stored responses from first to last."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[Held, ...]] = OrderedDict()

    def next_turn(self, conversation: str, messages: tuple[Message, ...]) -> Turn:
        """Return what is new after the last stored response that these messages continue; all of them if there is none.

        An answer that was abandoned because its screen changed is skipped: the conversation branches before it.
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
        """Record a stored response to this turn, and return the stored responses that are no longer needed."""
        held = self._held.pop(conversation, ())
        calls = tuple(call.id for call in reply.tool_calls)
        kept = tuple(each for each in held if turn.previous and each.response not in turn.stale)
        self._held[conversation] = (*kept, Held(response, digests(messages), reply.text, calls))
        if len(self._held) <= MOST_CONVERSATIONS:
            return turn.stale
        _, oldest = self._held.popitem(last=False)
        return (*turn.stale, *(each.response for each in oldest))

    def lost(self, conversation: str) -> tuple[str, ...]:
        """Forget a conversation that the endpoint cannot continue, and return the responses it may still store."""
        return tuple(each.response for each in self._held.pop(conversation, ()))

    def all_kept(self) -> tuple[str, ...]:
        """Forget all conversations and return every stored response."""
        kept = tuple(each.response for held in self._held.values() for each in held)
        self._held.clear()
        return kept


def _rest(held: Held, messages: tuple[Message, ...], digested: tuple[bytes, ...]) -> tuple[Message, ...] | None:
    """Return the messages after a response and all it builds on; None if they do not continue it."""
    if digested[: len(held.seen)] != held.seen:
        return None
    rest = messages[len(held.seen) :]
    if rest and rest[0].role == "assistant":
        # The endpoint has its own answer. For tool calls, the caller's message has other words.
        if not held.calls and _text(rest[0]) != held.answer.strip():
            return None
        rest = rest[1:]
    return rest or None


def digests(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """Return one digest for each message. Equal messages have equal digests whatever became of their pictures: a past
    picture may be sent with fewer bytes or not at all, and the endpoint has the original.
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
