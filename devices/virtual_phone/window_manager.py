"""The services that Android provides to apps on the virtual phone: tasks, pages, fields, keyboard, power and lock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from devices.virtual_phone.android import is_on
from devices.virtual_phone.faults import Faults
from devices.virtual_phone.screen.nodes import Touch
from devices.virtual_phone.screen.pieces import Field
from devices.virtual_phone.state import LATIN_KEYBOARD, LAUNCHER, Activity, PhoneState, Task
from devices.virtual_phone.strings import date_text, translate

MAIN = "main"
Later = Callable[[float, Callable[[], None]], None]


class WindowManager:
    """Changes the phone's state on behalf of its apps, which use it to build their pages and to react to input."""

    def __init__(self, state: PhoneState, faults: Faults, later: Later, clock: Callable[[], datetime]) -> None:
        """Create the manager. `later(seconds, what)` calls `what` after some time and then reports a change."""
        self.state = state
        self.faults = faults
        self.clock = clock
        self.later = later

    @property
    def task(self) -> Task | None:
        """The open app in front; None at the launcher."""
        return None if self.state.front == LAUNCHER else self.state.task(self.state.front)

    @property
    def activity(self) -> Activity | None:
        """The page in front; None at the launcher."""
        task = self.task
        return task.stack[-1] if task else None

    @property
    def page(self) -> Activity:
        """The page in front. Only for an app that is certainly in front."""
        assert self.activity is not None
        return self.activity

    @property
    def dark(self) -> bool:
        """Whether the dark theme is on."""
        return is_on(self.state, "dark")

    def say(self, text: str, **values: str) -> str:
        """Return the text in the phone's language, with the values filled in."""
        said = translate(self.state.redesign.renamed.get(text, text), self.state.locale)
        return said.format(**values) if values else said

    def say_date(self, day: datetime) -> str:
        """Return the weekday, day and month in the phone's language."""
        return date_text(day, self.state.locale)

    # Tasks

    def launch(self, app: str) -> None:
        """Bring an app to the front as its icon does: where it was left, or at its first page."""
        task = self.state.task(app)
        if task is None:
            task = Task(app, [Activity(MAIN)])
            self._load(task.stack[0], self.faults.app_ms)
        self._front(task)

    def show(self, app: str, page: str, **arguments: str) -> Activity:
        """Open a page of an app, as an intent does, and return it."""
        task = self.state.task(app) or Task(app, [Activity(MAIN)])
        activity = Activity(page, dict(arguments))
        self._load(activity, self.faults.app_ms)
        if page == MAIN and not arguments:
            task.stack = [activity]
        else:
            task.stack.append(activity)
        self._front(task)
        return activity

    def open(self, page: str, **arguments: str) -> Activity:
        """Open another page of the app in front, and return it."""
        assert self.task is not None
        return self.show(self.task.app, page, **arguments)

    def restart(self, page: str = MAIN, **arguments: str) -> None:
        """Replace all pages of the app in front with this one."""
        assert self.task is not None
        self.hide_keyboard()
        self.task.stack = [Activity(page, dict(arguments))]

    def back(self) -> None:
        """Handle the Back key: close the notification shade or the recent apps, else a dialog, the keyboard, the PIN
        page, or the page in front.
        """
        state = self.state
        if state.shade or state.recents:
            state.shade = state.recents = False
        elif state.dialogs:
            state.dialogs.pop()
        elif state.keyboard:
            self.hide_keyboard()
        elif state.locked:
            state.asking_pin = False
        elif self.task is not None:
            self.close_page()

    def close_page(self) -> None:
        """Close the page in front. Closing the last page of an app returns to the launcher."""
        self.hide_keyboard()
        if self.task is None:
            return
        self.task.stack.pop()
        if not self.task.stack:
            self.stop(self.state.front)

    def stop(self, app: str) -> None:
        """End an app, as a force stop does."""
        self.state.tasks = [task for task in self.state.tasks if task.app != app and task.stack]
        if self.state.front == app:
            self.hide_keyboard()
            self.state.front = LAUNCHER

    def home(self) -> None:
        """Handle the Home key."""
        self.hide_keyboard()
        self.state.shade = self.state.recents = False
        if not self.state.locked:
            self.state.front = LAUNCHER

    def show_recents(self) -> None:
        """Handle the Recents key."""
        self.hide_keyboard()
        self.state.recents = not self.state.locked

    def _front(self, task: Task) -> None:
        self.hide_keyboard()
        self.state.recents = self.state.shade = False
        self.state.tasks = [task, *(other for other in self.state.tasks if other.app != task.app)]
        self.state.front = task.app

    # Fields and keyboard

    def field(
        self,
        name: str,
        hint: str,
        *,
        on_enter: Touch | None = None,
        password: bool = False,
        lines: int = 1,
        plain: bool = False,
        size: float = 16,
        radius: float = 14,
    ) -> Field:
        """Return a text field of the page in front, with its current content; see `Field` for the arguments."""
        page = self.page
        now = (page.fields.get(name, ""), page.focus == name, page.caret, partial(self.focus, name))
        return Field(name, self.say(hint), *now, on_enter, password, lines, plain, size, radius)

    def value(self, name: str) -> str:
        """Return the content of a field of the page in front."""
        return self.page.fields.get(name, "")

    def focus(self, name: str) -> None:
        """Put the caret at the end of a field and show the keyboard."""
        self.page.focus = name
        if self.faults.reset_keyboard:
            self.state.settings["secure"]["default_input_method"] = LATIN_KEYBOARD
        self.page.caret = len(self.value(name))
        self.page.all_selected = False
        self.state.keyboard = self.state.keyboard_made = True

    def hide_keyboard(self) -> None:
        """Close the keyboard and remove the focus."""
        self.state.keyboard = False
        if self.activity is not None:
            self.activity.focus = ""

    # Power

    def wake(self) -> None:
        """Turn the screen on."""
        self.state.awake = True

    def sleep(self) -> None:
        """Turn the screen off and lock the phone."""
        self.hide_keyboard()
        self.state.awake = False
        self.lock()

    def lock(self, pin: str | None = None) -> None:
        """Show the lock screen. `pin` sets a PIN ("": none; None: keep the current one)."""
        self.hide_keyboard()
        if pin is not None:
            self.state.pin = pin
        self.state.locked = True
        self.state.asking_pin = False
        self.state.pin_typed = ""

    def swipe_up_to_unlock(self) -> None:
        """Handle the unlock gesture on the lock screen: unlock the phone, or show the PIN page if there is a PIN."""
        if self.state.pin:
            self.state.asking_pin = True
        else:
            self.state.locked = False

    def type_pin(self, digits: str) -> None:
        """Enter digits on the PIN page; a wrong PIN of full length is cleared."""
        if not self.state.locked:
            return
        self.state.pin_typed += digits
        if self.state.pin_typed == self.state.pin:
            self.state.locked = self.state.asking_pin = False
            self.state.pin_typed = ""
        elif len(self.state.pin_typed) >= len(self.state.pin):
            self.state.pin_typed = ""

    def load_page(self, activity: Activity) -> None:
        """Delay this page by the milliseconds of the fault `page_ms`, as if it came from the network."""
        self._load(activity, self.faults.page_ms)

    def _load(self, activity: Activity, milliseconds: int) -> None:
        def come() -> None:
            activity.awaited = max(0, activity.awaited - 1)

        if milliseconds:
            activity.awaited += 1
            self.later(milliseconds / 1000, come)
