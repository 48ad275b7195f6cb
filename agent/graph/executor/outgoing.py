"""The text that leaves the phone: checks what information an action would take out, and finds text that was typed but
not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.actions import Action, DoubleTap, LongPress, OpenUrl, PressKey, Tap, Type
from agent.effect_facts import Effect, NotAllowed, TextNow, effects_of
from agent.graph.executor.context import RunMemory
from agent.graph.executor.state import ExecutorState, PastData
from agent.guards.gate import ALLOWED, Gate
from agent.guards.keys import keys_of
from agent.guards.leaving import Sources, address_carries, is_address, is_browser, typed_carries
from agent.guards.recipients import conversation_with
from agent.guards.rules import RuleName
from agent.guards.seen_words import with_words
from agent.guards.words import in_one_line
from agent.request_words import leaves_unsent
from agent.tools.spec import Situation
from agent.wording import sentence, shortened
from devices.phone import Observation
from devices.wording import Words

MAX_LETTERS: Final = 80


def typed_and_standing(state: ExecutorState, now: Observation) -> str:
    """Return the text that this sub-task typed last in this app and that is still in one of its fields; "" if there is
    none.
    """
    typed = [fact.text for step in state["past"] if step["app"] == now.package for fact in _typed(step["effects"])]
    typed += [fact.text for fact in _typed(state["step"]["effects"])]
    standing = _standing(now)
    return next((text for text in reversed(typed) if text in standing), "")


def left_text(past: Sequence[PastData], last: Observation | None, app: str) -> str:
    """Return the sentence about a text that a person did not allow to be sent and that is still in a field of the
    `last` observation; "" if there is none. `app` is the name of the app in front.
    """
    denied = [fact for step in past for fact in effects_of(step["effects"]) if isinstance(fact, NotAllowed)]
    if last is None or not denied or denied[-1].text not in _standing(last):
        return ""
    text = shortened(in_one_line(denied[-1].text), MAX_LETTERS)
    return sentence(
        "ended.unsent" if denied[-1].consequence == RuleName.SEND else "ended.left_text", text=text, app=app
    )


def _typed(effect: list[dict[str, object]]) -> list[TextNow]:
    facts: tuple[Effect, ...] = effects_of(effect)
    return [fact for fact in facts if isinstance(fact, TextNow) and fact.text]


def _standing(observation: Observation) -> set[str]:
    return {each.text for each in observation.elements or () if each.editable and not each.password and each.text}


def unsent(state: ExecutorState, now: Observation, app: str) -> list[str]:
    """Return a list with the sentence about a message of this sub-task that is still in the field of a conversation. It
    is empty if there is none or the task asks to leave it there. `app` is the name of the app in front.
    """
    text = typed_and_standing(state, now)
    if not text or not conversation_with(now) or leaves_unsent(state["order"]["task"]):
        return []
    return [sentence("ended.unsent", text=shortened(in_one_line(text), MAX_LETTERS), app=app)]


KEPT: Final = 40
"""How many texts that a person allowed to leave the phone are remembered, the newest of a run."""


def sources_of(state: ExecutorState, memory: RunMemory) -> Sources:
    """Return the texts from which the words of this run may come, such as apps, notes, recalled facts and document
    passages.
    """
    seen, copied = state["safety"]["seen_words"], state["safety"]["copied"]
    if copied is not None:
        # Added as the newest text of its app, even if the app showed much since, so that none of it leaves unapproved.
        seen = with_words(seen, copied["app"], "", copied["text"].splitlines())
    return Sources(
        seen=seen,
        said=(state["order"]["task"], *state["conversation"]["user_messages"]),
        notes=tuple(state["conversation"]["notes"]),
        memory=(*memory.facts, *memory.facts_of_others),
        documents=memory.documents,
        released_texts=tuple((package, text) for package, text in state["safety"]["released_texts"]),
    )


def released_texts(state: ExecutorState, action: Action, package: str) -> list[list[str]]:
    """Return pairs of package and text that a person allowed to leave the phone, with the text of this action, just
    approved in the app `package`, added.
    """
    before = state["safety"]["released_texts"]
    match action:
        case OpenUrl(url=text) | Type(text=text):
            return [*before, [package, text]][-KEPT:]
    return before


def carried_gate(action: Action, situation: Situation) -> Gate:
    """Decide, for any kind of action, whether a person must be asked because of the information that it would take out
    of the phone.
    """
    match action:
        case OpenUrl():
            return address_gate(action, situation)
        case Type():
            return typed_gate(action, situation)
        case Tap() | DoubleTap() | LongPress() | PressKey():
            return pressed_gate(action, situation)
    return ALLOWED


def address_gate(action: OpenUrl, situation: Situation) -> Gate:
    """Decide whether a person must be asked before this address is opened, because of the information in it."""
    return _asked(address_carries(action.url, situation.sources))


def typed_gate(action: Type, situation: Situation) -> Gate:
    """Decide whether a person must be asked before this text is typed, because of the information in it. An address
    typed into a browser is judged as if it were opened.
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
    """Decide whether a person must be asked before a touch or key that would send the content of the focused field,
    however that got there.
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
