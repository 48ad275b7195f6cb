"""Telegram's limits, each with its unit and source, and the length of polls and pauses. No other package uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.chat import Budget, Capabilities

API: Final = "https://api.telegram.org"
"""Root of the Bot API (Bot API, Making requests)."""

TEXT: Final = 4096
"""UTF-16 units of a text after its markup is read (Bot API, sendMessage)."""

CAPTION: Final = 1024
"""UTF-16 units of a caption after its markup is read (Bot API, sendPhoto)."""

PARTS: Final = 4
"""Messages into which one text may be split; our choice. A longer text is sent as a file."""

ALBUM: Final = 10
"""Files of one album, which has at least two (Bot API, sendMediaGroup)."""

PHOTO_BYTES: Final = 10 * 1024 * 1024
"""Bytes of a photo (Bot API, Sending files); a larger one is sent as a document."""

FILE_BYTES: Final = 50 * 1024 * 1024
"""Bytes of one upload (Bot API, Sending files)."""

INCOMING_BYTES: Final = 50 * 1024 * 1024
"""Bytes of all files of one command, such as an album, that are downloaded for a task: as many as a task may have."""
INCOMING_FILE_BYTES: Final = 20 * 1024 * 1024
"""Bytes of a file that a bot may download (Bot API, getFile)."""

CALLBACK_DATA: Final = 64
"""Bytes of a button's data (Bot API, InlineKeyboardButton)."""

BUTTONS: Final = 100
BUTTONS_IN_ROW: Final = 8
BUTTON_ROWS: Final = 6
"""Rows of numbered buttons below a screen; our choice: more would push the picture out of sight."""
"""Buttons of one message and of one row (python-telegram-bot's constants; the Bot API does not document them)."""

MENU_PAGE: Final = 8
"""Choices on one page of a menu: with the buttons below, they fit on a phone's screen; our choice."""

MENU_CHOICES: Final = 90
"""Choices of a menu: as many as one message can show in addition to other buttons."""

TOAST: Final = 200
"""Characters of the answer to a press (Bot API, answerCallbackQuery)."""

TOAST_SHORT: Final = 60
"""Characters above which the answer to a press is shown as an alert, because a notice at the top of the chat would be
cut; our choice.
"""

COMMANDS: Final = 100
COMMAND_NAME: Final = 32
COMMAND_ABOUT: Final = 256
"""Commands of the menu, characters of a name and of a description (Bot API, setMyCommands, BotCommand)."""

MENUS: Final = 200
"""Maximum menus of people and chats: each takes a request or two per change; our choice."""

GENERAL_TOPIC: Final = 1
"""Id of a forum's General topic, which is left out when sending (Bot API server: "message thread not found")."""

TOPIC_NAME: Final = 128
"""Characters of a topic's name (Bot API, createForumTopic)."""

NO_TOPICS_SECONDS: Final = 600.0
"""Seconds without another attempt after no topic could be created in a group; our choice."""

CONFIRM_SECONDS: Final = 1.0
"""Seconds that the next poll, which confirms the updates, waits until they are handled; our choice."""

REQUEST_SECONDS: Final = 120.0
"""Seconds after which a request is given up; our choice, long enough for the largest upload."""

A_SECOND: Final = Budget(1, 1.0)
"""One message per second and chat; short bursts are accepted, but that is not guaranteed (Bots FAQ)."""

A_MINUTE: Final = Budget(18, 60.0)
"""20 messages per minute and group (Bots FAQ, "hitting limits"); two are kept in reserve, because Telegram counts
arrivals.
"""

OVERALL: Final = Budget(28, 1.0)
"""About 30 messages per second in total (Bots FAQ); two are kept in reserve as above."""

CAPABILITIES: Final = Capabilities(
    threads=False,
    edit_interval=3.0,  # about one message a second and chat (Bots FAQ, "hitting limits"); edits count
    edit_interval_group=6.0,  # 20 messages a minute and group (same); leaves half of them for other messages
    caption_limit=CAPTION,
    file_limit=FILE_BYTES,
    card_lifetime=47 * 3600.0,  # some messages can be edited and deleted for 48 hours only (Bot API, deleteMessage)
    knows_delivery=False,
    deletes=True,
    files_beside=False,
    menu_choices=MENU_CHOICES,
    buttons_in_row=BUTTONS_IN_ROW,
    button_rows=BUTTON_ROWS,
    chat_budgets=(A_SECOND,),
    group_budgets=(A_SECOND, A_MINUTE),
    account_budgets=(OVERALL,),
)


@dataclass(frozen=True, slots=True)
class Times:
    """Time limits, all in seconds."""

    poll: float = 30.0
    """Seconds that Telegram holds a poll if there is nothing new; our choice. The Bot API allows up to 50."""
    answer: float = 10.0
    """Seconds that the answer to a poll may take in addition; our choice."""
    stall: float = 120.0
    """Seconds without a completed poll after which the polling connection is replaced. Bots have received nothing for
    hours on connections that looked alive.
    """
    first_retry: float = 1.0
    last_retry: float = 60.0
    """Pauses between attempts while Telegram cannot be reached; our choice."""
    press: float = 4.0
    """Latest time in seconds at which a press is answered, so that the button stops waiting; our choice."""
    album: float = 2.0
    """Seconds without a further part after which an album counts as complete; our choice. A part that only arrives with
    the next poll comes sooner: a poll is delayed by `CONFIRM_SECONDS` at most.
    """
    look: float = 60.0
    """Seconds between two checks that the webhook is still ours and works; our choice. If updates were waiting at the
    start, those that arrive before the next check may be among them.
    """
    menus: float = 15.0
    """Seconds after which a menu follows a change of rights; our choice. Without changes Telegram is sent nothing."""
