"""Everything the virtual phone remembers, as one document that is saved and loaded as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

LAUNCHER = "launcher"
LATIN_KEYBOARD = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"


@dataclass(slots=True)
class Activity:
    """One page of an app.

    `fields` holds what was typed by field name, `focus` the field with the caret and `caret` its place in that text;
    `scrolls` the pixels scrolled by list name. `awaited` counts what the page still waits for before it shows.
    """

    page: str
    arguments: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    scrolls: dict[str, int] = field(default_factory=dict)
    focus: str = ""
    caret: int = 0
    all_selected: bool = False
    awaited: int = 0


@dataclass(slots=True)
class Task:
    """An app that was opened: its pages, the last one visible."""

    app: str
    stack: list[Activity]


@dataclass(slots=True)
class Note:
    """A saved note."""

    number: int
    title: str
    body: str


@dataclass(slots=True)
class ChatLine:
    """One message of a conversation; `mine` was sent from this phone."""

    text: str
    mine: bool


@dataclass(slots=True)
class Conversation:
    """All messages with one person or number."""

    person: str
    lines: list[ChatLine]


@dataclass(slots=True)
class Posted:
    """A notification that an app has posted, with the moments of its post, of its last change (0: none) and of what it
    tells of (None: of its post), in milliseconds.
    """

    package: str
    title: str
    text: str
    number: int = 1
    tag: str = ""
    flags: int = 0x10
    group: str = ""
    progress_of: int = 0
    posted: int = 0
    changed: int = 0
    about: int | None = None


@dataclass(slots=True)
class Order:
    """A placed order; the total in cents of a dollar."""

    items: list[str]
    total_cents: int


@dataclass(slots=True)
class Alarm:
    """An alarm of the clock."""

    time: str
    on: bool


@dataclass(slots=True)
class Event:
    """An event of the calendar: its day as YYYY-MM-DD, its time as HH:MM, and minutes before it for the reminder."""

    title: str
    day: str
    time: str
    reminder: int = 10


@dataclass(slots=True)
class Consequence:
    """Something that cannot be taken back, and the page that it came of: money, a message, files that are gone."""

    kind: str
    page: str


@dataclass(slots=True)
class Dialog:
    """A pop-up over everything; a button only closes it. The pressed one is kept in `Phone.dialog_answers`.

    `window` is the component that it belongs to, as `package/activity`; empty for the app in front. `consequences` are
    those of its buttons, where they have some.
    """

    title: str
    text: str
    buttons: list[str]
    window: str = ""
    consequences: dict[str, Consequence] = field(default_factory=dict)


@dataclass(slots=True)
class Account:
    """The sign-in app: who signed in, and how often a wrong code was given."""

    signed_in: str = ""
    wrong_codes: int = 0


@dataclass(slots=True)
class Redesign:
    """How an update of its apps has changed what they show, and what accessibility is told.

    `without_ids` tells no resource ids, `ids` is put before each of them; `renamed` has other words for English labels;
    with `moved` the button at the bottom of a page stands at its top.
    """

    without_ids: bool = False
    ids: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    moved: bool = False

    def id(self, identifier: str) -> str:
        """What accessibility is told in place of this id."""
        return "" if self.without_ids or not identifier else f"{self.ids}{identifier}"


@dataclass(slots=True)
class Identity:
    """What never changes for one phone."""

    name: str
    serial: str
    android_id: str
    model: str = "Virtual Phone"
    release: str = "14"
    sdk: int = 34


def first_settings() -> dict[str, dict[str, str]]:
    """The settings tables of a fresh phone; names as in AOSP android.provider.Settings."""
    return {
        "system": {"accelerometer_rotation": "1", "screen_brightness_mode": "1", "screen_off_timeout": "600000"},
        "secure": {
            "default_input_method": LATIN_KEYBOARD,
            "enabled_input_methods": LATIN_KEYBOARD,
            "ui_night_mode": "1",
            "location_mode": "3",
            "sms_default_application": "com.android.messaging",
        },
        "global": {
            "wifi_on": "1",
            "bluetooth_on": "0",
            "airplane_mode_on": "0",
            "low_power": "0",
            "zen_mode": "0",
            "adb_enabled": "1",
            "window_animation_scale": "0.0",
            "transition_animation_scale": "0.0",
            "animator_duration_scale": "0.0",
        },
    }


def first_conversations() -> list[Conversation]:
    """Messages of a fresh phone."""
    return [
        Conversation("Alice", [ChatLine("Are we still on for Friday?", mine=False)]),
        Conversation("Bob", [ChatLine("The parcel has arrived.", mine=False), ChatLine("Great, thanks!", mine=True)]),
        Conversation("小明", [ChatLine("周末一起吃饭吧？", mine=False)]),
    ]


def first_chats() -> list[Conversation]:
    """WeChat of a fresh phone; it keeps a conversation with oneself for files."""
    return [
        Conversation("文件传输助手", []),
        Conversation("小明", [ChatLine("到家了吗？", mine=False)]),
    ]


@dataclass(slots=True)
class PhoneState:
    """The document."""

    identity: Identity
    width: int = 1080
    height: int = 2400
    density: int = 420
    built: tuple[int, int, int] | None = None
    """Width, height and density before `wm` set others; None while it did not."""
    folded: bool = False
    """Whether the second screen is in use, on a phone that has two."""
    rotation: int = 0
    seed: int = 0
    locale: str = "en-US"
    redesign: Redesign = field(default_factory=Redesign)
    port: int = 0
    battery: int = 87
    charging: bool = True
    temperature: int = 271
    """Of the battery, in tenths of a degree Celsius."""

    awake: bool = True
    locked: bool = False
    pin: str = ""
    pin_typed: str = ""
    asking_pin: bool = False
    keyboard: bool = False
    keyboard_made: bool = False
    """Whether the keyboard's view was made; it then stays, shown or not."""
    composed: str = ""
    """Letters that the keyboard holds until Enter."""
    recents: bool = False
    shade: bool = False
    front: str = LAUNCHER
    tasks: list[Task] = field(default_factory=list)
    dialogs: list[Dialog] = field(default_factory=list)
    dialog_answers: list[str] = field(default_factory=list)

    settings: dict[str, dict[str, str]] = field(default_factory=first_settings)
    adb_keyboard_installed: bool = True
    disabled: list[str] = field(default_factory=list)
    """Packages that `pm` has switched off: without an icon, and not to be started."""
    sign_in_code: str = "246810"

    notes: list[Note] = field(default_factory=lambda: [Note(1, "Groceries", "Milk, bread, coffee")])
    deleted_notes: list[Note] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=first_conversations)
    chats: list[Conversation] = field(default_factory=first_chats)
    """Of WeChat."""
    posted: list[Posted] = field(default_factory=list)
    """What apps have posted beside the messages, the latest last."""
    consequences: list[Consequence] = field(default_factory=list)
    """What the pages of the hostile app brought about."""
    prices: dict[str, int] = field(default_factory=dict)
    """Prices of the shop that have changed, in cents by the name of the product."""
    cart: list[str] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    searches: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    alarms: list[Alarm] = field(
        default_factory=lambda: [Alarm("07:00", on=True), Alarm("08:30", on=False), Alarm("22:00", on=False)]
    )

    pickers: str = "android"
    """Whose pickers the apps have: "android", "material" or "samsung"."""
    events: list[Event] = field(default_factory=list)
    chores: list[str] = field(default_factory=lambda: ["Water plants", "Buy stamps", "Call Grandma", "Fix the lamp"])
    levels: dict[str, int] = field(
        default_factory=lambda: {"volume": 40, "steps": 6000, "warmth": 30, "from": 20, "to": 80}
    )
    """What the sliders of the calendar's settings are at."""

    def resize(self, width: int, height: int) -> None:
        """Another screen is used, as when a phone is unfolded."""
        self.width, self.height, self.built = width, height, None
        self.folded = not self.folded

    def task(self, app: str) -> Task | None:
        """The open task of an app."""
        return next((task for task in self.tasks if task.app == app), None)
