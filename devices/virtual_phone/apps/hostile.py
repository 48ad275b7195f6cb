"""A hostile app: its pages try to make somebody press something irreversible, and record when it was pressed.

It has no icon and is opened by a scenario event or a test. The pages are data (`hostile.toml`).
"""

from __future__ import annotations

from dataclasses import dataclass

from devices.geometry import Bounds
from devices.virtual_phone.apps.base import App, Page, shuffled
from devices.virtual_phone.apps.hostile_pages import LANGUAGES, PAGES, HostilePage, Part, Stage, page_of, words_of
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Node, Paint, Touch, Writing
from devices.virtual_phone.screen.pieces import LINE_SPACING
from devices.virtual_phone.screen.widgets import Scale
from devices.virtual_phone.state import Activity, Consequence, Dialog
from devices.virtual_phone.window_manager import WindowManager

KEY = "hostile"
THOUSAND = 1000
FIRST = "0"


def play(windows: WindowManager, page: str, language: str) -> None:
    """Bring a page in this language to the front, with its first stage. Raises KeyError if there is no such page or
    language.
    """
    shown = page_of(page, language)
    windows.state.dialogs.clear()
    activity = windows.show(KEY, "main", name=shown.name, language=language, stage=FIRST)
    _begin(windows, activity)


def turn(windows: WindowManager) -> None:
    """Show the next stage of the page; the last one stays."""
    task = windows.state.task(KEY)
    if task is not None:
        _turn(windows, task.stack[-1])


def _turn(windows: WindowManager, activity: Activity) -> None:
    page, number = _page_of(activity), int(activity.arguments["stage"])
    if number + 1 < len(page.stages):
        activity.arguments["stage"] = str(number + 1)
        _begin(windows, activity)


def _begin(windows: WindowManager, activity: Activity) -> None:
    """Show the dialog of a stage, and schedule the next one."""
    page, number = _page_of(activity), int(activity.arguments["stage"])
    stage = page.stages[number]
    windows.state.dialogs.clear()
    if stage.buttons:
        came = {stage.buttons[-1]: Consequence(stage.consequence or page.consequence, page.name)}
        windows.state.dialogs.append(Dialog(stage.title, stage.text, list(stage.buttons), stage.window, came))
    if number + 1 < len(page.stages) and page.stages[number + 1].after:

        def follow() -> None:
            if activity.arguments["stage"] == str(number):
                _turn(windows, activity)

        windows.later(page.stages[number + 1].after, follow)


def _page_of(activity: Activity) -> HostilePage:
    have = activity.arguments
    return page_of(have.get("name", PAGES[0]), have.get("language", LANGUAGES[0]))


def main(windows: WindowManager) -> Page:
    """Build the page that is being played, at its current stage."""
    activity = windows.page
    page = _page_of(activity)
    stage = page.stages[int(activity.arguments.get("stage", FIRST))]
    return Page(header=_Canvas(windows, page, stage))


@dataclass(slots=True)
class _Canvas:
    """The whole screen, with each part at its own place, even outside the screen."""

    windows: WindowManager
    page: HostilePage
    stage: Stage

    def measure(self, width: int, scale: Scale) -> int:
        """As `Widget` says."""
        del width, scale
        return 0

    def place(self, box: Bounds, scale: Scale) -> Node:
        """As `Widget` says."""
        del box
        screen = Bounds(0, 0, self.windows.state.width, self.windows.state.height)
        parts = (*(self._plain() if self.page.plain else ()), *self.stage.parts)
        nodes = [node for part in parts for node in self._nodes(part, screen, scale)]
        return Node(role="android.view.ViewGroup", bounds=screen, children=nodes)

    def _plain(self) -> list[Part]:
        words = words_of(self.windows.page.arguments.get("language", LANGUAGES[0]))
        rows = shuffled([words[f"row{number}"] for number in (1, 2, 3)], self.windows.state.seed, self.page.name)
        return [
            Part(at=(0, 35, 120, 85), say=words["back"], role="ImageButton", does="nothing"),
            Part(at=(140, 40, 980, 80), text=words["name"], size=20),
            Part(at=(40, 100, 960, 200), text=words["lure"]),
            *(
                Part(
                    at=(0, top, 1000, top + 60),
                    role="LinearLayout",
                    does="nothing",
                    parts=(Part(at=(40, top + 10, 900, top + 50), text=row),),
                )
                for top, row in zip((220, 280, 340), rows, strict=True)
            ),
        ]

    def _nodes(self, part: Part, screen: Bounds, scale: Scale) -> list[Node]:
        left, top, right, bottom = part.at
        box = Bounds(
            left * screen.right // THOUSAND,
            top * screen.bottom // THOUSAND,
            right * screen.right // THOUSAND,
            bottom * screen.bottom // THOUSAND,
        )
        if part.field:
            enter = self._harm if part.by == "enter" else None
            field = self.windows.field(part.field, part.hint, on_enter=enter, password=part.password)
            return [field.place(box, scale)]
        inside = [node for each in part.parts for node in self._nodes(each, screen, scale)]
        return [
            Node(
                role=f"android.widget.{part.role}" if "." not in part.role else part.role,
                bounds=box,
                text=part.text,
                description=part.say,
                identifier=part.id,
                clickable=part.does != "" and part.by == "touch",
                focusable=part.does != "",
                told=part.told,
                paint=_paint(part, box, scale),
                children=inside,
                on_tap=self._touch(part),
                on_slide=self._harm if part.does == "harm" and part.by == "slide" else None,
            )
            for _ in range(part.copies)
        ]

    def _touch(self, part: Part) -> Touch | None:
        if part.by != "touch" or not part.does:
            return None
        return self._harm if part.does == "harm" else _nothing

    def _harm(self) -> None:
        """Record the consequence, provided that all fields of the page have text."""
        fields = [part.field for part in self.stage.parts if part.field]
        if all(self.windows.value(name).strip() for name in fields):
            kind = self.stage.consequence or self.page.consequence
            self.windows.state.consequences.append(Consequence(kind, self.page.name))


def _nothing() -> None:
    return None


def _paint(part: Part, box: Bounds, scale: Scale) -> tuple[tuple[Bounds, Paint], ...]:
    """Return the boxes of a part: its text, on a background if it is active. A part without text or room is not drawn,
    nor one with copies.
    """
    words = part.shown if part.shown is not None else part.text or part.say
    width, height = box.right - box.left, box.bottom - box.top
    if not words or width <= 0 or height <= 0 or part.copies > 1:
        return ()
    size = scale.sp(part.size)
    lines = fonts.wrapped(words, size, 400, width, 0)
    written = Writing(lines, size, 400, "on_container" if part.does else "text", round(size * LINE_SPACING), "left")
    ground: tuple[tuple[Bounds, Paint], ...] = ((box, Fill("container", scale.px(8))),) if part.does else ()
    return (*ground, (box, written))


APP = App(KEY, "org.example.prizes", ".PrizeActivity", "Prizes", "gift", "red", {"main": main})
