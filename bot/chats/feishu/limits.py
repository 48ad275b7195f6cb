"""Feishu's limits, each with its unit and source, and the length of pauses; nothing outside this package uses them.

The sources are pages of https://open.feishu.cn/document, given by title.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 4000
"""Characters of the body of one card; our choice. A card has at most 30 KB as JSON (Send a message), and a Chinese
character takes three bytes.
"""
HEADING: Final = 200
FOOTER: Final = 300
LABEL: Final = 40
"""Characters of a heading, a footer, and a button or choice; our choice, so that every card stays below 30 KB."""
PARTS: Final = 4
"""Cards into which one text is split; our choice. A longer text is sent as a file."""
BUTTONS_IN_ROW: Final = 5
BUTTON_ROWS: Final = 6
MENU_CHOICES: Final = 60
"""Choices of one menu; our choice, to limit the size of the card."""
IMAGE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of an image (Upload an image)."""
FILE_BYTES: Final = 30 * 1024 * 1024
"""Bytes of a file, which may not be empty (Upload a file)."""
INCOMING_BYTES: Final = 20 * 1024 * 1024
"""Bytes of all files that are downloaded for one message; the same as on the other platforms."""
ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one JSON answer and of one frame; our choice. Real ones have kilobytes."""
TOAST: Final = 200
"""Characters of a notice (Handle card callbacks)."""
FORWARDED: Final = 50
"""Messages that are read of a forwarded bundle; our choice."""
FRAME_PARTS: Final = 64
"""Frames into which one event may be split; our choice."""
AT_ONCE: Final = 64
"""Events that are handled at the same time; our choice. The next one waits for one of them."""

REQUEST_SECONDS: Final = 20.0
TRANSFER_SECONDS: Final = 60.0
"""Seconds that a call may take, and one that transfers a file; our choice."""
NAME_SECONDS: Final = 1.0
"""Seconds to wait for a person's name; our choice. A press must be answered within three seconds."""
NAME_AGAIN_SECONDS: Final = 600.0
"""Seconds without asking for names after the bot was not allowed to read one; our choice."""
NAME_AWAY_SECONDS: Final = 30.0
"""Seconds without asking for names after one did not arrive in time; our choice."""
ORDER_SECONDS: Final = 0.2
"""Seconds for which the next event waits for the one before, which keeps their order without delaying a Stop; our
choice.
"""
TOKEN_SPARE_SECONDS: Final = 300.0
"""Seconds before its end at which a token is renewed; our choice. Feishu issues a new one in the last thirty
minutes.
"""
PING_SECONDS: Final = 120.0
"""Seconds between two pings unless Feishu sets another interval (official client)."""
FLOOD_SECONDS: Final = 2.0
"""Seconds to wait after a refusal for too many calls that does not say how long; our choice."""
FLOOD_MOST_SECONDS: Final = 3600.0
"""Longest wait in seconds that is accepted from Feishu; our choice."""

CAPABILITIES: Final = Capabilities(
    threads=True,
    edit_interval=1.5,  # a message allows 5 changes a second (Update a card), and everybody's budget is one
    edit_interval_group=2.0,
    caption_limit=TEXT,
    file_limit=FILE_BYTES,
    card_lifetime=13 * 86400.0,  # a card can be changed for 14 days (Update a card)
    knows_delivery=True,  # per `uuid` at most one message within an hour (Send a message)
    deletes=True,  # in groups that the bot administers; elsewhere Feishu refuses, and the person is informed
    files_beside=False,
    menu_choices=MENU_CHOICES,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=BUTTON_ROWS,
    chat_budgets=(Budget(4, 1.0),),  # 5 messages a second to a person or group (Send a message); one is kept in reserve
    group_budgets=(Budget(4, 1.0),),
    account_budgets=(Budget(45, 1.0), Budget(950, 60.0)),  # 50 a second and 1,000 a minute (Frequency control)
)


@dataclass(frozen=True, slots=True)
class Times:
    """Pauses in seconds; all are our choice."""

    first_retry: float = 1.0
    last_retry: float = 60.0
    """Longest pause between attempts while Feishu is unreachable."""
    answer: float = 2.0
    """Latest time at which an event is answered; Feishu waits three seconds."""
    pong: float = 30.0
    """How much longer than two pings a connection may be silent before it is replaced."""
