"""Sends inputs to a phone as command lines of Android's `input` tool. Each is sent once, with a receipt (an id) in
every command.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from devices.adb.apps import Apps, launch_command, refusal, view_command
from devices.adb.fastlane.lane import FastLane
from devices.adb.input_commands import (
    COMBINATIONS,
    UNKNOWN_DELETES,
    check_text,
    clearing_commands,
    commands_for,
    is_left_of,
    typing_commands,
)
from devices.adb.preparation import Preparation
from devices.adb.shell import Result, Shell, command, together, with_receipt
from devices.adb.state import State, read_front, read_keyboard, read_package, read_receiver
from devices.adb.ui_tree import Trees, field_text
from devices.errors import InputRejected, PhoneError, PhoneUnavailable, ScreenChanged, UntypableText
from devices.geometry import Point, Size
from devices.inputs import Input, Key, LongPress, OpenApp, OpenUrl, PressKey, Swipe, Tap, TypeText, contains_typed
from devices.phone import Element, InputResult
from devices.wording import Words, sentence_of, words

logger = logging.getLogger(__name__)

APP_PATIENCE = 3.0
"""Seconds for an app to come to the front; a cold start of a large one takes about two."""

FOCUS_PATIENCE = 1.0
"""Seconds for a touched field to get the keyboard."""

POLL = 0.1
LONG = 400
"""Characters from which a text is too long for a model to compare it with the field's content itself."""
_COMMAND_SECONDS = 10.0
_FORBIDDEN = "INJECT_EVENTS"
"""The permission that some makers deny to adb."""
_NAMED = {"input ": "-d 0 ", "am start ": "--display 0 "}
"""How each tool names the default display. Otherwise keys go to the focused display, and an app opens where it runs
(AOSP InputShellCommand and ActivityManagerShellCommand, since Android 10).
"""


