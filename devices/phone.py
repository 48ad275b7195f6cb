"""The interface of a phone: what can be seen on it and done to it. The adb driver (`devices.adb.driver`) implements
it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from PIL import Image

from devices.clock import PhoneClock
from devices.geometry import Bounds, Size
from devices.inputs import Input
from devices.notification import PhoneNotification
from devices.pictures import Fit, Jpeg, thumbnail_of
from devices.storage import FolderEntry, FoundFiles
from devices.wording import Words


class Health(StrEnum):
    """Whether a phone can be used now. Whether a task is using it is not part of this; the bot's leases store that."""

    READY = "ready"
    LOCKED = "locked"
    ASLEEP = "asleep"
    LOW_BATTERY = "low battery"
    UNAUTHORIZED = "unauthorized"
    OFFLINE = "offline"
    SILENT = "silent"
    """The phone is attached but does not answer, for example because it is starting or its host is overloaded."""
    NO_PERMISSION = "no permission"
    BUSY_ELSEWHERE = "busy elsewhere"
    """Another service is using the phone. That ends, so a run waits for it."""

    @property
    def usable(self) -> bool:
        """Whether a task can begin on the phone now: a sleeping phone is woken, and a person is asked to unlock a
        locked one.
        """
        return self in {Health.READY, Health.LOCKED, Health.ASLEEP, Health.LOW_BATTERY}

    @property
    def takes_tasks(self) -> bool:
        """Whether the phone may be given a task, which may wait while it is silent or used by another service."""
        return self.usable or self in {Health.SILENT, Health.BUSY_ELSEWHERE}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a phone can do besides showing its screen and taking input."""

    files: bool = True
    """Whether the phone's shared storage can be read."""


@dataclass(frozen=True, slots=True)
class PhoneInfo:
    """The last known information about a phone, available without asking it again.

    - `id`: Stable id: the android_id once the phone has reported it (with its serial behind it if a different phone
      has the same), otherwise the adb serial.
    - `serial`: adb's current name for it.
    - `reason`, `fix`: Sentences for people about its health, "" while it is ready.
    - `battery`: In percent; None if unknown.
    - `lane`: How elements and text are transferred now: "fast" (uiautomator2's server) or "adb".
    - `lane_reason`: Why the fast lane was given up.
    - `pictures`: How the next screenshot will be taken: "fast" or "adb".
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
    """The battery temperature in °C; None if the phone does not report it."""
    app: str = ""
    """The package of the app in front."""
    app_name: str = ""
    """The name that people know the app in front by."""
    virtual: bool = False
    lane: str = ""
    lane_reason: str = ""
    pictures: str = ""
    clock: PhoneClock | None = None
    """The phone's own date, time and zone; None until it has reported them."""
    locale: str = ""
    """The phone's language setting, such as "zh-Hans-CN", at the last health check; "" if unknown."""
    capabilities: Capabilities = Capabilities()
    host: str = ""
    """The machine that the phone is attached to; "" for the machine that runs the service."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element on the screen (a node of the accessibility tree). Bounds are in native pixels of the screenshot
    taken with it.
    """

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
        """The name a person would use for the element: its text, otherwise its description, otherwise its hint."""
        return self.text or self.description or self.hint

    @property
    def short_id(self) -> str:
        """The resource id without its package: "send" of "com.example:id/send"."""
        return self.resource_id.rsplit("/", 1)[-1]


def is_slider(element: Element) -> bool:
    """Whether the element is set by sliding, judged by its Android class: few sliders are marked as clickable."""
    return element.class_name.endswith(("SeekBar", "Slider", "RatingBar"))


def is_wheel(element: Element) -> bool:
    """Return whether the element is a wheel of values, such as a number picker, judged by its Android class."""
    return element.class_name.endswith(("NumberPicker", "WheelView", "WheelPicker", "PickerView"))


