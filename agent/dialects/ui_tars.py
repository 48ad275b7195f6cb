"""The dialect of the UI-TARS family: `Thought: … Action: click(point='<point>x y</point>')`.

Two of it exist: places in thousandths of the screen, and (model 1.5) in pixels of the sent image.
A `scroll` direction means what it means here: "down" shows what is further below. One with a start and an end
instead of a direction is the way of a finger.
"""

from __future__ import annotations

from agent import actions as act
from agent.dialects.arguments import Arguments
from agent.dialects.base import BadReply, Decision
from agent.dialects.call_syntax import Call
from agent.dialects.grid import Grid, number
from agent.dialects.replies import made, shortened
from agent.dialects.scene_text import IMAGE_REMOVED, effect_text, goal_text, now, then, unnumbered, user
from agent.dialects.ui_tars_reply import read_reply
from agent.models.base import Message, ModelReply, ToolSpec
from agent.picture import ImagePart
from agent.prompts import prompt
from agent.scene import Scene
from devices.geometry import Size
from devices.inputs import Key

_EXPECTED = "Answer with `Thought: …`, `Summary: …` and then one line such as `Action: {example}`."
_IMAGE_WINDOW = 5

_START = ("start_box", "point", "start_point", "box", "start")
_END = ("end_box", "end_point", "end")
_DIRECTIONS = ("up", "down", "left", "right")


class UiTarsDialect:
    """One of the two UI-TARS dialects; `pixels` says which."""

    def __init__(self, *, pixels: bool) -> None:
        self._pixels = pixels

    @property
    def name(self) -> str:
        """As in VLM_DIALECT."""
        return "ui-tars-1.5" if self._pixels else "ui-tars"

    @property
    def image_window(self) -> int:
        """These models are trained on conversations with the last five screenshots."""
        return _IMAGE_WINDOW

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """A conversation: every past step is a screenshot (or a note that it was removed) and the model's reply."""
        space = scene.screen.space
        messages = [Message("system", (self._instructions(space),))]
        parts: list[str | ImagePart] = [goal_text(scene)]
        for past in scene.past:
            parts += then(past) if past.in_window else (f"Screenshot {past.number}:", IMAGE_REMOVED)
            messages += [user(parts), Message("assistant", (past.reply or past.did,))]
            parts = [effect_text(past)]
        return (*messages, user([*parts, *now(scene, unnumbered(self._grid(space).written))])), ()

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """The actions in a reply. Raises BadReply with the reason and the expected form."""
        try:
            parts = read_reply(reply.text)
            actions = tuple(_action(call, self._grid(space)) for call in parts.calls)
        except BadReply as bad:
            example = "click(point='<point>200 300</point>')"
            raise BadReply(f"{bad} {_EXPECTED.format(example=example)}") from None
        return Decision(actions, parts.thought or reply.reasoning, shortened(parts.summary))

    def _grid(self, space: Size) -> Grid:
        return Grid(space, thousandths=not self._pixels)

    def _instructions(self, space: Size) -> str:
        places = (
            f"Places are pixels of this screenshot: x from 0 to {space.width - 1}, y from 0 to {space.height - 1}."
            if self._pixels
            else "Places are written on a grid from 0 to 1000: x from the left edge to the right, y from top to bottom."
        )
        rules = prompt("dialects/rules")
        return prompt("dialects/ui_tars", width=space.width, height=space.height, places=places, rules=rules)


def _action(call: Call, grid: Grid) -> act.Action:
    given = Arguments(call)
    action = _typed(call.name, given, grid)
    given.end()
    return action


