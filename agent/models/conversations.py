"""Tracks what an endpoint has stored of each conversation, so that only new messages have to be sent."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.models.base import Message, Model, ModelReply
from agent.scene import IMAGE_REMOVED, ImagePart

MOST_CONVERSATIONS = 64
"""How many conversations are tracked, more than there are phones. Beyond that, the least recently used one is
dropped.
"""


@runtime_checkable
class _Keeping(Protocol):
    @property
    def keeps_conversation(self) -> bool: ...

    def end_conversation(self, conversation: str, /) -> None: ...


def keeps_conversation(model: Model) -> bool:
    """Whether the model's endpoint stores the conversation, so that only new messages must be sent; also true as long
    as that is unknown.
    """
    return model.keeps_conversation if isinstance(model, _Keeping) else False


def end_conversation(model: Model, conversation: str) -> None:
    """Delete, in the background, what the model's endpoint has stored of a conversation that is over."""
    if isinstance(model, _Keeping):
        model.end_conversation(conversation)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response that an endpoint has stored, and everything that it builds on.

    `response` is its id, `answer` its text, and `calls` are the ids of its tool calls. `seen` are digests of the
    messages sent up to it, so that no picture stays in memory.
    """

    response: str
    seen: tuple[bytes, ...]
    answer: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What to send next in a conversation: `messages`, after the stored response `previous`.

    `previous` is "" if the conversation is sent in full. `calls` are the ids of tool calls in that response that still
    need an output. `obsolete` are ids of stored responses that are useless from then on.
    """

    messages: tuple[Message, ...]
    previous: str = ""
    calls: tuple[str, ...] = ()
    obsolete: tuple[str, ...] = ()


class Conversations:
    """The conversations at one endpoint, each with its stored responses from first to last."""

    def __init__(self) -> None:
        self._stored: OrderedDict[str, tuple[StoredResponse, ...]] = OrderedDict()

    def next_turn(self, conversation: str, messages: tuple[Message, ...]) -> Turn:
        """Return what has to be sent: the messages after the last stored response that they continue, or all of them.

        An answer that was dropped because its screen changed is skipped: the conversation branches before it.
        """
        held = self._stored.get(conversation, ())
        digested = digests(messages)
        for number in range(len(held), 0, -1):
            if (rest := _rest(held[number - 1], messages, digested)) is not None:
                stale = tuple(each.response for each in held[number:])
                return Turn(rest, held[number - 1].response, held[number - 1].calls, stale)
        return Turn(messages, obsolete=tuple(each.response for each in held))

    def record_answer(
        self, conversation: str, messages: tuple[Message, ...], turn: Turn, response: str, reply: ModelReply
    ) -> tuple[str, ...]:
        """Record that the endpoint has stored the response with this id to this turn. Returns the ids of stored
        responses that are no longer needed.
        """
        held = self._stored.pop(conversation, ())
        calls = tuple(call.id for call in reply.tool_calls)
        kept = tuple(each for each in held if turn.previous and each.response not in turn.obsolete)
        self._stored[conversation] = (*kept, StoredResponse(response, digests(messages), reply.text, calls))
        if len(self._stored) <= MOST_CONVERSATIONS:
            return turn.obsolete
        _, oldest = self._stored.popitem(last=False)
        return (*turn.obsolete, *(each.response for each in oldest))

    def forget(self, conversation: str) -> tuple[str, ...]:
        """Forget a conversation that the endpoint cannot continue. Returns the ids of responses that it may still
        store.
        """
        return tuple(each.response for each in self._stored.pop(conversation, ()))

    def all_kept(self) -> tuple[str, ...]:
        """Forget all conversations and return the ids of all stored responses."""
        kept = tuple(each.response for held in self._stored.values() for each in held)
        self._stored.clear()
        return kept


def _rest(
    held: StoredResponse, messages: tuple[Message, ...], digested: tuple[bytes, ...]
) -> tuple[Message, ...] | None:
    """Return the messages after a response and all it builds on; None if they do not continue it."""
    if digested[: len(held.seen)] != held.seen:
        return None
    rest = messages[len(held.seen) :]
    if rest and rest[0].role == "assistant":
        # The endpoint has its own answer. For tool calls, the caller's message has other words.
        if not held.calls and rest[0].text.strip() != held.answer.strip():
            return None
        rest = rest[1:]
    return rest or None


def digests(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """Return one digest for each message.

    Pictures do not count: a past picture may be sent with fewer bytes or not at all, because the endpoint has the
    original.
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
