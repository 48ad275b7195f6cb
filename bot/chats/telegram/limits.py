"""Telegram's limits, each with its unit and source, and the length of polls and pauses. No other package uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.chat import Budget, Capabilities

TEXT: Final = 4096
"""UTF-16 units of a text after its markup is read (Bot API, sendMessage)."""

CAPTION: Final = 1024
"""UTF-16 units of a caption after its markup is read (Bot API, sendPhoto)."""

PARTS: Final = 4
"""Messages that one text may become; ours. What is longer is sent as a file."""

ALBUM: Final = 10
"""Files of one album, which has at least two (Bot API, sendMediaGroup)."""

ALBUM_SECONDS: Final = 2.0
"""An album to which nothing was added for so long is whole; ours. A part that waits for the next poll comes sooner:
a poll is put off by `CONFIRM_SECONDS` at most."""

PHOTO_BYTES: Final = 10 * 1024 * 1024
"""Bytes of a photo (Bot API, Sending files); what is larger goes as a document."""

FILE_BYTES: Final = 50 * 1024 * 1024
"""Bytes of one upload (Bot API, Sending files)."""

INCOMING_BYTES: Final = 20 * 1024 * 1024
"""Bytes of a file that a bot may download (Bot API, getFile)."""

CALLBACK_DATA: Final = 64
"""Bytes of a button's data (Bot API, InlineKeyboardButton)."""

BUTTONS: Final = 100
BUTTONS_IN_ROW: Final = 8
BUTTON_ROWS: Final = 6
"""Of numbers below a screen; ours: more would push the picture out of sight."""
"""Buttons of one message and of one row (python-telegram-bot's constants; the Bot API does not document them)."""

MENU_PAGE: Final = 8
"""Choices of a menu's page: with the buttons below they fit a phone's screen; ours."""

MENU_CHOICES: Final = 90
"""Choices of a menu: as many as one message takes next to other buttons, should it be shown whole."""

TOAST: Final = 200
"""Characters of the answer to a press (Bot API, answerCallbackQuery)."""

TOAST_SHORT: Final = 60
"""What is longer is shown as an alert, because a notice at the top of the chat is cut; ours."""

COMMANDS: Final = 100
COMMAND_NAME: Final = 32
COMMAND_ABOUT: Final = 256
"""Commands of the menu, characters of a name and of a description (Bot API, setMyCommands, BotCommand)."""

MENUS: Final = 200
"""Menus of people and chats at most: each is a request or two at a change; ours."""

MENU_LOOK_SECONDS: Final = 15.0
"""How soon a menu follows a change of rights; ours. Nothing is asked of Telegram while nothing changes."""

GENERAL_TOPIC: Final = 1
"""Id of a forum's General topic, which is left out when sending (Bot API server: "message thread not found")."""

TOPIC_NAME: Final = 128
"""Characters of a topic's name (Bot API, createForumTopic)."""

NO_TOPICS_SECONDS: Final = 600.0
"""For so long a group where no topic could be made is not asked again; ours."""

POLL_SECONDS: Final = 30.0
"""How long Telegram holds a poll without news; ours. The Bot API allows up to 50."""

ANSWER_SECONDS: Final = 10.0
"""How much longer than that a poll's answer may take; ours."""

STALL_SECONDS: Final = 120.0
"""Without a completed poll for so long, the polling connection is made anew. Bots have been seen deaf for hours behind
connections that looked alive."""

WEBHOOK_LOOK_SECONDS: Final = 60.0
"""How often Telegram is asked whether the webhook is still ours and works; ours. Where updates waited at the start,
what comes before the next look may be one of them."""

FIRST_RETRY_SECONDS: Final = 1.0
LAST_RETRY_SECONDS: Final = 60.0
"""Pauses between attempts while Telegram cannot be reached; ours."""

CONFIRM_SECONDS: Final = 1.0
"""How long the next poll, which confirms what came, waits for it to be handled; ours."""

PRESS_SECONDS: Final = 4.0
"""A press is answered after this at the latest, so that the button stops waiting; ours."""

REQUEST_SECONDS: Final = 120.0
"""A request is given up after this; ours, long enough for the largest upload."""

A_SECOND: Final = Budget(1, 1.0)
"""One message a second and chat; short bursts are let through, but not to be counted on (Bots FAQ)."""

A_MINUTE: Final = Budget(18, 60.0)
"""20 messages a minute and group (Bots FAQ, "hitting limits"); two are left, because arrivals are counted."""

OVERALL: Final = Budget(28, 1.0)
"""About 30 messages a second altogether (Bots FAQ); two are left as above."""

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
    """Time limits, all in seconds; each is explained in `limits`."""

    poll: float = POLL_SECONDS
    answer: float = ANSWER_SECONDS
    stall: float = STALL_SECONDS
    first_retry: float = FIRST_RETRY_SECONDS
    last_retry: float = LAST_RETRY_SECONDS
    press: float = PRESS_SECONDS
    album: float = ALBUM_SECONDS
    look: float = WEBHOOK_LOOK_SECONDS
    menus: float = MENU_LOOK_SECONDS
