"""vision_model: asks the model what to do on the current screen, and assembles what it is shown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Thinking
from agent.graph.executor.context import RunContext
from agent.graph.executor.follower import RECORDED
from agent.graph.executor.following import following
from agent.graph.executor.nodes.screenshot import look_after
from agent.graph.executor.nodes.summaries import MOST_STEPS, REFUSED, SUMMED_UP
from agent.graph.executor.reader import has_reader
from agent.graph.executor.reading_ahead import ReadingAhead
from agent.graph.executor.speculative import BegunModel, EarlyObservation, StaleAnswer
from agent.graph.executor.state import (
    ExecutorState,
    PastData,
    ending_by,
    joined,
    past_step,
)
from agent.graph.executor.steps import REPORTED, confirm_step
from agent.graph.subjects import spent
from agent.guards.seen_words import Seen, with_seen
from agent.models.base import Message, ModelRequest, ModelSwitched, Purpose, Usage
from agent.models.conversations import keeps_conversation
from agent.models.errors import InputTooLong, ModelError, NoVision
from agent.models.pictures import takes_pictures
from agent.observing import ScreenView
from agent.scene import Scene
from agent.wording import restored, shortened
from devices.errors import PhoneError
from devices.phone import Observation

logger = logging.getLogger(__name__)


async def scene_of(state: ExecutorState, context: RunContext, view: ScreenView) -> Scene:
    """Build the scene for a call to the acting model.

    Only the steps inside the image window have pictures. Their text is limited in the same way, unless the endpoint
    stores the conversation: then all text is repeated, because the endpoint has it already.
    """
    order, conversation, past = state["order"], state["conversation"], state["past"]
    summary = conversation["past_summary"]
    begin = summary["steps"] if summary else 0
    by_list = context.screen.by_list
    only_now = by_list or conversation["no_past_frames"]
    own = _own_from(past, context.screen.model)
    first = max(own, first_in_window(len(past), 1 if only_now else context.profile.image_window))
    said = context.memory.shown_texts
    words_from = max(own, begin) if keeps_conversation(context.config.models.vision) and not only_now else first
    light = context.profile.dialect.lightens_past
    steps = [
        past_step(
            step,
            image=await context.screen.stored(step["frame"], view.screen.space, light=light) if i >= first else None,
            shown=said.get((order["subtask"], step["number"]), "") if i >= words_from else "",
            retold=i < own,
        )
        for i, step in enumerate(past[begin:], begin)
    ]
    return Scene(
        task=order["task"],
        goal=order["goal"],
        screen=replace(view.screen, image=None) if by_list else view.screen,
        step=state["step"]["number"],
        max_steps=order["max_steps"],
        past=tuple(steps),
        notes=tuple(conversation["notes"]),
        plan=order["plan"],
        notices=(*conversation["model_notices"], *_for_this_app(context, view)),
        steering_notes=tuple(map(restored, conversation["steering_notes"])),
        files=tuple(order["files"]),
        past_summary=summary["text"] if summary else "",
        facts=tuple(map(context.mask.text, context.memory.facts)),
        instructions=context.memory.instructions,
        skill=context.memory.skill,
        texts_read=tuple(conversation["texts_read"]),
        local_time=local.facts if (local := context.local_time) else "",
        by_list=by_list,
    )


def request_for(context: RunContext, scene: Scene, model: str) -> ModelRequest:
    """Return the request that shows this scene to the acting model; `model` is the name of the one it was made for."""
    messages, tools = context.profile.dialect.render(scene)
    run = context.run
    return ModelRequest(
        Purpose.ACT, messages, tools, scene=scene, conversation=str(run), task=run.task, rendered_for=model
    )


def _own_from(past: Sequence[PastData], model: str) -> int:
    """Return the index of the first step since which no other model has taken one."""
    return next((n for n in range(len(past), 0, -1) if past[n - 1]["model"] not in {"", model}), 0)


def _for_this_app(context: RunContext, view: ScreenView) -> list[str]:
    """Return which skills are for the app in front, unless one is followed already."""
    names = "" if context.memory.skill else ", ".join(context.skills.of_app(view.observation.package))
    return [f"There is a skill for this app: {names}. Read it with read_skill if it fits and you have not."] * bool(
        names
    )


def first_in_window(past: int, window: int) -> int:
    """Return the index of the first of `past` steps whose picture is still shown. At most `window` pictures are,
    including the current one.

    A full window drops its older half at once: if it dropped one picture per step, everything after it would be new to
    the endpoint's prompt cache each time. Measured over 30 steps with 30 elements each, cached input at a tenth of its
    price: a window of 5 costs 163 thousand tokens of input, 356 when dropping one picture at a time; a window of 1
    costs 96.
    """
    most = window - 1
    if past <= most:
        return 0
    kept = min(most, max(1, most // 2))
    return past - kept - (past - most - 1) % (most - kept + 1)


def remember_shown(state: ExecutorState, context: RunContext, messages: tuple[Message, ...]) -> None:
    """Store the text that the model is shown now, so that it can be repeated verbatim while its picture is in the
    window or the endpoint stores the conversation.
    """
    most = MOST_STEPS + 1 if keeps_conversation(context.config.models.vision) else context.profile.image_window
    if most == 1 or context.screen.by_list:
        return
    said = context.memory.shown_texts
    words = [part for part in messages[-1].parts if isinstance(part, str)]
    said[state["order"]["subtask"], state["step"]["number"]] = words[-1]
    while len(said) > most:
        del said[next(iter(said))]


MOST_THOUGHT = 4_000
"""The maximum characters of a model's reasoning in one step that are reported."""


