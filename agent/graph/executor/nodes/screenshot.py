"""screenshot: looks at the phone once and prepares the view for the model. It also watches the battery and
temperature.
"""

from __future__ import annotations

import logging
import re
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Seen, Told
from agent.graph.executor import questions
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import NO_STEP, ExecutorState, ending_by, joined, performed_of
from agent.graph.executor.steps import correct_step
from agent.wording import Spoken, sentence
from devices.errors import PhoneError, PhoneUnavailable
from devices.phone import Health, Observation
from devices.wording import Words

logger = logging.getLogger(__name__)


EMPTY_BATTERY = 3
"""Battery percent at which a run ends. Android shuts down at 0 (BatteryService.shutdownIfNoPowerLocked), an old battery
a little earlier; a step takes up to a minute and must not be cut off in the middle of an action.
"""
WARM = 45.0
"""Battery temperature in °C at which phones slow down and stop charging (JEITA's upper limit for charging)."""
TOO_HOT = 60.0
"""Battery temperature in °C above which cells must not be used (IEC 62133, most data sheets); Android shuts down at 68
(config_shutdownBatteryTemperature).
"""


class PhoneSpent(Spoken, PhoneUnavailable):
    """The run must end because the phone has to charge or cool down first."""


def look_after(context: RunContext) -> None:
    """Send a warning about a low battery and one about heat, each once per run. Raises PhoneSpent if the run
    must end.
    """
    info, told = context.phone.info, context.memory.sent_notices
    draining = info.health is Health.LOW_BATTERY
    if draining and info.battery is not None and info.battery <= EMPTY_BATTERY:
        raise PhoneSpent("condition.empty", phone=info.name, percent=info.battery)
    heat = info.temperature or 0.0
    if heat >= TOO_HOT:
        raise PhoneSpent("condition.hot", phone=info.name, degrees=f"{heat:.0f}", cool=f"{WARM:.0f}")
    if draining and "battery" not in told:
        told.add("battery")
        context.emit(Told(text=sentence("told.battery", phone=info.name, percent=info.battery)))
    if heat >= WARM and "heat" not in told:
        told.add("heat")
        context.emit(Told(text=sentence("told.heat", phone=info.name, degrees=f"{heat:.0f}")))


CLOSED = (
    "This app is closed to you by the rules: nothing of it is shown to you, and nothing is done in it. "
    "Leave it with home or back, and find a way without it, or finish with failure."
)
UNPLANNED = (
    "The window in front is one that the plan does not name. Where it only has to be answered or closed on your way, "
    "go on. Where it changes what is to be done, finish with failure and say what it shows: the plan is looked at "
    "again."
)
"""This instruction quotes nothing from the screen, because words on the screen are data."""
_OPENED = frozenset({"did.open_app", "did.open_url", "did.press", "did.hand_over"})
"""Actions after which another app in front is expected."""
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3400-\u9fff]{2}")


async def screenshot(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["vision_model", "call_user", "check_loop", "executor_exit"]]:
    """Look at the phone, and continue with the model or, if the phone is locked, with a question to a person. Only the
    observation is retried, never an action.
    """
    context = runtime.context
    context.mask.restore(state["safety"]["secret_places"])
    context.mask.let_read(state["safety"]["readable_apps"])
    try:
        view = await context.screen.look()
        look_after(context)
    except Stopped:
        return Command(goto="check_loop")
    except PhoneError as error:
        logger.warning("Run %s: the screen could not be captured: %s", state["order"]["run"], error)
        return Command(goto="executor_exit", update=ending_by(error))
    seen = view.observation
    if seen.locked:
        return Command(goto="call_user", update=_unlock_question(state, context, view.frame))
    if state["step"]["frame"] is None and view.frame is not None:
        context.emit(Seen(run=context.run, frame=view.frame))
    closed: ExecutorState = {} if context.screen.is_early else await correct_step(state, context, seen)
    # Includes what was written while the run was queued or a question was open.
    written = context.control.take_notes()
    conversation = state["conversation"]
    notices = [*conversation["model_notices"], *([CLOSED] if context.policy.closes(seen.package) else [])]
    if title := unplanned_window(joined(state, closed), view.for_model.observation):
        if (once := f"unplanned: {title}") not in context.memory.sent_notices:
            notices.append(UNPLANNED)
        context.memory.sent_notices.add(once)
    looked: ExecutorState = {
        "step": {
            **NO_STEP,
            "frame": view.frame,
            "picture_size": [view.screen.space.width, view.screen.space.height],
            "app": seen.package,
            "app_name": seen.app_name,
            "action_index": 0,
        },
        "conversation": {
            "user_messages": [*conversation["user_messages"], *written],
            "model_notices": [*notices, *(f"The person writes: {note}" for note in written)],
        },
    }
    return Command(goto="vision_model", update=joined(looked, closed))


def unplanned_window(state: ExecutorState, observation: Observation) -> str:
    """Return the name of the dialog or app that an action of this sub-task brought up although the plan does not
    mention it.

    Returns "" if there is no plan, if the task or plan names the window, if it was opened by name, or if it has no
    words.
    """
    order, past = state["order"], state["past"]
    if not (order["plan"] and past):
        return ""
    title = next((each.text for each in observation.elements or () if each.resource_id.endswith("/alertTitle")), "")
    done = {each.kind for each in performed_of(past[-1]) if isinstance(each, Words)}
    if not title and observation.package != past[-1]["app"] and not done & _OPENED:
        title = observation.app_name
    known = " ".join((order["plan"], order["goal"], order["task"])).casefold()
    words = _WORD.findall(title.casefold())
    return title if words and not any(word in known for word in words) else ""


def _unlock_question(state: ExecutorState, context: RunContext, frame: str | None) -> ExecutorState:
    """Return the update that asks a person to unlock the phone, between two steps."""
    number = state["question"]["between_steps_count"] + 1
    return {
        "question": {
            "pending": questions.unlock(state, context, number, frame).model_dump(mode="json"),
            "between_steps": True,
            "between_steps_count": number,
        },
        "step": {**NO_STEP, "frame": frame},
    }
