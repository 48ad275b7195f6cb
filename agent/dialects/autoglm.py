"""The dialect of AutoGLM: `<think>…</think><answer>do(action="Tap", element=[x,y])</answer>`, one call an answer.

Places are thousandths, 0 to 999; 1000 is taken for the far edge. Typing replaces what is in the field, as these
models were trained to expect.
"""

from __future__ import annotations

import re

from agent import actions as act
from agent.dialects.arguments import Arguments
from agent.dialects.autoglm_reply import read_reply
from agent.dialects.base import BadReply, Decision
from agent.dialects.call_syntax import Value
from agent.dialects.grid import Grid, number
from agent.dialects.replies import made, shortened
from agent.dialects.scene_text import conversation, unnumbered
from agent.models.base import Message, ModelReply, ToolSpec
from agent.prompts import prompt
from agent.scene import Scene
from devices.geometry import Size
from devices.inputs import Key

_LAST = 999
_EXPECTED = 'Answer with <think>…</think><answer>do(action="Tap", element=[x,y])</answer>, or finish(message="…").'
_SECONDS = {"ms": 0.001, "millisecond": 0.001, "毫秒": 0.001, "min": 60.0, "分": 60.0}
_DURATION = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*(ms|millisecond|毫秒|min|分)?")
_PLACEHOLDERS = frozenset({"", "true"})
"""What these models put into Note when they mean the screen as it is."""


class AutoGlmDialect:
    """How AutoGLM speaks."""

    @property
    def name(self) -> str:
        """As in VLM_DIALECT."""
        return "autoglm"

    @property
    def image_window(self) -> int:
        """The current screen only."""
        return 1

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Instructions, and one message with the way so far and the screen."""
        space = scene.screen.space
        rules = prompt("dialects/rules")
        instructions = prompt("dialects/autoglm", width=space.width, height=space.height, rules=rules)
        return conversation(instructions, scene, unnumbered(_grid(space).written)), ()

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """The actions in a reply. Raises BadReply with the reason and the expected form."""
        try:
            parts = read_reply(reply.text)
            thought = parts.thought or reply.reasoning.strip()
            given = Arguments(parts.call)
            action = _finish(given) if parts.call.name == "finish" else _done(given, _grid(space), thought)
            given.end()
        except BadReply as bad:
            raise BadReply(f"{bad} {_EXPECTED}") from None
        return Decision((action,), thought, shortened(parts.summary))


def _grid(space: Size) -> Grid:
    return Grid(space, thousandths=True, last=_LAST)


def _finish(given: Arguments) -> act.Action:
    message = given.optional_text("message", "content")
    status = given.optional_text("status", by_place=False) or "success"
    return made(act.Finish, "finish", status=status, summary=message)


def _done(given: Arguments, grid: Grid, thought: str) -> act.Action:
    name = given.text("action")
    given.named_action(name)
    match re.sub(r"[\s_-]", "", name.lower()):
        case "tap":
            target = grid.target(given.take("element"), name)
            return made(act.Tap, name, target=target, sensitive=given.optional_text("message"))
        case "doubletap":
            return act.DoubleTap(target=grid.target(given.take("element"), name))
        case "longpress":
            return act.LongPress(target=grid.target(given.take("element"), name))
        case "swipe":
            start, end = grid.target(given.take("start"), name), grid.target(given.take("end"), name)
            return act.Swipe(start=start, end=end)
        case "type" | "typename":
            return made(act.Type, name, text=given.text("text"), clear=True)
        case "launch":
            return made(act.OpenApp, name, name=given.text("app"))
        case "back":
            return act.PressKey(key=Key.BACK)
        case "home":
            return act.PressKey(key=Key.HOME)
        case "wait":
            return act.Wait(seconds=_seconds(given.take("duration")))
        case spoken:
            return _spoken(spoken, name, given, thought)


def _spoken(key: str, name: str, given: Arguments, thought: str) -> act.Action:
    """The actions that do not touch the phone. Where these models say nothing, their thought is what they mean."""
    match key:
        case "note":
            message = given.take("message")
            if isinstance(message, str) and message.lower() not in _PLACEHOLDERS:
                return made(act.Note, name, text=message)
            return made(act.Note, name, text=thought, screen=True)
        case "callapi":
            return made(act.SumUp, name, instruction=given.text("instruction", "message"))
        case "interact":
            question = given.optional_text("message") or thought or "Several things fit. Which one do you mean?"
            return made(act.AskUser, name, question=question, choices=_choices(given.take("choices", "options")))
        case "takeover":
            return made(act.TakeOver, name, reason=given.optional_text("message") or thought or "Your help is needed.")
        case _:
            raise BadReply(f"There is no action {name}. The actions are listed in your instructions.")


def _choices(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _seconds(value: Value) -> float:
    """Seconds from 2, "2 seconds", "2秒" or "500 ms"; at most what one wait may last."""
    if value is None:
        return act.Wait().seconds
    seconds = float(plain) if (plain := number(value)) is not None else None
    if isinstance(value, str) and (found := _DURATION.match(value)):
        seconds = float(found[1]) * _SECONDS.get(found[2] or "", 1.0)
    if seconds is None or seconds < 0:
        raise BadReply('Wait needs a duration such as "2 seconds".')
    return min(seconds, act.MAX_WAIT_S)
