"""Observes a phone: picture, elements and state together, once the screen has come to rest or as soon as it changes."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from PIL import Image

from devices.adb import settling
from devices.adb.apps import AppTitles
from devices.adb.input_driver import InputDriver, LastScreen
from devices.adb.screenshots import Camera, Frame, hides_words, never
from devices.adb.settling import FIRST_CHANGE, FIRST_CHANGE_OF_LAUNCH, GAP, Probe, Rest, end, loads
from devices.adb.shell import Shell, together
from devices.adb.state import State, read_brief, read_state
from devices.adb.ui_tree import Trees, focused_text
from devices.errors import ScreenChanged
from devices.geometry import Size
from devices.inputs import Input, OpenApp, OpenUrl
from devices.phone import Element, Judged, Observation
from devices.pictures import Fit, black_thumbnail
from devices.wording import words

KNOWN_SCREENS = 8
"""How many screens are remembered; going into an app and back takes about as many."""

Facts = tuple[str, str, bool, int]
Settling = Callable[..., Awaitable[Rest]]
"""The function `settle` for one screen and its patience."""

_STATUS_BAR = 0.045
"""The share of the longer side that the status bar takes, whose clock changes."""


class Observer:
    """Makes all observations of one phone, and remembers the last one, against which the next input is checked."""

    def __init__(
        self,
        shell: Shell,
        camera: Camera,
        trees: Trees,
        inputs: InputDriver,
        titles: AppTitles,
        learn: Callable[[State], None],
        clock: Callable[[], float],
    ) -> None:
        """Create the observer. `learn` gets the phone's full state whenever it was read; `clock` returns seconds."""
        self._shell = shell
        self._camera = camera
        self._trees = trees
        self._inputs = inputs
        self._titles = titles
        self._learn = learn
        self._clock = clock
        self._last = LastScreen()
        self._known_screens = KnownScreens()
        self._pending_reading: ScreenReading | None = None
        """The elements of an observation that was returned early, while they are still being read."""
        self._launched = False

    @property
    def size(self) -> Size | None:
        """The size in pixels of the last screenshot; None before the first."""
        return self._last.size

    async def take_last(self, what: Input) -> LastScreen:
        """Return what the last observation saw, for the input `what` that is sent now. The phone's state then counts
        as unknown.
        """
        await self.cancel_reading()
        self._launched = isinstance(what, OpenApp | OpenUrl)
        last, self._last = self._last, dataclasses.replace(self._last, state=None)
        return last

    async def observe(
        self, after: Observation | None, *, patience: float, settle: bool, elements: bool, fit: Fit | None
    ) -> Observation:
        """Implements `Phone.observe`.

        If the picture's size differs from that of the default display, the phone may have been folded while both
        screens were lit. If another screen is in use now, the observation is repeated.
        """
        seen = await self._observe(after, patience=patience, settle=settle, elements=elements, fit=fit)
        state = self._last.state
        if state is None or state.size in {None, seen.size} or not await self._camera.look_again():
            return seen
        await self.cancel_reading()
        return dataclasses.replace(await self._look(fit), done=seen.done)

    async def _observe(
        self, after: Observation | None, *, patience: float, settle: bool, elements: bool, fit: Fit | None
    ) -> Observation:
        """Observe the phone once, as `observe` does, but do not look whether the picture is of the screen in use."""
        await self.cancel_reading()
        tree_left = self._inputs.take_elements_after()
        if after is None:
            late = self._trees.late and not (settle or elements)
            return await (self._look_late(fit) if late else self._look(fit))
        expected = self._inputs.expected
        # An app already in front has no process to start and mostly shows what it showed before.
        starts = self._launched and after.package != expected
        first_change = FIRST_CHANGE_OF_LAUNCH if starts else FIRST_CHANGE
        self._launched = False
        watch = partial(settling.settle, partial(self._camera.capture, fit=fit), clock=self._clock)
        watched = partial(watch, _probe(after), first_change=first_change, patience=patience)
        until = asyncio.get_running_loop().time() + patience
        screen = None if settle or after.thumbnail is None else self._last.size
        if expected and screen is None:
            await self._inputs.wait_for_expected()
        if screen is None:
            seen = await self._watch_pair(watched)
        elif self._trees.slow:
            seen = await self._watch_late(watched, screen, tree_left, elements=elements)
        else:
            # The caller of an early observation reads the elements again before acting (`confirmed`).
            seen = await self._watch(watched, screen, tree_left)
        if expected and screen is not None and seen.package != expected:  # another screen moved or appeared
            await self.cancel_reading()
            await self._inputs.wait_for_expected()
            seen = await self._watch(watched)
        while not seen.secure and loads(seen.elements):
            await self.cancel_reading()
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                break
            seen = await self._watch(partial(watch, _probe(seen), first_change=left, patience=left))
        if not seen.complete:
            return seen
        return dataclasses.replace(seen, done=self._inputs.take_result(seen.elements, seen.package))

    async def _watch(
        self, watched: Settling, early: Size | None = None, left: tuple[Element, ...] | None = None
    ) -> Observation:
        """Return the screen once it is still or, with its size for an `early` observation, once it begins to change; in
        any case when the patience of `watched` is over.

        `left` are the elements after the input, if they were read; an early observation uses them.
        """
        reading = ScreenReading(self._trees, self._shell)

        def shown(frame: Frame, new: bool) -> None:
            if new or not reading.begun or reading.brief:
                reading.begin(frame.size)

        try:
            if early is not None:
                reading.begin(early, left, brief=True)
            rest = await watched(glance=early is not None, shown=shown)
            if not reading.begun or reading.size != rest.frame.size or (rest.settled and reading.brief):
                reading.begin(rest.frame.size)
            elements, state = await reading.result()
        finally:
            await reading.drop()
        return await self._observation(rest.frame, elements, state, settled=rest.settled, brief=reading.brief)

    async def _watch_pair(self, watched: Settling) -> Observation:
        """Return the screen once it is still, by two overlapping pictures.

        The elements are read alongside the second picture. If they arrive before the first picture, they may show the
        previous screen; later ones show what the phone reported at the end of that time.
        """
        reading, size = ScreenReading(self._trees, self._shell), self._last.size
        first = True

        async def begin_beside() -> None:
            await asyncio.sleep(GAP)
            if size is not None and not reading.begun:
                reading.begin(size, brief=True)

        def shown(frame: Frame, new: bool) -> None:
            nonlocal first
            known = reading.begun and reading.size == frame.size and not reading.has_elements
            if first and known:
                reading.begin_state()
            elif first or new:
                reading.begin(frame.size)
            first = False

        beside = asyncio.create_task(begin_beside())
        try:
            rest = await watched(shown=shown, paired=True)
            if not reading.begun or reading.size != rest.frame.size or reading.brief:
                reading.begin(rest.frame.size)
            elements, state = await reading.result()
        finally:
            beside.cancel()
            await reading.drop()
        return await self._observation(rest.frame, elements, state, settled=rest.settled)

    async def _watch_late(
        self, watched: Settling, screen: Size, left: tuple[Element, ...] | None, *, elements: bool
    ) -> Observation:
        """Return the screen once it begins to change or is still, before its elements are known.

        They are read in the background for `confirmed`; `elements` waits for them unless the screen is recognised by
        its picture.
        """
        reading = ScreenReading(self._trees, self._shell)

        def shown(frame: Frame, new: bool) -> None:
            if new:
                reading.begin(frame.size, brief=True)

        try:
            reading.begin(screen, brief=True)
            frame = (await watched(glance=True, shown=shown)).frame
            if reading.size != frame.size or reading.has_elements:
                # What was read before this picture may belong to another screen.
                reading.begin(frame.size, brief=True)
            state = await reading.state()
            told = left if left is not None else self._known_screens.elements_of(frame, state)
            if frame.black or (elements and told is None):
                told = await reading.elements()
            black = frame.black or hides_words(frame.thumbnail, told or ())
            if not black:
                self._pending_reading, reading = reading, ScreenReading(self._trees, self._shell)
        finally:
            await reading.drop()
        if black:
            return await self._observation(frame, told, await read_state(self._shell), settled=True)
        return await self._observation(frame, told, state, settled=False, brief=True, complete=False)

    async def confirmed(self, since: Observation) -> Observation | None:
        """Implements `Phone.confirmed`. State and elements are read again too, because a picture alone does not
        identify the app.

        Slow elements are read once: they belong to the earlier picture if a picture captured after their arrival shows
        the same.
        """
        if since.thumbnail is None:
            await self.cancel_reading()
            return None
        reading, self._pending_reading = self._pending_reading, None
        if reading is None or reading.size != since.size:
            reading = ScreenReading(self._trees, self._shell)
            reading.begin(since.size)
        try:
            if not since.complete:
                await reading.elements()
                reading.begin_state()
            frame = await self._camera.capture(never)
            if not Probe.of_thumbnail(frame.thumbnail, frame.size).same_as(_probe(since)):
                return None
            elements, state = await reading.result()
        finally:
            await reading.drop()
        unproven = not since.complete and elements is None and since.elements is not None
        before = self._last.state
        if unproven or not same_facts(since, state) or not same_elements(since.elements, elements, since.size):
            return None
        if not since.complete and ((before is not None and not before.same_window(state)) or loads(elements)):
            return None
        told = since.elements if elements is None else elements
        secure = since.secure or hides_words(since.thumbnail, told or ())
        # A window may get the focus a moment after it is drawn, so the current state belongs to that picture.
        self._last = LastScreen(since.size, told or (), state)
        self._learn(state)
        self._known_screens.add(frame, state, told)
        seen = dataclasses.replace(since, settled=True, secure=secure)
        if since.complete:
            return seen
        done = self._inputs.take_result(told, since.package)
        return dataclasses.replace(seen, elements=told, complete=True, done=done, focused_text=focused_text(told))

    async def cancel_reading(self) -> None:
        """Stop reading elements in the background for an observation that was returned early."""
        late, self._pending_reading = self._pending_reading, None
        if late is not None:
            await late.drop()

    async def glance(self) -> Image.Image | None:
        """Implements `Phone.glance`. The state is read after the picture, so that a phone locked in between is not
        shown.
        """
        frame = await self._camera.capture()
        state = await read_state(self._shell)
        self._learn(state)
        hidden = state.locked or not state.screen_on or frame.black
        return None if hidden else frame.image

    async def _look(self, fit: Fit | None) -> Observation:
        screen = self._last.size
        async with together() as group:
            frame = group.create_task(self._camera.capture(fit=fit))
            state = group.create_task(read_state(self._shell))
            elements = group.create_task(self._trees.read(screen, insist=True)) if screen else None
        size = frame.result().size
        if elements is None or size != screen:
            told = await self._trees.read(size, insist=True)
            return await self._observation(frame.result(), told, state.result(), settled=True)
        return await self._observation(frame.result(), elements.result(), state.result(), settled=True)

    async def _look_late(self, fit: Fit | None) -> Observation:
        """Return the picture before the elements arrive; they are read in the background for `confirmed`."""
        async with together() as group:
            capturing = group.create_task(self._camera.capture(fit=fit))
            asking = group.create_task(read_state(self._shell))
        frame, state = capturing.result(), asking.result()
        told = self._known_screens.elements_of(frame, state)
        if frame.black or hides_words(frame.thumbnail, told or ()) or state.locked or not state.screen_on:
            return await self._look(fit)
        self._pending_reading = ScreenReading(self._trees, self._shell)
        self._pending_reading.begin(frame.size, brief=True)
        return await self._observation(frame, told, state, settled=False, complete=False)

    async def _observation(
        self,
        frame: Frame,
        elements: tuple[Element, ...] | None,
        state: State,
        *,
        settled: bool,
        brief: bool = False,
        complete: bool = True,
    ) -> Observation:
        """Build the observation; a `brief` state lacks the phone's condition."""
        black = frame.black or hides_words(frame.thumbnail, elements or ())
        if black and elements is None and state.screen_on:
            elements = await self._trees.read(frame.size, insist=True)  # the elements are all that can be seen
        self._last = LastScreen(frame.size, elements or (), state)
        if not brief:
            self._learn(state)
        if complete:
            self._known_screens.add(frame, state, elements)
        self._titles.note_front(state.package)
        return Observation(
            size=frame.size,
            image=None if black else frame.image,
            jpeg=None if black else frame.jpeg,
            elements=elements,
            package=state.package,
            app_name=self._titles.of(state.package),
            app_version=self._titles.version_of(state.package),
            activity=state.activity,
            keyboard_shown=state.keyboard_shown,
            rotation=state.rotation,
            locked=state.locked,
            screen_on=state.screen_on,
            secure=black,
            settled=settled,
            complete=complete,
            focused_text=focused_text(elements),
            thumbnail=None if black else frame.thumbnail,
        )

    async def check_judged(self, judged: Judged, screen: Size | None) -> None:
        """Raise ScreenChanged unless the screen still shows what the decision about an input was based on.

        It is also raised if the phone was not observed since the driver was made: the decision is then older. Nothing
        is checked if the elements cannot be read fast and the decision is not to be compared by a picture (see
        `Judged.pictured`).
        """
        if screen is None:
            raise ScreenChanged(words("phone.rejected.another"))
        elements = await self._trees.quick(screen)
        if elements is None and not judged.pictured:
            return
        if elements is None:
            if judged.shows_same((await self._camera.capture(never)).thumbnail):
                return
            elements = await self._trees.read(screen)
        if elements is None or not judged.tells_same(elements):
            raise ScreenChanged(words("phone.rejected.another"))


