"""Messages: conversations, one conversation, a new message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from devices.geometry import Bounds
from devices.simulator.apps.base import App, Page, floating_button
from devices.simulator.desk import Desk
from devices.simulator.screen import fonts
from devices.simulator.screen.nodes import Node, Touch
from devices.simulator.screen.pieces import Label, Picture
from devices.simulator.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.simulator.state import ChatLine, Conversation

AVATARS = ("purple", "teal", "orange", "pink", "green", "blue")
# A bubble leaves this much of the row free, in dp.
BUBBLE_MARGIN = 72
BUBBLE_PADDING = 10
SIDE = 16


@dataclass(slots=True, kw_only=True)
class Bubble:
    """A message as wide as its text: on the right when it was sent from here, else on the left."""

    line: ChatLine

    def _label(self) -> Label:
        return Label(self.line.text, 16, colour="white" if self.line.mine else "text", identifier="message_text")

    def _room(self, width: int, scale: Scale) -> int:
        return width - scale.px(BUBBLE_MARGIN + SIDE + 2 * SIDE)

    def measure(self, width: int, scale: Scale) -> int:
        """As `Widget` says."""
        return self._label().measure(self._room(width, scale), scale) + scale.px(2 * BUBBLE_PADDING + 8)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """As `Widget` says."""
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


def main(desk: Desk) -> Page:
    """All conversations, the latest first."""

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
            on_tap=lambda: _open(desk, talk.person),
            identifier="conversation",
        )

    return Page(
        title=desk.say("Messages"),
        large=True,
        body=[row(index, talk) for index, talk in enumerate(desk.state.conversations)],
        floating=floating_button("message_plus_outline", desk.say("New message"), "start_chat", lambda: _new(desk)),
    )


def thread(desk: Desk) -> Page:
    """One conversation and the field to write in it."""
    person = desk.page.arguments["person"]
    talk = next((each for each in desk.state.conversations if each.person == person), Conversation(person, []))
    return Page(
        title=person,
        on_back=desk.close_page,
        body=_bubbles(talk.lines),
        bottom=_composer(desk, partial(_send, desk, person)),
    )


def new(desk: Desk) -> Page:
    """A message to somebody new: the recipient, the text, Send."""
    return Page(
        title=desk.say("New message"),
        on_back=desk.close_page,
        body=[Box(children=[desk.field("to", "To")], padding=(16, 8, 16, 8))],
        bottom=_composer(desk, lambda: _send(desk, desk.value("to").strip())),
    )


def _avatar(person: str, index: int) -> Widget:
    return Box(
        children=[Label(person[:1].upper(), 20, 500, "white", "centre")],
        fill=AVATARS[index % len(AVATARS)],
        radius=24,
        minimum=48,
        centred=True,
    )


def _bubbles(lines: Sequence[ChatLine]) -> list[Widget]:
    return [Bubble(line=line) for line in lines]


def _composer(desk: Desk, send: Touch) -> Widget:
    button = Picture("send", 24, "primary", description=desk.say("Send"), identifier="send_message_button", on_tap=send)
    field = desk.field("compose_message_text", "Text message", radius=26)
    return Row(parts=[field, Wide(48, button)], gap=8, padding=(16, 6, 12, 12))


def _open(desk: Desk, person: str) -> None:
    desk.open("thread", person=person)


def _new(desk: Desk) -> None:
    desk.open("new")
    desk.focus("to")


def _send(desk: Desk, person: str) -> None:
    text = desk.value("compose_message_text").strip()
    if not text or not person:
        return
    talks = desk.state.conversations
    talk = next((each for each in talks if each.person.lower() == person.lower()), None) or Conversation(person, [])
    talk.lines.append(ChatLine(text, mine=True))
    desk.state.conversations = [talk, *(each for each in talks if each is not talk)]
    if desk.page.page == "new":
        desk.close_page()
        desk.open("thread", person=talk.person)
    else:
        desk.page.fields["compose_message_text"] = ""
        desk.page.caret = 0


APP = App(
    "messages",
    "com.android.messaging",
    "com.android.messaging.ui.conversationlist.ConversationListActivity",
    "Messages",
    "message_text",
    "green",
    {"main": main, "thread": thread, "new": new},
)
