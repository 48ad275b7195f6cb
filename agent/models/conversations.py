"""What an endpoint holds of each conversation, and what is new for it in the next request."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from agent.models.base import Message, ModelReply
from agent.picture import ImagePart

MOST_CONVERSATIONS = 64
"""Conversations that are followed at once; more than there are phones. The one unused for longest goes first."""


@dataclass(frozen=True, slots=True)
class Held:
    """A conversation at an endpoint: the last response and everything that it builds on.

    `seen` are digests of the messages sent, so that no picture stays in memory. `kept` are all stored responses.
    """

    response: str
    seen: tuple[bytes, ...]
    answer: str
    calls: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What to send: `messages` after the response `previous`, whose tool `calls` still want an output.

    `previous` is "" when the conversation is sent in full; `stale` are stored responses that it then replaces.
    """

    messages: tuple[Message, ...]
    previous: str = ""
    calls: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class Conversations:
    """The conversations at one endpoint."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()

    def next_turn(self, conversation: str, messages: tuple[Message, ...]) -> Turn:
        """Only what is new, when the endpoint holds exactly the beginning; else (an image left the window) all."""
        held = self._held.get(conversation)
        if held is None:
            return Turn(messages)
        in_full = Turn(messages, stale=held.kept)
        if digests(messages[: len(held.seen)]) != held.seen:
            return in_full
        rest = messages[len(held.seen) :]
        if rest and rest[0].role == "assistant":
            # The endpoint has its own answer. With tool calls the caller tells it in words of its own.
            if not held.calls and _text(rest[0]) != held.answer.strip():
                return in_full
            rest = rest[1:]
        return Turn(rest, held.response, held.calls) if rest else in_full

    def answered(
        self, conversation: str, messages: tuple[Message, ...], turn: Turn, response: str, reply: ModelReply
    ) -> tuple[str, ...]:
        """Remember a stored response to this turn. Returns the stored responses that nobody needs any more."""
        held = self._held.pop(conversation, None)
        kept = (*(held.kept if held and turn.previous else ()), response)
        calls = tuple(call.id for call in reply.tool_calls)
        self._held[conversation] = Held(response, digests(messages), reply.text, calls, kept)
        if len(self._held) <= MOST_CONVERSATIONS:
            return turn.stale
        _, oldest = self._held.popitem(last=False)
        return (*turn.stale, *oldest.kept)

    def lost(self, conversation: str) -> tuple[str, ...]:
        """The endpoint cannot continue the conversation. Returns the responses that it may still keep."""
        held = self._held.pop(conversation, None)
        return held.kept if held else ()

    def all_kept(self) -> tuple[str, ...]:
        """Every stored response; nothing is followed any more."""
        kept = tuple(response for held in self._held.values() for response in held.kept)
        self._held.clear()
        return kept


def digests(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """One digest a message; equal messages have equal ones."""
    return tuple(_digest(message) for message in messages)


def _digest(message: Message) -> bytes:
    digest = hashlib.sha256(message.role.encode())
    for call in message.calls:
        digest.update(f"\0call {call.id}\0{call.name}\0{call.arguments}".encode())
    digest.update(message.call_id.encode())
    for part in message.parts:
        data = part.data if isinstance(part, ImagePart) else part.encode()
        kind = part.media_type if isinstance(part, ImagePart) else "text"
        digest.update(f"\0{kind} {len(data)}\0".encode())
        digest.update(data)
    return digest.digest()


def _text(message: Message) -> str:
    return "\n".join(part for part in message.parts if isinstance(part, str)).strip()
