"""Tools for the whole text of a field, even if parts of it are out of sight: read, edit, copy, cut and paste, in any
app.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from PIL import Image
from pydantic import Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.actions import Action
from agent.effect_facts import Worded
from agent.graph.executor.action_spec import InputAction, PhoneContext, PhoneTool
from agent.graph.executor.long_lists import MAX_LETTERS
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.gate import ALLOWED, Gate
from agent.guards.masking import BULLET
from agent.guards.masking import COVERED as COVERED_WORDS
from agent.observing import ScreenView
from agent.tools.spec import ActionError, ActionResult, Situation, ungated
from agent.wording import Texts, sentence, shortened, words
from devices import inputs
from devices.errors import PhoneError
from devices.phone import Element, Observation
from devices.wording import Words

NO_FIELD: Final = "Not done: it is not clear which field is meant. Touch the field first."
UNTOLD: Final = "Not done: what is on this screen could not be read. Look again."
CODE_FIELD: Final = (
    "Not done: this field holds a password or code, or words that are covered. They are neither read nor moved."
)
COVERED: Final = (
    "Not done: this app forbids screenshots, and its words are covered. They are neither read nor moved before a "
    "person has allowed it (read_words)."
)
EMPTY: Final = "Not done: there is no text to copy."
LONG: Final = "Not done: the text has {letters} characters, and at most {most} are copied at once."
TAB: Final = "Not done: the text has a tab, which is a key that leaves the field. Write it without tabs."
TIMES: Final = "Not done, and nothing was changed: {old!r} occurs {times} times in the text, not once. {way}"
NOT_COPIED: Final = (
    "Not done: nothing was copied in this task. What else lies on the phone's clipboard is not known, and is not "
    "pasted: ask the person for the text."
)
READ: Final = "You have read the text of the field, {letters} characters. It is given to you as data."
CUT_OFF: Final = "Only the first {most} are given to you. The rest can be changed too; scroll to see it."
PERHAPS_A_PART: Final = "This is no plain text field: the phone may tell only the part of its text that is in sight."
NOT_WHOLE: Final = (
    "Not done: this is no plain text field, and the phone may tell only the part of its text that is in sight. "
    "A change would lose the rest. Change it by touch, or write all of it (text)."
)
PERHAPS_A_HINT: Final = "If these are the words that an empty field shows, it is empty."
_PLAIN_FIELDS: Final = ("EditText", "AutoCompleteTextView")
"""Classes of fields that report all their text (AOSP `TextView.onInitializeAccessibilityNodeInfoInternal`)."""
_SHORT: Final = 60
_SHOWN: Final = 40
_TEXTS: Final = Texts(
    {
        "read": "read the text of the field",
        "letters": "{number} characters",
        "write": "make {text} the whole text of the field",
        "change": "change the text of the field: {changes}",
        "copy": "copy the text of the field",
        "copy_of": "copy the text with the words {words}",
        "cut": "cut the text of the field",
        "paste": "paste what was copied: {text}",
        "paste_any": "paste what was copied",
        "copied": "{number} characters are copied",
    },
    zh={
        "read": "读取输入框的全部文字",
        "letters": "{number} 个字符",
        "write": "把输入框的全部文字改为{text}",
        "change": "修改输入框的文字：{changes}",
        "copy": "复制输入框的文字",
        "copy_of": "复制含有{words}的文字",
        "cut": "剪切输入框的文字",
        "paste": "粘贴已复制的文字：{text}",
        "paste_any": "粘贴已复制的文字",
        "copied": "已复制 {number} 个字符",
    },
)

Pair = Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]


class ReadText(Action):
    """Read all text of the focused field."""

    kind: Literal["read_text"] = "read_text"


class EditText(Action):
    """Change the focused field's text. Read it first."""

    kind: Literal["edit_text"] = "edit_text"
    text: str | None = Field(default=None, description="All of it.")
    changes: tuple[Pair, ...] = Field(default=(), description='Or pairs ["old","new"]; old occurs once.')

    @field_validator("changes", mode="before")
    @classmethod
    def _pairs(cls, given: object) -> object:
        """Accept other forms that models write: one bare pair, and pairs with their names."""
        match given:
            case [str(), str()]:
                return [given]
            case [*several]:
                return [(p["old"], p["new"]) if isinstance(p, dict) and {*p} == {"old", "new"} else p for p in several]
        return given

    @model_validator(mode="after")
    def _one_way(self) -> EditText:
        if (self.text is None) == (not self.changes):
            raise ValueError("give either the whole text or changes")
        if any(not old for old, _ in self.changes):
            raise ValueError("each change needs the old words")
        return self


class CopyText(Action):
    """Copy the focused field's text."""

    kind: Literal["copy_text"] = "copy_text"
    of: str = Field(default="", description="Other words to copy.")


class CutText(Action):
    """Copy the focused field's text and empty it."""

    kind: Literal["cut_text"] = "cut_text"


