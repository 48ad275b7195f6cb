"""What came of a step, as facts: found by looks at the phone, told by the phone, or said by a person.

They are kept as JSON and never as sentences: each reader words them. The English here is what models and the log read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent.wording import both_ends, words
from devices.wording import SENTENCES as PHONE_SENTENCES
from devices.wording import Words, placeholders


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True)


class AppChanged(_Fact):
    """Another app is in front; `app` is its package, "" when that could not be told."""

    kind: Literal["app_changed"] = "app_changed"
    app: str


class PageChanged(_Fact):
    """Another page (an activity of Android) of the app in front is shown."""

    kind: Literal["page_changed"] = "page_changed"


class Appeared(_Fact):
    """Words that were not on the screen before; of `more` others only the number is told."""

    kind: Literal["appeared"] = "appeared"
    words: tuple[str, ...]
    more: int = 0


class Disappeared(_Fact):
    """Words that are not on the screen any more; of `more` others only the number is told."""

    kind: Literal["disappeared"] = "disappeared"
    words: tuple[str, ...]
    more: int = 0


class KeyboardOpened(_Fact):
    """The keyboard covers a part of the screen now."""

    kind: Literal["keyboard_opened"] = "keyboard_opened"


class KeyboardClosed(_Fact):
    """The keyboard is gone."""

    kind: Literal["keyboard_closed"] = "keyboard_closed"


class ScreenTurned(_Fact):
    """The screen was rotated."""

    kind: Literal["screen_turned"] = "screen_turned"


class SwitchedTo(_Fact):
    """A switch or a box with this label (or resource id) is on or off now."""

    kind: Literal["switched_to"] = "switched_to"
    name: str
    on: bool


class ScreenChanged(_Fact):
    """The picture is another one, and nothing more can be told of it."""

    kind: Literal["screen_changed"] = "screen_changed"


class NothingChanged(_Fact):
    """A person would see no difference."""

    kind: Literal["nothing_changed"] = "nothing_changed"


class TextNow(_Fact):
    """What the field reads after it was typed into; bullets for a password."""

    kind: Literal["text_now"] = "text_now"
    text: str


class PhoneNote(_Fact):
    """What the phone's driver told of an input: a sentence of the devices (`devices/sentences.toml`) and its values."""

    kind: Literal["phone_note"] = "phone_note"
    sentence: str
    values: dict[str, str] = {}

    @classmethod
    def of(cls, note: Words) -> Self:
        """The fact in a sentence of the devices."""
        return cls(sentence=note.kind, values={name: str(value) for name, value in note.values.items()})

    @property
    def words(self) -> Words:
        """The sentence as a value; a general one where the devices have no such sentence: the phone may be attached to
        a machine of another version.
        """
        form = PHONE_SENTENCES.get(self.sentence, "")
        if not form or not placeholders(form) <= self.values.keys():
            return words("note.unknown")
        return Words(form, self.sentence, self.values)


class LookedBefore(_Fact):
    """The screen was held against what a person had allowed at most so many milliseconds before the input was sent."""

    kind: Literal["looked_before"] = "looked_before"
    milliseconds: int


class OtherWindow(_Fact):
    """Another window than the one that a person had allowed came up within that time and got the input."""

    kind: Literal["other_window"] = "other_window"
    window: str


class EffectUnseen(_Fact):
    """The input was sent, and then the phone could not be looked at."""

    kind: Literal["effect_unseen"] = "effect_unseen"


class CameTrue(_Fact):
    """What was waited for was so after these seconds."""

    kind: Literal["came_true"] = "came_true"
    seconds: float


class NotWithin(_Fact):
    """What was waited for did not come true in this time."""

    kind: Literal["not_within"] = "not_within"
    seconds: float


class FileSent(_Fact):
    """A file of `size` bytes left the phone for the chat."""

    kind: Literal["file_sent"] = "file_sent"
    name: str
    size: int


class Worded(_Fact):
    """What an action or a tool says of its result, in a sentence of its own (agent.wording.Texts)."""

    kind: Literal["worded"] = "worded"
    sentence: str
    values: dict[str, str]
    form: str = Field(max_length=500)
    translations: dict[str, Annotated[str, Field(max_length=500)]] = Field(max_length=20)

    @classmethod
    def of(cls, result: Words) -> Self:
        """The fact in a sentence with translations of its own."""
        values = {name: str(value) for name, value in result.values.items()}
        translations = dict(result.translations or {})
        return cls(sentence=result.kind, values=values, form=result.form, translations=translations)

    @property
    def words(self) -> Words:
        """The sentence as a value. It may come from another machine: a value that is missing shows as "…"."""
        named = placeholders(self.form).union(*map(placeholders, self.translations.values()))
        return Words(self.form, self.sentence, dict.fromkeys(named, "…") | self.values, self.translations)


class Answered(_Fact):
    """What a person answered, as they typed it."""

    kind: Literal["answered"] = "answered"
    text: str


class DoneByHand(_Fact):
    """A person did it on the phone themselves, or what else was needed there."""

    kind: Literal["by_hand"] = "by_hand"


class NotAllowed(_Fact):
    """A person did not allow it, so it was not done.

    `consequence` is the rule of the gate that asked, `text` what this run had typed before and what stood in a field of
    the window when the person was asked; each is "" when there is none.
    """

    kind: Literal["not_allowed"] = "not_allowed"
    consequence: str = ""
    text: str = ""


