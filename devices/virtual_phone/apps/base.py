"""The definition of an app on the virtual phone, and the parts that most pages share, with the order of their rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from devices.virtual_phone.screen.nodes import Touch
from devices.virtual_phone.screen.pieces import Button, Gap, Label, Picture
from devices.virtual_phone.screen.widgets import Box, Row, Wide, Widget
from devices.virtual_phone.window_manager import WindowManager

T = TypeVar("T")


def shuffled(things: Sequence[T], seed: int, name: str) -> list[T]:
    """Return a copy of the list, shuffled by this seed (0: not at all). Lists with different names are shuffled
    differently.
    """
    copy = list(things)
    if seed:
        random.Random(f"{seed} {name}").shuffle(copy)  # noqa: S311  # a layout, no secret
    return copy


@dataclass(slots=True, kw_only=True)
class Page:
    """A page of an app: a title bar, a scrolling list and fixed parts at the bottom.

    - `large`: Whether the title is shown below the bar in large letters, as in Settings.
    - `body`: The rows of the list.
    - `actions`: Buttons in the title bar.
    - `header`: A widget that replaces the title bar.
    - `bottom`: A widget below the list.
    - `floating`: A button that floats over the list.
    - `on_back`: What the arrow in the title bar does; None for no arrow.
    - `secure`: Whether it has FLAG_SECURE, so that screenshots are black.
    """

    title: str = ""
    large: bool = False
    body: Sequence[Widget] = ()
    actions: Sequence[Widget] = ()
    header: Widget | None = None
    bottom: Widget | None = None
    floating: Widget | None = None
    on_back: Touch | None = None
    secure: bool = False


def waiting(windows: WindowManager) -> list[Widget]:
    """Return the widgets that a page shows while it is loading."""
    return [
        Gap(160),
        Picture("timer_sand", 48, "faint"),
        Gap(12),
        Label(windows.say("Loading…"), 18, colour="muted", align="centre", identifier="loading"),
    ]


def _loading(windows: WindowManager) -> Page:
    return Page(header=Gap(24), body=waiting(windows))


@dataclass(frozen=True, slots=True)
class App:
    """An app of the virtual phone.

    - `key`: Its short name.
    - `name`: The name of its activity's class within the package.
    - `pages`: Functions that build its pages, by name; `main` is the first one.
    - `loading`: Builds what is shown instead of a page that has not loaded yet.
    """

    key: str
    package: str
    name: str
    label: str
    icon: str
    colour: str
    pages: Mapping[str, Callable[[WindowManager], Page]]
    loading: Callable[[WindowManager], Page] = _loading

    @property
    def activity(self) -> str:
        """Its activity's name in `dumpsys` output."""
        return f"{self.package}{self.name}"

    @property
    def component(self) -> str:
        """The app's component name, `package/activity`."""
        return f"{self.package}/{self.activity}"


def list_row(
    title: str,
    *,
    subtitle: str = "",
    icon: str = "",
    trailing: Widget | None = None,
    trailing_width: float = 56,
    on_tap: Touch | None = None,
    identifier: str = "",
) -> Widget:
    """Return a list row with an icon, a title over a subtitle, and an optional widget at the end."""
    lines: list[Widget] = [Label(title, 17, identifier="title", most=1)]
    if subtitle:
        lines.append(Label(subtitle, 14, colour="muted", identifier="summary", most=2))
    parts: list[Widget | Wide] = []
    if icon:
        parts.append(Wide(40, Picture(icon, 24, "muted")))
    parts.append(Box(children=lines, gap=2))
    if trailing is not None:
        parts.append(Wide(trailing_width, trailing))
    return Row(
        parts=parts,
        gap=16,
        padding=(20, 12, 20, 12),
        minimum=68,
        on_tap=on_tap,
        identifier=identifier,
    )


def section(title: str) -> Widget:
    """Return a small heading between the rows of a list."""
    return Box(children=[Label(title, 14, 500, "primary")], padding=(20, 18, 20, 6))


def floating_button(icon: str, description: str, identifier: str, on_tap: Touch) -> Picture:
    """Return the round button that floats over a list. `description` is its name for accessibility."""
    return Picture(
        icon,
        26,
        "on_container",
        60,
        "container",
        square=True,
        description=description,
        identifier=identifier,
        on_tap=on_tap,
    )


def bar_button(icon: str, description: str, on_tap: Touch, identifier: str = "") -> Picture:
    """Return an icon button for the title bar. `description` is its name for accessibility."""
    return Picture(icon, 24, "text", description=description, identifier=identifier, on_tap=on_tap)


def bottom_button(text: str, on_tap: Touch, identifier: str, *, filled: bool = True, enabled: bool = True) -> Button:
    """Return a button as wide as the page, for its bottom."""
    return Button(text, on_tap, identifier, filled, enabled, (16, 8, 16, 12))


def dollars(cents: int) -> str:
    """Return an amount of US cents as text: "$12.90" for 1290."""
    return f"${cents // 100}.{cents % 100:02d}"
