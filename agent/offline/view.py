"""What a strategy of the offline pilot decides on (`View`): the screen with its labels, rows, fields, switches and pop-
ups, in pixels of the sent image. And its possible moves: an action, done, or stuck.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from agent.actions import Action, ElementTarget
from agent.offline.clauses import Clause
from agent.offline.matching import EXACT, GOOD, contains, folded, likeness
from agent.offline.progress import Taken
from agent.offline.vocabulary import labels, wording
from agent.scene import Screen, ScreenElement
from agent.wording import paragraph
from devices.geometry import Bounds
from devices.names import readable
from devices.wording import said

_URL = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+(?:/\S*)?")
_ACTIVE = ("button", "switch", "checkbox", "radio", "image", "field")
_WIDE = 0.6
"""The share of the screen's width from which a touchable area is a list row."""
_THIN = 0.02
"""The share of the height below which a row is cut off by the list's edge."""
_HEADING = 0.11
"""The share of the height that status bar and title bar take."""
_MOST_IN_POPUP = 12
_POPUP_SIDE = 0.03
_POPUP_TOP = 0.12
_POPUP_BOTTOM = 0.92


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a list: the area that can be touched, and the labels in it from top to bottom."""

    area: ScreenElement
    labels: tuple[ScreenElement, ...]

    @property
    def title(self) -> ScreenElement:
        """The label that names the row. An address or the single letter of an avatar does not."""
        named = [each for each in self.labels if len(each.text) > 1 and not is_url(each.text)]
        return (named or list(self.labels))[0]

    @property
    def line(self) -> str:
        """The row's title and the address in it, if there is one, as a line of data."""
        url = next((each.text for each in self.labels if is_url(each.text)), "")
        return f"{self.title.text} ({url})" if url and url != self.title.text else self.title.text


@dataclass(frozen=True, slots=True)
class Several:
    """Returned instead of an element if several different ones match equally well. `texts` are their labels."""

    texts: tuple[str, ...]


