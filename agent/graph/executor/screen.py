"""The phone's screen as a run sees it: the one place that looks at the phone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from agent.control import Control
from agent.dialects.select import image_size_for
from agent.events import RunEvent, Told
from agent.graph.executor.speculative import EarlyLook, SpeculationBackoff, StaleAnswer
from agent.guards.masking import Mask
from agent.listing import MAX_TOKENS, MAX_TOKENS_ALONE, MAX_TOKENS_WHOLE
from agent.models.base import Model, ModelReply, ModelRequest
from agent.models.tokens import hung_up
from agent.observing import ScreenView, screen_of
from agent.picture import ImagePart
from agent.ports.frames import Frames
from agent.ports.journal import ActionKey
from agent.wording import sentence
from devices.errors import CaptureFailed, NoMemory, PhoneError, PhoneGone, PhoneTimeout, PhoneUnavailable
from devices.geometry import Size
from devices.inputs import Input, OpenApp, OpenUrl
from devices.jpeg import lightened
from devices.phone import Observation, Phone, Phones
from devices.recent import Recent
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

CAPTURE_TRIES: Final = 3
PATIENCE_S: Final = 2.5
PATIENCE_OPENING_S: Final = 8.0
"""An app that starts cold draws for seconds; nothing else does."""
MEMORY_PATIENCE_S: Final = 600.0
"""How long a run stands still because there is no memory for a picture; then it ends and says so."""
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 10.0
"""Seconds between two tries to find memory, doubled each time."""

UNTOLD_TRIES: Final = 2
"""Presses in one app that wait for elements in vain; later ones are judged without."""
LIGHT_PICTURES: Final = 8
"""How many pictures of past steps are kept as they are sent again; no model is trained on a larger window."""

LATELY: Final = 0.1
"""Seconds for which a look at a screen at rest is the newest that can be had: another one takes longer to come."""

Result = TypeVar("Result")


@dataclass
class ScreenState:
    """What this process has seen of a phone in a run, kept by its `PhoneScreen`. Empty after a restart: then the phone
    is looked at again.

    `view` is what the model was shown last. `fresh` is an observation that no model has been shown yet, secrets
    uncovered, settled unless `pending` says otherwise. `pending` is the early look of which nobody knows yet whether it
    stood still, or which is known to have moved and is not corrected yet. `light` are pictures of past steps by their
    reference, as they are sent again.
    """

    model: str = ""
    """The name of the model that is shown the screen."""
    view: ScreenView | None = None
    fresh: Observation | None = None
    pending: EarlyLook | None = None
    light: Recent[str, bytes] = field(default_factory=lambda: Recent(LIGHT_PICTURES))
    backoff: SpeculationBackoff = field(default_factory=SpeculationBackoff)
    step_began: float = field(default_factory=time.monotonic)
    came: float = -LATELY
    """When elements of a screen at rest came last, in seconds of the loop's clock."""
    by_list: bool = False
    """Whether the model is shown no pictures, and the list of elements alone."""
    whole_list: bool = False
    """Whether the model has asked for the list with all its lines."""
    waits_for_lists: bool = False
    """Whether the model has shown that it does not point well: then it is shown no picture without its list."""
    untold: dict[str, int] = field(default_factory=dict)
    """How often in a row an app has told no elements though it was waited for them (see `PhoneScreen.told_late`)."""

    def forget(self) -> None:
        """Everything seen is old, the view too: somebody else may have had the phone."""
        self.fresh = self.view = self.pending = None


