"""What a run has typed and that was not sent: whether it stands in its field still."""

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
    """What this run typed last of all that stands in a field of this window; "" when nothing of it does."""
    typed = [fact.text for step in state["past"] if step["app"] == now.package for fact in _typed(step["effects"])]
    typed += [fact.text for fact in _typed(state["step"]["effects"])]
    standing = _standing(now)
    return next((text for text in reversed(typed) if text in standing), "")


def left_text(past: Sequence[PastData], last: Observation | None, app: str) -> str:
    """The sentence about a text whose sending was not allowed last and that the last look has shown in a field; ""
    when that is not known of any. `app` is what people call the app in front.
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
    """The line about a message of this run that stands in a conversation, not sent; none where the person wants it to
    stay there.
    """
    text = typed_and_standing(state, now)
    if not text or not conversation_with(now) or leaves_unsent(state["order"]["task"]):
        return []
    return [sentence("ended.unsent", text=shortened(in_one_line(text), MAX_LETTERS), app=app)]