class AllowedAhead(_Fact):
    """An action was done without a question: `by` had allowed it for this task, or with the schedule of that number."""

    kind: Literal["allowed_ahead"] = "allowed_ahead"
    to: str
    """The recipient of the message."""
    by: str
    schedule: str = ""


class DeniedBefore(_Fact):
    """A person had denied the same in this run, so it was neither asked again nor done."""

    kind: Literal["denied_before"] = "denied_before"
    tries: int
    """How often it was tried, the denied one included."""


class PlainText(_Fact):
    """Words that stand for nothing else, such as a model's reason."""

    kind: Literal["text"] = "text"
    text: str


Effect = Annotated[
    AppChanged
    | PageChanged
    | Appeared
    | Disappeared
    | KeyboardOpened
    | KeyboardClosed
    | ScreenTurned
    | SwitchedTo
    | ScreenChanged
    | NothingChanged
    | TextNow
    | PhoneNote
    | LookedBefore
    | OtherWindow
    | EffectUnseen
    | CameTrue
    | NotWithin
    | FileSent
    | Worded
    | Answered
    | DoneByHand
    | NotAllowed
    | AllowedAhead
    | DeniedBefore
    | PlainText,
    Field(discriminator="kind"),
]


Effects = tuple[Effect, ...]
"""What came of a step, in order; () when nothing is known of it."""
_EFFECTS: Final[TypeAdapter[tuple[Effect, ...]]] = TypeAdapter(Effects)


def effects_of(kept: object) -> tuple[Effect, ...]:
    """The facts that were kept as plain data. Raises pydantic.ValidationError for anything else."""
    return _EFFECTS.validate_python(kept)


def is_denied(effects: Sequence[Effect]) -> bool:
    """Whether what the step was about to do was not done because a person did not allow it, then or before."""
    return any(isinstance(fact, NotAllowed | DeniedBefore) for fact in effects)


def effects_data(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    """Facts as plain data, ready for JSON."""
    return [effect.model_dump(mode="json") for effect in effects]


_FORMS: Final = {"kind", "sentence", "form", "translations", "consequence"}
"""Parts of facts that stand fixed, whatever the values in them are."""


def with_texts(effect: Effect, cover: Callable[[Sequence[str]], Sequence[str]]) -> Effect:
    """The fact with other words in it. `cover` is given those that stand in a row, and returns as many."""
    changes: dict[str, object] = {}
    for name, value in effect:
        if name in _FORMS:
            continue
        if isinstance(value, str):
            changes[name] = cover([value])[0]
        elif isinstance(value, tuple):
            changes[name] = tuple(cover(value))
        elif isinstance(value, dict):
            changes[name] = {each: cover([text])[0] for each, text in value.items()}
    return effect.model_copy(update=changes)


def in_english(effects: Sequence[Effect]) -> str:
    """The facts in one line, as models and the log read them; "" when there are none."""
    return "; ".join(map(_english, effects))


def _english(effect: Effect) -> str:
    match effect:
        case AppChanged(app=app):
            return f"app is now {app or 'unknown'}"
        case PageChanged():
            return "another page of the app"
        case Appeared(words=words, more=more):
            return f"new: {_row(words, more)}"
        case Disappeared(words=words, more=more):
            return f"gone: {_row(words, more)}"
        case KeyboardOpened():
            return "keyboard opened"
        case KeyboardClosed():
            return "keyboard closed"
        case ScreenTurned():
            return "screen turned"
        case SwitchedTo(name=name, on=on):
            return f"{name!r} is now {'on' if on else 'off'}"
        case ScreenChanged():
            return "the screen changed"
        case NothingChanged():
            return "nothing visible changed"
        case TextNow(text=text):
            return f"the field now reads {both_ends(text)}"
        case PhoneNote() | Worded():
            return str(effect.words)
        case LookedBefore(milliseconds=milliseconds):
            return f"the screen was checked at most {milliseconds} ms before"
        case OtherWindow(window=window):
            return f"another window got it: {window}"
        case EffectUnseen():
            return "sent; its effect could not be seen"
        case CameTrue(seconds=seconds):
            return f"so after {seconds:.1f} s"
        case NotWithin(seconds=seconds):
            return f"not so within {seconds:g} s"
        case FileSent(name=name, size=size):
            return f"sent {name} ({size} bytes)"
        case Answered(text=text):
            return f"answer: {text}"
        case DoneByHand():
            return "a person did something on the phone by hand"
        case NotAllowed():
            return "a person did not allow it"
        case AllowedAhead(to=to, by=by, schedule=""):
            return f"sends to {to!r} were allowed for this task by {by}"
        case AllowedAhead(to=to, by=by, schedule=schedule):
            return f"this message to {to!r} was allowed by the standing yes of {by} (schedule {schedule})"
        case DeniedBefore(tries=tries):
            return f"a person had denied the same before; they were not asked again (try {tries})"
        case PlainText(text=text):
            return text
        case _:
            assert_never(effect)


def _row(words: Sequence[str], more: int) -> str:
    shown = ", ".join(map(repr, words))
    return f"{shown} and {more} more" if more else shown