def _probe(observation: Observation) -> Probe:
    """Return a probe for comparing with an observation. A secure screen had no picture and counts as black."""
    return Probe.of_thumbnail(
        observation.thumbnail or black_thumbnail(observation.size.width, observation.size.height), observation.size
    )


class KnownScreens:
    """The elements of the most recent screens of one phone, by picture, app, activity, keyboard and rotation.

    They are what the phone reported then; whether they are still right must be checked before acting.
    """

    def __init__(self) -> None:
        self._screens: deque[tuple[Facts, Probe, tuple[Element, ...]]] = deque(maxlen=KNOWN_SCREENS)

    def add(self, frame: Frame, state: State, elements: tuple[Element, ...] | None) -> None:
        """Store the elements of this screen."""
        if elements is None or frame.black:
            return
        probe, facts = Probe.of_thumbnail(frame.thumbnail, frame.size), _facts(state)
        for known in [each for each in self._screens if each[0] == facts and each[1].same_as(probe)]:
            self._screens.remove(known)
        self._screens.append((facts, probe, elements))

    def elements_of(self, frame: Frame, state: State) -> tuple[Element, ...] | None:
        """Return the elements that this screen had when it last looked the same; None if it is not among the recent
        ones.
        """
        probe, facts = Probe.of_thumbnail(frame.thumbnail, frame.size), _facts(state)
        return next(
            (told for known, look, told in reversed(self._screens) if known == facts and look.same_as(probe)), None
        )


