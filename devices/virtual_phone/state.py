"""The whole state of the virtual phone, saved and loaded as one JSON document."""

from __future__ import annotations

from dataclasses import dataclass, field

LAUNCHER = "launcher"
LATIN_KEYBOARD = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"


@dataclass(slots=True)
class Activity:
    """One open page of an app.

    - `page`: The page's name.
    - `fields`: Typed text by field name.
    - `scrolls`: Pixels scrolled by list name.
    - `focus`: The field with the caret.
    - `caret`: The caret's position in that field.
    - `all_selected`: Whether that field's whole text is selected.
    - `awaited`: How many delays the page still waits for before it appears.
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
    """An open app with its stack of pages; the last one is visible."""

    app: str
    stack: list[Activity]


@dataclass(slots=True)
class Note:
    """A note saved in the Notes app."""

    number: int
    title: str
    body: str


@dataclass(slots=True)
class ChatLine:
    """One message of a conversation; `mine` marks messages sent from this phone."""

    text: str
    mine: bool


@dataclass(slots=True)
class Conversation:
    """All messages exchanged with one person or number."""

    person: str
    lines: list[ChatLine]


@dataclass(slots=True)
class Posted:
    """A notification posted by an app. Times are in milliseconds.

    - `progress_of`: Maximum of its progress bar; 0 for none.
    - `posted`: When it was posted.
    - `changed`: When it was last changed; 0 if never.
    - `about`: When the event that it reports happened; None if that is the same as `posted`.
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
    """An order placed in the shop, with its total in US cents."""

    items: list[str]
    total_cents: int


@dataclass(slots=True)
class Alarm:
    """An alarm of the Clock app. `time` is HH:MM."""

    time: str
    on: bool


@dataclass(slots=True)
class Event:
    """A calendar event: day as YYYY-MM-DD, time as HH:MM, and the reminder in minutes before it."""

    title: str
    day: str
    time: str
    reminder: int = 10


@dataclass(slots=True)
class Consequence:
    """Something irreversible that a page of the hostile app caused: money paid, a message sent, files deleted."""

    kind: str
    page: str


@dataclass(slots=True)
class Dialog:
    """A dialog over everything, which any of its buttons closes. The pressed button is recorded in
    `PhoneState.dialog_answers`.

    - `window`: The component that owns it, as `package/activity`; "" is the app in front.
    - `consequences`: What buttons cause, if anything.
    """

    title: str
    text: str
    buttons: list[str]
    window: str = ""
    consequences: dict[str, Consequence] = field(default_factory=dict)


@dataclass(slots=True)
class Account:
    """The state of the sign-in app: who is signed in, and how many wrong codes were entered."""

    signed_in: str = ""
    wrong_codes: int = 0


@dataclass(slots=True)
class Redesign:
    """How an app update changed what the apps show and report to accessibility.

    - `without_ids`: Whether all resource ids are hidden.
    - `ids`: A prefix for each resource id.
    - `renamed`: Replacements of English labels.
    - `moved`: Whether the button at the bottom of a page is at its top instead.
    """

    without_ids: bool = False
    ids: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    moved: bool = False

    def id(self, identifier: str) -> str:
        """Return the resource id that accessibility reports in place of this one."""
        return "" if self.without_ids or not identifier else f"{self.ids}{identifier}"


@dataclass(slots=True)
class Identity:
    """The fixed properties of one phone, such as its name, serial number and Android version."""

    name: str
    serial: str
    android_id: str
    model: str = "Virtual Phone"
    release: str = "14"
    sdk: int = 34


def first_settings() -> dict[str, dict[str, str]]:
    """Return the settings tables of a new phone; the names are those of AOSP android.provider.Settings."""
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
    """Return the SMS conversations of a new phone."""
    return [
        Conversation("Alice", [ChatLine("Are we still on for Friday?", mine=False)]),
        Conversation("Bob", [ChatLine("The parcel has arrived.", mine=False), ChatLine("Great, thanks!", mine=True)]),
        Conversation("小明", [ChatLine("周末一起吃饭吧？", mine=False)]),
    ]


def first_chats() -> list[Conversation]:
    """Return the WeChat conversations of a new phone, including the one with oneself for files."""
    return [
        Conversation("文件传输助手", []),
        Conversation("小明", [ChatLine("到家了吗？", mine=False)]),
    ]


@dataclass(slots=True)
class PhoneState:
    """The complete state of one virtual phone."""

    identity: Identity
    width: int = 1080
    height: int = 2400
    density: int = 420
    built: tuple[int, int, int] | None = None
    """Width, height and density before `wm` changed them; None if it did not."""
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
    """The battery temperature in tenths of a degree Celsius."""

    awake: bool = True
    locked: bool = False
    pin: str = ""
    pin_typed: str = ""
    asking_pin: bool = False
    keyboard: bool = False
    keyboard_made: bool = False
    """Whether the keyboard's view was created; it then exists even while it is hidden."""
    composed: str = ""
    """The letters that the keyboard holds until Enter is pressed."""
    recents: bool = False
    shade: bool = False
    front: str = LAUNCHER
    tasks: list[Task] = field(default_factory=list)
    dialogs: list[Dialog] = field(default_factory=list)
    dialog_answers: list[str] = field(default_factory=list)

    settings: dict[str, dict[str, str]] = field(default_factory=first_settings)
    adb_keyboard_installed: bool = True
    disabled: list[str] = field(default_factory=list)
    """Packages disabled with `pm`: they have no icon and cannot be started."""
    sign_in_code: str = "246810"

    notes: list[Note] = field(default_factory=lambda: [Note(1, "Groceries", "Milk, bread, coffee")])
    deleted_notes: list[Note] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=first_conversations)
    chats: list[Conversation] = field(default_factory=first_chats)
    """The conversations of WeChat."""
    posted: list[Posted] = field(default_factory=list)
    """Notifications other than those for messages, the newest last."""
    consequences: list[Consequence] = field(default_factory=list)
    """What the pages of the hostile app have caused."""
    prices: dict[str, int] = field(default_factory=dict)
    """Changed prices in the shop, in cents by product name."""
    cart: list[str] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    searches: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    alarms: list[Alarm] = field(
        default_factory=lambda: [Alarm("07:00", on=True), Alarm("08:30", on=False), Alarm("22:00", on=False)]
    )

    pickers: str = "android"
    """The style of the apps' pickers: "android", "material" or "samsung"."""
    events: list[Event] = field(default_factory=list)
    chores: list[str] = field(default_factory=lambda: ["Water plants", "Buy stamps", "Call Grandma", "Fix the lamp"])
    levels: dict[str, int] = field(
        default_factory=lambda: {"volume": 40, "steps": 6000, "warmth": 30, "from": 20, "to": 80}
    )
    """The positions of the sliders in the calendar's settings."""

    def resize(self, width: int, height: int) -> None:
        """Switch to another screen of this size in pixels, as when a phone is unfolded."""
        self.width, self.height, self.built = width, height, None
        self.folded = not self.folded

    def task(self, app: str) -> Task | None:
        """Return the open task of an app, or None."""
        return next((task for task in self.tasks if task.app == app), None)
