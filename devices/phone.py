"""The border to a phone: observe it, act on it. The adb driver implements it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from PIL import Image

from devices.clock import PhoneClock
from devices.geometry import Bounds, Size
from devices.inputs import Input
from devices.jpeg import Fit, Jpeg
from devices.notification import PhoneNotification
from devices.resizing import thumbnail_of
from devices.storage import FolderEntry, FoundFiles
from devices.wording import Words


class Health(StrEnum):
    """Whether a phone can be used now. `busy` is no health: the bot's leases know that."""

    READY = "ready"
    LOCKED = "locked"
    ASLEEP = "asleep"
    LOW_BATTERY = "low battery"
    UNAUTHORIZED = "unauthorized"
    OFFLINE = "offline"
    SILENT = "silent"
    """It is attached and does not answer now, as while it starts or where the machine is very busy."""
    NO_PERMISSION = "no permission"
    BUSY_ELSEWHERE = "busy elsewhere"
    """Another service works on it, which ends: a run waits."""

    @property
    def usable(self) -> bool:
        """Whether a run may start: an asleep phone is woken, a locked one is asked about."""
        return self in {Health.READY, Health.LOCKED, Health.ASLEEP, Health.LOW_BATTERY}

    @property
    def takes_tasks(self) -> bool:
        """Whether a task may be given to it: one waits for a phone that is silent or that another service uses."""
        return self.usable or self in {Health.SILENT, Health.BUSY_ELSEWHERE}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a phone can do beside being seen and touched."""

    files: bool = True
    """Whether its shared storage can be read."""


@dataclass(frozen=True, slots=True)
class PhoneInfo:
    """What is known of a phone without asking it again.

    `id` is stable (android_id when the phone could be asked, else the adb serial); `serial` is how adb names it
    today. `reason` and `fix` are sentences for people, empty while the phone is ready.
    `lane` is the way that elements and text take now, "fast" or "adb"; `lane_reason` why the fast one was given up;
    `pictures` is the way of the next picture.
    """

    id: str
    serial: str
    name: str
    health: Health
    reason: str = ""
    fix: str = ""
    model: str = ""
    android: str = ""
    size: Size | None = None
    battery: int | None = None
    temperature: float | None = None
    """Of the battery, in °C; None when it is not told."""
    app: str = ""
    """The package of the app in front."""
    app_name: str = ""
    """What people call it."""
    virtual: bool = False
    lane: str = ""
    lane_reason: str = ""
    pictures: str = ""
    clock: PhoneClock | None = None
    """Its own date, time and zone; None while it has not told them."""
    locale: str = ""
    """The language that it is set to, such as "zh-Hans-CN", as of when it was last asked how it is; "" if untold."""
    capabilities: Capabilities = Capabilities()
    host: str = ""
    """The machine that it is attached to; "" for the one that runs the service."""


@dataclass(frozen=True, slots=True)
class Element:
    """One node of the accessibility tree; bounds in native pixels of the frame seen with it."""

    bounds: Bounds
    text: str = ""
    description: str = ""
    hint: str = ""
    resource_id: str = ""
    class_name: str = ""
    package: str = ""
    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    editable: bool = False
    password: bool = False
    focused: bool = False
    scrollable: bool = False
    enabled: bool = True
    selected: bool = False

    @property
    def label(self) -> str:
        """What a person would call it: text, else description, else hint."""
        return self.text or self.description or self.hint


def is_slider(element: Element) -> bool:
    """Whether it holds a value that is set by sliding, by what Android calls it. Few are called clickable."""
    return element.class_name.endswith(("SeekBar", "Slider", "RatingBar"))


def is_wheel(element: Element) -> bool:
    """Whether it is a wheel of values."""
    return element.class_name.endswith(("NumberPicker", "WheelView", "WheelPicker", "PickerView"))


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at a phone. Picture and elements were taken together.

    A look with a size for its picture has `jpeg`, any other one `image`, RGB at native size. There is neither when the
    screen is secure or black (`secure`), or when it was let go of; `elements` is None when the phone could not tell
    them in time. `settled` says that the screen had stopped moving. One that is not `complete` is an early look whose
    elements are still being read, and whose lock nobody has asked for: what it has of elements is what the phone told
    when it showed the same before, or None. `Phone.confirmed` completes it.
    """

    size: Size
    image: Image.Image | None = field(repr=False)
    elements: tuple[Element, ...] | None = field(repr=False)
    package: str = ""
    app_name: str = ""
    """What people call that app: its label where it is known already, else a readable name."""
    app_version: str = ""
    """The number of the version of that app, where this run has asked for it already."""
    activity: str = ""
    keyboard_shown: bool = False
    rotation: int = 0
    locked: bool = False
    screen_on: bool = True
    secure: bool = False
    settled: bool = True
    complete: bool = True
    done: Done | None = None
    """What only this look could tell of the input before it (see `Phone.act`)."""
    focused_text: str | None = None
    jpeg: Jpeg | None = None
    thumbnail: Image.Image | None = field(default=None, repr=False, compare=False)
    """Of the picture (see `thumbnail_of`), made from it unless given. It tells whether something has changed."""

    def __post_init__(self) -> None:
        if self.thumbnail is None and self.image is not None:
            object.__setattr__(self, "thumbnail", thumbnail_of(self.image))

    @property
    def other_window(self) -> str:
        """The package of the window that the elements are of, where it is another one than that of the app in front:
        Android's own, such as the notification shade or the mark of a fingerprint reader. "" where it is the same, or
        not told.
        """
        of = {e.package for e in self.elements or () if e.package}
        return of.pop() if self.package and len(of) == 1 and self.package not in of else ""

    def without_picture(self) -> Observation:
        """The observation with the thumbnail only: the whole one holds ten megabytes."""
        return replace(self, image=None, jpeg=None)


