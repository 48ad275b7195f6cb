"""What all dialects share for parsing replies: separating the model's own turn from imagined ones, splitting off
thoughts, validating actions and endings, reading durations and keys.

Models that are not stopped in time continue on their own: they imagine what the phone or the person says and answer
that. Nothing after the first imagined turn refers to a screen that was really seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from agent.actions import MAX_WAIT_S, Action, Direction, Finish, PressKey, Wait
from agent.captions import phrase
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.grid import number
from agent.models.base import ModelReply
from agent.models.json_answers import whole_signs
from devices.inputs import Key

_MARK = (
    # ChatML (Qwen), Llama 3, GLM, DeepSeek, Gemma, Mistral, Command R, Seed
    r"<\|im_start\|>(?!\s*assistant)|<\|start_header_id\|>(?!\s*assistant)|<start_of_turn>(?!\s*model)|"
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|user|observation|system|tool)\|>|"
    r"<｜(?:User|end▁of▁sentence|tool▁outputs?▁begin)｜>|<end_of_turn>|\[/?INST\]|\[TOOL_RESULTS\]|"
    r"<\|(?:END_OF_TURN|USER|SYSTEM)_TOKEN\|>|\[EOS\]|</s>|</?(?:tool|function)_(?:response|result|output)s?>"
)
_SOMEBODY = r"^[ \t*#>_-]*(?:user|human|tool[ _](?:response|result|output)|用户|人类)[*_ \t]*[:：]"
# Harmony and Phi also end a thought with <|end|>, so it means nothing before a call.
_OWN_TURN = (
    r"<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<｜Assistant｜>|<\|(?:assistant|start|end|return|call)\|>"
)
_AFTER_ACTION = (
    r"^[ \t*#>_-]*(?:observation|thought|assistant|system|environment|观察|思考|助手|系统)[*_ \t]*[:：]|"
    # A template's header without its marks: the role alone on its line, or glued to what it is made to say.
    r"^[^\S\n]*\S{0,2}[^\S\n]*(?:user|human|assistant|system|tool|function|observation|environment|ipython|model|用户|助手)"
    r"[^\S\n]*$|^[^\S\n]*(?:user|human|assistant|system)(?=[^\x00-\x7f]|<)|"
    # What agent.dialects.scene_text writes before a screen.
    r"^<(?:screen|steps|notes|read)>|"
    r"^(?:screenshot \d+:|what step \d+ changed:|step \d+ of at most |told to you since )"
)
_BEFORE = re.compile(rf"(?im){_MARK}|(?!\A){_SOMEBODY}")
_AFTER = re.compile(rf"(?im){_MARK}|{_OWN_TURN}|{_SOMEBODY}|{_AFTER_ACTION}")

_NO_WORDS = re.compile(r"<\|[a-z_]+\|>|</?(?:｜DSML｜)?[a-z_:]+>|```\w*|(?m:^[ \t>*-]*[0-9]{1,2}[.)])", re.IGNORECASE)
_QUOTES = "`'\"“”‘’「『"

WENT_ON = (
    "After your action you went on with an imagined turn (what the phone or the person might say). "
    "Nothing of that was read or done. Stop after your action."
)


def whole_reply(reply: ModelReply) -> ModelReply:
    """Return the reply with halves of signs in its text and reasoning replaced, because no file or database accepts
    these.
    """
    return replace(reply, text=whole_signs(reply.text), reasoning=whole_signs(reply.reasoning))


def turn_end(text: str, at: int, *, acted: bool) -> int:
    """Return the offset at which the model's own turn ends, searching from `at`; the end of the text if nothing was
    imagined.

    `acted` means that a call came before. Only then does an observation, a second thought, or a bare role mark another
    turn.
    """
    found = (_AFTER if acted else _BEFORE).search(text, at)
    return found.start() if found else len(text)


def went_on(text: str, end: int) -> tuple[str, ...]:
    """Return the notice for the model if words follow the end of its turn (the offset `end`); otherwise an
    empty tuple.
    """
    return (WENT_ON,) if has_words(text[end:]) else ()


def imagined_first() -> BadReply:
    """Return the error for an answer that imagines another turn before its first action."""
    return BadReply("Before any action your answer goes on with an imagined turn. Nothing after that was read or done.")


def has_words(text: str) -> bool:
    """Whether the text contains more than punctuation, tags, fences and list numbers."""
    return any(sign.isalnum() for sign in _NO_WORDS.sub(" ", text))


def joins(between: str) -> bool:
    """Whether the text between two calls has no words: only spaces, tags, fences and list marks."""
    return not _NO_WORDS.sub("", between).strip(" \t\r\n,;[]*->")


def line_before(text: str, start: int, since: int = 0) -> str:
    """Return the text before the offset `start` on its line, but nothing before the offset `since`."""
    return text[max(since, text.rfind("\n", 0, start) + 1) : start]


def is_quoted(before: str) -> bool:
    """Whether a call is only quoted, because words and then a quotation mark precede it on its line (`before`)."""
    return before.endswith(tuple(_QUOTES)) and not before.endswith("```") and has_words(before)


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

_ENDINGS: Mapping[str, Mapping[str, Literal["success", "failure"]]] = {
    "status": {"success": "success", "failure": "failure", "fail": "failure"},
    "success": {"true": "success", "false": "failure"},
}

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
    written = {key: str(given[key]).strip().lower() for key in _ENDINGS if key in given}
    said = {_ENDINGS[key].get(word) for key, word in written.items()}
    if None in said:
        key, other = next((key, word) for key, word in written.items() if word not in _ENDINGS[key])
        if key == "status":
            raise BadReply(f'The status of {name} must be "success" or "failure", not {echo(other)!r}.')
        raise BadReply(f"success of {name} must be true or false, not {echo(other)!r}.")
    if len(said) > 1:
        raise BadReply(f"The status and the success of {name} do not agree.")
    return said.pop() if said else None


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
