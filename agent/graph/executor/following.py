"""Replays a recorded skill through a model that answers from the recording, and asks the real model where that is not
possible.

At each step, code checks whether the next recorded action fits this screen. If so, that action is the answer, without a
model call. If it does not fit yet, the answer is to wait or scroll. Otherwise the real model does the step, with a hint
about what the recording would do, and the recording continues as soon as it fits again.

A recorded action is only used if its anchor identifies an element uniquely (see agent.recorded_skills.anchors). It is
gated, asked about and journalled like any model's answer. If the person writes something during the run, the model
decides from then on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.graph.executor.context import RunContext
from agent.graph.executor.fitting import names_by
from agent.graph.executor.follower import RECORDED, Follower, call
from agent.graph.executor.state import ExecutorState
from agent.models.base import PILOT, Delta, Message, Model, ModelReply, ModelRequest, Purpose, Usage
from agent.observing import ScreenView
from agent.recorded_skills.skill_file import RecordedSkill
from agent.run import Outcome
from agent.scene import Scene
from agent.wording import sentence

Asked: TypeAlias = tuple[dict[str, str], Usage]
"""The translations of recorded words, by casefolded recorded word, and the tokens used to ask for them."""
Rendered: TypeAlias = Callable[[Scene], tuple[Message, ...]]
"""A function that renders a scene for the model."""


@dataclass(frozen=True)
class FollowingModel:
    """Implements Model around the acting model: answers from a recording where possible, and asks the real model
    otherwise.
    """

    model: Model
    follower: Follower
    names: Callable[[], Awaitable[Asked]] | None = None
    """Asks a model to translate the recording's words; None if no model can."""
    rendered: Rendered | None = None
    """Renders a scene for a model that points by list numbers, so that it needs no picture; None if it needs one."""

    @property
    def name(self) -> str:
        """The real model's name."""
        return self.model.name

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the recording's answer, otherwise the real model's."""
        reply = self.follower.reply()
        if self.names is None or not self.follower.needs_names(reply):
            return reply or await self._by_model(request, on_delta)
        names, usage = await self.names()
        self.follower.learn(names)
        reply = self.follower.reply() or await self._by_model(request, on_delta)
        return replace(reply, usage=usage + reply.usage, memo={**reply.memo, "names": names})

    async def _by_model(self, request: ModelRequest, on_delta: Callable[[Delta], None] | None) -> ModelReply:
        if self.model.name == PILOT:
            return await self._by_pilot(request)
        return await self.model.complete(self._hinted(request), on_delta=on_delta)

    def _hinted(self, request: ModelRequest) -> ModelRequest:
        hint, messages, scene = self.follower.hint(), request.messages, request.scene
        if self.rendered is not None and scene is not None and self.follower.needs_no_picture:
            # The hint says how far the run is, so earlier steps only matter for deciding whether all is done.
            past = scene.past if self.follower.is_over else ()
            scene = replace(scene, past=past, skill="", screen=replace(scene.screen, image=None))
            messages = self.rendered(scene)
        last = messages[-1]
        messages = (*messages[:-1], replace(last, parts=(hint, *last.parts)))
        return replace(request, messages=messages, scene=scene and replace(scene, notices=(*scene.notices, hint)))

    async def _by_pilot(self, request: ModelRequest) -> ModelReply:
        """Ask the pilot, which reads no hints: it is given this one step and must not end the work as done."""
        assert request.scene is not None
        scene = self.follower.for_pilot(request.scene)
        reply = await self.model.complete(replace(request, scene=scene))
        ends = any(each.name == "finish" and '"success"' in each.arguments for each in reply.tool_calls)
        if not ends:
            return reply
        why = sentence("ended.not_fitting", step=self.follower.step_number, all=self.follower.step_count)
        return replace(reply, text=why, tool_calls=(call("finish", {"status": "failure", "summary": why}),))


def following(model: Model, state: ExecutorState, context: RunContext, view: ScreenView) -> Model:
    """Return the acting model, wrapped in a `FollowingModel` if the run has a recording and the person has written
    nothing since.
    """
    skill = context.memory.recorded
    if skill is None or _is_steered(state):
        return model
    follower = _follower(skill, state, context, view)
    basic = context.config.models.for_purpose(Purpose.SUMMARIZE)
    if basic.name == PILOT:
        return FollowingModel(model, follower)

    async def names() -> Asked:
        return await names_by(
            basic, follower.words, follower.shown, conversation=f"{state['order']['run']}-names", task=context.run.task
        )

    dialect = context.profile.dialect
    return FollowingModel(
        model, follower, names, (lambda scene: dialect.render(scene)[0]) if dialect.name == "tools" else None
    )


def needs_no_picture(state: ExecutorState, context: RunContext, view: ScreenView) -> bool:
    """Whether the end can be verified with only the element list, without a picture.

    This is so if the recording itself reached the end on its own page. A claim by a model may be about something that
    only the picture shows, such as a page behind a dialog.
    """
    skill = context.memory.recorded
    if skill is None or state["step"]["reply"].get("finish_reason") != RECORDED:
        return False
    return _follower(skill, state, context, view).needs_no_picture


def _follower(skill: RecordedSkill, state: ExecutorState, context: RunContext, view: ScreenView) -> Follower:
    memory = context.memory
    known = None if memory.names is None else memory.names.known
    return Follower(skill, memory.arguments, state["past"], view, locale=context.phone.info.locale, known=known)


async def keep_names(state: ExecutorState, context: RunContext, view: ScreenView, outcome: Outcome) -> None:
    """Store the translations that this run learned if it succeeded. Otherwise delete the stored ones, because any of
    them may be wrong. Does nothing if the person wrote something during the run.
    """
    skill, names = context.memory.recorded, context.memory.names
    if skill is None or names is None or _is_steered(state):
        return
    follower = _follower(skill, state, context, view)
    if (asked := state["step"]["reply"].get("memo", {}).get("names")) is not None:
        follower.learn(asked)
    learned = follower.learned if outcome is Outcome.SUCCEEDED else {}
    if learned != names.known:
        await names.keep(learned)


def is_proven(state: ExecutorState) -> bool:
    """Whether the recording reached its end and code saw that the last screen is as recorded."""
    reply = state["step"]["reply"]
    return reply.get("memo", {}).get("proven") is True and reply.get("finish_reason") == RECORDED


def _is_steered(state: ExecutorState) -> bool:
    """Whether the person wrote something during this run, which takes precedence over the recording."""
    return bool(state["conversation"]["steering_notes"] or state["conversation"]["user_messages"])
