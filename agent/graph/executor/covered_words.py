"""The tool with which a model asks a person to let it read the words of an app that forbids screenshots. Until then, no
model sees these words.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.actions import Action
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.guards.gate import Gate
from agent.guards.reasons import FORBIDS
from agent.observing import ScreenView
from agent.tools.spec import ActionError, Done, Situation
from agent.wording import sentence, words
from devices.phone import Element

NOT_COVERED = "Not asked: no words of {app} are covered on this screen. Name the app in front, by its package."
READABLE = "The person lets you read the words of {app} for this task. You are told them from the next screen on."


class ReadWords(Action):
    """Ask to read an app's covered words."""

    kind: Literal["read_words"] = "read_words"
    app: str = Field(min_length=1, max_length=200, description="Its package.")


def require_covered(action: ReadWords, sight: ScreenView | None) -> None:
    """Raise ActionError if this screen has no covered words of the app, so that there is nothing to ask a person for.
    Without a screen (`sight` is None) nothing is checked.
    """
    if sight is not None and not (sight.screen.covered and sight.observation.package == action.app):
        raise ActionError(NOT_COVERED.format(app=action.app))


def _asked(action: ReadWords, sight: ScreenView | None, _under: Element | None) -> str:
    name = "" if sight is None or sight.observation.package != action.app else sight.observation.app_name
    return sentence("do.read_words", app=f"{name} ({action.app})" if name else action.app)


def _gate(_action: ReadWords, _situation: Situation) -> Gate:
    return Gate("approve", FORBIDS)


async def _read_words(action: ReadWords, context: PhoneContext) -> Done:
    context.mask.let_read([action.app])
    return Done(told=(READABLE.format(app=action.app),))


READ_WORDS = PhoneTool(
    model=ReadWords,
    describe=lambda action, _: words("did.read_words", app=action.app),
    asked=_asked,
    details=lambda _: (),
    gate=_gate,
    journalled=False,
    run=_read_words,
)