async def vision_model(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["action_summary", "parse_action", "screenshot", "check_loop", "sum_up_past", "executor_exit"]]:
    """Make one call to the acting model. If this process has not seen the screen yet, for example after a restart, look
    at the phone first.
    """
    context = runtime.context
    view = context.screen.view
    if view is None:
        return Command(goto="screenshot")
    vision, acting = context.config.models.vision, context.config.acting
    if acting != context.screen.model:
        context.screen.show_to(acting)
        return Command(goto="screenshot")
    if not context.screen.by_list and (state["conversation"]["by_list"] == acting or not takes_pictures(vision)):
        context.screen.switch_to_list()
        return Command(goto="screenshot")
    run, seen = state["order"]["run"], state["safety"]["seen_words"]
    confirmed: ExecutorState = {}

    def remember(shown: Observation) -> asyncio.Future[Seen]:
        """Remember what an app showed, which counts from the next action on, while the model thinks."""
        return asyncio.ensure_future(asyncio.to_thread(with_seen, seen, shown, context.policy.lexicon))

    remembering = remember(view.observation)
    lightening = asyncio.ensure_future(_lighten(context, view))

    async def still(early: EarlyObservation) -> None:
        nonlocal remembering, confirmed
        confirmed = await confirm_step(state, context, early)
        if context.screen.view is not None and not early.seen.complete:
            remembering = remember(context.screen.view.observation)
        look_after(context)  # the phone's condition was not known before the model was asked

    def known(*more: ExecutorState) -> ExecutorState:
        """Return what is known about the previous step, whose report waited for the screen to become still."""
        return joined(*more, {} if context.screen.pending is not None else REPORTED, confirmed)

    try:
        scene = await scene_of(state, context, view)
        first, context.memory.first_answer = context.memory.first_answer, None
        if first is not None and not first.fits(scene, acting):
            context.memory.spent_ahead += await first.drop()
            first = None
        if first is not None:
            scene = first.scene  # later repetitions use the original text with its time of day
        request = request_for(context, scene, acting)
        remember_shown(state, context, request.messages)
        model = following(vision if first is None else BegunModel(vision, first), state, context, view)
        ahead = ReadingAhead(state, context, view) if has_reader(context) else None
        reply = await context.screen.answer_to(model, request, still=still, on_delta=ahead)
    except Stopped:
        return Command(goto="check_loop", update=known())
    except PhoneError as error:
        return Command(goto="executor_exit", update=known(ending_by(error)))
    except ModelSwitched as switched:
        logger.info("run %s goes on with %s", run, switched)
        update = known()
        context.screen.show_to(context.config.acting)
        return Command(goto="screenshot", update=update)
    except InputTooLong as error:
        if state["conversation"]["overflow"] == SUMMED_UP:
            logger.warning("Run %s: the prompt is too long for the model even after summarising: %s", run, error)
            return Command(goto="executor_exit", update=known(ending_by(error)))
        context.screen.forget()
        return Command(goto="sum_up_past", update=known({"conversation": {"overflow": REFUSED}}))
    except NoVision as error:
        if context.screen.by_list or takes_pictures(vision):
            return Command(goto="executor_exit", update=known(ending_by(error)))
        logger.info("run %s goes on by the list: %s", run, error)
        return Command(goto="screenshot", update=known())
    except ModelError as error:
        logger.warning("Run %s: the call of the model failed: %s", run, error)
        return Command(goto="executor_exit", update=known(ending_by(error)))
    dropped, context.memory.spent_ahead = context.memory.spent_ahead, Usage()
    answered: ExecutorState = {
        "safety": {"seen_words": await remembering},
        "progress": {"usage": (spent(state["progress"]) + dropped + reply.usage).data()},
    }
    await lightening
    if isinstance(reply, StaleAnswer) or reply.waited:
        # The screen changed, or may have after so much time: look again and ask again.
        return Command(goto="screenshot", update=known(answered))
    if reply.reasoning:
        thought = shortened(context.mask.text(reply.reasoning), MOST_THOUGHT)
        context.emit(Thinking(node="executor", reasoning=thought))
    decided: ExecutorState = {
        "step": {
            "reply": {
                "text": reply.text,
                "reasoning": reply.reasoning,
                "finish_reason": reply.finish_reason,
                "memo": dict(reply.memo),
                "model": "" if reply.finish_reason == RECORDED else acting,
                "tool_calls": [asdict(call) for call in reply.tool_calls],
            },
            "decision": {"thought": "", "summary": "", "actions": []},
        },
        "conversation": {"input_tokens": reply.usage.input, "overflow": "", "model_notices": []},
    }
    return Command(goto=["action_summary", "parse_action"], update=joined(answered, decided, REPORTED, confirmed))


async def _lighten(context: RunContext, view: ScreenView) -> None:
    """Compress the picture for the next steps while the model thinks."""
    if context.profile.dialect.lightens_past and context.profile.image_window > 1:
        await context.screen.stored(view.frame, view.screen.space, light=True)