@dataclass(frozen=True, slots=True)
class Observation:
    """What a phone showed at one moment: a screenshot and the elements, taken together.

    - `image`, `jpeg`: The screenshot: `jpeg` if a picture size was requested, otherwise `image`, RGB at native size.
      Both are None if the screen is secure or black, or if the picture was released.
    - `elements`: None if the phone could not report them in time.
    - `rotation`: In quarter turns.
    - `secure`: Whether the screen hides its picture, or all of it is black (also because it is off).
    - `settled`: Whether the screen had stopped moving; also True if that was not looked at, as without `after`.
    - `complete`: False if it was returned early: its elements, and perhaps the lock screen, are not checked yet. The
      elements may be those that the phone reported when it last showed the same screen, or None. `Phone.confirmed`
      completes it.
    - `focused_text`: Content of the focused field, as bullets for a password; None if no field has the focus.
    """

    size: Size
    image: Image.Image | None = field(repr=False)
    elements: tuple[Element, ...] | None = field(repr=False)
    package: str = ""
    app_name: str = ""
    """The name of the app in front: its launcher label if known, otherwise a readable form of its package."""
    app_version: str = ""
    """The version number of the app in front, if this run has already asked for it."""
    activity: str = ""
    keyboard_shown: bool = False
    rotation: int = 0
    locked: bool = False
    screen_on: bool = True
    secure: bool = False
    settled: bool = True
    complete: bool = True
    done: InputResult | None = None
    """The part of the last input's result that only this observation could show (see `Phone.act`)."""
    focused_text: str | None = None
    jpeg: Jpeg | None = None
    thumbnail: Image.Image | None = field(default=None, repr=False, compare=False)
    """A thumbnail of the picture (see `thumbnail_of`) for detecting changes; made from `image` unless given."""

    def __post_init__(self) -> None:
        if self.thumbnail is None and self.image is not None:
            object.__setattr__(self, "thumbnail", thumbnail_of(self.image))

    @property
    def other_window(self) -> str:
        """The package that the elements belong to if it is not the app in front, such as Android's notification shade
        or fingerprint prompt; "" if it is the same or unknown.
        """
        of = {e.package for e in self.elements or () if e.package}
        return of.pop() if self.package and len(of) == 1 and self.package not in of else ""

    def without_picture(self) -> Observation:
        """Return a copy with only the thumbnail: the full picture takes 10 MB."""
        return replace(self, image=None, jpeg=None)


@dataclass(frozen=True, slots=True)
class InputResult:
    """The result of an input, as far as it is known right after it was sent.

    - `field_text`: Content of the field that was typed into, bullets for a password; None if nothing was typed, or if
      the content could not be read or was not read yet.
    - `notes`: Further remarks for people.
    - `sent`: When the first command went to the phone, in seconds of the event loop's clock; None if it was not
      recorded.
    - `elsewhere`: The window that received a `watched` input if it was not the one last seen, according to the phone's
      own log; "" if it was the expected one or is unknown.
    """

    field_text: str | None = None
    notes: tuple[Words, ...] = ()
    sent: float | None = None
    elsewhere: str = ""


class Judged(Protocol):
    """What the screen showed when an input was approved. The driver sends the input only while the screen still
    matches it.
    """

    @property
    def pictured(self) -> bool:
        """Whether a screenshot is compared if reading the elements is slow; otherwise only elements that can be read
        fast are compared.
        """

    def shows_same(self, thumbnail: Image.Image) -> bool:
        """Return whether this thumbnail of the screen still shows the place that the input touches as it was; False if
        a picture cannot tell.
        """

    def tells_same(self, elements: tuple[Element, ...]) -> bool:
        """Return whether these elements match those of that screen."""


class Phone(Protocol):
    """One phone: observe it, send it input, and exchange files with it.

    Every method has its own time limit. Cancelling a call closes its connections to the phone. Methods raise only
    `PhoneError` and its subclasses:

        before = await phone.observe()
        await phone.act(Tap(Point(540, 1200)), receipt="7-1.3")
        now = await phone.observe(after=before)
    """

    @property
    def info(self) -> PhoneInfo:
        """The last known information about this phone, from memory."""

    async def observe(
        self,
        *,
        after: Observation | None = None,
        patience: float = 2.5,
        settle: bool = True,
        elements: bool = True,
        fit: Fit | None = None,
    ) -> Observation:
        """Return what the phone shows: a screenshot and the elements on the screen.

        - `after`: The observation before the last input. If given, it waits first for a change and then until the
          screen stops moving, and returns the settled screen, or after `patience` the latest one.
        - `patience`: Seconds that this waiting may take in total.
        - `settle`: If False, a screen that has changed is returned at once, not `settled`; call `confirmed` before
          acting on it.
        - `elements`: If this and `settle` are False, slow elements are not waited for. With `settle` False, the result
          may be not `complete` in either case.
        - `fit`: If given, the screenshot is reduced to a JPEG of the size that it returns, because the original takes
          10 MB.

        Raises CaptureFailed, PhoneGone, PhoneTimeout, PhoneUnavailable.
        """

    async def confirmed(self, since: Observation) -> Observation | None:
        """Observe again, and return the complete observation if the phone still shows what it showed in `since`, apart
        from the status bar and a blinking caret.

        Returns None if the screen differs, or if it cannot be compared because `since` has no picture. If `since` is
        not `complete`, also returns None if its elements cannot be read now, or show that something is loading. Raises
        as `observe` does.
        """

    async def glance(self) -> Image.Image | None:
        """Return a screenshot for a person who is watching, without reading any elements.

        Returns None if the screen is secure (black), locked or off. Raises as `observe` does.
        """

    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> InputResult:
        """Send one input, at most once: it is never repeated here.

        - `receipt`: An id (letters, digits, `.`, `-`, `_`) sent with every command, so that the phone's own log can be
          matched to the journal.
        - `watched`: Whether the phone is asked afterwards which window received the input (`ActionResult.elsewhere`).
        - `later`: Whether not to wait for results that an observation can show, such as the new content of a field:
          the next complete observation contains them as its `done`.
        - `judged`: What the screen showed when the input was approved.

        Raises ScreenChanged if the screen is no longer the one last observed or no longer matches `judged`,
        InputRejected if it is impossible and had no effect, or another PhoneError whose `uncertain` says whether the
        input may have arrived.
        """

    async def prepare(self) -> None:
        """Prepare for a run: wake the phone, unlock it if it has no PIN, keep it awake and select the input method."""

    async def restore(self) -> None:
        """Undo `prepare` after a run: restore the input method and keep-awake setting. Safe to repeat, even after a
        crash.
        """

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        """Write a file to the phone's shared storage, add it to the gallery and return its path on the phone.

        A file of the same name in the same `folder` (a subfolder, "" for none) is replaced. Raises FileRejected if it
        is too large or the phone refuses it.
        """

    async def find_files(self, name: str) -> FoundFiles:
        """Find files in shared storage by name, part of a name, pattern or path, newest first.

        Raises FileRejected for a path outside shared storage.
        """

    async def pull(self, path: str, *, limit: int) -> bytes:
        """Return the bytes of a file in the phone's shared storage. Raises FileRejected if it is missing, larger than
        `limit` bytes, or not in a place that may be read.
        """


