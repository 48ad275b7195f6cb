"""The surfaces that belong to the system: launcher, lock screen, PIN, recents, shade, dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from devices.geometry import Bounds
from devices.virtual_phone.apps import APPS, BY_KEY
from devices.virtual_phone.apps.base import App
from devices.virtual_phone.order import shuffled
from devices.virtual_phone.screen.furniture import NAVIGATION_BAR, STATUS_BAR
from devices.virtual_phone.screen.nodes import Fill, Frost, Glyph, Node, Paint, Wallpaper, Writing
from devices.virtual_phone.screen.pieces import Button, Gap, Label, Picture
from devices.virtual_phone.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.virtual_phone.state import Dialog
from devices.virtual_phone.window_manager import WindowManager

COLUMNS = 4
ICON = 60
CELL = 104
CLEAR_ALL = 76


def launcher(windows: WindowManager, box: Bounds, scale: Scale) -> Node:
    """Home: the time, icons, and the last row of them in a dock."""
    now = windows.clock()
    root = Node(role="android.widget.FrameLayout", bounds=box, identifier="launcher", paint=((box, Wallpaper()),))
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
    # The last row is the dock, and full; what is left over begins the first row.
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
    """The time and how to open, or the PIN page."""
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
    content = Box(children=children).place(box, scale)
    root = Node(
        role="android.widget.FrameLayout", bounds=box, identifier="keyguard", paint=((box, Wallpaper(dim=True)),)
    )
    root.children.append(content)
    if not windows.state.asking_pin:
        hint = Label(
            windows.say("Swipe up to open"), 16, 400, "soft_white", "centre", identifier="keyguard_indication_text"
        )
        top = box.bottom - scale.px(110)
        root.children.append(hint.place(Bounds(box.left, top, box.right, top + scale.px(24)), scale))
    return root


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
    """The open apps as cards, the latest first."""
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
    # As many as fit above the button; the others are further down, where nobody scrolls to.
    room = box.bottom - scale.px(STATUS_BAR + 60 + CLEAR_ALL + NAVIGATION_BAR)
    while cards and sum(card.measure(box.right - box.left, scale) for card in cards) > room:
        cards.pop()
    if cards:
        cards.append(Button(windows.say("Clear all"), partial(_clear, windows), "clear_all", margin=(120, 20, 120, 0)))
    else:
        cards = [Label(windows.say("No recent items"), 18, 500, "white", "centre")]
    root = Node(role="android.widget.FrameLayout", bounds=box, paint=((box, Wallpaper(dim=True)),))
    root.children.append(Box(children=[Gap(STATUS_BAR + 60), *cards]).place(box, scale))
    return root


def _clear(windows: WindowManager) -> None:
    windows.state.tasks.clear()
    windows.home()


def shade(windows: WindowManager, box: Bounds, scale: Scale, notices: Sequence[tuple[str, str]]) -> Node:
    """The notification shade; `notices` are titles and texts."""
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
    root = Node(
        role="android.widget.FrameLayout", bounds=box, identifier="notification_panel", paint=((box, Fill("raised")),)
    )
    root.children.append(Box(children=[Gap(STATUS_BAR), time, *(rows or empty)]).place(box, scale))
    return root


def dialog(windows: WindowManager, shown: Dialog, box: Bounds, scale: Scale) -> Node:
    """A pop-up in the middle, over a dimmed page."""

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
    root = Node(role="android.widget.FrameLayout", bounds=Bounds(left, top, left + width, top + height))
    root.children.append(card.place(root.bounds, scale))
    return root


def _answer(windows: WindowManager, shown: Dialog, text: str) -> None:
    windows.state.dialogs.remove(shown)
    windows.state.dialog_answers.append(f"{shown.title}: {text}")
    if (came := shown.consequences.get(text)) is not None:
        windows.state.consequences.append(came)
