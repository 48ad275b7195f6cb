"""The Messages and WeChat apps: a list of conversations, one conversation, and a new message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from devices.geometry import Bounds
from devices.virtual_phone.apps.base import App, Page, floating_button
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Node, Touch
from devices.virtual_phone.screen.pieces import Label, Picture
from devices.virtual_phone.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.virtual_phone.state import ChatLine, Conversation
from devices.virtual_phone.window_manager import WindowManager

AVATARS = ("purple", "teal", "orange", "pink", "green", "blue")
# A bubble leaves this much of the row free, in dp.
BUBBLE_MARGIN = 72
BUBBLE_PADDING = 10
SIDE = 16


@dataclass(slots=True, kw_only=True)
class Bubble:
    """A message as wide as its text: on the right if it was sent from this phone, otherwise on the left."""

    line: ChatLine

    def _label(self) -> Label:
        return Label(self.line.text, 16, colour="white" if self.line.mine else "text", identifier="message_text")

    def _room(self, width: int, scale: Scale) -> int:
        return width - scale.px(BUBBLE_MARGIN + SIDE + 2 * SIDE)

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        return self._label().measure(self._room(width, scale), scale) + scale.px(2 * BUBBLE_PADDING + 8)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node, which is only as wide as its text. See `Widget.place`."""
        lines = fonts.wrapped(self.line.text, scale.px(16), 400, self._room(box.right - box.left, scale), 0)
        wide = round(max(fonts.width(line, scale.px(16), 400) for line in lines)) + scale.px(2 * SIDE) + 2
        left = box.right - scale.px(SIDE) - wide if self.line.mine else box.left + scale.px(SIDE)
        own = Bounds(left, box.top + scale.px(4), left + wide, box.bottom - scale.px(4))
        return Box(
            children=[self._label()],
            padding=(SIDE, BUBBLE_PADDING, SIDE, BUBBLE_PADDING),
            fill="mine" if self.line.mine else "raised",
            radius=20,
        ).place(own, scale)


def main(windows: WindowManager) -> Page:
    """Build the list of conversations, the latest first."""

    def row(index: int, talk: Conversation) -> Widget:
        last = talk.lines[-1].text if talk.lines else ""
        return Row(
            parts=[
                Wide(48, _avatar(talk.person, index)),
                Box(children=[Label(talk.person, 17, 500, most=1), Label(last, 15, colour="muted", most=1)], gap=2),
            ],
            gap=16,
            padding=(20, 10, 20, 10),
            minimum=76,
            on_tap=partial(windows.open, "thread", person=talk.person),
            identifier="conversation",
        )

    return Page(
        title=windows.say((WECHAT if windows.state.front == WECHAT.key else APP).label),
        large=True,
        body=[row(index, talk) for index, talk in enumerate(_talks(windows))],
        floating=floating_button(
            "message_plus_outline", windows.say("New message"), "start_chat", lambda: _new(windows)
        ),
    )


def thread(windows: WindowManager) -> Page:
    """Build the page of one conversation, with the field to write in it."""
    person = windows.page.arguments["person"]
    talk = next((each for each in _talks(windows) if each.person == person), Conversation(person, []))
    return Page(
        title=person,
        on_back=windows.close_page,
        body=[Bubble(line=line) for line in talk.lines],
        bottom=_composer(windows, partial(_send, windows, person)),
    )


def new(windows: WindowManager) -> Page:
    """Build the page of a message to a new recipient."""
    return Page(
        title=windows.say("New message"),
        on_back=windows.close_page,
        body=[Box(children=[windows.field("to", "To")], padding=(16, 8, 16, 8))],
        bottom=_composer(windows, lambda: _send(windows, windows.value("to").strip())),
    )


def _avatar(person: str, index: int) -> Widget:
    return Box(
        children=[Label(person[:1].upper(), 20, 500, "white", "centre")],
        fill=AVATARS[index % len(AVATARS)],
        radius=24,
        minimum=48,
        centred=True,
    )


def _composer(windows: WindowManager, send: Touch) -> Widget:
    button = Picture(
        "send", 24, "primary", description=windows.say("Send"), identifier="send_message_button", on_tap=send
    )
    field = windows.field("compose_message_text", "Text message", radius=26)
    return Row(parts=[field, Wide(48, button)], gap=8, padding=(16, 6, 12, 12))


def _new(windows: WindowManager) -> None:
    windows.open("new")
    windows.focus("to")


def _send(windows: WindowManager, person: str) -> None:
    text = windows.value("compose_message_text").strip()
    if not text or not person:
        return
    talks = _talks(windows)
    talk = next((each for each in talks if each.person.lower() == person.lower()), None) or Conversation(person, [])
    talk.lines.append(ChatLine(text, mine=True))
    talks[:] = [talk, *(each for each in talks if each is not talk)]
    if windows.page.page == "new":
        windows.close_page()
        windows.open("thread", person=talk.person)
    else:
        windows.page.fields["compose_message_text"] = ""
        windows.page.caret = 0


def _talks(windows: WindowManager) -> list[Conversation]:
    """Return the conversations of the app in front."""
    return windows.state.chats if windows.state.front == WECHAT.key else windows.state.conversations


_PAGES = {"main": main, "thread": thread, "new": new}
APP = App(
    "messages",
    "com.android.messaging",
    ".ui.conversationlist.ConversationListActivity",
    "Messages",
    "message_text",
    "green",
    _PAGES,
)
WECHAT = App("wechat", "com.tencent.mm", ".ui.LauncherUI", "WeChat", "message_text", "teal", _PAGES)
