"""A model behind a real endpoint that switches Bluetooth on, in any dialect, by what it is really sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.model_server import Answer, Call, Recorded

TASK = "switch Bluetooth on for me"
PROVEN = '{"proven": true, "reason": ""}'
CHECKING = "You check whether a task"
ASKED_HOW = "Decide how to handle"

_ROW = re.compile(r" 'Bluetooth · (?P<state>On|Off)' \((?P<x>\d+),(?P<y>\d+)\)")

Think = Callable[[Recorded], Answer]


@dataclass(frozen=True)
class Speech:
    """The few things that the task takes, as a dialect writes them. Places are as the model writes them."""

    dialect: str = "tools"

    def open_app(self, name: str) -> Answer:
        """Open an app."""
        match self.dialect:
            case "tools":
                return _call("open_app", name=name, say=f"Opening {name}")
            case "mobile-use" | "mai-ui":
                return _mobile_use(f'{{"action": "open", "text": "{name}"}}')
            case "gelab":
                return _gelab(f"AWAKE\tvalue:{name}")
            case "autoglm":
                return _autoglm(f'do(action="Launch", app="{name}")')
            case _:
                return _ui_tars(f"open_app(app_name='{name}')")

    def tap(self, x: int, y: int) -> Answer:
        """Touch a place."""
        match self.dialect:
            case "tools":
                return _call("tap", x=x, y=y, say="Touching it")
            case "mobile-use" | "mai-ui":
                return _mobile_use(f'{{"action": "click", "coordinate": [{x}, {y}]}}')
            case "gelab":
                return _gelab(f"CLICK\tpoint:{x},{y}")
            case "autoglm":
                return _autoglm(f'do(action="Tap", element=[{x},{y}])')
            case _:
                return _ui_tars(f"click(point='<point>{x} {y}</point>')")

    def finish(self) -> Answer:
        """The end."""
        match self.dialect:
            case "tools":
                return _call("finish", status="success", summary="Bluetooth is on.")
            case "mobile-use" | "mai-ui":
                return _mobile_use('{"action": "terminate", "status": "success"}')
            case "gelab":
                return _gelab("COMPLETE\treturn:Bluetooth is on.")
            case "autoglm":
                return _autoglm('finish(message="Bluetooth is on.")')
            case _:
                return _ui_tars("finished(content='Bluetooth is on.')")


def switcher(dialect: str = "tools") -> Think:
    """Looks at the last screen that it was sent and takes the next step; believes every proof."""
    speech = Speech(dialect)

    def think(request: Recorded) -> Answer:
        if CHECKING in request.text:
            return Answer(text=PROVEN)
        before, _, screen = request.text.rpartition("<screen>")
        if not before:
            return Answer(text="ok")
        row = _ROW.search(screen)
        if row is None:
            return speech.open_app("Settings")
        if row["state"] == "On":
            return speech.finish()
        return speech.tap(int(row["x"]), int(row["y"]))

    return think


def acting(requests: list[Recorded]) -> list[Recorded]:
    """The requests about a step."""
    return [request for request in requests if "<screen>" in request.text and CHECKING not in request.text]


def _call(tool: str, /, **arguments: object) -> Answer:
    return Answer(tool_calls=(Call(name=tool, arguments=arguments),))


def _mobile_use(arguments: str) -> Answer:
    return Answer(text=f'On it.\n<tool_call>{{"name": "mobile_use", "arguments": {arguments}}}</tool_call>')


def _gelab(action: str) -> Answer:
    return Answer(text=f"<THINK> On it. </THINK>\nexplain:On it.\taction:{action}\tsummary:On it.")


def _autoglm(call: str) -> Answer:
    return Answer(text=f"<think>On it.</think><answer>{call}</answer>")


def _ui_tars(call: str) -> Answer:
    return Answer(text=f"Thought: On it.\nAction: {call}")