class Phones(Protocol):
    """All known phones, attached or not, with notifications of changes."""

    def list(self) -> tuple[PhoneInfo, ...]:
        """Return every known phone, from memory, in a stable order."""

    def get(self, phone_id: str) -> Phone:
        """Return the phone with this stable id. Raises PhoneGone or PhoneUnavailable, which say why it is unusable."""

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Check every phone again within a time limit and return the new list."""

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Give this phone a new name that survives a restart. Raises NameTaken, NameUnfit, or PhoneGone if unknown."""

    async def wait_for_change(self) -> None:
        """Wait until any phone appears, disappears or changes its health."""

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """Wait until the phone answers, and return it. Raises PhoneGone with the reason if that takes longer than
        `timeout` seconds.
        """


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An app with a launcher icon. `label` is its name in the phone's language, if known."""

    package: str
    label: str


@runtime_checkable
class WarmUp(Protocol):
    """A phone that can be prepared before its first observation in a run."""

    async def warm_up(self) -> None:
        """Start to prepare the phone without changing anything that a person could notice; `Phone.restore` undoes it.

        Raises PhoneTaken, PhoneGone, PhoneTimeout, PhoneUnavailable.
        """


@runtime_checkable
class AppSource(Protocol):
    """A phone that can list its apps."""

    async def apps(self) -> tuple[InstalledApp, ...]:
        """Return the apps on the launcher, sorted by label. Raises PhoneGone, PhoneTimeout, PhoneUnavailable."""


@runtime_checkable
class NotificationSource(Protocol):
    """A phone whose notifications can be read. Reading changes nothing on the phone and needs no lease.

    All methods raise PhoneGone, PhoneTimeout, PhoneUnavailable.
    """

    async def notifications(self, package: str) -> tuple[PhoneNotification, ...]:
        """Return the notifications that the app `package` shows now."""

    async def sms_app(self) -> str:
        """Return the package of the app that receives SMS; "" if there is none."""


@runtime_checkable
class FileManager(Protocol):
    """A phone on which files and folders in shared storage can be listed, moved and created.

    All methods raise FileRejected if the phone refuses or if the path is outside shared storage, goes through a link or
    is in an app's private folder; they also raise other PhoneErrors.
    """

    async def list_folder(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return the entries of a folder, folders first and sorted by name, without hidden ones."""

    async def move(self, path: str, to: str, *, replace: bool) -> str:
        """Move or rename a file or folder and return its new path, which is inside `to` if that is a folder.

        With `replace`, a file at `to` is overwritten, and a folder there is refused.
        """

    async def make_folder(self, path: str) -> str:
        """Create a folder and any missing parents, and return its path."""


@runtime_checkable
class VideoSource(Protocol):
    """A phone that can encode its screen as video."""

    def film(self, size: Size) -> AsyncGenerator[bytes]:
        """Stream the screen as H.264 in Annex B format, one access unit at a time (ITU-T H.264, 7.4.1.2.3); the first
        unit includes the parameter sets.

        Units arrive when something moves on the screen, until the phone stops recording, which Android does after three
        minutes. `size` is the current screen size in its current rotation; the video has the same aspect ratio and fits
        into 720×1600. If the screen is rotated later, it is shown smaller inside the video. Closing the generator stops
        the recording. Nothing is written to the phone's storage. Raises PhoneGone, or CaptureFailed if the phone
        records nothing.
        """
