"""The phone's screen as a run sees it. This is the only place that looks at the phone."""

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
from agent.graph.executor.speculative import EarlyObservation, SpeculationBackoff, StaleAnswer
from agent.guards.masking import Mask
from agent.listing import MAX_TOKENS, MAX_TOKENS_ALONE, MAX_TOKENS_WHOLE
from agent.models.base import Delta, Model, ModelReply, ModelRequest
from agent.models.tokens import hung_up
from agent.observing import ScreenView, screen_of
from agent.ports.journal import ActionKey
from agent.ports.stores import Frames
from agent.scene import ImagePart
from agent.wording import sentence
from devices.errors import CaptureFailed, NoMemory, PhoneError, PhoneGone, PhoneTimeout, PhoneUnavailable
from devices.geometry import Size
from devices.inputs import Input, OpenApp, OpenUrl
from devices.phone import Observation, Phone, Phones
from devices.pictures import lightened
from devices.recent import Recent
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

CAPTURE_TRIES: Final = 3
PATIENCE_S: Final = 2.5
PATIENCE_OPENING_S: Final = 8.0
"""Seconds for an app that starts cold, which alone draws for so long."""
MEMORY_PATIENCE_S: Final = 600.0
"""Seconds that a run waits for memory for a picture; then it ends and says so."""
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 10.0
"""The maximum pause in seconds between two attempts to find memory; it doubles each time."""

UNTOLD_TRIES: Final = 2
"""How many presses in one app may wait in vain for its elements; later presses there are judged without elements."""
LIGHT_PICTURES: Final = 8
"""How many compressed pictures of past steps are cached; no model is trained on a larger window."""

LATELY: Final = 0.1
"""How many seconds the observation of a still screen counts as current, because another one takes longer than that."""

Result = TypeVar("Result")


@dataclass
class ScreenState:
    """What this process has seen of a phone in a run, maintained by its `PhoneScreen`. It is empty after a restart, so
    the phone is looked at again.

    `view` is what the model was shown last. `fresh` is an observation that no model has been shown yet, with its
    secrets still readable. The screen was at rest for it, unless `pending` is set. `pending` is an early observation
    (one of a screen that may still move) that is not confirmed yet, or that was wrong and is not corrected yet. `light`
    are compressed pictures of past steps, by reference.
    """

    model: str = ""
    """The name of the model that is shown the screen."""
    view: ScreenView | None = None
    fresh: Observation | None = None
    pending: EarlyObservation | None = None
    light: Recent[str, bytes] = field(default_factory=lambda: Recent(LIGHT_PICTURES))
    backoff: SpeculationBackoff = field(default_factory=SpeculationBackoff)
    step_began: float = field(default_factory=time.monotonic)
    came: float = -LATELY
    """When elements of a still screen last arrived, in seconds of the event loop's clock."""
    by_list: bool = False
    """Whether the model is shown only the element list, without pictures."""
    whole_list: bool = False
    """Whether the model asked to be shown the element list without omissions."""
    waits_for_lists: bool = False
    """Whether the model is only shown pictures together with their element list, because it missed targets
    without one.
    """
    elements_missed: dict[str, int] = field(default_factory=dict)
    """How often in a row each app, by package, reported no elements although they were waited for
    (`PhoneScreen.wait_for_elements`).
    """

    def forget(self) -> None:
        """Discard everything seen, including the view, because someone else may have used the phone."""
        self.fresh = self.view = self.pending = None


