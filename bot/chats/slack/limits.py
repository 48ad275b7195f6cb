"""Slack's limits, each with its unit and source; nothing outside this package uses them."""

from __future__ import annotations

import math
from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 3000
"""UTF-16 units of one message. Slack documents no limit for rich text; a text section has 3000 characters (Block
Kit).
"""

PARTS: Final = 4
"""Messages into which one text is split; our choice. A longer text is sent as a file."""

FILE_BYTES: Final = 100 * 1024 * 1024
"""Bytes of one upload; our choice, a tenth of Slack's limit."""

INCOMING_BYTES: Final = 25 * 1024 * 1024
"""Bytes of all files of one message that are downloaded for a task; our choice, to bound memory."""

BUTTON_LABEL: Final = 75
"""Characters of a button's label and of a choice in a menu (Block Kit, button element and option object)."""

BUTTONS_IN_ROW: Final = 5
"""Buttons in a row, as many as fit on a screen; our choice. Block Kit allows 25."""

ROWS: Final = 5
"""Rows of buttons, as on other platforms; our choice. A message has 50 blocks (Block Kit)."""

MENU_CHOICES: Final = 100
"""Options of one menu (Block Kit, static select element)."""

PLACEHOLDER: Final = 150
"""Characters of a menu's placeholder (Block Kit, static select element)."""

ACKNOWLEDGE_SECONDS: Final = 2.0
"""Seconds after which an envelope is acknowledged. Slack allows 3 s (Socket Mode); the rest is for the network."""

REQUEST_SECONDS: Final = 120.0
"""Seconds after which a request is abandoned; our choice, long enough for an upload."""

SILENCE_SECONDS: Final = 30.0
"""Seconds of silence after a 429 that does not say how long; our choice."""

PICTURE_PAUSES: Final = (0.1, 0.3, 0.6, 1.0, 2.0)
"""Seconds between checks of an uploaded picture; our choice. Slack refuses messages that show a picture until it has
processed it.
"""

CHANNEL: Final = Budget(5, 5.0)
"""One message per second and channel, with short bursts (Web API, Rate limits)."""

A_MINUTE: Final = Budget(50, 60.0)
"""50 changes of messages per minute and workspace (chat.update is in tier 3)."""

CAPABILITIES: Final = Capabilities(
    threads=True,
    edit_interval=3.0,
    edit_interval_group=3.0,
    caption_limit=TEXT,
    file_limit=FILE_BYTES,
    card_lifetime=math.inf,  # workspaces may limit the time for edits by people, but not by bots
    knows_delivery=False,
    deletes=False,  # a bot can only delete its own messages (chat.delete)
    files_beside=False,
    menu_choices=MENU_CHOICES,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=ROWS,
    chat_budgets=(CHANNEL,),
    group_budgets=(CHANNEL,),
    account_budgets=(A_MINUTE,),
)