class Page:
    """One screen as the offline pilot reads it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.elements: tuple[ScreenElement, ...] = screen.elements or ()
        self.keyboard = screen.keyboard_shown
        """Whether the on-screen keyboard is shown."""
        self.app = screen.app
        """The package of the app in front."""

    @property
    def unreadable(self) -> bool:
        """Whether the phone could not report its elements."""
        return self._screen.elements is None

    @property
    def app_title(self) -> str:
        """The name that people know the app in front by."""
        return self._screen.app_name or readable(self.app)

    @property
    def at_launcher(self) -> bool:
        """Whether the home screen is shown, so that no app is open."""
        return _package_has(self.app, labels().signs["launcher_packages"])

    @property
    def in_browser(self) -> bool:
        """Whether a web browser is open."""
        return _package_has(self.app, labels().signs["browser_packages"])

    @cached_property
    def named(self) -> tuple[ScreenElement, ...]:
        """All elements with a label, from top to bottom."""
        said = [each for each in self.elements if each.text and each.role != "list"]
        return tuple(sorted(said, key=lambda each: (each.bounds.top, each.bounds.left)))

    @cached_property
    def fields(self) -> tuple[ScreenElement, ...]:
        """The text fields, from top to bottom."""
        found = [each for each in self.elements if "editable" in each.states or each.role == "field"]
        return tuple(sorted((each for each in found if "disabled" not in each.states), key=lambda e: e.bounds.top))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the list on the screen, from top to bottom."""
        space = self._screen.space
        areas = [
            each
            for each in self.elements
            if each.role == "button"
            and not each.text
            and each.bounds.width >= space.width * _WIDE
            and each.bounds.height >= space.height * _THIN
        ]
        rows = [
            Row(area, tuple(each for each in self.named if area.bounds.holds(each.bounds.centre))) for area in areas
        ]
        return tuple(sorted((row for row in rows if row.labels), key=lambda row: row.area.bounds.top))

    @property
    def heading(self) -> tuple[ScreenElement, ...]:
        """The labels in the title bar."""
        edge = self._screen.space.height * _HEADING
        return tuple(each for each in self.named if each.bounds.centre.y < edge and each.role != "field")

    @property
    def scrollable(self) -> bool:
        """Whether there is something that scrolls, such as a list."""
        return any("scrollable" in each.states for each in self.elements)

    @cached_property
    def popup(self) -> bool:
        """Whether the only thing that can be touched is a small window with buttons and without a field."""
        buttons = [each for each in self.elements if each.role == "button" and each.text]
        if not buttons or self.fields or self.scrollable or len(self.elements) > _MOST_IN_POPUP:
            return False
        width, height = self._screen.space.width, self._screen.space.height
        boxes = [each.bounds for each in self.elements]
        return (
            min(box.left for box in boxes) > width * _POPUP_SIDE
            and max(box.right for box in boxes) < width * (1 - _POPUP_SIDE)
            and min(box.top for box in boxes) > height * _POPUP_TOP
            and max(box.bottom for box in boxes) < height * _POPUP_BOTTOM
        )

    @property
    def neutral_button(self) -> ScreenElement | None:
        """The button of a pop-up that agrees to nothing, such as Cancel; None if there is none."""
        buttons = [each for each in self.named if each.role == "button"]
        for word in labels().buttons["neutral"]:
            for each in buttons:
                if folded(each.text) == folded(word):
                    return each
        only = {folded(word) for word in labels().buttons["only"]}
        return buttons[0] if len(buttons) == 1 and folded(buttons[0].text) in only else None

    @property
    def loading(self) -> str:
        """The label that says that the page is still loading; "" if there is none."""
        signs = labels().signs["loading"]
        short = [each for each in self.named if len(each.text) <= 2 * max(map(len, signs)) and each.role == "text"]
        return next((each.text for each in short if any(folded(each.text).startswith(folded(s)) for s in signs)), "")

    def says(self, *words: str) -> bool:
        """Whether any of these texts is on the screen."""
        return any(contains(each.text, word) for each in self.named for word in words)

    def find(
        self, wanted: str, *, such: Callable[[ScreenElement], bool] = lambda _: True
    ) -> ScreenElement | Several | None:
        """Return the element whose label matches `wanted` best; an exact match takes precedence over all others.

        Only elements for which `such` is true are considered. Returns Several if different labels match equally well,
        and None if none has at least the likeness GOOD.
        """
        scored = [(likeness(wanted, each.text), each) for each in self.named if such(each)]
        best = max((score for score, _ in scored), default=0.0)
        if best < GOOD:
            return None
        found = [each for score, each in scored if score == best]
        texts = tuple(dict.fromkeys(folded(each.text) for each in found))
        if len(texts) > 1 and best < EXACT:
            return Several(tuple(dict.fromkeys(each.text for each in found)))
        return found[0]

    def button(self, name: str) -> ScreenElement | None:
        """Return what can be touched and is called this; None if there is nothing, or several different ones."""
        found = self.find(name, such=self.tappable)
        return found if isinstance(found, ScreenElement) else None

    def tappable(self, element: ScreenElement) -> bool:
        """Whether touching this element does something, because it or something around it is active."""
        if "disabled" in element.states:
            return False
        if element.role in _ACTIVE:
            return True
        others = (each for each in self.elements if each is not element and each.role == "button")
        return any(each.bounds.holds(element.bounds.centre) for each in others)

    def switch_beside(self, label: ScreenElement) -> ScreenElement | None:
        """Return the switch or checkbox at the height of this label, or None."""
        switches = [each for each in self.elements if {"checked", "unchecked"} & set(each.states)]
        if label in switches:
            return label
        shared = [(_overlap(each.bounds, label.bounds), each) for each in switches]
        return max((pair for pair in shared if pair[0] > 0), key=lambda pair: pair[0], default=(0, None))[1]

    def value_beside(self, label: ScreenElement) -> str:
        """Return the text directly below or to the right of a label; "" if there is none."""
        high = label.bounds.height
        others = [each for each in self.named if each is not label and each.role in {"text", "field"}]
        under = [
            each
            for each in others
            if abs(each.bounds.left - label.bounds.left) <= high
            and 0 <= each.bounds.top - label.bounds.bottom <= high // 2
        ]
        right = [
            each
            for each in others
            if each.bounds.left >= label.bounds.right - 2 and 2 * _overlap(each.bounds, label.bounds) >= high
        ]
        return next((each.text for each in (*under, *right)), "")

    def text(self, most: int = 60, *, content: bool = False) -> str:
        """Return the readable text line by line from the top, at most `most` lines. With `content`, buttons and fields
        are left out.
        """
        said = [each.text for each in self.named if not content or each.role not in {"button", "field"}]
        return "\n".join(dict.fromkeys(said[:most]))


