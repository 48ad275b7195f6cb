"""What all dialects share for parsing replies: validating actions and endings, reading durations and keys, splitting
off thoughts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from agent.actions import MAX_WAIT_S, Action, Direction, Finish, PressKey, Wait
from agent.captions import phrase
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.grid import number
from agent.models.json_text import whole_signs
from devices.inputs import Key

_MAX_REASONS = 3

_STATUS_INSIDE = re.compile(r"""['"“”‘’`]\s*[,，]\s*(?:status|success)\s*[=＝:]""", re.IGNORECASE)
_ONLY_STATUS = re.compile(r"fail(?:ed|ure)?|false|unsuccessful", re.IGNORECASE)

_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([^\W\d_]*)\.?")
_UNITS = {
    unit: seconds
    for seconds, units in {
        0.001: "ms msec msecs millisecond milliseconds 毫秒",
        1.0: "s sec secs second seconds 秒 秒钟",
        60.0: "m min mins minute minutes 分 分钟",
        3600.0: "h hr hrs hour hours 时 小时",
    }.items()
    for unit in ("", *units.split()) if unit or seconds == 1.0
}  # fmt: skip

REVEALED_BY_FINGER: Mapping[str, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}
"""The direction that a finger movement brings into view, for models that name the finger's direction, as MAI-UI and
GELab-Zero do (Tongyi-MAI/MobileWorld 34e6a58, runtime/controller.py `swipe`).
"""

AnyAction = TypeVar("AnyAction", bound=BaseModel)


def made(model: type[AnyAction], name: str, /, **fields: object) -> AnyAction:
    """Build an action of this model from these fields. `name` is the model's word for it, for the error. Raises
    BadReply with the reasons.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        reasons = [
            f"{echo('.'.join(str(part) for part in found['loc']))}: {found['msg']}"
            for found in error.errors(include_input=False, include_url=False)[:_MAX_REASONS]
        ]
        raise BadReply(f"{echo(name)} cannot be done like this: {'; '.join(reasons)}.") from None


def decided(
    actions: Sequence[Action], thought: str, summary: str, told: tuple[str, ...] = (), *, alone: bool = True
) -> Decision:
    """Return the decision to do these actions. `alone` is false if there are words next to the calls.

    Raises BadReply if an end of the task is only mentioned among other words.
    """
    if isinstance(actions[-1], Finish) and not alone:
        raise BadReply(
            "A finish stands among other words, so that it is not clear whether you mean it. Nothing was done. "
            "To finish, write it alone, with nothing after it."
        )
    return Decision(tuple(actions), whole_signs(thought), phrase(whole_signs(summary)), told)


def status_of(name: str, given: Mapping[str, object]) -> Literal["success", "failure"] | None:
    """Return whether a task ended in success or failure, according to `status` or `success` among these arguments; None
    if both are missing.

    Raises BadReply if the status cannot be read; it never counts as success.
    """
    said: list[Literal["success", "failure"]] = []
    if "status" in given:
        match str(given["status"]).strip().lower():
            case "success":
                said.append("success")
            case "failure" | "fail":
                said.append("failure")
            case other:
                raise BadReply(f'The status of {name} must be "success" or "failure", not {echo(other)!r}.')
    if "success" in given:
        match str(given["success"]).strip().lower():
            case "true":
                said.append("success")
            case "false":
                said.append("failure")
            case other:
                raise BadReply(f"success of {name} must be true or false, not {echo(other)!r}.")
    if len(set(said)) > 1:
        raise BadReply(f"The status and the success of {name} do not agree.")
    return said[0] if said else None


def ended(name: str, given: Mapping[str, object], summary: str) -> Finish:
    """Return the end of the task from a call in a dialect in which an end without a status is a success.

    Raises BadReply if the status cannot be read, if the summary contains a status, or if it is nothing but a status and
    no other is given: then a quote was not closed or the status is in the wrong place.
    """
    status = status_of(name, given)
    if _STATUS_INSIDE.search(summary) or (status is None and _ONLY_STATUS.fullmatch(summary.strip())):
        raise BadReply(f'The status of {name} cannot be read. Write status="failure" beside the text, in plain quotes.')
    return Finish(status=status or "success", summary=summary)


def waiting(name: str, value: object) -> Wait:
    """Return a wait of the given duration, such as 2, "2 seconds", "2秒" or "500 ms", limited to the maximum; without a
    duration, the default wait.

    Raises BadReply if the duration cannot be read.
    """
    if value is None or value == "":
        return Wait()
    seconds = number(value)
    if isinstance(value, str):
        found = _DURATION.fullmatch(unicodedata.normalize("NFKC", value).strip().lower())
        if found and found[2] in _UNITS:
            seconds = float(found[1]) * _UNITS[found[2]]
    if seconds is None or seconds < 0:
        raise BadReply(f'{echo(name)} needs a duration such as "2 seconds".')
    return Wait(seconds=min(seconds, MAX_WAIT_S))


def key_named(written: str) -> PressKey | None:
    """Return the action for the phone key of this name, in any case and with or without Android's prefix; None if there
    is no such key.
    """
    name = written.strip().lower().removeprefix("keycode_")
    name = {"recent": "recents"}.get(name, name)
    return PressKey(key=Key(name)) if name in {known.value for known in Key} else None


_THINKING = re.compile(r"\s*<(think\w*)>(.*?)(?:</(?:\1|think)>|\Z)", re.DOTALL)
_UNOPENED = re.compile(r"([^<{]*)</think(?:ing)?>")


def split_thinking(text: str, *, unopened: bool = False) -> tuple[str, str]:
    """Split an answer into the thoughts that it begins with, and the rest. If the thoughts never end, the rest is "".

    With `unopened`, a block that is only closed counts too, because a chat template may have opened it. Do not use that
    for dialects in which a call may precede a text without a bracket or tag.
    """
    if found := _THINKING.match(text):
        return found[2].strip(), text[found.end() :]
    closed = _UNOPENED.match(text) if unopened else None
    return (closed[1].strip(), text[closed.end() :]) if closed else ("", text)