def _typed(name: str, given: Arguments, grid: Grid) -> act.Action:
    match name:
        case "click" | "tap" | "left_single":
            return act.Tap(target=_point(given, grid, name))
        case "double_tap" | "left_double" | "double_click":
            return act.DoubleTap(target=_point(given, grid, name))
        case "long_press":
            return act.LongPress(target=_point(given, grid, name))
        case "type":
            return _type(given, grid)
        case "scroll" | "swipe":
            return _scroll(name, given, grid)
        case "drag":
            start, end = _way(name, given, grid)
            return act.Drag(start=start, end=end)
        case "open_app":
            return made(act.OpenApp, name, name=given.text("app_name", "name", "content"))
        case "press_home":
            return act.PressKey(key=Key.HOME)
        case "press_back":
            return act.PressKey(key=Key.BACK)
        case "hotkey":
            return _key(given.text("key", "hotkey"))
        case "wait":
            seconds = number(given.take("time", "seconds", "duration"))
            return act.Wait() if seconds is None else act.Wait(seconds=min(max(seconds, 0), act.MAX_WAIT_S))
        case _:
            return _spoken(name, given, grid)


def _spoken(name: str, given: Arguments, grid: Grid) -> act.Action:
    """The actions that do not touch the phone, or only through a person."""
    match name:
        case "note":
            return made(act.Note, name, text=given.text("content", "text"))
        case "call_user":
            question = given.optional_text("content", "question")
            return made(act.AskUser, name, question=question or "I need your help to go on. What should I do?")
        case "take_over":
            return made(act.TakeOver, name, reason=given.text("content", "reason"))
        case "enter_secret":
            question = given.text("content", "question")
            place = given.take(*_START)
            target = None if place in {None, ""} else grid.target(place, name)
            return made(act.EnterSecret, name, question=question, target=target)
        case "finished":
            content, status = given.optional_text("content"), given.optional_text("status") or "success"
            return made(act.Finish, name, status=status, summary=content)
        case _:
            raise BadReply(f"There is no action {name}. The actions are listed in your instructions.")


def _type(given: Arguments, grid: Grid) -> act.Action:
    """Typing; one line end at the end of the text submits it, and alone it is the Enter key."""
    content = given.text("content", "text")
    place = given.take(*_START)
    target = None if place in {None, ""} else grid.target(place, "type")
    text = content.removesuffix("\n")
    if not text and target is None:
        return act.PressKey(key=Key.ENTER)
    return made(act.Type, "type", text=text, target=target, submit=text != content)


def _scroll(name: str, given: Arguments, grid: Grid) -> act.Action:
    direction = given.take("direction", by_place=False)
    start, end = given.take(*_START, by_place=False), given.take(*_END, by_place=False)
    for value in given.rest_by_place():
        if direction is None and isinstance(value, str) and value.strip().lower() in _DIRECTIONS:
            direction = value
        elif start is None:
            start = value
        elif end is None:
            end = value
        else:
            raise BadReply(f"{name} has more values than it takes.")
    place = None if start in {None, ""} else grid.target(start, name)
    if direction is not None:
        return made(act.Scroll, name, direction=str(direction).strip().lower(), target=place)
    if place is None or end is None:
        raise BadReply(f"{name} needs a direction (up, down, left or right), or a start_box and an end_box.")
    return made(act.Swipe, name, start=place, end=grid.target(end, name))


def _point(given: Arguments, grid: Grid, name: str) -> act.PointTarget:
    value = given.take(*_START, by_place=False)
    if value is None:
        rest = given.rest_by_place()
        value = rest[0] if len(rest) == 1 else rest
    return grid.target(value, name)


def _way(name: str, given: Arguments, grid: Grid) -> tuple[act.PointTarget, act.PointTarget]:
    """Where a finger starts and ends; four bare numbers are two points here, not a box."""
    start, end = given.take(*_START, by_place=False), given.take(*_END, by_place=False)
    rest = given.rest_by_place()
    if start is None and end is None and len(rest) == len(("x1", "y1", "x2", "y2")):
        start, end = rest[:2], rest[2:]
    elif start is None and end is None and len(rest) == len(("start", "end")):
        start, end = rest
    return grid.target(start, f"the start of {name}"), grid.target(end, f"the end of {name}")


def _key(name: str) -> act.PressKey:
    key = name.strip().lower()
    if key not in {known.value for known in Key}:
        raise BadReply(f"A phone has no key {name!r}. Use press_back, press_home, or end a text with \\n to submit it.")
    return act.PressKey(key=Key(key))
