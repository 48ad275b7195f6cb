"""Puts the screen together: which surface is in front, its nodes, and everything painted around it."""

from __future__ import annotations

from dataclasses import dataclass

from devices.geometry import Bounds
from devices.virtual_phone.apps import BY_KEY, LAUNCHER_PACKAGE
from devices.virtual_phone.apps.base import Page, bar_button
from devices.virtual_phone.scene import surfaces
from devices.virtual_phone.screen import furniture
from devices.virtual_phone.screen.entry import Scrolling
from devices.virtual_phone.screen.furniture import Painted
from devices.virtual_phone.screen.nodes import Fill, Node, Veil
from devices.virtual_phone.screen.pieces import Label
from devices.virtual_phone.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.virtual_phone.window_manager import WindowManager

SYSTEM_UI = "com.android.systemui"
BAR = 60
LIST = "list"
ROOT = "android.widget.FrameLayout"


@dataclass(frozen=True, slots=True)
class Scene:
    """A laid-out screen. `root` is the active window, as uiautomator sees it; `painted` everything in order."""

    root: Node
    package: str
    painted: tuple[Painted, ...]
    secure: bool
    dark: bool
    size: tuple[int, int]


def compose(windows: WindowManager) -> Scene:
    """The screen of a state."""
    state = windows.state
    size = (state.width, state.height) if state.rotation % 2 == 0 else (state.height, state.width)
    scale = Scale(state.density, _font_scale(state.settings["system"].get("font_scale", "1.0")))
    box = Bounds(0, 0, *size)
    now = windows.clock()
    if not state.awake:
        black = Node(role=ROOT, bounds=box, paint=((box, Fill("black")),))
        return Scene(black, SYSTEM_UI, black.paint, False, windows.dark, size)

    ink, bar_fill = "text", "background"
    secure = False
    if state.locked:
        root, package, ink, bar_fill = surfaces.lock_screen(windows, box, scale), SYSTEM_UI, "white", ""
    elif state.shade:
        root, package, bar_fill = surfaces.shade(windows, box, scale, notices(windows)), SYSTEM_UI, "raised"
    elif state.recents:
        root, package, ink, bar_fill = surfaces.recents(windows, box, scale), LAUNCHER_PACKAGE, "white", ""
    elif windows.task is None:
        root, package, ink, bar_fill = surfaces.launcher(windows, box, scale), LAUNCHER_PACKAGE, "white", ""
    else:
        app = BY_KEY[windows.task.app]
        page = app.loading(windows) if windows.page.awaited else app.pages[windows.page.page](windows)
        secure, package = page.secure, app.package
        root = _page(windows, page, box, scale)

    if secure:  # the keyboard is another window, and shows
        painted = [(box, Fill("black")), *(furniture.keyboard(*size, scale) if state.keyboard else ())]
    else:
        painted = [each for node in root.walk() for each in node.paint]
        painted += furniture.status_bar(state, size[0], scale, now, ink)
    if state.keyboard and not (secure or state.shade or state.locked):  # these lie over it
        painted += furniture.keyboard(*size, scale)
        bar_fill = "keyboard"
    if not secure:
        painted += furniture.navigation_bar(*size, scale, ink, bar_fill, gestures=furniture.by_gestures(state))
    if state.dialogs and not state.locked:
        root = surfaces.dialog(windows, state.dialogs[-1], box, scale)
        package = state.dialogs[-1].window.partition("/")[0] or package
        painted += [(box, Veil()), *(each for node in root.walk() for each in node.paint)]
    return Scene(root, package, tuple(painted), secure, windows.dark, size)


def _font_scale(written: str) -> float:
    """Settings.System.FONT_SCALE; Android offers 0.85 to 2."""
    try:
        return min(2.0, max(0.5, float(written)))
    except ValueError:
        return 1.0


def notices(windows: WindowManager) -> list[tuple[str, str]]:
    """What the shade shows: the last message that came."""
    return [
        (talk.person, talk.lines[-1].text)
        for talk in windows.state.conversations
        if talk.lines and not talk.lines[-1].mine
    ]


def _page(windows: WindowManager, page: Page, box: Bounds, scale: Scale) -> Node:
    """Title bar above, bottom part below, the list between them."""
    width = box.right
    bottom = box.bottom - scale.px(furniture.NAVIGATION_BAR)
    if windows.state.keyboard:
        bottom = furniture.keyboard_box(width, box.bottom, scale).top
    root = Node(role=ROOT, bounds=box, paint=((box, Fill("background")),))
    top = scale.px(furniture.STATUS_BAR)
    bar = page.header or _bar(windows, page)
    bar_height = bar.measure(width, scale)
    low_height = page.bottom.measure(width, scale) if page.bottom else 0
    body: list[Widget] = list(page.body)
    if page.large:
        body.insert(0, Box(children=[Label(page.title, 34, identifier="collapsing_title")], padding=(20, 14, 20, 16)))
    moved = low_height if windows.state.redesign.moved else 0
    room = Bounds(0, top + bar_height + moved, width, bottom - low_height + moved)
    spare = 96 if page.floating else 16
    root.children.append(Scrolling(LIST, body, windows.page.scrolls.get(LIST, 0), spare).place(room, scale))
    header = bar.place(Bounds(0, top, width, top + bar_height), scale)
    header.paint = ((Bounds(0, 0, width, top + bar_height), Fill("background")), *header.paint)
    root.children.append(header)
    if page.bottom and windows.state.redesign.moved:
        low = page.bottom.place(Bounds(0, top + bar_height, width, top + bar_height + low_height), scale)
        root.children.append(low)
    elif page.bottom:
        low = page.bottom.place(Bounds(0, bottom - low_height, width, bottom), scale)
        low.paint = ((Bounds(0, bottom - low_height, width, bottom), Fill("background")), *low.paint)
        root.children.append(low)
    if page.floating:
        side = scale.px(60)
        right = width - scale.px(20)
        place = Bounds(right - side, bottom - scale.px(20) - side, right, bottom - scale.px(20))
        root.children.append(page.floating.place(place, scale))
    return root


def _bar(windows: WindowManager, page: Page) -> Widget:
    parts: list[Widget | Wide] = []
    if page.on_back:
        parts.append(Wide(48, bar_button("arrow_left", windows.say("Back"), page.on_back)))
    parts.append(Label("" if page.large else page.title, 22, most=1, identifier="action_bar_title"))
    parts += [Wide(48, action) for action in page.actions]
    return Row(parts=parts, gap=4, padding=(8 if page.on_back else 20, 4, 12, 4), minimum=BAR)
