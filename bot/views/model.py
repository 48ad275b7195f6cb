"""Describes the state of the model as text and as JSON, the same way everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from agent.error_mapping import remedy
from agent.models.state import ModelState, ModelStatus
from bot.texts import say
from bot.views.tasks import Json

_TODAY: Final = timedelta(hours=20)
"""Age up to which the time of day is enough."""


def state_words(state: ModelState) -> str:
    """Return the state in a few words, such as "no credit since 11:04"."""
    if state.status is not ModelStatus.FAILING:
        return say(f"model.status.{state.status}")
    failing = say(f"model.failing.{state.cause}", time=_time(state.since))
    return say("model.finding.stood_in", state=failing, model=state.stand_in) if state.stand_in else failing


def model_json(state: ModelState) -> Json:
    """Return the state as JSON, with `text` and `remedy` in the current language."""
    return {
        "status": state.status.value,
        "model": state.model,
        "cause": None if state.cause is None else state.cause.value,
        "since": state.since,
        "stand_in": state.stand_in,
        "text": state_words(state),
        "remedy": "" if state.cause is None else remedy(state.cause),
    }


def _time(since: float | None) -> str:
    begun = datetime.fromtimestamp(since or 0.0).astimezone()
    recent = datetime.now().astimezone() - begun < _TODAY
    return f"{begun:%H:%M}" if recent else f"{begun:%Y-%m-%d %H:%M}"