class PasteText(Action):
    """Type what you copied."""

    kind: Literal["paste_text"] = "paste_text"
    text: SkipJsonSchema[str | None] = None
    """The copied text. Code fills it in before any rule judges the action."""


def field_in(elements: Sequence[Element]) -> Element | None:
    """Return the field that an action means if it names none: the focused one, otherwise the only one. None if there
    are several or none.
    """
    fields = [each for each in elements if each.editable]
    focused = [each for each in fields if each.focused]
    return focused[0] if focused else fields[0] if len(fields) == 1 else None


def text_of(field: Element) -> str:
    """Return the content of a field; "" if it only shows its hint."""
    return "" if field.text == field.hint else field.text


def read_field(observation: Observation, *, covered: bool) -> tuple[Element, str]:
    """Return the field that is meant and its whole text.

    `covered` says whether the words of this screen are hidden from models. Raises ActionError if they are, if the field
    holds a secret, if it is not clear which field is meant, or if the elements of the screen are unknown.
    """
    field = _meant(observation, covered=covered)
    if field.password or _is_covered(field.text):
        raise ActionError(CODE_FIELD)
    return field, text_of(field)


def _is_covered(text: str) -> bool:
    """Whether a text has covered words, or consists of a password's dots."""
    return COVERED_WORDS in text or {*text} == {BULLET}


def _readable(observation: Observation, *, covered: bool) -> tuple[Element, ...]:
    if observation.elements is None:
        raise ActionError(UNTOLD)
    if covered:
        raise ActionError(COVERED)
    return observation.elements


def _meant(observation: Observation, *, covered: bool) -> Element:
    field = field_in(_readable(observation, covered=covered))
    if field is None:
        raise ActionError(NO_FIELD)
    return field


def changed_text(action: EditText, text: str) -> str:
    """Return the whole new text that the action gives, otherwise `text` after all changes, applied in order. Raises
    ActionError if the old words of a change do not occur exactly once.
    """
    if action.text is not None:
        return inputs.as_typed(action.text)
    for old, new in action.changes:
        there = inputs.as_typed(old)
        if (times := text.count(there)) != 1:
            way = "Take more of the words around it." if times else "Read the text and take its own words."
            raise ActionError(TIMES.format(old=shortened(old, _SHOWN), times=times, way=way))
        text = text.replace(there, inputs.as_typed(new))
    return text


@dataclass(frozen=True)
class SameText:
    """Implements `devices.phone.Judged` for an input that replaces a field's text: it may only be sent while the field
    still has the text from which the new one was made.

    `field` and `text` are as they were read from the observation `seen`. `cover` removes secrets from an observation,
    as they were removed from `text`. A field without the focus must still be where it was, because it is touched there.
    """

    field: Element
    text: str
    seen: Observation
    cover: Callable[[Observation], Observation]
    pictured: bool = True

    def shows_same(self, thumbnail: Image.Image) -> bool:  # noqa: ARG002
        """Return False, because no picture shows all of a long text. The elements are read instead, however long that
        takes.
        """
        return False

    def tells_same(self, elements: tuple[Element, ...]) -> bool:
        """Whether the field is still there in these elements and still has the same text. Implements
        `Judged.tells_same`.
        """
        now = self.cover(replace(self.seen, elements=elements))
        field, then = field_in(now.elements or ()), self.field
        if field is None or text_of(field) != self.text:
            return False
        same = (field.resource_id, field.class_name) == (then.resource_id, then.class_name)
        return same and (then.focused or field.bounds.holds(then.bounds.clipped(self.seen.size).centre))


def _typing(field: Element, text: str, view: ScreenView, *, clear: bool = True) -> inputs.TypeText:
    if "\t" in text:
        raise ActionError(TAB)
    at = None if field.focused else field.bounds.clipped(view.observation.size).centre
    return inputs.TypeText(text, at=at, clear=clear)


def _edit_input(action: EditText, _where: ResolvedTarget, view: ScreenView) -> inputs.Input:
    field, text = read_field(view.observation, covered=view.screen.covered)
    if action.changes and not field.class_name.endswith(_PLAIN_FIELDS):
        raise ActionError(NOT_WHOLE)
    return _typing(field, changed_text(action, text), view)


def _cut_input(_action: CutText, _where: ResolvedTarget, view: ScreenView) -> inputs.Input:
    field, text = read_field(view.observation, covered=view.screen.covered)
    if not field.class_name.endswith(_PLAIN_FIELDS):
        raise ActionError(NOT_WHOLE)
    _require_copyable(text)
    return _typing(field, "", view)


def _paste_input(action: PasteText, _where: ResolvedTarget, view: ScreenView) -> inputs.Input | None:
    if action.text is None:
        return None
    return _typing(_meant(view.observation, covered=view.screen.covered), action.text, view, clear=False)