class PhoneScreen:
    """The phone's screen as one run sees it: `look` before a model is asked, `answer_to` while it thinks, `after` an
    action.

    The idea: each look is used as often as it holds. What is seen after an action is also what the model is shown next,
    and that may be shown while the screen still moves, and before a slow phone has told the elements; whether it stood
    still, and what belongs to it, is found out beside the model call.

    The cost: a look takes a quarter of a second and more; a model call about a screen that moved is paid for in vain,
    so after one of those the next looks wait until the screen has settled (see `SpeculationBackoff`).

    What always holds: nothing is ever done on a screen that moved, nor judged by other elements than those that belong
    to the picture that was shown. Only a look is tried again, never an action. What
    leaves here has its secrets covered, in elements and picture; pictures are stored by reference.
    """

    def __init__(
        self,
        phone: Phone,
        phones: Phones,
        frames: Frames,
        control: Control,
        mask: Mask,
        emit: Callable[[RunEvent], None],
        state: ScreenState,
        *,
        model: str,
        needs_list: bool = False,
        grace: float = 15.0,
    ) -> None:
        """`model` is the name of the model that is shown the screen at first, `needs_list` whether it cannot do
        without the elements, `grace` the seconds that an unplugged phone is waited for.
        """
        self._phone = phone
        self._phones = phones
        self._frames = frames
        self._control = control
        self._mask = mask
        self._emit = emit
        self._state = state
        state.model = state.model or model
        self._needs_list = needs_list
        self._grace = grace

    @property
    def view(self) -> ScreenView | None:
        """What the model was shown last; None when this process has not looked, or has to look again."""
        return self._state.view

    @property
    def fresh(self) -> Observation | None:
        """What was seen since, and no model has been shown yet."""
        fresh = self._state.fresh
        return None if fresh is None else self._mask.observation(fresh)

    @property
    def pending(self) -> EarlyLook | None:
        """The early look after the last action, until it is known that it stood still, or what it became."""
        return self._state.pending

    @property
    def is_new(self) -> bool:
        """Whether the view has only just come, with its elements: whoever looked again would be told the same."""
        return asyncio.get_running_loop().time() - self._state.came < LATELY

    @property
    def step_began(self) -> float:
        """When this step first looked, in seconds of the monotonic clock."""
        return self._state.step_began

    def expire(self) -> None:
        """What was seen since the view is old: whoever looks next asks the phone."""
        self._state.fresh = None

    def forget(self) -> None:
        """Everything seen is old, the view too: somebody else may have had the phone."""
        self._state.forget()

    def take_pending(self) -> EarlyLook | None:
        """The early look, of which nothing is asked any more from now on."""
        early, self._state.pending = self._state.pending, None
        return early

    def wait_for_lists(self) -> None:
        """From now on the model is shown no screen whose elements are still on their way."""
        self._state.waits_for_lists = True

    @property
    def model(self) -> str:
        """The name of the model that is shown the screen."""
        return self._state.model

    def show_to(self, model: str) -> None:
        """From now on the model of this name is shown the screen, in the picture size that it keeps. Look again."""
        self._state.model = model
        self._state.by_list = self._state.waits_for_lists = False
        self._state.forget()

    def _fit(self, screen: Size) -> Size:
        """The size at which the model keeps a picture of a screen."""
        return image_size_for(self._state.model, screen)

    @property
    def by_list(self) -> bool:
        """Whether the model is shown no pictures, and the list of elements alone."""
        return self._state.by_list

    def go_by_list(self) -> None:
        """From now on the model is shown lists and no pictures; the card says so. Look again."""
        self._state.by_list = self._state.waits_for_lists = True
        self._state.forget()
        self._emit(Told(text=sentence("told.by_list", model=self._state.model)))

    def list_all(self) -> None:
        """Until the next input the model is shown the list of elements with what it leaves out."""
        self._state.whole_list = True

    @property
    def _list_tokens(self) -> int:
        if self._state.whole_list:
            return MAX_TOKENS_WHOLE
        return MAX_TOKENS_ALONE if self._state.by_list else MAX_TOKENS

    async def look(self) -> ScreenView:
        """What the model is to be shown now: what was seen last, or a look at a phone that is awake.

        Raises Stopped, and PhoneError when three looks have failed, or there is no memory for a picture for too long.
        """
        state = self._state
        if state.pending is not None and state.pending.moved:
            state.fresh = None
        else:
            state.step_began = time.monotonic()
            if state.fresh is None:
                state.pending = None  # nobody knows any more what was done to the screen since
        observation = await self._control.guard(self._with_memory(self._observed))
        fresh, state.fresh = state.fresh, None
        view = await self._control.guard(self._with_memory(lambda: self._viewed(observation)))
        if state.pending is not None:
            state.pending.shown = fresh is not None or (state.pending.key is None and not state.pending.moved)
        state.view = view
        return view

    async def look_ahead(self, *, own: bool) -> ScreenView | None:
        """Look at a phone on which nothing was done yet; the next `look` takes this one. None where that has to look
        for itself: the phone sleeps or is locked, its keyboard is up, or words of it are secret.

        On a phone that is not the run's `own` yet, and where the elements have not come, it is an early look, of which
        `answer_to` finds out whether it still holds. Stores no picture. Raises Stopped and PhoneError.
        """
        state, mask = self._state, self._mask
        if self._needs_list or state.waits_for_lists or not mask.covers_nothing:
            return None
        seen = await self._control.guard(self._first_look())
        covered = mask.observation(seen) is not seen or mask.covers_words(seen)
        if seen.locked or not seen.screen_on or seen.keyboard_shown or covered:
            state.pending = None
            return None
        told = seen.without_picture()
        state.fresh = seen
        state.pending = None if own and seen.complete else EarlyLook(None, told, told, PATIENCE_S)
        screen, targets = screen_of(seen, self._fit(seen.size), covered=False, tokens=self._list_tokens)
        return ScreenView(told, screen, targets, None)

    @property
    def is_early(self) -> bool:
        """Whether the view is an early look: `answer_to` finds out whether it stood still."""
        return self._state.pending is not None and self._state.pending.shown

    async def peek(self, *, keep: bool = False, moved: bool = False) -> Observation:
        """The screen as it is now, beside what the model is shown; with `keep` the model is shown it next. With `moved`
        an input was sent since what was kept last, and the screen is given the time to change and to come to rest.

        Raises Stopped and PhoneError.
        """
        before = self._state.fresh if moved else None
        seen = await self._control.guard(self._phone.observe(after=before, fit=self._fit))
        if keep:
            self._state.fresh = seen
        return self._mask.observation(seen)

    async def told_late(self, seen: Observation) -> Observation:
        """The screen with its elements, where the look before a press had none: they are given the time they need.

        What was seen, where they do not come; an app that tells none, as a game does, is not waited for each time.
        Raises Stopped and PhoneUnavailable.
        """
        untold = self._state.untold
        if untold.get(seen.package, 0) >= UNTOLD_TRIES:
            return seen
        try:
            now = await self.peek()
        except PhoneUnavailable:
            raise
        except PhoneError as error:
            logger.info("the elements of a press could not be asked for: %s", error)
            return seen
        if now.elements is not None and now.package == seen.package:
            untold.pop(seen.package, None)
            return now
        untold[seen.package] = untold.get(seen.package, 0) + 1
        return seen

    async def after(self, key: ActionKey, what: Input, before: Observation, *, last: bool) -> Observation:
        """What came of an input; that is the next observation as well.

        After the `last` action of a step it may be an early look, which is `pending` then. Raises Stopped and
        PhoneError: the input was sent all the same.
        """
        state, mask = self._state, self._mask
        state.pending, state.whole_list = None, False
        patience = PATIENCE_OPENING_S if isinstance(what, OpenApp | OpenUrl) else PATIENCE_S
        # While the screen moves, elements and picture may differ by a moment: a secret would not be covered where it
        # is. Where there may be one, no picture goes out before the elements by which it is covered have come.
        early = last and not mask.needs_rest(before.package) and state.backoff.ready()
        covered = not mask.covers_nothing
        listed = self._needs_list or state.waits_for_lists
        seen = await self._change(before, patience, settle=not early, elements=listed or covered)
        if covered and not seen.complete:
            known = await self._control.guard(self._phone.confirmed(seen))
            seen = await self._change(before, patience, settle=True) if known is None else known
        moving = early and not seen.settled
        if moving and (mask.needs_rest(seen.package) or mask.observation(seen) is not seen):
            moving, seen = False, await self._change(before, patience, settle=True)
        state.fresh = seen
        if seen.settled and seen.complete and seen.elements is not None:
            state.came = asyncio.get_running_loop().time()
        if moving:
            state.pending = EarlyLook(key, before.without_picture(), seen.without_picture(), patience)
        return mask.observation(seen)

    async def answer_to(
        self, model: Model, request: ModelRequest, *, still: Callable[[EarlyLook], Awaitable[None]]
    ) -> ModelReply | StaleAnswer:
        """The model's answer, once the screen it was asked about is known to stand still; `still` is called as soon as
        it is, and the view has by then all that belongs to it. Raises ModelError and Stopped.
        """
        early = self._state.pending
        if early is None:
            return await self._control.guard(model.complete(request))
        return await self._control.guard(self._answer_to(model, request, early, still))

    async def store(self, observation: Observation) -> str | None:
        """The reference of the picture of this observation, stored; None when there is none."""
        if observation.jpeg is None:
            return None
        return await self._frames.save(observation.jpeg.data, suffix="jpg")

    async def stored(self, reference: str | None, size: Size, *, light: bool = False) -> ImagePart | None:
        """A picture that was stored before, with `light` in fewer bytes; None when it is there no more."""
        if reference is None:
            return None
        lightened_before = self._state.light
        data = lightened_before.get(reference) if light else None
        if data is None:
            try:
                data = await self._frames.load(reference)
            except KeyError:
                return None
            if light:
                data = lightened_before[reference] = await asyncio.to_thread(lightened, data)
        return ImagePart(data, "image/jpeg", size)

    async def _observed(self) -> Observation:
        """What was seen last, or a look now.

        Tried up to three times: a picture may come broken, a phone under load may not answer in time, and an unplugged
        cable is waited for.
        """
        state = self._state
        early, seen = state.pending, state.fresh
        for attempt in range(1, CAPTURE_TRIES + 1):
            try:
                if seen is None and early is not None and attempt == 1:
                    seen = await self._phone.observe(after=early.seen, patience=early.patience, fit=self._fit)
                elif seen is None:
                    seen = await self._first_look() if attempt == 1 and state.view is None else await self._now()
                return await self._woken() if seen.locked or not seen.screen_on else seen
            except NoMemory:
                state.fresh = None
                raise
            except (CaptureFailed, PhoneTimeout) as error:
                if attempt == CAPTURE_TRIES:
                    raise
                logger.info("look %d of %d failed: %s", attempt, CAPTURE_TRIES, error)
            except PhoneGone as error:
                if attempt == CAPTURE_TRIES:
                    raise
                self._emit(Told(text=sentence("told.away", why=sentence_of(error), seconds=f"{self._grace:.0f}")))
                await self._phones.wait_for(self._phone.info.id, timeout=self._grace)
            seen = state.fresh = None
        raise CaptureFailed("no picture")

    async def _now(self) -> Observation:
        return await self._phone.observe(fit=self._fit)

    async def _first_look(self) -> Observation:
        """The phone as the run finds it: its picture alone where the elements wait for the fast lane to open, which
        then are read beside the model's first call, as after an action (see `agent.graph.executor.speculative`).
        """
        state, mask = self._state, self._mask
        if self._needs_list or state.waits_for_lists or not mask.covers_nothing:
            return await self._now()
        seen = await self._phone.observe(settle=False, elements=False, fit=self._fit)
        if seen.complete:
            return seen
        if mask.needs_rest(seen.package) or mask.observation(seen) is not seen:
            return await self._now()
        told = seen.without_picture()
        state.pending = EarlyLook(None, told, told, PATIENCE_S)
        return seen

    async def _woken(self) -> Observation:
        """The phone after an attempt to wake it and to take away a lock that only needs a swipe."""
        await self._phone.prepare()
        return await self._phone.observe(fit=self._fit)

    async def _viewed(self, observation: Observation) -> ScreenView:
        """The observation in the model's picture size, secrets covered, its picture stored."""
        observation = self._mask.observation(observation)
        frame = await self.store(observation)
        covered = self._mask.covers_words(observation)
        screen, targets = screen_of(observation, self._fit(observation.size), covered=covered, tokens=self._list_tokens)
        # Nobody needs it any more, and a model may think for a minute.
        return ScreenView(observation.without_picture(), screen, targets, frame)

    async def _with_memory(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """The result of the first attempt that finds memory; the card says what is waited for.

        A picture of a phone takes ten megabytes and more, which the computer may not have just now. Everything else
        that a step needs is small, so what waits is the look: nothing has been done on it yet. Raises NoMemory after
        MEMORY_PATIENCE_S, and whatever else an attempt raises at once.
        """
        loop = asyncio.get_running_loop()
        until, pause, told = loop.time() + MEMORY_PATIENCE_S, FIRST_PAUSE_S, False
        while True:
            try:
                return await attempt()
            except (NoMemory, MemoryError):
                if loop.time() >= until:
                    raise
            if not told:
                told = True
                logger.warning("There is not enough memory for a screenshot; the run waits until there is.")
                self._emit(Told(text=sentence("told.no_memory")))
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)

    async def _change(
        self, before: Observation, patience: float, *, settle: bool, elements: bool = True
    ) -> Observation:
        return await self._control.guard(
            self._phone.observe(after=before, patience=patience, settle=settle, elements=elements, fit=self._fit)
        )

    async def _answer_to(
        self, model: Model, request: ModelRequest, early: EarlyLook, still: Callable[[EarlyLook], Awaitable[None]]
    ) -> ModelReply | StaleAnswer:
        state = self._state
        answering = asyncio.ensure_future(model.complete(request))
        try:
            if (confirmed := await self._confirmed(early)) is not None:
                early.confirmed = confirmed
                self._complete(confirmed)
                state.pending = None
                state.backoff.stood_still()
                await still(early)
                return await answering
            early.moved, early.shown = True, False
            state.backoff.moved()
            logger.info("the screen moved after %s; the model is asked again", early.key or "the first look")
            if answering.done() and answering.exception() is None:
                return StaleAnswer(answering.result().usage)
            return StaleAnswer(hung_up(request, model.name))
        finally:
            answering.cancel()
            await asyncio.wait({answering})
            if not answering.cancelled():
                answering.exception()

    async def _confirmed(self, early: EarlyLook) -> Observation | None:
        try:
            seen = await self._phone.confirmed(early.seen)
        except PhoneError as error:
            logger.info("whether the screen stood still after %s: %s", early.key or "the first look", error)
            return None
        if seen is None or seen.secure != early.seen.secure or self._mask.observation(seen) is not seen:
            return None  # what nobody may see is not in what was shown
        return seen

    def _complete(self, seen: Observation) -> None:
        """The view has what the phone has told since the model was asked."""
        view = self._state.view
        if view is None or view.observation.complete:
            return
        covered = self._mask.covers_words(seen)
        screen, targets = screen_of(seen, view.screen.space, covered=covered, tokens=self._list_tokens)
        numbered = targets if view.screen.elements is not None else ()
        self._state.view = ScreenView(seen, replace(screen, image=view.screen.image), numbered, view.frame)