class Act:
    """The sending of one input: counts its commands and knows whether any of them may have arrived at the phone.

    - `receipt`: Id of the input; each command carries it with the command's number.
    - `may_send`: Asked before each command; if it returns False, PhoneError is raised.
    """

    def __init__(
        self,
        shell: Shell,
        receipt: str,
        *,
        other_displays: bool = False,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._shell = shell
        self._may_send = may_send
        self.other_displays = other_displays
        """Whether commands have to say that they mean the default display."""
        self._receipt = receipt
        self.number = 0
        """How many commands were sent."""
        self.sent: float | None = None
        """When its first command went to the phone, in seconds of the loop's clock."""

    def _next(self) -> int:
        """Return the number of the next command, to be sent at once. Raises PhoneError if that is not allowed."""
        if not self._may_send():
            raise PhoneError(words("phone.error.not_ours"), uncertain=self.number > 0)
        if self.sent is None:
            self.sent = asyncio.get_running_loop().time()
        self.number += 1
        return self.number

    async def send(self, line: str, doing: str, *, extra_seconds: float = 0.0) -> Result:
        """Run one command line on the phone and return its output.

        `doing` describes it in error messages; `extra_seconds` are added to its time limit. Raises PhoneError, marked
        uncertain once this or an earlier command may have reached the phone.
        """
        number = self._next()
        if self.other_displays:
            line = _on_default_display(line)
        try:
            return await self._shell.run(
                with_receipt(line, self._receipt, number), timeout=_COMMAND_SECONDS + extra_seconds, doing=doing
            )
        except PhoneError as error:
            error.uncertain = error.uncertain or self.number > 1
            raise

    async def enter(self, lane: FastLane, text: str, field: Element) -> bool:
        """Replace the text of this field through the fast lane (the server on the phone) if the field has the focus.
        Returns and raises as `FastLane.enter`, and raises PhoneError if nothing may be sent (see `may_send`).
        """
        return await lane.enter(text, field, receipt=f"{self._receipt}.{self._next()}")

    async def check(self, line: str, doing: str, *, extra_seconds: float = 0.0, secret: bool = False) -> None:
        """Run one command line on the phone, which must succeed. Arguments as in `send`.

        If it contains a `secret`, the phone's error message is not passed on. Raises PhoneError as `send` does, and
        PhoneUnavailable if no input can succeed until a person changes something.
        """
        result = await self.send(line, doing, extra_seconds=extra_seconds)
        if problem := input_problem(result):
            if _FORBIDDEN in result.text:
                why = words("phone.error.refused", doing=doing, problem=problem)
                raise PhoneUnavailable(why, uncertain=self.number > 1)
            problem = words("phone.error.gave_error") if secret else problem
            raise PhoneError(words("phone.error.refused", doing=doing, problem=problem), uncertain=self.number > 1)


def _on_default_display(line: str) -> str:
    tool = next((tool for tool in _NAMED if line.startswith(tool)), None)
    return line if tool is None else f"{tool}{_NAMED[tool]}{line.removeprefix(tool)}"


def input_problem(result: Result) -> str:
    """Return why the `input` command did nothing; "" if it worked. Old phones print a stack trace and exit with 0."""
    return words("phone.error.untouchable") if _FORBIDDEN in result.text else result.failure


@contextlib.contextmanager
def nothing_sent() -> Iterator[None]:
    """Context manager that marks a PhoneError in the block as certain to have had no effect. For code before the first
    command of an input.
    """
    try:
        yield
    except PhoneError as lost:
        lost.uncertain = False
        raise


@dataclass(frozen=True, slots=True)
class LastScreen:
    """What the last observation of the phone saw. `state` is None before the first one, and once an input was sent
    after the last one.
    """

    size: Size | None = None
    elements: tuple[Element, ...] = ()
    state: State | None = None


@dataclass(frozen=True, slots=True)
class _OpenInput:
    """An input whose result is not known yet. `judge` gives it from the elements and the app in front; `package` is the
    app that the input opened, "" if it opened none.
    """

    judge: Callable[[tuple[Element, ...], str], InputResult]
    package: str = ""


class InputDriver:
    """Carries out inputs on one phone: touches, keys, typing, and opening apps and URLs."""

    def __init__(
        self,
        shell: Shell,
        trees: Trees,
        lane: FastLane,
        preparation: Preparation,
        apps: Apps,
        clock: Callable[[], float] = time.monotonic,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create the driver. `may_send` is asked before each command that touches, types or starts something."""
        self._shell = shell
        self._may_send = may_send
        self._trees = trees
        self._lane = lane
        self._preparation = preparation
        self._apps = apps
        self._clock = clock
        self._elements_after: tuple[Element, ...] | None = None
        self._open: _OpenInput | None = None
        """The last input, if its result is judged by the next observation."""
        self._other_displays = False

    async def act(
        self,
        what: Input,
        receipt: str,
        last: LastScreen,
        *,
        watched: bool = False,
        later: bool = False,
        check: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> InputResult:
        """Send the input and return the result.

        A touch, a text or Enter is sent only if the screen is still the one in `last`, as far as that is known; other
        inputs do not depend on it.

        - `receipt`: Id of the input.
        - `watched`: Whether to find out if another window than expected received it. This works only for inputs that
          are checked like this and consist of one command.
        - `later`: Whether results that only an observation can show are left to `take_result`.
        - `check`: A further check of these inputs; it raises if the input must not be sent.

        Raises ScreenChanged, InputRejected and other PhoneErrors.
        """
        self._elements_after = self._open = None
        if last.state is not None:
            self._other_displays = last.state.other_displays
        act = Act(self._shell, receipt, other_displays=self._other_displays, may_send=self._may_send)
        front: State | None = None
        if isinstance(what, Tap | LongPress | Swipe | TypeText) or what == PressKey(Key.ENTER):
            front = await self._check_screen(last.state, check, clock=watched)
            if front is not None:
                act.other_displays = self._other_displays = front.other_displays
        done = dataclasses.replace(await self._send(act, what, last, later=later), sent=act.sent)
        # A second command may reach what the first has opened.
        if not watched or front is None or act.number != 1:
            return done
        return dataclasses.replace(done, elsewhere=await read_receiver(self._shell, front))

    async def _send(self, act: Act, what: Input, last: LastScreen, *, later: bool) -> InputResult:
        screen = last.size
        match what:
            case Tap() | LongPress() | Swipe() | PressKey():
                doing = words("phone.doing.key") if isinstance(what, PressKey) else words("phone.doing.touch")
                for line in commands_for(what, screen):
                    await act.check(line, doing)
                return InputResult()
            case TypeText():
                return await self._type(act, what, screen, last.elements, later=later)
            case OpenApp(name):
                with nothing_sent():
                    app = await self._apps.find(name)
                return await self._start(act, launch_command(app), app.shown, app.package, later=later)
            case OpenUrl(url):
                return await self._start(act, view_command(url), url, "")

    def take_elements_after(self) -> tuple[Element, ...] | None:
        """Return the elements that were read after the last command of the last input, if they were; None on later
        calls.
        """
        left, self._elements_after = self._elements_after, None
        return left

    @property
    def expected(self) -> str:
        """The package of the app that the last input opened, until it is known whether it is in front; else ""."""
        return "" if self._open is None else self._open.package

    async def wait_for_expected(self) -> None:
        """Wait up to `APP_PATIENCE` for the expected app to come to the front. Raises PhoneError."""
        await self._wait_for_app(self.expected)

    def take_result(self, elements: tuple[Element, ...] | None, front: str) -> InputResult | None:
        """Return the result of the last input, judged by these elements and the app in front; None on later calls or
        if nothing is open.
        """
        last, self._open = self._open, None
        return None if last is None else last.judge(elements or (), front)

    async def _check_screen(
        self, then: State | None, check: Callable[[], Coroutine[Any, Any, None]] | None, *, clock: bool
    ) -> State | None:
        """Make both checks at once, as each takes about as long. Raises as they do; nothing was sent."""
        if check is None:
            return await self._check_front(then, clock=clock)
        with nothing_sent():
            async with together() as group:
                front = group.create_task(self._check_front(then, clock=clock))
                group.create_task(check())
        return front.result()

    async def _check_front(self, then: State | None, *, clock: bool) -> State | None:
        """Check that the same window is still in front: while a model thinks, a dialog may appear right where it wants
        to touch.

        Returns what is in front now. Raises ScreenChanged, or PhoneError that is not uncertain, because nothing was
        sent.
        """
        if then is None:
            return None
        with nothing_sent():
            now = await read_front(self._shell, clock=clock)
        if then.screen_on and not now.screen_on:
            raise ScreenChanged(words("phone.rejected.asleep"))
        if now.rotation != then.rotation:
            raise ScreenChanged(words("phone.rejected.turned"))
        if None not in {now.size, then.size} and now.size != then.size:
            raise ScreenChanged(words("phone.rejected.resized"))
        if not now.same_window(then):
            front = now.package or "another window"
            raise ScreenChanged(words("phone.rejected.front", front=front))
        return now

    async def _start(self, act: Act, line: str, name: str, package: str, *, later: bool = False) -> InputResult:
        result = await act.send(line, words("phone.doing.app"))
        if problem := refusal(result):
            self._apps.forget()
            raise InputRejected(words("phone.rejected.not_opened", name=name, problem=problem))
        if not package:
            return InputResult(notes=(words("phone.note.opened", name=name),))
        if later:
            self._open = _OpenInput(lambda _elements, front: _launched(package, name, front), package)
            return InputResult()
        return _launched(package, name, await self._wait_for_app(package))

    async def _wait_for_app(self, package: str) -> str:
        until = self._clock() + APP_PATIENCE
        while True:
            front = await read_package(self._shell)
            if front == package or self._clock() >= until:
                return front
            await asyncio.sleep(POLL)

    async def _type(
        self, act: Act, what: TypeText, screen: Size | None, seen: tuple[Element, ...], *, later: bool
    ) -> InputResult:
        text = what.text
        check_text(text)
        # A broadcast reaches any app installed under the keyboard's name, so a secret is typed as keys if possible.
        needed = not (what.secret and text.isascii())
        broadcast = needed and await self._preparation.uses_broadcast_keyboard()
        untypable: UntypableText | None = None
        lines: tuple[str, ...] = ()
        try:
            lines = typing_commands(text, broadcast=broadcast)
        except UntypableText as problem:
            if not self._lane.open:
                raise
            untypable = problem
        if what.at is not None:
            await act.check(commands_for(Tap(what.at), screen)[0], words("phone.doing.touch"))
        by_keys = False
        if not await self._enter_fast(act, what, screen, seen):
            if what.at is not None:
                await self._wait_for_keyboard()
            try:
                if untypable is not None:
                    raise untypable
                if broadcast and not await self._preparation.insist_on_broadcast_keyboard():
                    broadcast, lines = False, typing_commands(text, broadcast=False)
            except UntypableText as problem:
                why = words("phone.error.untyped", problem=sentence_of(problem))
                raise PhoneError(why, uncertain=what.at is not None) from problem
            by_keys = not broadcast
            if what.clear:
                await self._clear(act, what, screen, seen, broadcast=broadcast)
            for line in lines:
                await act.check(line, words("phone.doing.text"), extra_seconds=len(line) / 20, secret=what.secret)
        if later and not (what.submit or what.secret):
            self._open = _OpenInput(lambda elements, _front: read_back(what, elements, by_keys=by_keys))
            return InputResult()
        tree = await self._tree_left(screen)
        done = read_back(what, tree or (), by_keys=by_keys)
        if not what.submit or (done.field_text is not None and not holds_text(done.field_text, what)):
            self._elements_after = tree
            return done
        await act.check(command("input", "keyevent", "KEYCODE_ENTER"), words("phone.doing.enter"))
        return done

    async def _enter_fast(self, act: Act, what: TypeText, screen: Size | None, seen: tuple[Element, ...]) -> bool:
        """Enter text through the fast lane, which replaces the content of a field that is empty or to be emptied. Waits
        for a touched field only if it lacks the focus. Returns False if nothing was done. A tab is a key rather than
        text, so it is not supported.
        """
        text = what.text
        if not self._lane.open or screen is None or "\t" in text or not (text or what.clear):
            return False
        touched = field_by_name(seen, what.at)
        ready = touched is not None and (what.clear or not field_text(touched))
        if touched is not None and ready and await act.enter(self._lane, text, touched):
            return True
        field = await self._focused(screen, what.at)
        if field is None or (not what.clear and field_text(field)):
            return False
        return await act.enter(self._lane, text, field)

    async def _clear(
        self, act: Act, what: TypeText, screen: Size | None, seen: tuple[Element, ...], *, broadcast: bool
    ) -> None:
        """Empty the field. A long or multi-line text is selected as a whole if key combinations work (Android 12 and
        later), because deleting character by character is slow and End only goes to the end of a line. Raises
        PhoneError if the text may remain, because new text would be mixed with it.
        """
        field = known_field(seen, what.at)
        text = "" if field is None else field_text(field)
        doing, is_long = words("phone.doing.text"), len(text) > UNKNOWN_DELETES or "\n" in text
        if is_long and not broadcast and not input_problem(await act.send(COMBINATIONS[Key.SELECT_ALL], doing)):
            await act.check(command("input", "keyevent", "KEYCODE_DEL"), doing)
            if await self._is_gone(text, screen, what.at):
                return
        for line in clearing_commands(None if field is None else len(text), broadcast=broadcast):
            await act.check(line, doing, extra_seconds=len(line) / 20)
        if is_long and not await self._is_gone(text, screen, what.at):
            raise PhoneError(words("phone.error.not_emptied"), uncertain=True)

    async def _is_gone(self, text: str, screen: Size | None, at: Point | None) -> bool:
        left = None if screen is None else await self._focused(screen, at)
        return left is not None and not is_left_of(text, field_text(left))

    async def _focused(self, screen: Size, at: Point | None) -> Element | None:
        """Return the focused field if it is the touched one, waiting a moment for it."""
        until = self._clock() + FOCUS_PATIENCE
        while True:
            field = field_at(await self._trees.read(screen, insist=True) or (), None)
            if at is None or (field is not None and field.bounds.holds(at)):
                return field
            if self._clock() >= until:
                return None
            await asyncio.sleep(POLL)

    async def _wait_for_keyboard(self) -> None:
        """Wait a moment for a touched field to get the focus. Without a keyboard on the screen (a hardware keyboard,
        the broadcast keyboard), the wait just ends.
        """
        until = self._clock() + FOCUS_PATIENCE
        while True:
            if await read_keyboard(self._shell) or self._clock() >= until:
                return
            await asyncio.sleep(POLL)

    async def _tree_left(self, screen: Size | None) -> tuple[Element, ...] | None:
        if screen is None:
            return None
        try:
            return await self._trees.read(screen, insist=True)
        except PhoneError as lost:
            logger.info("the field could not be read back: %s", lost)
            return None


def _launched(package: str, name: str, front: str) -> InputResult:
    """Return the result of opening an app, judged by the package in front."""
    if front == package:
        return InputResult(notes=(words("phone.note.in_front", name=name),))
    if not front:
        return InputResult(notes=(words("phone.note.nothing_in_front", name=name),))
    return InputResult(notes=(words("phone.note.other_in_front", name=name, front=front),))


def field_at(elements: tuple[Element, ...], at: Point | None) -> Element | None:
    """Return the field that receives text: the focused one, otherwise the one at the touched point. None if there is
    none.
    """
    fields = [each for each in elements if each.editable]
    focused = next((each for each in fields if each.focused), None)
    return focused or next((each for each in fields if at is not None and each.bounds.holds(at)), None)


def field_by_name(elements: tuple[Element, ...], at: Point | None) -> Element | None:
    """Return the field at the touched point if its resource id identifies it; None otherwise."""
    fields = [each for each in elements if at is not None and each.editable and each.bounds.holds(at)]
    if len(fields) != 1 or not fields[0].resource_id:
        return None
    return fields[0] if sum(each.resource_id == fields[0].resource_id for each in elements) == 1 else None


def read_back(what: TypeText, elements: tuple[Element, ...], *, by_keys: bool) -> InputResult:
    """Return the content of the field after typing, a secret as bullets; without content if there is no field.

    Notes say whether a long text that replaced the content is there as a whole and, if the text is missing, that Enter
    was not pressed or that the keyboard may have changed what was typed.
    """
    field = field_at(elements, what.at)
    if field is None:
        return InputResult()
    read = field_text(field)
    if what.secret:
        read = "•" * len(read)
    if what.clear and not (what.secret or what.submit) and len(what.text) > LONG:
        return InputResult(read, (_compared(what.text, read),))
    if holds_text(read, what):
        return InputResult(read)
    notes = [words("phone.note.no_enter")] if what.submit else []
    return InputResult(read, (*notes, words("phone.note.keyboard_made")) if by_keys else tuple(notes))


def _compared(wanted: str, read: str) -> Words:
    """Say whether a field holds a long text as typed, and from where it differs. An observation shows the actual
    content, if it may be shown.
    """
    if read == wanted:
        return words("phone.note.whole_text", letters=len(read))
    ends = min(len(wanted), len(read))
    same = next((at for at in range(ends) if wanted[at] != read[at]), ends)
    return words("phone.note.other_text", place=same + 1)


def known_field(seen: tuple[Element, ...], at: Point | None) -> Element | None:
    """Return the field to type into according to these elements: the one at the touched point, or the focused one.
    None if unknown.
    """
    touched = next((each for each in seen if at is not None and each.editable and each.bounds.holds(at)), None)
    return touched or (field_at(seen, None) if at is None else None)


def holds_text(read: str, what: TypeText) -> bool:
    """Return whether a field's content `read` includes the typed text. A hidden one is compared only by its length."""
    if what.secret or read.startswith("•"):
        return len(read) >= len(what.text)
    return contains_typed(read, what.text)
