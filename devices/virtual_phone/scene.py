"""Lays out the whole screen: decides which surface is in front, builds its nodes, and paints the system's bars around
it.

The surfaces of the system are here (launcher, lock screen, PIN, recent apps, notification shade, dialogs); those of
apps are in `apps`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from xml.sax.saxutils import quoteattr

from devices.geometry import Bounds
from devices.virtual_phone.apps import APPS, BY_KEY, LAUNCHER_PACKAGE
from devices.virtual_phone.apps.base import App, Page, bar_button, shuffled
from devices.virtual_phone.screen import furniture
from devices.virtual_phone.screen.furniture import NAVIGATION_BAR, STATUS_BAR, Painted
from devices.virtual_phone.screen.nodes import Fill, Frost, Glyph, Node, Paint, Veil, Wallpaper, Writing
from devices.virtual_phone.screen.pieces import Button, Gap, Label, Picture, Scrolling
from devices.virtual_phone.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.virtual_phone.state import Dialog
from devices.virtual_phone.window_manager import WindowManager

SYSTEM_UI = "com.android.systemui"
BAR = 60
LIST = "list"
ROOT = "android.widget.FrameLayout"

# What stripInvalidXMLChars replaces by a dot.
INVALID = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufddf\ufffe\uffff]")

COLUMNS = 4
ICON = 60
CELL = 104
CLEAR_ALL = 76


@dataclass(frozen=True, slots=True)
class Scene:
    """A laid-out screen.

    - `root`: The active window, as uiautomator sees it.
    - `package`: The package of that window.
    - `painted`: Everything to paint, in order.
    - `secure`: Whether the page has FLAG_SECURE.
    - `size`: Width and height in pixels.
    """

    root: Node
    package: str
    painted: tuple[Painted, ...]
    secure: bool
    dark: bool
    size: tuple[int, int]


def compose(windows: WindowManager) -> Scene:
    """Lay out the screen of the phone's current state."""
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
        root, package, ink, bar_fill = lock_screen(windows, box, scale), SYSTEM_UI, "white", ""
    elif state.shade:
        root, package, bar_fill = shade(windows, box, scale, notices(windows)), SYSTEM_UI, "raised"
    elif state.recents:
        root, package, ink, bar_fill = recents(windows, box, scale), LAUNCHER_PACKAGE, "white", ""
    elif windows.task is None:
        root, package, ink, bar_fill = launcher(windows, box, scale), LAUNCHER_PACKAGE, "white", ""
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
        root = dialog(windows, state.dialogs[-1], box, scale)
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
    """Return what the notification shade shows, as (title, text): the last message of each conversation that came from
    the other person.
    """
    return [
        (talk.person, talk.lines[-1].text)
        for talk in windows.state.conversations
        if talk.lines and not talk.lines[-1].mine
    ]


def _page(windows: WindowManager, page: Page, box: Bounds, scale: Scale) -> Node:
    """Lay out a page: the title bar at the top, the bottom part, and the list between them."""
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


def dump(
    scene: Scene, *, rotation: int, compressed: bool, hints: bool = False, told_id: Callable[[str], str] = str
) -> str:
    """Return the screen as `uiautomator dump` writes it, on one line.

    - `compressed`: Whether nodes without meaning are left out, as Android does for views that are not important for
      accessibility.
    - `hints`: Whether hints are included, as by uiautomator2 only.
    - `told_id`: Returns what is reported as the id of an element.

    Form and attribute order: AOSP frameworks/base/cmds/uiautomator, AccessibilityNodeInfoDumper.java.
    """
    nodes = "".join(
        _node(node, index, scene.package, hints, told_id) for index, node in enumerate(_kept(scene.root, compressed))
    )
    declaration = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{declaration}<hierarchy rotation="{rotation}">{nodes}</hierarchy>'


def _kept(node: Node, compressed: bool) -> list[Node]:  # passed on in the recursion
    """Return the node with its reported children, or only these when the node itself is left out; nothing for a
    reported node without area.
    """
    children = [kept for child in node.children for kept in _kept(child, compressed)]
    meant = node.clickable or node.checkable or node.text or node.description or node.long_clickable
    meant = meant or node.scroll or node.scrollable or node.on_move is not None
    if not node.told or (compressed and not meant):
        return children
    if node.bounds.right <= node.bounds.left or node.bounds.bottom <= node.bounds.top:
        return []
    return [replace(node, children=children, paint=())]


def _node(node: Node, index: int, package: str, hints: bool, told_id: Callable[[str], str]) -> str:
    box = node.bounds
    told = told_id(node.identifier)
    identifier = told if ":" in told else f"{package}:id/{told}" if told else ""
    values: tuple[tuple[str, str | int | bool], ...] = (
        ("index", index),
        ("text", node.text),
        ("resource-id", identifier),
        ("class", node.role),
        ("package", package),
        ("content-desc", node.description),
        ("checkable", node.checkable),
        ("checked", node.checked),
        ("clickable", node.clickable),
        ("enabled", node.enabled),
        ("focusable", node.focusable),
        ("focused", node.focused),
        ("scrollable", bool(node.scroll) or node.scrollable),
        ("long-clickable", node.long_clickable),
        ("password", node.password),
        ("selected", node.selected),
        *((("hint", node.hint),) if hints else ()),
        ("bounds", f"[{box.left},{box.top}][{box.right},{box.bottom}]"),
    )
    written = " ".join(f"{name}={_attribute(value)}" for name, value in values)
    inside = "".join(_node(child, position, package, hints, told_id) for position, child in enumerate(node.children))
    return f"<node {written}>{inside}</node>" if inside else f"<node {written} />"


