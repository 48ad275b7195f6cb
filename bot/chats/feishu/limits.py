"""Feishu's limits, each with its unit and source, and how long pauses last. Nothing outside this package knows them.

Sources are pages of https://open.feishu.cn/document, named by their title.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 4000
"""Characters of the body of one card; ours. A card has at most 30 KB as JSON (Send a message), and one character of
Chinese has three bytes.
"""
HEADING: Final = 200
FOOTER: Final = 300
LABEL: Final = 40
"""Characters of a heading, of a footer, and of a button or choice; ours, so that every card stays below those 30 KB."""
PARTS: Final = 4
"""Cards that one text may become; ours. What is longer is sent as a file."""
BUTTONS_IN_ROW: Final = 5
BUTTON_ROWS: Final = 6
MENU_CHOICES: Final = 60
"""Choices of one menu; ours, for the size of the card."""
IMAGE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of an image (Upload an image)."""
FILE_BYTES: Final = 30 * 1024 * 1024
"""Bytes of a file, which may not be empty (Upload a file)."""
INCOMING_BYTES: Final = 20 * 1024 * 1024
"""Bytes of all files that are fetched for one message; the same as on the other platforms."""
ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one JSON answer and of one frame; real ones have kilobytes. Ours."""
TOAST: Final = 200
"""Characters of a notice (Handle card callbacks)."""
FORWARDED: Final = 50
"""Messages of a bundle of forwarded ones that are read; ours."""
FRAME_PARTS: Final = 64
"""Frames that one event may come in; ours."""
AT_ONCE: Final = 64
"""Events that are worked on at the same time; ours. The next one waits for one of them."""

REQUEST_SECONDS: Final = 20.0
TRANSFER_SECONDS: Final = 60.0
"""Time limits of a call, and of one that moves a file; ours."""
NAME_SECONDS: Final = 1.0
"""How long somebody's name is waited for; ours. A press has to be answered within three seconds."""
NAME_AGAIN_SECONDS: Final = 600.0
"""For so long nobody's name is asked for after the bot was not allowed to read one; ours."""
NAME_AWAY_SECONDS: Final = 30.0
"""For so long nobody's name is asked for after one did not come in time; ours."""
ORDER_SECONDS: Final = 0.2
"""How long the next event waits for the one before, so that they keep their order and nothing holds up a Stop; ours."""
TOKEN_SPARE_SECONDS: Final = 300.0
"""A token is asked for anew so long before it ends; ours. Feishu gives a new one from thirty minutes before."""
PING_SECONDS: Final = 120.0
"""Pause between two pings where Feishu names none (official client)."""
FLOOD_SECONDS: Final = 2.0
"""The pause after a refusal for too many calls that names none; ours."""
FLOOD_MOST_SECONDS: Final = 3600.0
"""The longest pause that is believed; ours."""

CAPABILITIES: Final = Capabilities(
    threads=True,
    edit_interval=1.5,  # one message takes 5 changes a second (Update a card), and everybody's budget is one
    edit_interval_group=2.0,
    caption_limit=TEXT,
    file_limit=FILE_BYTES,
    card_lifetime=13 * 86400.0,  # a card can be changed for 14 days (Update a card)
    knows_delivery=True,  # of one `uuid` at most one message within an hour (Send a message)
    deletes=True,  # in groups that the bot administers; elsewhere Feishu refuses, and the person is told
    files_beside=False,
    menu_choices=MENU_CHOICES,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=BUTTON_ROWS,
    chat_budgets=(Budget(4, 1.0),),  # 5 messages a second to a person or group (Send a message); one is left
    group_budgets=(Budget(4, 1.0),),
    account_budgets=(Budget(45, 1.0), Budget(950, 60.0)),  # 50 a second and 1,000 a minute (Frequency control)
)


@dataclass(frozen=True, slots=True)
class Times:
    """Pauses, in seconds; all ours."""

    first_retry: float = 1.0
    last_retry: float = 60.0
    """Between attempts while Feishu cannot be reached."""
    answer: float = 2.0
    """An event is answered after this at the latest: Feishu waits three seconds for it."""
    pong: float = 30.0
    """How much longer than two pings a connection may be silent before it is made anew."""