@dataclass(frozen=True, slots=True)
class Done:
    """What is known right after an input was sent. `field_text` is what the field now reads, when it was typed into
    (None: could not be read; bullets for a password), `notes` what else there is to say of it.

    `sent` is when its first command went to the phone, in seconds of the loop's clock; None where nobody noted it.
    `elsewhere` is the window that got a watched input in place of the one of the last look, as the phone itself has
    written it down; "" when it was that one, or when nobody can tell.
    """

    field_text: str | None = None
    notes: tuple[Words, ...] = ()
    sent: float | None = None
    elsewhere: str = ""


class Judged(Protocol):
    """What an input was judged by, so that it is sent only while the screen still says the same."""

    @property
    def pictured(self) -> bool:
        """Whether it is worth a picture where elements come slowly; else only those that come at once are asked."""
        ...

    def shows_same(self, thumbnail: Image.Image) -> bool:
        """Whether this thumbnail shows what was seen."""
        ...

    def tells_same(self, elements: tuple[Element, ...]) -> bool:
        """Whether these elements are what it was judged by."""
        ...


class Phone(Protocol):
    """One phone. Every call has a time limit of its own and may be cancelled: the link is then closed.

    All methods raise `PhoneError` and nothing else of their own.
    """

    @property
    def info(self) -> PhoneInfo:
        """The latest knowledge of this phone, from memory."""
        ...

    async def observe(
        self,
        *,
        after: Observation | None = None,
        patience: float = 2.5,
        settle: bool = True,
        elements: bool = True,
        fit: Fit | None = None,
    ) -> Observation:
        """Look at the phone. With `fit` the picture is made into a JPEG of that size where it was received: the whole
        one holds ten megabytes.

        With `after` (the look before the last input) it first waits for the first change and then until the
        screen stops moving, at most `patience` seconds; the settled frame is the one returned.
        Without `settle` a screen that has changed already is returned at once, `settled` false: nothing may be done
        on it before `confirmed` was asked about it. Without `elements` as well, such a look does not wait for elements
        that come slowly (`complete`), and neither does one without `after`.
        Raises CaptureFailed, PhoneGone, PhoneTimeout, PhoneUnavailable.
        """
        ...

    async def confirmed(self, since: Observation) -> Observation | None:
        """Look once more: the look of then with all that belongs to it, when the phone shows the same as then, but for
        the status bar and a blinking caret. None when it does not, or when it shows that something is being loaded.

        Raises as `observe` does.
        """
        ...

    async def glance(self) -> Image.Image | None:
        """The screen for a person who watches, and nothing else: elements are not asked.

        None when the screen is secure (black), locked or off. Raises as `observe` does.
        """
        ...

    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> Done:
        """Send one input, once. It is never repeated here, whatever happens.

        A `watched` one is followed: the phone is asked afterwards which window got it (`Done.elsewhere`).

        `receipt` (letters, digits, `.`, `-`, `_`) goes with every command to the phone, so that the phone's own
        record can be tied to the journal. With `later` nothing is waited for that a look can tell as well, such as
        what a field holds now: the next complete look has that as its `done`.
        A touch or a text for a screen that is not the one of the last look any more raises ScreenChanged, and so does
        one that was `judged` by what the screen does not say any more. Raises
        InputRejected (nothing was sent) or another PhoneError whose `uncertain` tells whether the input may have
        arrived.
        """
        ...

    async def prepare(self) -> None:
        """Before a run: wake, unlock without a PIN, keep awake, choose the input method."""
        ...

    async def restore(self) -> None:
        """After a run: input method and keep-awake as they were. Safe to call twice, and after a crash."""
        ...

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        """Put a file into the phone's shared storage, tell the gallery, and return its path on the phone.

        The same name in the same `folder` is replaced. Raises FileRejected when the phone does not take it.
        """
        ...

    async def find_files(self, name: str) -> FoundFiles:
        """The files of shared storage that this name, part of a name, pattern or path means, newest first.

        Raises FileRejected for a path outside of shared storage.
        """
        ...

    async def pull(self, path: str, *, limit: int) -> bytes:
        """Read a file of at most `limit` bytes from the phone's shared storage."""
        ...


