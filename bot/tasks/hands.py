"""Phones that people hold from afar: who holds which, what they were shown there, and when it is free again.

An idle phone is held by a lease of its own. One whose task was taken over, or waits for a person on the phone, is held
by the lease of that task's run, which stands still meanwhile. Nothing of it is kept: pictures and what may be pressed
on them are in memory, and a hold ends with the process.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from PIL import Image

from agent.guards.screen_identity import screen_word
from agent.ports.leases import Lease
from agent.questions import DONE, QuestionKind
from agent.run_id import RunId
from bot.domain.address import MessageRef, Person
from bot.domain.task import OpenQuestion, Task, TaskError, TaskState
from bot.people.access import same_person
from bot.tasks.leases import PhoneLeases
from bot.tasks.operating import Aim, ByHand, NeedsApproval, Operated, Operating, Still, Touched, leased
from bot.tasks.service import TaskService
from bot.tasks.touchable import Place, touchable_places
from bot.texts import say
from devices.errors import PhoneError
from devices.geometry import Size
from devices.phone import Observation, Phones, VideoSource
from devices.resizing import thumbnail_of
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

UNTOUCHED_S = 600.0
"""Seconds after which a phone is free again that is only looked at: whoever held it has gone away."""
ASKED_S = 300.0
"""Seconds in which somebody else may allow a touch."""
STILLS_KEPT = 24
"""Live pictures, in the small, that a touch may still refer to: three seconds of them."""
SETTLE_S = 1.0
"""Seconds that a screen gets to come to rest after a touch before it is shown."""


class HeldByOther(TaskError):
    """Somebody else holds the phone."""

    def __init__(self, phone: str, person: Person) -> None:
        super().__init__(say("hand.held", phone=phone, person=person.name or person.id))


@dataclass(frozen=True, slots=True)
class Look:
    """A picture for a chat with its places. `number` tells it from those before."""

    number: int
    seen: Observation
    word: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class LiveStill:
    """A live picture, None for a screen that may not be shown: a protected one, one that is locked or off."""

    still: Still
    image: Image.Image | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A touch that waits for somebody who may allow it."""

    id: str
    action: ByHand
    needs: NeedsApproval
    until: float


@dataclass(eq=False)
class Hold:
    """A phone in somebody's hands. `task` is the id of the task or part that stands still for it, "" for none."""

    id: str
    phone: str
    name: str
    person: Person
    task: str
    lease: Lease
    idle: float
    """Seconds without a touch or a look after which it is free again."""
    until: float
    touched: float
    look: Look | None = None
    """The last picture that was sent to a chat, with its places. Older ones count no more."""
    message: MessageRef | None = None
    """Where that picture stands."""
    watchers: int = 0
    asked: dict[str, Asked] = field(default_factory=dict)
    stills: deque[Still] = field(default_factory=lambda: deque(maxlen=STILLS_KEPT))
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at the next touch, so that whoever watches looks at once; then there is another one."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One touch after the other."""
    pressing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One press of a chat's button after the other, each with the picture that comes of it."""
    _looks: int = 0
    _stills: int = 0

    @property
    def own(self) -> bool:
        """Whether the lease is its own, and not that of a run."""
        return self.lease.run.task.startswith(_PREFIX)

    def next_look(self) -> int:
        """The number of the next picture for a chat."""
        self._looks += 1
        return self._looks

    def next_still(self) -> int:
        """The number of the next live picture."""
        self._stills += 1
        return self._stills

    def keep(self) -> None:
        """Somebody is there: its time begins anew."""
        self.until = asyncio.get_running_loop().time() + self.idle

    def stir(self) -> None:
        """Something was touched."""
        self.stirred.set()
        self.stirred = asyncio.Event()

    def still(self, number: int) -> Still | None:
        """The live picture with this number, while it is remembered."""
        return next((still for still in self.stills if still.number == number), None)


_PREFIX = "hand-"