def _attribute(value: str | int | bool) -> str:  # the values of XML attributes
    if isinstance(value, bool):
        return '"true"' if value else '"false"'
    text = INVALID.sub(".", str(value)).replace("\n", "&#10;")
    quoted = quoteattr(text, {'"': "&quot;"}).replace("&amp;#10;", "&#10;")
    return quoted if quoted.startswith('"') else f'"{quoted[1:-1]}"'


def launcher(windows: WindowManager, box: Bounds, scale: Scale) -> Node:
    """Build the home screen: the time (not in landscape) and the app icons, the last row of them in a dock."""
    now = windows.clock()
    root = Node(role=ROOT, bounds=box, identifier="launcher", paint=((box, Wallpaper()),))
    side = scale.px(20)
    head = Box(
        children=[
            Label(now.strftime("%H:%M"), 68, 300, "white", "centre", identifier="clock"),
            Label(windows.say_date(now), 18, 400, "soft_white", "centre", identifier="date"),
        ],
        padding=(0, 26, 0, 0),
    )
    top = box.top + scale.px(STATUS_BAR)
    head_height = head.measure(box.right - box.left, scale)
    wide = box.right - box.left > box.bottom - box.top
    if not wide:
        root.children.append(head.place(Bounds(box.left, top, box.right, top + head_height), scale))
    columns = COLUMNS * 2 if wide else COLUMNS
    # The last row is the dock and is full; the remaining icons are in the first row.
    apps = [app for app in shuffled(APPS, windows.state.seed, "launcher") if app.package not in windows.state.disabled]
    rows = -(-len(apps) // columns)
    dock_top = box.bottom - scale.px(NAVIGATION_BAR + 16 + CELL)
    dock = Bounds(box.left + side // 2, dock_top - scale.px(6), box.right - side // 2, dock_top + scale.px(CELL + 4))
    root.paint = (*root.paint, (dock, Frost(scale.px(30))))
    top = max(top + (0 if wide else head_height), dock_top - scale.px(26 + (rows - 1) * (CELL + 10)))
    cell = (box.right - box.left - 2 * side) // columns
    lead = -len(apps) % columns
    for index, app in enumerate(apps):
        row = 0 if index < columns - lead else (index + lead) // columns
        left = box.left + side + cell * (index if row == 0 else (index + lead) % columns)
        upper = max(top, dock_top) if row == rows - 1 else top + scale.px(CELL + 10) * row
        root.children.append(_icon(windows, app, Bounds(left, upper, left + cell, upper + scale.px(CELL)), scale))
    return root


def _icon(windows: WindowManager, app: App, box: Bounds, scale: Scale) -> Node:
    """As Launcher3's BubbleTextView: one TextView with the label as text and description."""
    label = windows.say(app.label)
    size = scale.px(ICON)
    middle = box.centre.x
    top = box.top + scale.px(6)
    disc = Bounds(middle - size // 2, top, middle + size // 2, top + size)
    line = scale.px(19)
    under = Bounds(box.left, disc.bottom + scale.px(8), box.right, disc.bottom + scale.px(8) + line)
    paint: tuple[tuple[Bounds, Paint], ...] = (
        (disc, Fill(app.colour, size * 2 // 7)),
        (disc, Glyph(app.icon, scale.px(34), "white")),
        (under, Writing((label,), scale.px(14), 500, "white", line, "centre")),
    )
    return Node(
        role="android.widget.TextView",
        bounds=box,
        text=label,
        description=label,
        clickable=True,
        long_clickable=True,
        focusable=True,
        paint=paint,
        on_tap=partial(windows.launch, app.key),
    )


def lock_screen(windows: WindowManager, box: Bounds, scale: Scale) -> Node:
    """Build the lock screen: the time and how to unlock, or the PIN page."""
    now = windows.clock()
    children: list[Widget] = [
        Gap(70),
        Picture("lock_outline", 26, "white"),
        Gap(14),
        Label(now.strftime("%H:%M"), 84, 300, "white", "centre", identifier="clock"),
        Label(windows.say_date(now), 19, 400, "soft_white", "centre", identifier="date"),
    ]
    if windows.state.asking_pin:
        dots = "●" * len(windows.state.pin_typed) or windows.say("Enter PIN")
        children = [Gap(110), Label(dots, 22, 500, "white", "centre", identifier="pinEntry"), Gap(40), *_pad(windows)]
    nodes = [Box(children=children).place(box, scale)]
    if not windows.state.asking_pin:
        hint = Label(
            windows.say("Swipe up to open"), 16, 400, "soft_white", "centre", identifier="keyguard_indication_text"
        )
        top = box.bottom - scale.px(110)
        nodes.append(hint.place(Bounds(box.left, top, box.right, top + scale.px(24)), scale))
    return Node(role=ROOT, bounds=box, identifier="keyguard", paint=((box, Wallpaper(dim=True)),), children=nodes)


def _pad(windows: WindowManager) -> list[Widget]:
    def key(digit: str) -> Widget:
        return Box(
            children=[Label(digit, 28, 400, "white", "centre")],
            fill="glass",
            radius=36,
            minimum=72,
            centred=True,
            margin=(12, 6, 12, 6),
            role="android.widget.Button",
            text=digit,
            on_tap=partial(windows.type_pin, digit),
        )

    rows: list[list[Widget | Wide]] = [[key(digit) for digit in row] for row in ("123", "456", "789")]
    rows.append([Gap(0), key("0"), Gap(0)])
    return [Row(parts=parts, padding=(40, 0, 40, 0)) for parts in rows]


def recents(windows: WindowManager, box: Bounds, scale: Scale) -> Node:
    """Build the list of recent apps as cards, the latest first."""
    cards: list[Widget] = [
        Row(
            parts=[
                Wide(48, Picture(BY_KEY[task.app].icon, 26, "white", 44, BY_KEY[task.app].colour)),
                Label(windows.say(BY_KEY[task.app].label), 18, 500),
            ],
            gap=16,
            padding=(20, 18, 20, 18),
            margin=(28, 8, 28, 8),
            fill="background",
            radius=24,
            description=windows.say(BY_KEY[task.app].label),
            on_tap=partial(windows.launch, task.app),
        )
        for task in windows.state.tasks
        if task.app in BY_KEY
    ]
    # Only as many as fit above the button; the list cannot be scrolled.
    room = box.bottom - scale.px(STATUS_BAR + 60 + CLEAR_ALL + NAVIGATION_BAR)
    while cards and sum(card.measure(box.right - box.left, scale) for card in cards) > room:
        cards.pop()
    if cards:
        cards.append(Button(windows.say("Clear all"), partial(_clear, windows), "clear_all", margin=(120, 20, 120, 0)))
    else:
        cards = [Label(windows.say("No recent items"), 18, 500, "white", "centre")]
    content = Box(children=[Gap(STATUS_BAR + 60), *cards]).place(box, scale)
    return Node(role=ROOT, bounds=box, paint=((box, Wallpaper(dim=True)),), children=[content])


def _clear(windows: WindowManager) -> None:
    windows.state.tasks.clear()
    windows.home()


def shade(windows: WindowManager, box: Bounds, scale: Scale, notices: Sequence[tuple[str, str]]) -> Node:
    """Build the notification shade; `notices` are (title, text) pairs."""
    rows: list[Widget] = [
        Box(
            children=[Label(title, 16, 500), Label(text, 15, colour="muted", most=2)],
            gap=3,
            padding=(18, 14, 18, 14),
            margin=(12, 5, 12, 5),
            fill="background",
            radius=22,
        )
        for title, text in notices
    ]
    empty: list[Widget] = [Label(windows.say("No notifications"), 16, colour="muted", align="centre")]
    time = Box(children=[Label(windows.clock().strftime("%H:%M"), 40, 400)], padding=(24, 20, 24, 16))
    content = Box(children=[Gap(STATUS_BAR), time, *(rows or empty)]).place(box, scale)
    ground = ((box, Fill("raised")),)
    return Node(role=ROOT, bounds=box, identifier="notification_panel", paint=ground, children=[content])


def dialog(windows: WindowManager, shown: Dialog, box: Bounds, scale: Scale) -> Node:
    """Build a dialog in the middle of the screen, over a dimmed page."""

    def button(text: str) -> Widget:
        return Button(text, partial(_answer, windows, shown, text), "button1", filled=text == shown.buttons[-1])

    card = Box(
        children=[
            Label(shown.title, 24, identifier="alertTitle"),
            Label(shown.text, 16, colour="muted", identifier="message"),
            Gap(8),
            Row(parts=[button(text) for text in shown.buttons], gap=12),
        ],
        gap=12,
        padding=(24, 24, 24, 20),
        fill="raised",
        radius=28,
        identifier="parentPanel",
    )
    width = min(box.right - box.left - scale.px(56), scale.px(420))
    left = (box.left + box.right - width) // 2
    height = card.measure(width, scale)
    top = (box.top + box.bottom - scale.px(NAVIGATION_BAR) - height) // 2
    inner = Bounds(left, top, left + width, top + height)
    return Node(role=ROOT, bounds=inner, children=[card.place(inner, scale)])


def _answer(windows: WindowManager, shown: Dialog, text: str) -> None:
    windows.state.dialogs.remove(shown)
    windows.state.dialog_answers.append(f"{shown.title}: {text}")
    if (came := shown.consequences.get(text)) is not None:
        windows.state.consequences.append(came)
