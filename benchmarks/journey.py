"""What the scripted model does: 20 steps through four apps, the same whenever it is asked for a step again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from tests.end_to_end.brain import FINISH, Act, NotOnScreen, call, listed
from tests.fakes.model_server import Answer, Recorded

_PIXELS: dict[str, tuple[int, int]] = {}
"""Where things are: a scripted model does not see, so it remembers the lists that it was shown."""
_APP = re.compile(r"^app: (.+)$", re.MULTILINE)
BROWSER = "com.android.browser"


def _listed(request: Recorded) -> dict[str, int]:
    """The numbers of what is listed now, by label, and of the first field by the app."""
    shown = request.text.rpartition("The screen now")[2]
    numbers: dict[str, int] = {}
    for line in listed(request):
        for name in (*line.caption.split(" · "), *(_APP.findall(shown) if line.role == "field" else ())):
            if name not in numbers:
                numbers[name] = int(line.number)
                _PIXELS.setdefault(name, (int(line.x), int(line.y)))
    return numbers


def on_label(name: str, tool: str, /, **arguments: object) -> Act:
    """A tool call on what has this label: by its number, or where no list is shown by its place, as somebody would who
    sees it. The name of an app is its first field, whatever stands in it from an earlier task.
    """

    def act(request: Recorded) -> Answer:
        numbers = _listed(request)
        if name in numbers:
            return call(tool, element=numbers[name], **arguments)(request)
        if name not in _PIXELS:
            raise NotOnScreen(name, request.text[-2000:])
        x, y = _PIXELS[name]
        return call(tool, x=x, y=y, **({} if name == BROWSER else {"on": name}), **arguments)(request)

    return act


STEPS: tuple[tuple[str, Act], ...] = (
    ("launch", call("open_app", name="Settings")),
    ("tap", on_label("Bluetooth", "tap")),
    ("tap", on_label("Location", "tap")),
    ("scroll", call("scroll", direction="down")),
    ("scroll", call("scroll", direction="up")),
    ("tap", on_label("Display", "tap")),
    ("key", call("key", key="back")),
    ("key", call("key", key="home")),
    ("launch", call("open_app", name="Notes")),
    ("tap", on_label("New note", "tap")),
    ("type", on_label("Title", "type", text="Shopping")),
    ("type", on_label("Note", "type", text="Milk, bread and coffee")),
    ("tap", on_label("Save", "tap")),
    ("launch", call("open_app", name="Browser")),
    ("type", on_label(BROWSER, "type", text="weather", clear=True, submit=True)),
    ("tap", on_label("weather - Free Encyclopedia", "tap")),
    ("key", call("key", key="back")),
    ("key", call("key", key="back")),
    ("key", call("key", key="home")),
    ("finish", FINISH),
)
"""What each step does, and what kind of a step it is."""


Says = Callable[[str, str], str]
"""What an action is in the words of a dialect, by its kind and what it is about: a place is two thousandths."""

_WAY = (
    ("launch", "Settings"),
    ("tap", "Bluetooth"),
    ("tap", "Location"),
    ("scroll", "down"),
    ("scroll", "up"),
    ("tap", "Display"),
    ("key", "back"),
    ("key", "home"),
    ("launch", "Notes"),
    ("tap", "New note"),
    ("type", "Milk, bread and coffee"),
    ("tap", "Save"),
    ("launch", "Settings"),
    ("tap", "Bluetooth"),
    ("key", "home"),
    ("finish", "It is done."),
)
_FINGER = {"down": ("500,700", "500,300"), "up": ("500,300", "500,700")}


def _ui_tars(kind: str, about: str) -> str:
    action = {
        "launch": f"open_app(app_name='{about}')",
        "tap": f"click(point='<point>{about.replace(',', ' ')}</point>')",
        "scroll": f"scroll(point='<point>500 500</point>', direction='{about}')",
        "key": f"press_{about}()",
        "type": f"type(content='{about}')",
        "finish": f"finished(content='{about}')",
    }[kind]
    return f"Thought: the next thing\nSummary: Going on\nAction: {action}"


def _autoglm(kind: str, about: str) -> str:
    start, end = _FINGER.get(about, ("", ""))
    action = {
        "launch": f'do(action="Launch", app="{about}")',
        "tap": f'do(action="Tap", element=[{about}])',
        "scroll": f'do(action="Swipe", start=[{start}], end=[{end}])',
        "key": f'do(action="{about.title()}")',
        "type": f'do(action="Type", text="{about}")',
        "finish": f'finish(message="{about}")',
    }[kind]
    return f"<think>the next thing</think><summary>Going on</summary><answer>{action}</answer>"


def _mobile_use(kind: str, about: str) -> str:
    start, end = _FINGER.get(about, ("", ""))
    arguments = {
        "launch": f'"action": "open", "text": "{about}"',
        "tap": f'"action": "click", "coordinate": [{about}]',
        "scroll": f'"action": "swipe", "coordinate": [{start}], "coordinate2": [{end}]',
        "key": f'"action": "system_button", "button": "{about.title()}"',
        "type": f'"action": "type", "text": "{about}"',
        "finish": '"action": "terminate", "status": "success"',
    }[kind]
    return f'Going on.\n<tool_call>{{"name": "mobile_use", "arguments": {{{arguments}}}}}</tool_call>'


_PLACES: dict[str, str] = {}
"""Where things are, in thousandths: a scripted model does not see, so it remembers the lists that it was shown."""


def _act(says: Says, kind: str, about: str) -> Act:
    """One step of the way by a model that points."""

    def act(request: Recorded) -> Answer:
        _PLACES.update({label: f"{line.x},{line.y}" for line in listed(request) for label in line.caption.split(" · ")})
        return Answer(text=says(kind, _PLACES[about] if kind == "tap" else about))

    return act


POINTING: Mapping[str, tuple[tuple[str, Act], ...]] = {
    dialect: tuple((kind, _act(says, kind, about)) for kind, about in _WAY)
    for dialect, says in (("ui-tars", _ui_tars), ("autoglm", _autoglm), ("mobile-use", _mobile_use))
}
"""A way like that by models that point, in their words. The first task has to be one whose lists are shown."""

_STEP = re.compile(r"Step (\d+) of at most")
_PIECE = 12
_FRAMING = 4
"""Streamed pieces around the arguments of a call: role, head, finish, usage."""


def step_of(request: Recorded) -> int | None:
    """The number of the step that an acting request is about, None for another request."""
    found = _STEP.findall(request.text)
    return int(found[-1]) if found else None


def think(seconds: float, request: Recorded, steps: Sequence[tuple[str, Act]] = STEPS) -> Answer:
    """The answer to one request, streamed over `seconds`; other calls than acting are answered at once."""
    if "You check whether a task" in request.text:
        return Answer(text='{"proven": true}')
    step = step_of(request)
    if step is None:
        return Answer(text="Working on the phone")
    return streamed(steps[(step - 1) % len(steps)][1](request), seconds)


def streamed(answer: Answer, seconds: float) -> Answer:
    """The same answer, whose pieces come over these seconds."""
    return answer.model_copy(update={"piece": _PIECE, "pace": seconds / (_FRAMING + _pieces(answer))})


def _pieces(answer: Answer) -> int:
    return sum(-(-len(each) // _PIECE) for each in (answer.text, *(call.raw for call in answer.tool_calls)))