class Hands:
    """Gives phones into people's hands, one person at a time, and takes them back."""

    def __init__(self, leases: PhoneLeases, phones: Phones, operating: Operating, tasks: TaskService) -> None:
        self._leases = leases
        self._phones = phones
        self._operating = operating
        self._tasks = tasks
        self._holds: dict[str, Hold] = {}
        self._turn = asyncio.Lock()
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._forget = tasks.subscribe(self._task_changed)

    async def close(self) -> None:
        """Take every phone back. Call it before tasks and leases end."""
        self._forget()
        for hold in tuple(self._holds.values()):
            await self.free(hold)
        await asyncio.gather(*self._looking, return_exceptions=True)

    def get(self, hold: str) -> Hold | None:
        """The hold with this id, None once it is over."""
        return self._holds.get(hold)

    def holder(self, phone: str) -> Hold | None:
        """Who holds this phone."""
        return next((hold for hold in self._holds.values() if hold.phone == phone), None)

    def held_by(self, phone: str) -> str:
        """The name of whoever holds this phone, "" for nobody."""
        hold = self.holder(phone)
        return "" if hold is None else hold.person.name or hold.person.id

    def shown_as(self, message: MessageRef) -> Hold | None:
        """The hold whose picture is this message."""
        return next((hold for hold in self._holds.values() if hold.message == message), None)

    async def take(self, phone: str, person: Person, *, idle: float) -> Hold:
        """Put a phone into somebody's hands; the task that works there stands still first. Who holds it already gets
        the same hold. Whether the person may is asked before.

        Raises HeldByOther, Operated when it cannot be had, and what `TaskService.take_over` raises.
        """
        async with self._turn:
            held = self.holder(phone)
            if held is not None:
                if not same_person(held.person, person):
                    raise HeldByOther(held.name, held.person)
                held.idle = max(held.idle, idle)
                held.keep()
                return held
            name = next((info.name for info in self._phones.list() if info.id == phone), phone)
            lease, task = await self._lease(phone, person)
            now = asyncio.get_running_loop().time()
            hold = Hold(secrets.token_hex(6), phone, name, person, task, lease, idle, now + idle, now)
            self._holds[hold.id] = hold
            self._watches[hold.id] = asyncio.create_task(self._watch(hold), name=f"hand on {name}")
            logger.info("%s is in the hands of %s", name, person.id)
            return hold

    async def _lease(self, phone: str, person: Person) -> tuple[Lease, str]:
        """What it is held by, and the task that stands still for it."""
        working = self._leases.holder(phone)
        if working is not None:
            task = await self._tasks.get(working.run.task)
            if task is None:
                raise Operated(say("operate.busy"))
            if await self._taken_over(task) is None:
                task = await self._tasks.take_over(task.id, person)
            return working, task.id
        run = RunId(f"{_PREFIX}{secrets.token_hex(8)}")
        lease = Lease(phone, run, await leased(self._leases, run, phone))
        try:
            await self._phones.get(phone).prepare()
        except PhoneError as error:
            await self._leases.release(run)
            raise Operated(say("operate.failed", why=said(sentence_of(error)))) from error
        except BaseException:
            await self._leases.release(run)
            raise
        # A run gives its phone back when a person takes long, and has none after a restart.
        for task in await self._tasks.active():
            if task.phone == phone and await self._taken_over(task) is not None:
                return lease, task.id
        return lease, ""

    async def _taken_over(self, task: Task) -> OpenQuestion | None:
        """The question that lets the task stand still until a person is done on its phone, None while it does not."""
        if task.state not in {TaskState.PAUSED, TaskState.WAITING}:
            return None
        open_ones = [*await self._tasks.open_questions(task=task.id)]
        if task.parent:
            open_ones += [one for one in await self._tasks.open_questions(task=task.parent) if one.task == task.parent]
        return next((one for one in open_ones if one.question.kind is QuestionKind.TAKE_OVER), None)

    async def free(self, hold: Hold) -> None:
        """The phone is nobody's any more; a task that stands still for it goes on standing. Safe to call twice."""
        if not self._ended(hold):
            return
        async with hold.turn:  # a touch that is under way arrives first
            if hold.own:
                with suppress(PhoneError):
                    await self._phones.get(hold.phone).restore()
                await self._leases.release(hold.lease.run)

    def _ended(self, hold: Hold) -> bool:
        """Nobody holds it any more. False when that was so before."""
        if self._holds.pop(hold.id, None) is None:
            return False
        hold.over.set()
        watch = self._watches.pop(hold.id, None)
        if watch is not None and watch is not asyncio.current_task():
            watch.cancel()
        logger.info("%s is nobody's any more", hold.name)
        return True

    async def done(self, hold: Hold, by: Person) -> str:
        """The person is done: the phone is free, and the task that stood still goes on. Returns that task's id, "" for
        none; one with several phones goes on once the last of them is free.
        """
        await self.free(hold)
        task = await self._tasks.get(hold.task) if hold.task else None
        asked = None if task is None else await self._taken_over(task)
        if task is None or asked is None:
            return ""
        for other in tuple(self._holds.values()):
            if other.task and await self._is_about(other, asked):
                return ""
        await self._tasks.answer(asked.question.id, DONE, by)
        return task.parent or task.id

    async def _is_about(self, hold: Hold, asked: OpenQuestion) -> bool:
        task = await self._tasks.get(hold.task)
        return task is not None and asked.task in {task.id, task.parent}

    async def touch(
        self, hold: Hold, action: ByHand, event: str, aim: Aim, *, approves: bool, allowed: str = ""
    ) -> Touched:
        """Do it once for this `event`. Raises as `Operating.touch_held` does; a hold that is over raises Operated."""
        async with hold.turn:
            await self._require(hold)
            hold.touched = asyncio.get_running_loop().time()
            hold.keep()
            try:
                return await self._operating.touch_held(
                    hold.lease, action, event, aim, allowed=allowed, approves=approves
                )
            finally:
                hold.stir()

    async def _require(self, hold: Hold) -> None:
        if hold.id not in self._holds or not self._still_leased(hold):
            raise Operated(say("hand.over"))
        if hold.task:
            task = await self._tasks.get(hold.task)
            if task is None or await self._taken_over(task) is None:
                raise Operated(say("hand.went_on"))

    def _still_leased(self, hold: Hold) -> bool:
        """Whether the phone is still had by the lease that the hold goes by; else the hold is over. A run that waits
        for long gives its phone back, and what another one does there is none of this person's business.
        """
        if self._leases.holder(hold.phone) == hold.lease:
            return True
        self._ended(hold)
        return False

    def ask(self, hold: Hold, action: ByHand, needs: NeedsApproval) -> Asked:
        """Remember a touch that somebody else has to allow."""
        asked = Asked(secrets.token_hex(4), action, needs, asyncio.get_running_loop().time() + ASKED_S)
        hold.asked[asked.id] = asked
        return asked

    def take_asked(self, hold: Hold, asked: str) -> Asked | None:
        """The touch that was asked about, once; None when that is over."""
        found = hold.asked.pop(asked, None)
        return found if found is not None and found.until > asyncio.get_running_loop().time() else None

    async def look(self, hold: Hold, *, after: Observation | None = None) -> Look:
        """A picture of the screen with the places that can be touched; `after` is the screen before the last touch.

        Raises Operated.
        """
        async with hold.turn:
            await self._require(hold)
            hold.keep()
            try:
                phone = self._phones.get(hold.phone)
                seen = await (phone.observe() if after is None else phone.observe(after=after, patience=SETTLE_S))
            except PhoneError as error:
                raise Operated(say("operate.failed", why=said(sentence_of(error)))) from error
            places = await asyncio.to_thread(touchable_places, seen)
            bare = seen.without_picture()
            hold.look = Look(hold.next_look(), bare, screen_word(bare), places)
            return replace(hold.look, seen=seen)

    async def live(self, hold: Hold) -> LiveStill | None:
        """The screen now, for whoever watches, None when they hold it no more. It is not kept. Raises PhoneError."""
        if not self._still_leased(hold):
            return None
        image = await self._phones.get(hold.phone).glance()
        info = next((info for info in self._phones.list() if info.id == hold.phone), None)
        thumbnail = None if image is None else await asyncio.to_thread(thumbnail_of, image)
        size = Size(1, 1) if image is None else Size(*image.size)
        app = "" if info is None else info.app
        last = hold.stills[-1] if hold.stills else None
        if last is not None and _same_still(last.seen, size, app, thumbnail):
            return LiveStill(last, image)
        before = None if last is None or last.seen.size != size else last.seen
        still = Still(hold.next_still(), Observation(size, None, None, app, thumbnail=thumbnail), before)
        hold.stills.append(still)
        return LiveStill(still, image)

    def film(self, hold: Hold, size: Size) -> AsyncGenerator[bytes] | None:
        """Video of a screen of this size (see `VideoSource.film`), None for a phone that cannot give it. What may be
        seen of it is told by `live`, which has to be asked all the while. Raises PhoneError.
        """
        phone = self._phones.get(hold.phone)
        return phone.film(size) if isinstance(phone, VideoSource) else None

    @asynccontextmanager
    async def watched(self, hold: Hold) -> AsyncIterator[None]:
        """While somebody watches, the hold does not run out for want of touches, for UNTOUCHED_S at most."""
        hold.watchers += 1
        try:
            yield
        finally:
            hold.watchers -= 1
            hold.keep()

    async def _watch(self, hold: Hold) -> None:
        """Ends the hold once its time is over."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            until = hold.touched + UNTOUCHED_S if hold.watchers else hold.until
            if until <= now:
                await self.free(hold)
                return
            # Whoever stops watching begins a time that is shorter than this one.
            await asyncio.sleep(min(until - now, hold.idle))

    def _task_changed(self, _task: str) -> None:
        if any(hold.task for hold in self._holds.values()):
            look = asyncio.ensure_future(self._look_at_tasks())
            self._looking.add(look)
            look.add_done_callback(self._looking.discard)

    async def _look_at_tasks(self) -> None:
        """Whose task goes on or has ended holds nothing any more."""
        for hold in tuple(self._holds.values()):
            task = await self._tasks.get(hold.task) if hold.task else None
            if hold.task and (task is None or await self._taken_over(task) is None):
                await self.free(hold)


def _same_still(seen: Observation, size: Size, app: str, thumbnail: Image.Image | None) -> bool:
    if (seen.size, seen.package) != (size, app) or (seen.thumbnail is None) != (thumbnail is None):
        return False
    return thumbnail is None or (seen.thumbnail is not None and seen.thumbnail.tobytes() == thumbnail.tobytes())