def _moved_gate(_action: Action, situation: Situation) -> Gate:
    """Refuse, without a question, to move the text of a password or code field."""
    spot = situation.spot
    field = None if spot is None else field_in(spot.around)
    secret = field is not None and situation.policy.is_secret_field(field)
    return Gate("refuse", words("reason.secret_field")) if secret else ALLOWED


async def _look(context: PhoneContext) -> Observation:
    try:
        return await context.screen.peek(keep=True)
    except PhoneError as error:
        raise ActionError(f"Not done: the phone could not be looked at: {error}") from error


async def read_text(_action: ReadText, context: PhoneContext) -> ActionResult:
    """Run the `read_text` tool: return the text of the field, up to MAX_LETTERS characters, as data. Raises ActionError
    if it cannot or must not be read, and Stopped.
    """
    seen = await _look(context)
    field, text = read_field(seen, covered=context.mask.covers_words(seen))
    if context.policy.is_secret_field(field):
        raise ActionError(CODE_FIELD)
    told = [READ.format(letters=len(text))]
    if len(text) > MAX_LETTERS:
        told.append(CUT_OFF.format(most=MAX_LETTERS))
    if not field.class_name.endswith(_PLAIN_FIELDS):
        told.append(PERHAPS_A_PART)
    if text and not field.hint and len(text) <= _SHORT:
        told.append(PERHAPS_A_HINT)
    effect = Worded.of(_TEXTS.words("letters", number=len(text)))
    return ActionResult((effect,), notices=tuple(told), read=(text[:MAX_LETTERS],), read_in=seen.package)


async def copy_text(action: CopyText, context: PhoneContext) -> ActionResult:
    """Run the `copy_text` tool: keep a text for `paste_text`. Raises ActionError if there is none, it is too long or
    must not be copied, and Stopped.
    """
    seen = await _look(context)
    covered = context.mask.covers_words(seen)
    if action.of:
        source = _with_words(action.of, seen, covered=covered)
        text = source.label
    else:
        source, text = read_field(seen, covered=covered)
    if _is_covered(text) or (source.editable and context.policy.is_secret_field(source)):
        raise ActionError(CODE_FIELD)
    _require_copyable(text)
    effect = Worded.of(_TEXTS.words("copied", number=len(text)))
    return ActionResult((effect,), copied=text, read_in=seen.package)


def _with_words(wanted: str, observation: Observation, *, covered: bool) -> Element:
    """Return the smallest element with these words."""
    plain = " ".join(wanted.split()).casefold()
    elements = _readable(observation, covered=covered)
    there = [e for e in elements if not e.password and plain in " ".join(e.label.split()).casefold()]
    if not there:
        raise ActionError(f"Not done: {shortened(wanted, _SHOWN)!r} is not on this screen.")
    return min(there, key=lambda each: each.bounds.area)


def _require_copyable(text: str) -> None:
    if not text:
        raise ActionError(EMPTY)
    if len(text) > MAX_LETTERS:
        raise ActionError(LONG.format(letters=len(text), most=MAX_LETTERS))


def _quoted(text: str) -> str:
    return repr(shortened(" ".join(text.split()), _SHOWN))


def _edited(action: EditText, _sight: ScreenView | None) -> Words:
    if action.text is not None:
        return _TEXTS.words("write", text=_quoted(action.text))
    return _TEXTS.words("change", changes="; ".join(f"{_quoted(old)} → {_quoted(new)}" for old, new in action.changes))


def _edit_details(action: EditText) -> list[str]:
    if action.text is not None:
        return [sentence("ask.text", text=action.text)]
    return [sentence("ask.text", text=f"{old} → {new}") for old, new in action.changes]


def _pasted(action: PasteText, _sight: ScreenView | None) -> Words:
    return _TEXTS.words("paste_any") if action.text is None else _TEXTS.words("paste", text=_quoted(action.text))


READ_TEXT: Final = PhoneTool(
    model=ReadText, describe=lambda *_: _TEXTS.words("read"), gate=ungated, journalled=False, run=read_text
)
EDIT_TEXT: Final = InputAction(
    model=EditText, describe=_edited, details=_edit_details, gate=ungated, to_input=_edit_input
)
COPY_TEXT: Final = PhoneTool(
    model=CopyText,
    describe=lambda action, _: _TEXTS.words("copy_of", words=_quoted(action.of)) if action.of else _TEXTS.words("copy"),
    gate=ungated,
    journalled=False,
    run=copy_text,
)
CUT_TEXT: Final = InputAction(
    model=CutText, describe=lambda *_: _TEXTS.words("cut"), gate=_moved_gate, to_input=_cut_input
)
PASTE_TEXT: Final = InputAction(
    model=PasteText,
    describe=_pasted,
    details=lambda action: [sentence("ask.text", text=action.text or "")],
    gate=ungated,
    to_input=_paste_input,
)