class Phones(Protocol):
    """All phones that are attached, and news of them."""

    def list(self) -> tuple[PhoneInfo, ...]:
        """Every known phone, from memory, in a stable order."""
        ...

    def get(self, phone_id: str) -> Phone:
        """The phone with this stable id. Raises PhoneGone or PhoneUnavailable, which say why it cannot be used."""
        ...

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Ask every phone again (bounded in time) and return the new list."""
        ...

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Call this phone so from now on, also after a restart. Raises NameTaken, NameUnfit, PhoneGone (unknown)."""
        ...

    async def wait_for_change(self) -> None:
        """Returns at the next change of presence or health of any phone."""
        ...

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """The phone as soon as it answers, waiting up to `timeout` seconds. Raises PhoneGone, with the reason, then."""
        ...


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An app that has an icon on the launcher. `label` is its name in the phone's language, as far as it is known."""

    package: str
    label: str


@runtime_checkable
class WarmUp(Protocol):
    """A phone that takes a moment to get ready to be looked at."""

    async def warm_up(self) -> None:
        """Begin with that, without changing anything that a person could notice; `Phone.restore` ends it.

        Raises PhoneTaken, PhoneGone, PhoneTimeout, PhoneUnavailable.
        """
        ...


@runtime_checkable
class AppSource(Protocol):
    """A phone that can say which apps it has."""

    async def apps(self) -> tuple[InstalledApp, ...]:
        """The apps on its launcher, by label. Raises PhoneGone, PhoneTimeout, PhoneUnavailable."""
        ...


@runtime_checkable
class NotificationSource(Protocol):
    """A phone whose notifications can be read. Reading changes nothing on it, and takes no lease.

    All methods raise PhoneGone, PhoneTimeout, PhoneUnavailable.
    """

    async def notifications(self, package: str) -> tuple[PhoneNotification, ...]:
        """What this app shows now."""
        ...

    async def sms_app(self) -> str:
        """The package of the app that SMS come to, "" where there is none."""
        ...


@runtime_checkable
class FileManager(Protocol):
    """A phone whose shared storage can be put in order.

    All methods raise FileRejected for a path outside of it, through a link, or in the folder of a single app, and where
    the phone does not do it; and the other PhoneErrors.
    """

    async def list_folder(self, folder: str) -> tuple[FolderEntry, ...]:
        """What lies in this folder: folders first, by name; hidden files are left out."""
        ...

    async def move(self, path: str, to: str, *, replace: bool) -> str:
        """Move or rename a file or folder, and return its path then: inside `to` where that is a folder. With `replace`
        the file at `to` is gone, and a folder there is refused.
        """
        ...

    async def make_folder(self, path: str) -> str:
        """Make a folder, with those above it that are missing, and return its path."""
        ...


@runtime_checkable
class VideoSource(Protocol):
    """A phone that encodes its own screen."""

    def film(self, size: Size) -> AsyncGenerator[bytes]:
        """The screen as H.264: one access unit at a time (ITU-T H.264, 7.4.1.2.3), in the form of its Annex B, the
        first with its parameter sets. Units come when something on the screen moves, and end when the phone ends the
        recording, which Android does after three minutes.

        `size` is that of the screen as it is turned now; the video has the same shape and fits into 720×1600. A screen
        that is turned later is shown smaller inside of it. Closing the generator ends the recording. Nothing is written
        to the phone's storage. Raises PhoneGone, CaptureFailed when the phone records nothing.
        """
        ...
