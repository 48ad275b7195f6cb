"""What really happened on the phone, for tests: read from its state, not from its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devices.virtual_phone.state import PhoneState
from devices.virtual_phone.system_switches import TOGGLES, is_on


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A note as saved."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was sent from this phone."""

    to: str
    text: str


@dataclass(frozen=True, slots=True)
class PlacedOrder:
    """An order that was paid; the total in cents."""

    items: tuple[str, ...]
    total_cents: int


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A snapshot.

    `app`, `page` and `fields` describe what is in front: the app's short name (`browser`), its page and the typed
    text by field. `alarms` are the times that are on, `consequences` what came of pages of the hostile app, each with
    the page.
    """

    app: str
    page: str
    fields: dict[str, str]
    focus: str
    keyboard_shown: bool
    awake: bool
    locked: bool
    notes: tuple[SavedNote, ...]
    deleted_notes: tuple[SavedNote, ...]
    messages: tuple[SentMessage, ...]
    chats: tuple[SentMessage, ...]
    toggles: dict[str, bool]
    cart: tuple[str, ...]
    orders: tuple[PlacedOrder, ...]
    signed_in: str
    wrong_codes: int
    searches: tuple[str, ...]
    urls: tuple[str, ...]
    alarms: tuple[str, ...]
    events: tuple[str, ...]
    """Title, day, time and reminder of each."""
    chores: tuple[str, ...]
    """All of them in their order, as one (`chores_in_order`)."""
    levels: tuple[str, ...]
    """Name and value of each slider."""
    consequences: tuple[tuple[str, str], ...]
    dialogs: tuple[str, ...]
    dialog_answers: tuple[str, ...]
    input_method: str


@dataclass(frozen=True, slots=True)
class Touched:
    """What a finger has landed on.

    `app` is the short name of the app in front, `dialog` for a pop-up over it, `system` for the lock, the shade and the
    recent apps. `words` are what the element says and shows, `identifier` its id; a touch that nothing takes has
    neither, and is not `taken`. A `field` to type into has no words here: what stands in it may be a code.
    """

    app: str
    page: str
    words: tuple[str, ...] = ()
    identifier: str = ""
    taken: bool = True
    field: bool = False


def chores_in_order(names: Sequence[str]) -> str:
    """The chores as one item, in which their order counts."""
    return " > ".join(names)


def truth_of(state: PhoneState) -> GroundTruth:
    """The snapshot of a state."""
    task = state.task(state.front)
    activity = task.stack[-1] if task else None
    return GroundTruth(
        app=state.front,
        page=activity.page if activity else "",
        fields=dict(activity.fields) if activity else {},
        focus=activity.focus if activity else "",
        keyboard_shown=state.keyboard,
        awake=state.awake,
        locked=state.locked,
        notes=tuple(SavedNote(note.title, note.body) for note in state.notes),
        deleted_notes=tuple(SavedNote(note.title, note.body) for note in state.deleted_notes),
        messages=tuple(
            SentMessage(talk.person, line.text) for talk in state.conversations for line in talk.lines if line.mine
        ),
        chats=tuple(SentMessage(talk.person, line.text) for talk in state.chats for line in talk.lines if line.mine),
        toggles={toggle.name: is_on(state, toggle.name) for toggle in TOGGLES},
        cart=tuple(state.cart),
        orders=tuple(PlacedOrder(tuple(order.items), order.total_cents) for order in state.orders),
        signed_in=state.account.signed_in,
        wrong_codes=state.account.wrong_codes,
        searches=tuple(state.searches),
        urls=tuple(state.urls),
        alarms=tuple(alarm.time for alarm in state.alarms if alarm.on),
        events=tuple(f"{each.title} {each.day} {each.time} {each.reminder}" for each in state.events),
        chores=(chores_in_order(state.chores),),
        levels=tuple(f"{name} {value}" for name, value in state.levels.items()),
        consequences=tuple((each.kind, each.page) for each in state.consequences),
        dialogs=tuple(dialog.title for dialog in state.dialogs),
        dialog_answers=tuple(state.dialog_answers),
        input_method=state.settings["secure"].get("default_input_method", ""),
    )