def is_url(text: str) -> bool:
    """Whether a label is a web address."""
    return bool(_URL.fullmatch(text))


def _overlap(one: Bounds, other: Bounds) -> int:
    """Return how many pixels of height two boxes share."""
    return min(one.bottom, other.bottom) - max(one.top, other.top)


def _package_has(package: str, words: Iterable[str]) -> bool:
    return any(word in package.casefold() for word in words)


@dataclass(frozen=True, slots=True)
class Act:
    """A move: the next action. `stage` names its purpose, by which the step is recognised later; `say` is the text for
    the task's card in the chat.
    """

    action: Action
    stage: str
    say: str


@dataclass(frozen=True, slots=True)
class Done:
    """A move: the screen shows that the clause is done. `found` is the data that was read; `wanted` means that the
    person asked for it.
    """

    found: str = ""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Stuck:
    """A move: the clause cannot be done.

    `reason` is a sentence for the person, and `kind` is its key in wording.toml. `near` are similar instructions that
    can be followed.
    """

    reason: str
    kind: str = ""
    near: tuple[str, ...] = ()


Move = Act | Done | Stuck


@dataclass(frozen=True, slots=True)
class View:
    """What a strategy decides on: one clause and the current screen.

    `clauses` are all of the instruction, `index` is the position of this one, and `steps` are those taken for it so
    far. `chinese` selects the language of the wording.
    """

    page: Page
    clauses: tuple[Clause, ...]
    index: int
    steps: tuple[Taken, ...]
    chinese: bool

    @property
    def before(self) -> Clause | None:
        """The clause before this one; None if there is none."""
        return self.clauses[self.index - 1] if self.index else None

    @property
    def after(self) -> Clause | None:
        """The clause after this one; None if there is none."""
        return self.clauses[self.index + 1] if self.index + 1 < len(self.clauses) else None

    def staged(self, *stages: str) -> tuple[Taken, ...]:
        """Return the steps that were taken for these purposes."""
        return tuple(step for step in self.steps if step.stage in stages)

    def worked(self, *stages: str) -> bool:
        """Whether one of the steps for these purposes succeeded."""
        return any(step.worked for step in self.staged(*stages))

    def since(self, *stages: str) -> tuple[Taken, ...]:
        """Return the steps after the last one with one of these purposes; all steps if there was none."""
        last = max((n for n, step in enumerate(self.steps) if step.stage in stages), default=-1)
        return self.steps[last + 1 :]

    def words(self, key: str, **values: str) -> str:
        """Return the sentence with this key of wording.toml, in the person's language and with its values filled in."""
        return wording(key, chinese=self.chinese, **values)

    def act(self, action: Action, stage: str, key: str, **values: str) -> Act:
        """Return a move with this action. `stage` is its purpose; `key` and `values` give the sentence for the task's
        card in the chat (see `words`).
        """
        return Act(action, stage, self.words(key, **values))

    def stuck(self, key: str, **values: str) -> Stuck:
        """Return the move for a clause that cannot be done. `key` and `values` give the sentence (see `words`); if the
        phone or the policy refused the last step, the reason is added.
        """
        return Stuck(paragraph(self.words(key, **values), _refusal(self.steps)), key)

    @property
    def unknown_app(self) -> bool:
        """Whether the last step failed because the phone has no app of that name."""
        refused = self.steps[-1].failure if self.steps else None
        return refused is not None and refused.unknown_app


def _refusal(steps: tuple[Taken, ...]) -> str:
    """Return why the phone or the policy refused the last step, as a sentence; "" if neither did."""
    refused = steps[-1].failure if steps else None
    # The pilot's own sentence already says that an app is missing.
    if refused is None or not refused.reason or refused.unknown_app:
        return ""
    reason = said(refused.reason)
    return reason if reason.endswith((".", "。", "!", "?")) else f"{reason}."


def on(element: ScreenElement) -> ElementTarget:
    """Return the element as the target of an action."""
    return ElementTarget(element=element.id)
