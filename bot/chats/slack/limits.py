"""Slack's limits, each with its unit and source. Nothing outside this package knows them."""

from __future__ import annotations

import math
from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 3000
"""UTF-16 units of one message. Slack names no limit of rich text; a section of text has 3000 characters (Block Kit)."""

PARTS: Final = 4
"""Messages that one text may become; ours. What is longer is sent as a file."""

FILE_BYTES: Final = 100 * 1024 * 1024
"""Bytes of one upload; ours, a tenth of what Slack takes."""

INCOMING_BYTES: Final = 25 * 1024 * 1024
"""Bytes of all files of one message that are fetched for a task; ours, to bound memory."""

BUTTON_LABEL: Final = 75
"""Characters of a button's label and of a choice in a menu (Block Kit, button element and option object)."""

BUTTONS_IN_ROW: Final = 5
"""Buttons of one row: what fits beside each other on a screen; ours. Block Kit allows 25."""

ROWS: Final = 5
"""Rows of buttons, as on other platforms; ours. A message has 50 blocks (Block Kit)."""

MENU_CHOICES: Final = 100
"""Options of one menu (Block Kit, static select element)."""

PLACEHOLDER: Final = 150
"""Characters of what stands in a closed menu (Block Kit, static select element)."""

ACKNOWLEDGE_SECONDS: Final = 2.0
"""An envelope must be acknowledged within 3 s (Socket Mode); the rest is left for the network."""

REQUEST_SECONDS: Final = 120.0
"""A request is given up after this; ours, long enough for an upload."""

SILENCE_SECONDS: Final = 30.0
"""How long to be silent after a 429 that does not say how long; ours."""

PICTURE_PAUSES: Final = (0.1, 0.3, 0.6, 1.0, 2.0)
"""Seconds between looks at an uploaded picture: Slack reads it after it has taken it, and refuses messages that show it
until then; ours.
"""

CHANNEL: Final = Budget(5, 5.0)
"""One message a second and channel, with short bursts (Web API, Rate limits)."""

A_MINUTE: Final = Budget(50, 60.0)
"""50 changes of messages a minute and workspace (chat.update is of tier 3)."""

CAPABILITIES: Final = Capabilities(
    threads=True,
    edit_interval=3.0,
    edit_interval_group=3.0,
    caption_limit=TEXT,
    file_limit=FILE_BYTES,
    card_lifetime=math.inf,  # workspaces may forbid edits after a while to people, not to bots
    knows_delivery=False,
    deletes=False,  # a bot deletes its own messages alone (chat.delete)
    files_beside=False,
    menu_choices=MENU_CHOICES,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=ROWS,
    chat_budgets=(CHANNEL,),
    group_budgets=(CHANNEL,),
    account_budgets=(A_MINUTE,),
)
