"""Lets people operate phones by hand: records who holds which phone and what they were shown, and frees phones again.

While a person operates a phone, they have a `ControlSession` on it. For an idle phone, the hold has a lease of its own.
If the phone's task was taken over, or waits for a person at the phone, the hold uses the lease of that task's run,
which is paused. Nothing is stored: pictures and the places on them are in memory, and a hold ends with the process.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count

from PIL import Image

from agent.effects import screen_word
from agent.ports.leases import Lease
from agent.questions import DONE, QuestionKind
from agent.run import RunId
from bot.domain.address import MessageRef, Person
from bot.domain.task import OpenQuestion, Task, TaskError, TaskState
from bot.people.access import same_person
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import (
    Aim,
    ManualAction,
    ManualInput,
    ManualInputError,
    NeedsApproval,
    Place,
    Still,
    Touched,
    acquire_lease,
    touchable_places,
)
from bot.tasks.service import TaskService
from bot.texts import say
from devices.errors import PhoneError
from devices.geometry import Size
from devices.phone import Observation, Phones, VideoSource
from devices.pictures import thumbnail_of
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

UNTOUCHED_S = 600.0
"""Seconds without a touch after which a held phone becomes free again: its holder has gone away."""
APPROVAL_S = 300.0
"""Seconds in which another person may allow a touch after they were asked."""
STILLS_KEPT = 24
"""Number of live pictures to which a touch may still refer: three seconds of them."""
SETTLE_S = 1.0
"""Seconds given to a screen to settle after a touch, before it is shown."""


class PhoneInUse(TaskError):
    """Another person is operating the phone."""

    def __init__(self, phone: str, person: Person) -> None:
        super().__init__(say("hand.held", phone=phone, person=person.name or person.id))


@dataclass(frozen=True, slots=True)
class ScreenCapture:
    """A picture of the screen for a chat, with the places that can be touched."""

    number: int
    """Distinguishes the picture from earlier ones of the same hold."""
    seen: Observation
    word: str
    """The fingerprint of the screen's contents."""
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class LiveStill:
    """One picture of the live view. `image` is None if the screen may not be shown because it is protected, locked or
    off.
    """

    still: Still
    image: Image.Image | None


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A touch that waits for approval by another person."""

    id: str
    action: ManualAction
    needs: NeedsApproval
    until: float
    """When the request expires, in seconds of the event loop's clock."""


