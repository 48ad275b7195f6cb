"""Discord's limits, each with its unit and source. No other package uses them."""

from __future__ import annotations

from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 2000
"""Characters of a message's content (developer docs, Create Message); counted in UTF-16 units to be safe."""

PARTS: Final = 4
"""Messages that one text may become; ours. What is longer is sent as a file."""

PARTS_WITHOUT_FILES: Final = 12
"""The same where the bot may not attach files; what is longer still is cut; ours."""

FILES: Final = 10
"""Files of one message (developer docs, Create Message)."""

FILE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of one upload to a guild without boosts (developer docs, Uploading Files)."""

INCOMING_BYTES: Final = 25 * 1024 * 1024
"""Bytes of all files of one message that are fetched for a task; ours, to bound memory."""

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
"""Characters of what stands in a closed select menu (developer docs, String Select)."""

MENUS: Final = 4
"""Select menus of one message: each takes a row, and one row is left for buttons; ours."""

THREAD_NAME: Final = 100
"""Characters of a channel's or thread's name (developer docs, Channel); counted in UTF-16 units to be safe."""

THREAD_IDLE_MINUTES: Final = 1440
"""After a day without messages Discord hides the thread by itself; one of 60, 1440, 4320, 10080."""

CHOICES: Final = 25
"""Choices of one autocompletion, each name and value at most 100 characters (developer docs, Autocomplete)."""

CHOICE: Final = 100
SUBCOMMANDS: Final = 25
"""Subcommands of one slash command (developer docs, Application Commands)."""

DESCRIPTION: Final = 100
"""Characters of a command's or option's description (developer docs, Application Commands)."""

ACKNOWLEDGE_SECONDS: Final = 1.5
"""An interaction must be acknowledged within 3 s (developer docs, Interactions); half of it is left for the network."""

RATE_LIMIT_SECONDS: Final = 30.0
"""A wait that is longer than this is not slept through but reported; discord.py's smallest value."""

REQUEST_SECONDS: Final = 120.0
"""A request with all its repetitions is given up after this; ours."""

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
