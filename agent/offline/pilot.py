"""OfflinePilot, which uses rules in place of a model, so that the program works without any endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from agent.actions import Action, ElementTarget
from agent.dialects.tool_schemas import SAY
from agent.models.base import Delta, ModelReply, ModelRequest, Purpose, ToolCall
from agent.models.errors import ModelAnswerUnusable
from agent.offline.clauses import Unreadable
from agent.offline.deciding import choose
from agent.offline.grammar import read, topic_of
from agent.offline.matching import speaks_chinese
from agent.offline.nearest import nearest, offered
from agent.offline.vocabulary import wording

NAME = "offline"

_BESIDE = re.compile(r"\n\n[^\n]+\n<(files|memory|notes)>\n.*</(files|memory|notes)>\Z", re.DOTALL)
"""Text that follows the task in prompts (files, remembered facts, an earlier task), which is not an instruction."""


class OfflinePilot:
    """Implements `agent.models.base.Model` without a model: follows literal instructions by matching them with the
    labels on the screen.

    It answers in the tools dialect, keeps nothing between calls, and costs nothing.
    """

    @property
    def name(self) -> str:
        """Always "offline"."""
        return NAME

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the next step or, for other purposes than acting, a plain answer.

        Raises ModelAnswerUnusable if an acting call has no scene.
        """
        reply = _answer(request)
        if on_delta is not None and reply.text:
            on_delta(Delta(text=reply.text))
        return reply


def _answer(request: ModelRequest) -> ModelReply:
    match request.purpose:
        case Purpose.ACT:
            return _act(request)
        case Purpose.INTENT:
            return _data(_intent(_BESIDE.sub("", _asked(request))))
        case Purpose.PLAN:
            return _text(wording("no_plan", chinese=speaks_chinese(_asked(request))))
        case Purpose.SUPERVISE:
            reason = wording("no_plan", chinese=speaks_chinese(_asked(request)))
            return _data({"decision": "complete", "remaining": [], "next": "", "reason": reason})
        case Purpose.VERIFY:
            return _data({"proven": False, "reason": wording("no_verdict", chinese=speaks_chinese(_asked(request)))})
        case Purpose.SUMMARIZE | Purpose.CAPTION | Purpose.GUARD | Purpose.MEMBER:
            # It has no words of its own, so the caller shows what is known from the results.
            return _text("")


def _act(request: ModelRequest) -> ModelReply:
    if request.scene is None:
        raise ModelAnswerUnusable("The offline pilot can only act on a scene, and was given none.")
    choice = choose(request.scene)
    arguments = _arguments(choice.action)
    if choice.say:
        arguments[SAY] = choice.say
    call = ToolCall(f"step-{request.scene.step}", choice.action.kind, json.dumps(arguments, ensure_ascii=False))
    return ModelReply(choice.thought, (call,), model=NAME, finish_reason="tool_calls", memo=choice.memo)


def _arguments(action: Action) -> dict[str, Any]:
    """Return the action as arguments of its tool: without defaults, with the target as the tool names it."""
    arguments = action.model_dump(mode="json", exclude_defaults=True, exclude={"target"})
    if isinstance(target := getattr(action, "target", None), ElementTarget):
        arguments["element"] = target.element
    return arguments


def _intent(text: str) -> dict[str, Any]:
    chinese = speaks_chinese(text)
    if topic := topic_of(text):
        return {"kind": "chat", "need_plan": False, "answer": wording(topic, chinese=chinese)}
    try:
        read(text)
    except Unreadable as error:
        near = nearest(error.part, chinese=chinese)
        answer = wording("refused_near" if near else "refused", chinese=chinese, name=error.part)
        if near:
            answer = ("" if chinese else " ").join((answer, offered(near, chinese=chinese)))
        return {"kind": "refuse", "need_plan": False, "answer": answer, "needs_model": {"choices": near}}
    return {"kind": "simple", "need_plan": False, "answer": ""}


def _asked(request: ModelRequest) -> str:
    """Return the person's text, which is the last part of the last message."""
    parts = request.messages[-1].parts if request.messages else ()
    last = parts[-1] if parts else ""
    return last if isinstance(last, str) else ""


def _data(values: dict[str, Any]) -> ModelReply:
    return _text(json.dumps(values, ensure_ascii=False))


def _text(text: str) -> ModelReply:
    return ModelReply(text, model=NAME, finish_reason="stop")
