"""What really happened on the phone, for tests: a journal of everything that reached it, and facts that are read from
its state, not from its screen.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from devices.virtual_phone.adbd import News
from devices.virtual_phone.android import TOGGLES, is_on
from devices.virtual_phone.state import PhoneState

RECEIPT_VARIABLE = "OPENGUI_RECEIPT"
# Long enough for any test; a phone that runs for weeks forgets its oldest commands.
MAX_ENTRIES = 20_000


@dataclass(slots=True)
class Entry:
    """One command that reached the phone.

    - `at`: When it arrived, in Unix seconds.
    - `kind`: How it came: `shell` or `exec`, `sync` (a file request), `jsonrpc` (a request to uiautomator2's server),
      `substitution` (a command run out of `$(…)` or backticks: never legitimate here), or `outside` (no command: a
      scenario event or a fault).
    - `line`: The whole line as it came.
    - `argv`: This one command of the line.
    - `receipt`: The value of OPENGUI_RECEIPT in front of the command, or of the request's header.
    - `code`: The exit code; None while it runs.
    """

    number: int
    at: float
    kind: str
    line: str
    argv: tuple[str, ...]
    receipt: str = ""
    code: int | None = None

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.argv[0] if self.argv else ""


@dataclass(slots=True)
class Journal:
    """All entries, the oldest first; of more than `MAX_ENTRIES` the oldest are dropped."""

    entries: list[Entry] = field(default_factory=list)
    _last: int = 0
    _news: News = field(default_factory=News)

    def add(self, kind: str, line: str, argv: tuple[str, ...], receipt: str = "") -> Entry:
        """Add an entry for a command that is about to run, wake up those that wait for it, and return the entry."""
        self._last += 1
        entry = Entry(self._last, time.time(), kind, line, argv, receipt)
        self.entries.append(entry)
        if len(self.entries) > MAX_ENTRIES:
            del self.entries[: MAX_ENTRIES // 10]
        self._news.tell()
        return entry

    def note(self, text: str) -> None:
        """Add an entry for something from outside that is no command, such as a fault that was set."""
        self.add("outside", text, ("outside", text)).code = 0

    def named(self, *names: str) -> list[Entry]:
        """Return the entries of these programs, for example `named("input")`."""
        return [entry for entry in self.entries if entry.name in names]

    def inputs(self) -> list[Entry]:
        """Return the entries of everything that touches, types or starts something, each of which must occur only
        once.
        """
        return [entry for entry in self.entries if entry.name in {"input", "am", "monkey", "setText"}]

    async def wait_for(self, wanted: Callable[[Entry], bool], timeout: float = 10.0) -> Entry:
        """Return the first entry, past or future, for which `wanted` is true. Raises TimeoutError after `timeout`
        seconds.
        """
        async with asyncio.timeout(timeout):
            while True:
                for entry in self.entries:
                    if wanted(entry):
                        return entry
                await self._news.wait()


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A note that was saved or deleted in the Notes app."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was sent from this phone."""

    to: str
    text: str


@dataclass(frozen=True, slots=True)
class PlacedOrder:
    """An order that was paid; the total is in US cents."""

    items: tuple[str, ...]
    total_cents: int


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A snapshot of what has happened on the phone.

    - `app`: Short name of the app in front, such as `browser`.
    - `page`: Name of its page.
    - `fields`: Typed text by field of that page.
    - `focus`: The focused field.
    - `toggles`: The switches of the Settings app.
    - `alarms`: Times of the alarms that are on.
    - `consequences`: What pages of the hostile app have caused, as (kind, page).
    - `dialog_answers`: Pressed dialog buttons, as "title: button".
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
    """Calendar events: title, day, time and reminder of each."""
    chores: tuple[str, ...]
    """One text with all chores in their order (see `chores_in_order`)."""
    levels: tuple[str, ...]
    """Name and value of each slider."""
    consequences: tuple[tuple[str, str], ...]
    dialogs: tuple[str, ...]
    dialog_answers: tuple[str, ...]
    input_method: str


@dataclass(frozen=True, slots=True)
class Touched:
    """What a touch has landed on.

    - `app`: Short name of the app in front, `dialog` for a dialog over it, or `system` for the lock screen, the
      notification shade and the recent apps.
    - `page`: The app's page.
    - `words`: The texts and descriptions of the element and of everything in it. For a text field only its hint, as
      its content may be a code.
    - `identifier`: The element's id.
    - `taken`: Whether any element received the touch.
    - `field`: Whether the element is a text field.
    """

    app: str
    page: str
    words: tuple[str, ...] = ()
    identifier: str = ""
    taken: bool = True
    field: bool = False


def chores_in_order(names: Sequence[str]) -> str:
    """Return the chores as one text, in which their order counts."""
    return " > ".join(names)


def truth_of(state: PhoneState) -> GroundTruth:
    """Return the snapshot of a phone's state."""
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
