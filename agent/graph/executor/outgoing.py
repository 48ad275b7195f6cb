"""What an action would take out of the phone: addresses, and what is typed where it goes to the internet."""

from __future__ import annotations

from typing import Final

from agent.actions import Action, DoubleTap, LongPress, OpenUrl, PressKey, Tap, Type
from agent.graph.executor.context import RunMemory
from agent.graph.executor.state import ExecutorState
from agent.guards.gate import ALLOWED, Gate
from agent.guards.key_effects import keys_of
from agent.guards.leaving import Sources, address_carries, is_address, is_browser, typed_carries
from agent.guards.seen_words import with_words
from agent.tools.spec import Situation
from devices.wording import Words

KEPT: Final = 40
"""Texts that a person has let out, the newest of a run."""


def sources_of(state: ExecutorState, memory: RunMemory) -> Sources:
    """Where the words of this run come from, with what was recalled for its task and read in documents."""
    seen, copied = state["safety"]["seen_words"], state["safety"]["copied"]
    if copied is not None:
        # The newest of its app, however much that has shown since: none of it leaves unasked.
        seen = with_words(seen, copied["app"], "", copied["text"].splitlines())
    return Sources(
        seen=seen,
        said=(state["order"]["task"], *state["conversation"]["user_messages"]),
        notes=tuple(state["conversation"]["notes"]),
        memory=(*memory.facts, *memory.told_others),
        documents=memory.documents,
        handed_out=tuple((package, text) for package, text in state["safety"]["released_texts"]),
    )


def handed_out(state: ExecutorState, action: Action, package: str) -> list[list[str]]:
    """The texts that a person has let out, with that of the action that they have just allowed in this app."""
    before = state["safety"]["released_texts"]
    match action:
        case OpenUrl(url=text) | Type(text=text):
            return [*before, [package, text]][-KEPT:]
    return before


def carried_gate(action: Action, situation: Situation) -> Gate:
    """Whether a person must be asked before this action, whichever it is, because of what it would take away."""
    match action:
        case OpenUrl():
            return address_gate(action, situation)
        case Type():
            return typed_gate(action, situation)
        case Tap() | DoubleTap() | LongPress() | PressKey():
            return pressed_gate(action, situation)
    return ALLOWED


def address_gate(action: OpenUrl, situation: Situation) -> Gate:
    """Whether a person must be asked before this address is opened, because of what it carries."""
    return _asked(address_carries(action.url, situation.sources))


def typed_gate(action: Type, situation: Situation) -> Gate:
    """Whether a person must be asked before this text is typed, because of what it carries: an address typed into a
    browser is one that is opened.
    """
    spot, policy = situation.spot, situation.policy
    if spot is None:
        return ALLOWED
    if is_browser(spot.package) and is_address(action.text):
        gate = policy.address_gate(action.text)
        gate = gate if gate.verdict != "allow" else _asked(address_carries(action.text, situation.sources))
        if gate.verdict != "allow":
            return gate
    sends = keys_of(action).enter
    return _asked(typed_carries(action.text, spot, situation.sources, policy.lexicon, sends=sends))


def pressed_gate(action: Tap | DoubleTap | LongPress | PressKey, situation: Situation) -> Gate:
    """Whether a person must be asked before a touch or key that hands on what stands in the field with the focus,
    however it came there.
    """
    spot = situation.spot
    if spot is None or (spot.target is not None and spot.target.editable):
        return ALLOWED
    enter = keys_of(action).enter
    if isinstance(action, PressKey) and not enter:
        return ALLOWED
    return _asked(typed_carries("", spot, situation.sources, situation.policy.lexicon, sends=enter))


def _asked(reason: Words | None) -> Gate:
    return ALLOWED if reason is None else Gate("approve", reason, how="egress")