@dataclass(eq=False)
class ControlSession:
    """A phone that a person is operating by hand."""

    id: str
    phone: str
    name: str
    """The phone's name."""
    person: Person
    task: str
    """The id of the task or part that is paused for it; "" for none."""
    lease: Lease
    idle_timeout: float
    """Seconds without a touch or a look after which the phone becomes free again."""
    expires_at: float
    """When the phone becomes free again if nothing happens, in seconds of the event loop's clock."""
    last_touch: float
    """When the person last touched the phone, on the same clock."""
    capture: ScreenCapture | None = None
    """The latest picture that was sent to a chat, with its places; older ones are no longer valid."""
    message: MessageRef | None = None
    """The message that shows that picture."""
    watchers: int = 0
    """Number of live views that show the phone now."""
    pending_approvals: dict[str, PendingApproval] = field(default_factory=dict)
    """The touches that wait for approval, by id."""
    stills: deque[Still] = field(default_factory=lambda: deque(maxlen=STILLS_KEPT))
    """The latest pictures of the live view, to which a touch may still refer."""
    touch_event: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at the next touch, to wake those who watch; then replaced by a new event."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the hold has ended."""
    input_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Allows one touch at a time."""
    press_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Allows one press of a chat button at a time, including the picture that follows it."""
    looks: Iterator[int] = field(default_factory=lambda: count(1))
    """New numbers for pictures that are sent to a chat."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """New numbers for pictures of the live view."""

    @property
    def has_own_lease(self) -> bool:
        """Whether the hold has a lease of its own, not that of a paused run."""
        return self.lease.run.task.startswith(_PREFIX)

    def renew(self) -> None:
        """Restart the time after which an idle hold ends, because the person is still there."""
        self.expires_at = asyncio.get_running_loop().time() + self.idle_timeout

    def wake_watchers(self) -> None:
        """Wake the live views, because the phone was touched and its screen may change."""
        self.touch_event.set()
        self.touch_event = asyncio.Event()

    def still(self, number: int) -> Still | None:
        """Return the picture of the live view with this number; None if it is no longer remembered."""
        return next((still for still in self.stills if still.number == number), None)


_PREFIX = "hand-"


class RemoteControlService:
    """Lets people hold phones to operate them, one person per phone, and frees phones whose holder has gone away."""

    def __init__(self, leases: PhoneLeases, phones: Phones, manual_input: ManualInput, tasks: TaskService) -> None:
        self._leases = leases
        self._phones = phones
        self._operating = manual_input
        self._tasks = tasks
        self._sessions: dict[str, ControlSession] = {}
        self._lock = asyncio.Lock()
        self._expiry_tasks: dict[str, asyncio.Task[None]] = {}
        self._task_checks: set[asyncio.Task[None]] = set()
        self._unsubscribe = tasks.subscribe(self._task_changed)

    async def close(self) -> None:
        """End every hold. Call it before tasks and leases are stopped."""
        self._unsubscribe()
        for hold in tuple(self._sessions.values()):
            await self.end(hold)
        await asyncio.gather(*self._task_checks, return_exceptions=True)

    def get(self, hold: str) -> ControlSession | None:
        """Return the hold with this id; None once it has ended."""
        return self._sessions.get(hold)

    def session_on(self, phone: str) -> ControlSession | None:
        """Return the current hold on this phone; None if nobody is operating it."""
        return next((hold for hold in self._sessions.values() if hold.phone == phone), None)

    def held_by(self, phone: str) -> str:
        """Return the name of the person who is operating this phone; "" if nobody is."""
        hold = self.session_on(phone)
        return "" if hold is None else hold.person.name or hold.person.id

    def session_of_message(self, message: MessageRef) -> ControlSession | None:
        """Return the hold whose picture this chat message shows; None if there is none."""
        return next((hold for hold in self._sessions.values() if hold.message == message), None)

    async def take(self, phone: str, person: Person, *, idle: float) -> ControlSession:
        """Let a person operate a phone; a task that is working on it is paused first. If they hold the phone already,
        the same hold is returned. `idle_timeout` is the seconds without a touch or look after which the hold ends. The
        caller checks their rights first.

        Raises PhoneInUse, ManualInputError if the phone is not available, and what `TaskService.take_over` raises.
        """
        async with self._lock:
            held = self.session_on(phone)
            if held is not None:
                if not same_person(held.person, person):
                    raise PhoneInUse(held.name, held.person)
                held.idle_timeout = max(held.idle_timeout, idle)
                held.renew()
                return held
            name = next((info.name for info in self._phones.list() if info.id == phone), phone)
            lease, task = await self._lease(phone, person)
            now = asyncio.get_running_loop().time()
            hold = ControlSession(secrets.token_hex(6), phone, name, person, task, lease, idle, now + idle, now)
            self._sessions[hold.id] = hold
            self._expiry_tasks[hold.id] = asyncio.create_task(self._expire_when_idle(hold), name=f"hand on {name}")
            logger.info("%s is in the hands of %s", name, person.id)
            return hold

    async def _lease(self, phone: str, person: Person) -> tuple[Lease, str]:
        """Return the lease that the hold uses, and the id of the task that is paused for it, "" for none."""
        working = self._leases.holder(phone)
        if working is not None:
            task = await self._tasks.get(working.run.task)
            if task is None:
                raise ManualInputError(say("operate.busy"))
            if await self._takeover_question(task) is None:
                task = await self._tasks.take_over(task.id, person)
            return working, task.id
        run = RunId(f"{_PREFIX}{secrets.token_hex(8)}")
        lease = Lease(phone, run, await acquire_lease(self._leases, run, phone))
        try:
            await self._phones.get(phone).prepare()
        except PhoneError as error:
            await self._leases.release(run)
            raise ManualInputError(say("operate.failed", why=said(sentence_of(error)))) from error
        except BaseException:
            await self._leases.release(run)
            raise
        # A paused run has no lease if the person has taken long, or after a restart.
        for task in await self._tasks.active():
            if task.phone == phone and await self._takeover_question(task) is not None:
                return lease, task.id
        return lease, ""

    async def _takeover_question(self, task: Task) -> OpenQuestion | None:
        """The question that keeps the task paused until a person is done on its phone; None if there is none."""
        if task.state not in {TaskState.PAUSED, TaskState.WAITING}:
            return None
        open_ones = [*await self._tasks.open_questions(task=task.id)]
        if task.parent:
            open_ones += [one for one in await self._tasks.open_questions(task=task.parent) if one.task == task.parent]
        return next((one for one in open_ones if one.question.kind is QuestionKind.TAKE_OVER), None)

    async def end(self, session: ControlSession) -> None:
        """End a hold. A task that was paused for it stays paused. Does nothing if the hold has ended."""
        if not self._remove(session):
            return
        async with session.input_lock:  # a touch in progress is completed first
            if session.has_own_lease:
                with suppress(PhoneError):
                    await self._phones.get(session.phone).restore()
                await self._leases.release(session.lease.run)

    def _remove(self, session: ControlSession) -> bool:
        """End the hold. Returns False if it had ended before."""
        if self._sessions.pop(session.id, None) is None:
            return False
        session.ended.set()
        watch = self._expiry_tasks.pop(session.id, None)
        if watch is not None and watch is not asyncio.current_task():
            watch.cancel()
        logger.info("%s is nobody's any more", session.name)
        return True

    async def finish(self, session: ControlSession, by: Person) -> str:
        """End a hold because the person is done, and resume the task that was paused for it. Returns the id of the
        whole task, "" if none resumes. A task with several phones resumes only once the last of them is free.
        """
        await self.end(session)
        task = await self._tasks.get(session.task) if session.task else None
        asked = None if task is None else await self._takeover_question(task)
        if task is None or asked is None:
            return ""
        for other in tuple(self._sessions.values()):
            if other.task and await self._is_about(other, asked):
                return ""
        await self._tasks.answer(asked.question.id, DONE, by)
        return task.parent or task.id

    async def _is_about(self, session: ControlSession, asked: OpenQuestion) -> bool:
        task = await self._tasks.get(session.task)
        return task is not None and asked.task in {task.id, task.parent}

    async def touch(
        self, session: ControlSession, action: ManualAction, event: str, aim: Aim, *, approves: bool, allowed: str = ""
    ) -> Touched:
        """Perform one input on the held phone, once per `event` id, at the place described by `aim`. See
        `ManualInput.touch_held`, also for `approves` and `allowed`. Raises what that raises, and ManualInputError if
        the hold has ended.
        """
        async with session.input_lock:
            await self._require(session)
            session.last_touch = asyncio.get_running_loop().time()
            session.renew()
            try:
                return await self._operating.touch_in_session(
                    session.lease, action, event, aim, allowed=allowed, approves=approves
                )
            finally:
                session.wake_watchers()

    async def _require(self, session: ControlSession) -> None:
        if session.id not in self._sessions or not self._still_leased(session):
            raise ManualInputError(say("hand.over"))
        if session.task:
            task = await self._tasks.get(session.task)
            if task is None or await self._takeover_question(task) is None:
                raise ManualInputError(say("hand.went_on"))

    def _still_leased(self, session: ControlSession) -> bool:
        """Return whether the hold's lease still has the phone; otherwise the hold ends. A run that waits for long gives
        its phone back, and what another run does there must not be shown to this person.
        """
        if self._leases.holder(session.phone) == session.lease:
            return True
        self._remove(session)
        return False

    def request_approval(self, session: ControlSession, action: ManualAction, needs: NeedsApproval) -> PendingApproval:
        """Remember a touch that another person has to allow, and return it with an id."""
        asked = PendingApproval(secrets.token_hex(4), action, needs, asyncio.get_running_loop().time() + APPROVAL_S)
        session.pending_approvals[asked.id] = asked
        return asked

    def pop_approval(self, session: ControlSession, asked: str) -> PendingApproval | None:
        """Remove and return the touch with this id that waits for approval; None if it is unknown or has expired."""
        found = session.pending_approvals.pop(asked, None)
        return found if found is not None and found.until > asyncio.get_running_loop().time() else None

    async def capture_screen(self, session: ControlSession, *, after: Observation | None = None) -> ScreenCapture:
        """Take a picture of the screen for a chat, with the places that can be touched. `after` is the screen before
        the last touch, so that the change can be waited for; None takes it at once. Raises ManualInputError.
        """
        async with session.input_lock:
            await self._require(session)
            session.renew()
            try:
                phone = self._phones.get(session.phone)
                seen = await (phone.observe() if after is None else phone.observe(after=after, patience=SETTLE_S))
            except PhoneError as error:
                raise ManualInputError(say("operate.failed", why=said(sentence_of(error)))) from error
            places = await asyncio.to_thread(touchable_places, seen)
            bare = seen.without_picture()
            session.capture = ScreenCapture(next(session.looks), bare, screen_word(bare), places)
            return replace(session.capture, seen=seen)

    async def live(self, session: ControlSession) -> LiveStill | None:
        """Return the current screen for a live view; None if the person no longer holds the phone. Nothing is stored.
        Raises PhoneError.
        """
        if not self._still_leased(session):
            return None
        image = await self._phones.get(session.phone).glance()
        info = next((info for info in self._phones.list() if info.id == session.phone), None)
        thumbnail = None if image is None else await asyncio.to_thread(thumbnail_of, image)
        size = Size(1, 1) if image is None else Size(*image.size)
        app = "" if info is None else info.app
        last = session.stills[-1] if session.stills else None
        if last is not None and _same_still(last.seen, size, app, thumbnail):
            return LiveStill(last, image)
        before = None if last is None or last.seen.size != size else last.seen
        still = Still(next(session.numbers), Observation(size, None, None, app, thumbnail=thumbnail), before)
        session.stills.append(still)
        return LiveStill(still, image)

    def film(self, session: ControlSession, size: Size) -> AsyncGenerator[bytes] | None:
        """Return video of the screen in this size (see `VideoSource.film`); None if the phone cannot stream any. Call
        `live` repeatedly meanwhile: it says whether the screen may be shown. Raises PhoneError.
        """
        phone = self._phones.get(session.phone)
        return phone.film(size) if isinstance(phone, VideoSource) else None

    @asynccontextmanager
    async def watching(self, session: ControlSession) -> AsyncIterator[None]:
        """Keep the hold while the block runs, because somebody watches; at most UNTOUCHED_S seconds after a touch."""
        session.watchers += 1
        try:
            yield
        finally:
            session.watchers -= 1
            session.renew()

    async def _expire_when_idle(self, session: ControlSession) -> None:
        """End the hold once its time is over."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            until = session.last_touch + UNTOUCHED_S if session.watchers else session.expires_at
            if until <= now:
                await self.end(session)
                return
            # Whoever stops watching begins a time that is shorter than this one.
            await asyncio.sleep(min(until - now, session.idle_timeout))

    def _task_changed(self, _task: str) -> None:
        if any(hold.task for hold in self._sessions.values()):
            look = asyncio.ensure_future(self._end_resumed())
            self._task_checks.add(look)
            look.add_done_callback(self._task_checks.discard)

    async def _end_resumed(self) -> None:
        """End the holds whose task has resumed or ended."""
        for hold in tuple(self._sessions.values()):
            task = await self._tasks.get(hold.task) if hold.task else None
            if hold.task and (task is None or await self._takeover_question(task) is None):
                await self.end(hold)


def _same_still(observation: Observation, size: Size, app: str, thumbnail: Image.Image | None) -> bool:
    if (observation.size, observation.package) != (size, app) or (observation.thumbnail is None) != (thumbnail is None):
        return False
    return thumbnail is None or (
        observation.thumbnail is not None and observation.thumbnail.tobytes() == thumbnail.tobytes()
    )