class PhoneScreen:
    """The phone's screen as one run sees it: call `look` before a model is asked, `answer_to` while it thinks, and
    `after` for the effect of an action.

    An observation takes a quarter of a second or more, so each is used as long as it is valid. The observation after an
    action is also what the model is shown next, possibly while the screen still moves and before a slow phone has
    reported its elements. Whether the screen was still, and its elements, are determined during the model call. If it
    moved, that call is wasted, so the next observations wait until the screen has settled (see `SpeculationBackoff`).

    No action is ever done on a screen that moved, nor judged by elements that do not belong to the picture shown. Only
    observations are retried, never actions. Everything returned has its secrets covered, in elements and picture;
    pictures are stored by reference.
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
        """`state` is what this process has already seen. `model` names the first model that is shown the screen,
        `needs_list` says whether it cannot work without the elements, and `grace` is how many seconds an unplugged
        phone is waited for.
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
        """What the model was shown last; None if this process has not looked or must look again."""
        return self._state.view

    @property
    def fresh(self) -> Observation | None:
        """The latest observation after the view, which no model has been shown yet, with secrets covered; None if there
        is none.
        """
        fresh = self._state.fresh
        return None if fresh is None else self._mask.observation(fresh)

    @property
    def pending(self) -> EarlyObservation | None:
        """The early observation (one of a screen that may still move) after the last action, until it is confirmed or
        corrected; otherwise None.
        """
        return self._state.pending

    @property
    def is_new(self) -> bool:
        """Whether the view and its elements have just arrived, so that another observation would show the same."""
        return asyncio.get_running_loop().time() - self._state.came < LATELY

    @property
    def step_began(self) -> float:
        """When this step first looked at the phone, in seconds of the monotonic clock."""
        return self._state.step_began

    def expire(self) -> None:
        """Discard the observation after the view, so that the next one asks the phone."""
        self._state.fresh = None

    def forget(self) -> None:
        """Discard everything seen, including the view, because someone else may have used the phone."""
        self._state.forget()

    def take_pending(self) -> EarlyObservation | None:
        """Return the early observation, if there is one, and stop tracking it."""
        early, self._state.pending = self._state.pending, None
        return early

    def wait_for_lists(self) -> None:
        """Show the model only screens whose elements have arrived, from now on."""
        self._state.waits_for_lists = True

    @property
    def model(self) -> str:
        """The name of the model that is shown the screen."""
        return self._state.model

    def show_to(self, model: str) -> None:
        """Show the screen to this model from now on, in its picture size. The phone must then be looked at again."""
        self._state.model = model
        self._state.by_list = self._state.waits_for_lists = False
        self._state.forget()

    def _fit(self, screen: Size) -> Size:
        """Return the size at which the model keeps a picture of a screen."""
        return image_size_for(self._state.model, screen)

    @property
    def by_list(self) -> bool:
        """Whether the model is shown only the element list, without pictures."""
        return self._state.by_list

    def switch_to_list(self) -> None:
        """Show the model only element lists from now on, and say so on the task's card in the chat. The phone must then
        be looked at again.
        """
        self._state.by_list = self._state.waits_for_lists = True
        self._state.forget()
        self._emit(Told(text=sentence("told.by_list", model=self._state.model)))

    def list_all(self) -> None:
        """Show the model the element list without omissions until the next input."""
        self._state.whole_list = True

    @property
    def _list_tokens(self) -> int:
        if self._state.whole_list:
            return MAX_TOKENS_WHOLE
        return MAX_TOKENS_ALONE if self._state.by_list else MAX_TOKENS

    async def look(self) -> ScreenView:
        """Return the view to show the model now: the observation kept after the last action, or a new one. A sleeping
        phone is woken.

        Raises Stopped, and PhoneError: after three attempts if the failure may pass, at once otherwise, and after ten
        minutes without memory for a picture.
        """
        state = self._state
        if state.pending is not None and state.pending.moved:
            state.fresh = None
        else:
            state.step_began = time.monotonic()
            if state.fresh is None:
                state.pending = None  # what was done to the screen since is unknown
        observation = await self._control.guard(self._with_memory(self._observed))
        fresh, state.fresh = state.fresh, None
        view = await self._control.guard(self._with_memory(lambda: self._viewed(observation)))
        if state.pending is not None:
            state.pending.shown = fresh is not None or (state.pending.key is None and not state.pending.moved)
        state.view = view
        return view

    async def look_ahead(self, *, own: bool) -> ScreenView | None:
        """Look at an idle phone before the run begins, so that the next `look` can return the same.

        Returns None if `look` must do that itself, because the phone sleeps or is locked, its keyboard is shown,
        something must be covered, or the model needs the elements first. If the phone does not belong to the run yet
        (`own` is false) or the elements have not arrived, it is an early observation, and `answer_to` checks whether it
        is still right. Stores no picture. Raises Stopped and PhoneError.
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
        state.pending = None if own and seen.complete else EarlyObservation(None, told, told, PATIENCE_S)
        screen, targets = screen_of(seen, self._fit(seen.size), covered=False, tokens=self._list_tokens)
        return ScreenView(told, screen, targets, None)

    @property
    def is_early(self) -> bool:
        """Whether the model was shown an early observation, which `answer_to` still has to confirm."""
        return self._state.pending is not None and self._state.pending.shown

    async def peek(self, *, keep: bool = False, moved: bool = False) -> Observation:
        """Look at the screen without showing it to the model.

        With `keep`, the model is shown this observation next. With `moved`, an input was sent since the last kept
        observation, so the screen gets time to change and come to rest. Raises Stopped and PhoneError.
        """
        before = self._state.fresh if moved else None
        seen = await self._control.guard(self._phone.observe(after=before, fit=self._fit))
        if keep:
            self._state.fresh = seen
        return self._mask.observation(seen)

    async def wait_for_elements(self, observation: Observation) -> Observation:
        """Look again if the observation before a press had no elements, giving them the time they need.

        Returns `observation` itself if they do not arrive. An app that never reports any, such as a game, is not waited
        for again. Raises Stopped and PhoneUnavailable.
        """
        untold = self._state.elements_missed
        if untold.get(observation.package, 0) >= UNTOLD_TRIES:
            return observation
        try:
            now = await self.peek()
        except PhoneUnavailable:
            raise
        except PhoneError as error:
            logger.info("the elements of a press could not be asked for: %s", error)
            return observation
        if now.elements is not None and now.package == observation.package:
            untold.pop(observation.package, None)
            return now
        untold[observation.package] = untold.get(observation.package, 0) + 1
        return observation

    async def after(self, key: ActionKey, what: Input, before: Observation, *, last: bool) -> Observation:
        """Look at the effect of the input `what`, and return the new observation, which `look` returns next. `before`
        is the screen before the input.

        After the `last` action of a step, it may be an early observation, which is then `pending`. Raises Stopped and
        PhoneError, although the input was sent.
        """
        state, mask = self._state, self._mask
        state.pending, state.whole_list = None, False
        patience = PATIENCE_OPENING_S if isinstance(what, OpenApp | OpenUrl) else PATIENCE_S
        # While the screen moves, elements and picture may differ by a moment, and a cover would miss the secret.
        # If there may be one, no picture is sent before the elements by which it is covered have arrived.
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
            state.pending = EarlyObservation(key, before.without_picture(), seen.without_picture(), patience)
        return mask.observation(seen)

    async def answer_to(
        self,
        model: Model,
        request: ModelRequest,
        *,
        still: Callable[[EarlyObservation], Awaitable[None]],
        on_delta: Callable[[Delta], None] | None = None,
    ) -> ModelReply | StaleAnswer:
        """Return the model's answer once it is certain that the screen it was shown was still; StaleAnswer if the
        screen moved.

        `still` is called as soon as that is certain; the view has all its elements by then. `on_delta` receives the
        pieces of the answer. Raises ModelError and Stopped.
        """
        early = self._state.pending
        if early is None:
            return await self._control.guard(model.complete(request, on_delta=on_delta))
        return await self._control.guard(self._answer_to(model, request, early, still, on_delta))

    async def store(self, observation: Observation) -> str | None:
        """Store the picture of this observation and return its reference; None if it has none."""
        if observation.jpeg is None:
            return None
        return await self._frames.save(observation.jpeg.data, suffix="jpg")

    async def stored(self, reference: str | None, size: Size, *, light: bool = False) -> ImagePart | None:
        """Return a stored picture as it is sent to a model, compressed if `light`. `size` is its size in pixels.
        Returns None if there is no reference or the picture was deleted.
        """
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
        """Return what was seen last, or a new observation.

        It is tried up to three times: a picture may arrive broken, a busy phone may not answer in time, and an
        unplugged phone is waited for.
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
        """Look at the phone as the run finds it. If the elements must wait for the fast lane, take only the picture;
        they are read during the model's first call, as after an action (see `agent.graph.executor.speculative`).
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
        state.pending = EarlyObservation(None, told, told, PATIENCE_S)
        return seen

    async def _woken(self) -> Observation:
        """Look at the phone after trying to wake it and dismiss a swipe lock."""
        await self._phone.prepare()
        return await self._phone.observe(fit=self._fit)

    async def _viewed(self, observation: Observation) -> ScreenView:
        """Return the observation in the model's picture size, with secrets covered and its picture stored."""
        observation = self._mask.observation(observation)
        frame = await self.store(observation)
        covered = self._mask.covers_words(observation)
        screen, targets = screen_of(observation, self._fit(observation.size), covered=covered, tokens=self._list_tokens)
        # It is no longer needed, and a model may think for a minute.
        return ScreenView(observation.without_picture(), screen, targets, frame)

    async def _with_memory(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of the first attempt that finds memory; the card says what is waited for.

        A picture takes 10 MB or more, which the computer may lack at the moment. Everything else in a step is small, so
        only the look waits, before anything was done. Raises NoMemory after MEMORY_PATIENCE_S, and any other error at
        once.
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
        self,
        model: Model,
        request: ModelRequest,
        early: EarlyObservation,
        still: Callable[[EarlyObservation], Awaitable[None]],
        on_delta: Callable[[Delta], None] | None,
    ) -> ModelReply | StaleAnswer:
        state = self._state
        answering = asyncio.ensure_future(model.complete(request, on_delta=on_delta))
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

    async def _confirmed(self, early: EarlyObservation) -> Observation | None:
        try:
            seen = await self._phone.confirmed(early.seen)
        except PhoneError as error:
            logger.info("whether the screen stood still after %s: %s", early.key or "the first look", error)
            return None
        if seen is None or seen.secure != early.seen.secure or self._mask.observation(seen) is not seen:
            return None  # a part that must be covered was not covered in what was shown
        return seen

    def _complete(self, observation: Observation) -> None:
        """Complete the view with what the phone reported since the model was asked."""
        view = self._state.view
        if view is None or view.observation.complete:
            return
        covered = self._mask.covers_words(observation)
        screen, targets = screen_of(observation, view.screen.space, covered=covered, tokens=self._list_tokens)
        numbered = targets if view.screen.elements is not None else ()
        self._state.view = ScreenView(observation, replace(screen, image=view.screen.image), numbered, view.frame)
