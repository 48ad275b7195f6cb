"""Touches and keys: what they do to the screen that is shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from devices.geometry import Point
from devices.virtual_phone.android import DIGIT_CODES, LETTER_CODES, KeyCode
from devices.virtual_phone.ground_truth import Touched
from devices.virtual_phone.scene import Scene
from devices.virtual_phone.screen import furniture
from devices.virtual_phone.screen.nodes import Node
from devices.virtual_phone.screen.widgets import Scale
from devices.virtual_phone.window_manager import WindowManager

# ViewConfiguration.getLongPressTimeout and getScaledTouchSlop (8 dp) in AOSP.
LONG_PRESS_MS = 400
TOUCH_SLOP = 8
EDGE = 24
"""Width in dp of the edges where gestures begin (config_backGestureInset)."""
HOLD_MS = 600
SLID_SHARE = 0.4
"""Share of its width by which an element must be slid sideways to act."""
MOST_TOUCHES: Final = 1000
"""Number of touches that are remembered, as a phone may run for weeks."""


class Hand:
    """Applies touches, key presses and typed text to the phone. `scene` returns the current screen."""

    def __init__(self, windows: WindowManager, scene: Callable[[], Scene]) -> None:
        self._windows = windows
        self._scene = scene
        self.touched: deque[Touched] = deque(maxlen=MOST_TOUCHES)
        """What touches have landed on, the latest last; the keys of the keyboard and of the navigation bar are not
        among them.
        """

    def tap(self, point: Point) -> None:
        """Touch the screen briefly at this point."""
        self._touch(point, long=False)

    def drag(self, start: Point, end: Point) -> None:
        """Press long at `start`, move what is there to `end`, and release it. If nothing there can be dragged, swipe
        instead.
        """
        node = self._scene().root.at(start, lambda node: node.on_drop is not None)
        if node is not None and node.on_drop is not None and not self._blocked():
            self._remember(node)
            node.on_drop(start, end)
        else:
            self.swipe(start, end, LONG_PRESS_MS)

    def swipe(self, start: Point, end: Point, duration_ms: int) -> None:
        """Move a finger in a straight line within `duration_ms` milliseconds. If it stays in place, it is a tap or a
        long press.
        """
        scale = Scale(self._windows.state.density)
        slop = scale.px(TOUCH_SLOP)
        if abs(start.x - end.x) <= slop and abs(start.y - end.y) <= slop:
            self._touch(start, long=duration_ms >= LONG_PRESS_MS)
            return
        state = self._windows.state
        moved = start.y - end.y
        if not state.awake:
            return
        if state.locked:
            if moved > slop * 5:
                self._windows.swipe_up_to_unlock()
        elif furniture.by_gestures(state) and self._gesture(start, end, duration_ms):
            return
        elif state.shade:
            state.shade = moved <= slop
        elif start.y < scale.px(furniture.STATUS_BAR) and moved < 0:
            state.shade = True
        elif not (state.keyboard and self._on_keyboard(start)) and not self._slide(start, end):
            node = self._scene().root.at(start, lambda node: bool(node.scroll) or node.on_move is not None)
            if node is not None and node.on_move is not None:
                self._remember(node)
                node.on_move(start, end)
            else:
                self._scroll(start, moved)

    def _gesture(self, start: Point, end: Point, duration_ms: int) -> bool:
        """Handle a swipe from an edge as Back, Home or Recents if it is one (AOSP EdgeBackGestureHandler)."""
        width, height = self._scene().size
        edge = Scale(self._windows.state.density).px(EDGE)
        across, up = end.x - start.x, start.y - end.y
        inwards = (start.x < edge and across > edge) or (start.x >= width - edge and across < -edge)
        if inwards and abs(across) > 2 * abs(up):
            self._windows.back()
        elif start.y >= height - edge and up > 2 * edge:
            self._windows.show_recents() if duration_ms >= HOLD_MS else self._windows.home()
        else:
            return False
        return True

    def press(self, code: int) -> None:
        """Press and release the key with this code."""
        windows = self._windows
        match code:
            case KeyCode.WAKEUP:
                windows.wake()
            case KeyCode.SLEEP:
                windows.sleep()
            case KeyCode.POWER:
                windows.sleep() if windows.state.awake else windows.wake()
            case _ if not windows.state.awake:
                return
            case KeyCode.BACK | KeyCode.ESCAPE:
                windows.back()
            case KeyCode.HOME:
                windows.home()
            case KeyCode.APP_SWITCH:
                windows.show_recents()
            case KeyCode.MENU if windows.state.locked:
                windows.swipe_up_to_unlock()
            case KeyCode.NOTIFICATION:
                windows.state.shade = not windows.state.locked
            case KeyCode.TAB:
                self._next_field()
            case KeyCode.ENTER:
                self._enter()
            case KeyCode.SPACE:
                self.type(" ")
            case _ if code in DIGIT_CODES:
                self.type(DIGIT_CODES[code])
            case _ if code in LETTER_CODES:
                self.type(LETTER_CODES[code])
            case _:
                self._edit(code)

    def select_all(self) -> None:
        """Select the whole text of the focused field (Ctrl+A)."""
        if self._windows.activity is not None:
            self._windows.activity.all_selected = bool(self._windows.activity.focus)

    def type(self, text: str) -> None:
        """Insert text at the caret of the focused field. Without a focused field it is lost, as on a real phone. On the
        PIN page, its digits are entered.
        """
        state = self._windows.state
        if state.locked and state.asking_pin:
            for digit in filter(str.isdigit, text):
                self._windows.type_pin(digit)
            return
        page = self._windows.activity
        if page is None or not page.focus or self._blocked():
            return
        if page.all_selected:
            self.replace("")
        before = page.fields.get(page.focus, "")
        page.fields[page.focus] = before[: page.caret] + text + before[page.caret :]
        page.caret += len(text)

    def compose(self, text: str) -> None:
        """Add letters to those that the keyboard holds for composing, until Enter is pressed."""
        if self._windows.activity is not None and self._windows.activity.focus:
            self._windows.state.composed += text

    def replace(self, text: str) -> None:
        """Replace the content of the focused field."""
        page = self._windows.activity
        if page is not None and page.focus:
            page.fields[page.focus] = text
            page.caret = len(text)
            page.all_selected = False

    def _blocked(self) -> bool:
        state = self._windows.state
        return not state.awake or state.locked or state.shade or state.recents or bool(state.dialogs)

    def _on_keyboard(self, point: Point) -> bool:
        scale = Scale(self._windows.state.density)
        return point.y >= furniture.keyboard_box(*self._scene().size, scale).top

    def _touch(self, point: Point, *, long: bool) -> None:
        windows = self._windows
        if not windows.state.awake:
            return
        scene = self._scene()
        key = furniture.navigation_key(point, *scene.size, Scale(windows.state.density))
        if key and not furniture.by_gestures(windows.state) and not windows.state.locked and not windows.state.dialogs:
            {furniture.BACK: windows.back, furniture.HOME: windows.home, furniture.RECENTS: windows.show_recents}[key]()
            return
        if windows.state.keyboard and self._on_keyboard(point):
            if furniture.enter_key_box(*scene.size, Scale(windows.state.density)).holds(point):
                self._enter()
            return
        node = scene.root.at(point, lambda node: node.on_tap is not None or node.on_move is not None)
        self._remember(node)
        if node is not None and node.on_tap is None and node.on_move is not None:
            node.on_move(point, point)
        elif node is None or node.on_tap is None:
            if windows.state.keyboard:
                windows.hide_keyboard()
        elif long:
            if node.on_long is not None:
                node.on_long()
        else:
            node.on_tap()

    def _slide(self, start: Point, end: Point) -> bool:
        """Handle a sideways swipe on an element that reacts to it, such as a list row, if it is one."""
        node = self._scene().root.at(start, lambda node: node.on_slide is not None)
        if node is None or node.on_slide is None or abs(end.x - start.x) <= 2 * abs(end.y - start.y):
            return False
        if abs(end.x - start.x) < (node.bounds.right - node.bounds.left) * SLID_SHARE:
            return False
        self._remember(node)
        node.on_slide()
        return True

    def _remember(self, node: Node | None) -> None:
        state, activity = self._windows.state, self._windows.activity
        covered = state.recents or state.shade or state.locked
        app = "dialog" if state.dialogs else "system" if covered else state.front
        page = activity.page if activity is not None else ""
        if node is None:
            self.touched.append(Touched(app, page, taken=False))
            return
        field = node.role.endswith("EditText")
        # For a field only the app's name for it, so that typed text is not recorded.
        walked = [(node.hint,)] if field else [(each.text, each.description) for each in node.walk()]
        said = tuple(words for pair in walked for words in pair if words)
        self.touched.append(Touched(app, page, said, node.identifier, field=field))

    def _scroll(self, start: Point, moved: int) -> None:
        page = self._windows.activity
        node = self._scene().root.at(start, lambda node: bool(node.scroll))
        if page is None or node is None:
            return
        offset = min(page.scrolls.get(node.scroll, 0), node.scroll_range) + moved
        page.scrolls[node.scroll] = max(0, min(node.scroll_range, offset))

    def _fields(self) -> list[Node]:
        return [node for node in self._scene().root.walk() if node.role.endswith("EditText")]

    def _next_field(self) -> None:
        fields = self._fields()
        names = [node.identifier for node in fields]
        page = self._windows.activity
        if page is not None and names:
            index = names.index(page.focus) + 1 if page.focus in names else 0
            self._windows.focus(names[index % len(names)])

    def _enter(self) -> None:
        """Press Enter in the focused field. Letters that are being composed are entered, and nothing else happens.
        Without them it is a new line in a multi-line field; otherwise the field's action, which closes the keyboard.
        """
        focused = next((node for node in self._fields() if node.focused), None)
        if focused is None:
            return
        if composed := self._windows.state.composed:
            self._windows.state.composed = ""
            self.type(composed)
            return
        if focused.multiline:
            self.type("\n")
            return
        self._windows.hide_keyboard()
        if focused.on_enter is not None:
            focused.on_enter()

    def _edit(self, code: int) -> None:
        page = self._windows.activity
        if page is None or not page.focus or self._blocked():
            return
        text = page.fields.get(page.focus, "")
        if code in {KeyCode.DEL, KeyCode.FORWARD_DEL} and page.all_selected:
            self.replace("")
        elif code == KeyCode.DEL and page.caret:
            page.fields[page.focus] = text[: page.caret - 1] + text[page.caret :]
            page.caret -= 1
        elif code == KeyCode.FORWARD_DEL:
            page.fields[page.focus] = text[: page.caret] + text[page.caret + 1 :]
        moves = {
            KeyCode.MOVE_HOME: 0,
            KeyCode.MOVE_END: len(text),
            KeyCode.DPAD_LEFT: max(0, page.caret - 1),
            KeyCode.DPAD_RIGHT: min(len(text), page.caret + 1),
        }
        if code in moves:
            page.caret = moves[KeyCode(code)]
            page.all_selected = False