def _facts(state: State | Observation) -> Facts:
    return state.package, state.activity, state.keyboard_shown, state.rotation


class ScreenReading:
    """Reads elements and state of the screen in the background, and starts again when the screen changes. `drop` must
    be called at the end.
    """

    def __init__(self, trees: Trees, shell: Shell) -> None:
        self._trees = trees
        self._shell = shell
        self._tree: asyncio.Task[tuple[Element, ...] | None] | None = None
        self._state: asyncio.Task[State] | None = None
        self.size: Size | None = None
        self.brief = False
        """Whether only the part of the state that an early observation needs is read (see `read_brief`)."""

    @property
    def begun(self) -> bool:
        """Whether a reading is in progress or done."""
        return self._tree is not None

    def begin(self, size: Size, elements: tuple[Element, ...] | None = None, *, brief: bool = False) -> None:
        """Start to read a screen of this size, discarding an earlier reading. With `elements`, only the state is read;
        with `brief`, only part of it (see `read_brief`).
        """
        self._tree = asyncio.create_task(self._read_tree(size, elements, self._tree))
        self.size = size
        self.begin_state(brief=brief)

    def begin_state(self, *, brief: bool = False) -> None:
        """Start to read the state again, while the elements are still being read. With `brief`, read only part of it
        (see `read_brief`).
        """
        self._state = asyncio.create_task(self._read_state(brief, self._state))
        self.brief = brief

    @property
    def has_elements(self) -> bool:
        """Whether reading the elements has ended, successfully or not."""
        return self._tree is not None and self._tree.done()

    async def result(self) -> tuple[tuple[Element, ...] | None, State]:
        """Return the elements and the state. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
        state = await self.state()
        return await self.elements(), state

    async def elements(self) -> tuple[Element, ...] | None:
        """Wait for the elements and return them; None if they did not arrive in time. Raises as `result`."""
        assert self._tree is not None
        return await self._tree

    async def state(self) -> State:
        """Return the state; the elements may still be missing. Raises as `result`."""
        assert self._state is not None
        return await self._state

    async def drop(self) -> None:
        """Stop readings in progress and ignore their results."""
        for task in (self._tree, self._state):
            if task is not None:
                await end(task)

    async def _read_tree(
        self,
        size: Size,
        elements: tuple[Element, ...] | None,
        earlier: asyncio.Task[tuple[Element, ...] | None] | None,
    ) -> tuple[Element, ...] | None:
        if earlier is not None:
            await end(earlier)
        return await self._trees.read(size) if elements is None else elements

    async def _read_state(self, brief: bool, earlier: asyncio.Task[State] | None) -> State:
        if earlier is not None:
            await end(earlier)
        return await (read_brief if brief else read_state)(self._shell)


def same_facts(then: Observation, now: State) -> bool:
    """Return whether app, activity, keyboard, rotation, lock and screen power are still as in the observation."""
    return _facts(then) == _facts(now) and (then.locked, then.screen_on) == (now.locked, now.screen_on)


def same_elements(then: tuple[Element, ...] | None, now: tuple[Element, ...] | None, size: Size) -> bool:
    """Return whether two lists of elements are equal below the status bar. A missing list (None) counts as equal."""
    if then is None or now is None:
        return True
    top = max(size.width, size.height) * _STATUS_BAR
    return [e for e in then if e.bounds.centre.y > top] == [e for e in now if e.bounds.centre.y > top]
