"""The effects of a step: facts about what it changed, seen on the phone, reported by the phone, or said by a person.

Facts are stored as JSON, never as sentences; every reader has its own wording. The English in this module is for models
and the log.
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
    """Another app is in front; `app` is its package, "" if unknown."""

    kind: Literal["app_changed"] = "app_changed"
    app: str


class PageChanged(_Fact):
    """The app in front shows another page (Android activity)."""

    kind: Literal["page_changed"] = "page_changed"


class Appeared(_Fact):
    """Words that are new on the screen; `more` counts further new words that are not listed."""

    kind: Literal["appeared"] = "appeared"
    words: tuple[str, ...]
    more: int = 0


class Disappeared(_Fact):
    """Words that are no longer on the screen; `more` counts further ones that are not listed."""

    kind: Literal["disappeared"] = "disappeared"
    words: tuple[str, ...]
    more: int = 0


class KeyboardOpened(_Fact):
    """The keyboard now covers part of the screen."""

    kind: Literal["keyboard_opened"] = "keyboard_opened"


class KeyboardClosed(_Fact):
    """The keyboard is gone."""

    kind: Literal["keyboard_closed"] = "keyboard_closed"


class ScreenTurned(_Fact):
    """The screen was rotated."""

    kind: Literal["screen_turned"] = "screen_turned"


class SwitchedTo(_Fact):
    """The switch or checkbox with this label (or resource id) is now on or off."""

    kind: Literal["switched_to"] = "switched_to"
    name: str
    on: bool


class ScreenChanged(_Fact):
    """The picture changed in a way that cannot be described further."""

    kind: Literal["screen_changed"] = "screen_changed"


class NothingChanged(_Fact):
    """The screen shows no difference that a person would see."""

    kind: Literal["nothing_changed"] = "nothing_changed"


class TextNow(_Fact):
    """The content of the field after typing into it; bullets for a password."""

    kind: Literal["text_now"] = "text_now"
    text: str


class PhoneNote(_Fact):
    """The phone driver's remark about an input: a sentence from `devices/sentences.toml` with its values."""

    kind: Literal["phone_note"] = "phone_note"
    sentence: str
    values: dict[str, str] = {}

    @classmethod
    def of(cls, note: Words) -> Self:
        """Create the fact from a sentence about a phone."""
        return cls(sentence=note.kind, values={name: str(value) for name, value in note.values.items()})

    @property
    def words(self) -> Words:
        """The remark as a sentence. If this version of the program does not know it, a general sentence is used,
        because the phone may be attached to a machine that runs another version.
        """
        form = PHONE_SENTENCES.get(self.sentence, "")
        if not form or not placeholders(form) <= self.values.keys():
            return words("note.unknown")
        return Words(form, self.sentence, self.values)


class LookedBefore(_Fact):
    """The screen was compared with what a person had approved at most this many milliseconds before the input."""

    kind: Literal["looked_before"] = "looked_before"
    milliseconds: int


class OtherWindow(_Fact):
    """Another window appeared at the last moment and received the input that a person had approved."""

    kind: Literal["other_window"] = "other_window"
    window: str


class EffectUnseen(_Fact):
    """The input was sent, but the phone could not be looked at afterwards."""

    kind: Literal["effect_unseen"] = "effect_unseen"


class CameTrue(_Fact):
    """The awaited condition was met after this many seconds."""

    kind: Literal["came_true"] = "came_true"
    seconds: float


class NotWithin(_Fact):
    """The awaited condition was not met within this many seconds."""

    kind: Literal["not_within"] = "not_within"
    seconds: float


class FileSent(_Fact):
    """A file of `size` bytes was sent from the phone to the chat."""

    kind: Literal["file_sent"] = "file_sent"
    name: str
    size: int


class Worded(_Fact):
    """The result of an action or tool in a sentence that it defines itself (agent.wording.Texts)."""

    kind: Literal["worded"] = "worded"
    sentence: str
    values: dict[str, str]
    form: str = Field(max_length=500)
    translations: dict[str, Annotated[str, Field(max_length=500)]] = Field(max_length=20)

    @classmethod
    def of(cls, result: Words) -> Self:
        """Create the fact from a sentence that carries its own translations."""
        values = {name: str(value) for name, value in result.values.items()}
        translations = dict(result.translations or {})
        return cls(sentence=result.kind, values=values, form=result.form, translations=translations)

    @property
    def words(self) -> Words:
        """The fact as a sentence. It may come from another machine, so a missing value is shown as "…"."""
        named = placeholders(self.form).union(*map(placeholders, self.translations.values()))
        return Words(self.form, self.sentence, dict.fromkeys(named, "…") | self.values, self.translations)


class Answered(_Fact):
    """A person's answer, exactly as they typed it."""

    kind: Literal["answered"] = "answered"
    text: str


class DoneByHand(_Fact):
    """A person did the step on the phone themselves."""

    kind: Literal["by_hand"] = "by_hand"


class NotAllowed(_Fact):
    """A person denied the action, so it was not done.

    `consequence` is the name of the rule that required the question. `text` is the text that the sub-task had typed and
    that a field of the window contained when the person was asked. Either is "" if there is none.
    """

    kind: Literal["not_allowed"] = "not_allowed"
    consequence: str = ""
    text: str = ""


class AllowedAhead(_Fact):
    """An action was done without a question, because a person (`by`) had approved it in advance, for this task or with
    the schedule `schedule`.
    """

    kind: Literal["allowed_ahead"] = "allowed_ahead"
    to: str
    """The recipient of the message."""
    by: str
    schedule: str = ""


class DeniedBefore(_Fact):
    """A person had denied the same action earlier in this run, so it was not done, and they were not asked again."""

    kind: Literal["denied_before"] = "denied_before"
    tries: int
    """How often the action was tried, including the time when the person denied it."""


class PlainText(_Fact):
    """Free text that fits no other fact, such as a model's reason."""

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
"""The facts about one step, in order; () if nothing is known."""
_EFFECTS: Final[TypeAdapter[tuple[Effect, ...]]] = TypeAdapter(Effects)


def effects_of(kept: object) -> tuple[Effect, ...]:
    """Rebuild effects from plain data. Raises pydantic.ValidationError for anything else."""
    return _EFFECTS.validate_python(kept)


def is_denied(effects: Sequence[Effect]) -> bool:
    """Whether a person's denial, now or earlier in the run, prevented the step's action."""
    return any(isinstance(fact, NotAllowed | DeniedBefore) for fact in effects)


def effects_data(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    """Return the effects as JSON data."""
    return [effect.model_dump(mode="json") for effect in effects]


_FORMS: Final = {"kind", "sentence", "form", "translations", "consequence"}
"""Fields of facts that hold no content from the phone or a person, so they are never covered."""


def with_texts(effect: Effect, cover: Callable[[Sequence[str]], Sequence[str]]) -> Effect:
    """Return the effect with all its texts replaced, except sentence forms and names of sentences and rules. `cover`
    receives a list of texts and returns as many.
    """
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
    """Return the effects as one line of English, for models and the log; "" if there are none."""
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
