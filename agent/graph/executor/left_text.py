"""Finds text that a run typed but did not send and that is still in its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.acts import leaves_unsent
from agent.effect_facts import Effect, NotAllowed, TextNow, effects_of
from agent.graph.executor.state import ExecutorState, PastData
from agent.guards.recipients import conversation_with
from agent.guards.rules import RuleName
from agent.guards.sanitise import in_one_line
from agent.wording import sentence, shortened
from devices.phone import Observation

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


def _standing(seen: Observation) -> set[str]:
    return {each.text for each in seen.elements or () if each.editable and not each.password and each.text}


def unsent(state: ExecutorState, now: Observation, app: str) -> list[str]:
    """Return a list with the sentence about a message of this sub-task that is still in the field of a conversation. It
    is empty if there is none or the task asks to leave it there. `app` is the name of the app in front.
    """
    text = typed_and_standing(state, now)
    if not text or not conversation_with(now) or leaves_unsent(state["order"]["task"]):
        return []
    return [sentence("ended.unsent", text=shortened(in_one_line(text), MAX_LETTERS), app=app)]
