"""Discord's limits, each with its unit and source. No other package uses them."""

from __future__ import annotations

from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 2000
"""Characters of a message's content (developer docs, Create Message); counted in UTF-16 units to be safe."""

PARTS: Final = 4
"""Messages into which one text may be split; our choice. A longer text is sent as a file."""

PARTS_WITHOUT_FILES: Final = 12
"""The same if the bot may not attach files; a text that is longer still is cut. Our choice."""

FILES: Final = 10
"""Files of one message (developer docs, Create Message)."""

FILE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of one upload to a guild without boosts (developer docs, Uploading Files)."""

INCOMING_BYTES: Final = 25 * 1024 * 1024
"""Bytes of all files of one message that are downloaded for a task; our choice, to bound memory."""

CUSTOM_ID: Final = 100
"""Characters of a component's id (developer docs, Button)."""

BUTTON_LABEL: Final = 80
"""Characters of a button's label (developer docs, Button)."""

BUTTONS_IN_ROW: Final = 5
ROWS: Final = 5
"""An action row holds five buttons, a message five rows (developer docs, Action Row)."""

SELECT_OPTIONS: Final = 25
"""Options of one select menu, each label at most 100 characters (developer docs, String Select)."""

PLACEHOLDER: Final = 150
"""Characters of the text in a closed select menu (developer docs, String Select)."""

MENUS: Final = 4
"""Select menus of one message: each takes a row, and one row is left for buttons; our choice."""

THREAD_NAME: Final = 100
"""Characters of a channel's or thread's name (developer docs, Channel); counted in UTF-16 units to be safe."""

THREAD_IDLE_MINUTES: Final = 1440
"""Minutes without messages after which Discord hides the thread; one of 60, 1440, 4320, 10080."""

CHOICES: Final = 25
"""Choices of one autocompletion, each name and value at most 100 characters (developer docs, Autocomplete)."""

CHOICE: Final = 100
SUBCOMMANDS: Final = 25
"""Subcommands of one slash command (developer docs, Application Commands)."""

DESCRIPTION: Final = 100
"""Characters of a command's or option's description (developer docs, Application Commands)."""

ACKNOWLEDGE_SECONDS: Final = 1.5
"""Seconds after which an interaction is acknowledged. Discord allows 3 s (developer docs, Interactions); half of that
is left for the network.
"""

RATE_LIMIT_SECONDS: Final = 30.0
"""Longest rate-limit wait in seconds that is waited out; a longer one is reported. discord.py's smallest value."""

REQUEST_SECONDS: Final = 120.0
"""Seconds after which a request with all its repetitions is given up; our choice."""

CHANNEL: Final = Budget(5, 5.0)
"""Messages of one channel, as Discord's X-RateLimit headers tell them (developer docs, Rate Limits, name no number);
discord.py waits for what is left.
"""

OVERALL: Final = Budget(45, 1.0)
"""50 requests a second and bot (developer docs, Global Rate Limit); the rest is left for answers to commands."""

CAPABILITIES: Final = Capabilities(
    threads=True,
    threads_apart=True,  # limits are counted by channel, and a thread is one (developer docs, Rate Limits and Threads)
    edit_interval=3.0,
    edit_interval_group=3.0,
    caption_limit=TEXT,
    file_limit=FILE_BYTES,
    card_lifetime=55 * 60.0,  # a message older than an hour has a limit on edits (error 30046)
    knows_delivery=True,
    deletes=True,
    menu_choices=MENUS * SELECT_OPTIONS,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=ROWS,
    chat_budgets=(CHANNEL,),
    group_budgets=(CHANNEL,),
    account_budgets=(OVERALL,),
)
