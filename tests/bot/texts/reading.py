"""What a person reads of a message, and whether a Chinese reader would stumble over English in it."""

from __future__ import annotations

import re
from typing import Final

from bot.chats.installed import installed, model_of
from bot.commands.spec import COMMANDS
from bot.domain.outgoing import Message, Reply

NAMES: Final = frozenset(
    [
        "OpenGUI",
        "opengui",
        "Discord",
        "Telegram",
        "Android",
        "ADBKeyboard",
        "USB",
        "Wi",
        "Fi",
        "PIN",
        "ID",
        "URL",
        "API",
        "Bot",
        "BotFather",
        "HTTP",
        "HTTPS",
        "JSON",
        "UTF",
        "SQLite",
        "Python",
        "Markdown",
        "Mermaid",
        "Ctrl",
        "GB",
        "MB",
        "Token",
        "token",
        "tokens",
        "min",
        "dpi",
        "Qwen",
        "UI",
        "TARS",
    ]
)
"""Names of things, and units."""
TYPED: Final = frozenset(
    [
        *(command.name for command in COMMANDS),
        *(option.name for command in COMMANDS for option in command.options),
        *(name.upper() for name in model_of(installed()).model_fields),
        *[
            "allow",
            "operate",
            "token",
            "add",
            "ci",
            "deny",
            "tier",
            "default",
            "all",
            "me",
            "unlink",
            "use",
            "approve",
            "admin",
            "role",
            "at",
            "every",
            "day",
            "monday",
            "cron",
            "tomorrow",
            "remove",
            "pause",
            "resume",
            "cancel",
            "here",
            "yes",
            "no",
            "on",
            "off",
            "auto",
            "true",
            "false",
            "doctor",
            "systemctl",
            "journalctl",
            "make",
            "run",
            "sudo",
        ],
    ]
)
"""What is typed as it stands, in every language."""
_WORD: Final = r"[A-Za-z][A-Za-z'’]*"
_RUN: Final = re.compile(rf"{_WORD}(?:[ ,.:;!?-]+{_WORD})+")


def english_in(text: str, *known: str) -> list[str]:
    """Runs of two and more English words that are neither names nor typed. `known` stands there by intent."""
    for each in sorted(known, key=len, reverse=True):
        text = text.replace(each, "§")
    # What is quoted as code, addresses, paths, and identifiers such as tier.basic.cost.
    text = re.sub(r"`[^`]*`|https?://\S+|/[\w./-]+|\w+(?:[._]\w+)+", "§", text)
    found = []
    for run in _RUN.findall(text):
        left = [word for word in re.findall(_WORD, run) if word not in NAMES and word not in TYPED]
        if len(left) >= 2:
            found.append(run)
    return found


def words_of(message: Message) -> str:
    """All that is read of a message, its buttons and its menu among it."""
    labels = [button.label for row in message.buttons for button in row]
    menu = [message.menu.prompt, *(choice.label for choice in message.menu.choices)] if message.menu else []
    return "\n".join(part for part in (message.heading, message.body, message.footer, *labels, *menu) if part)


def words_of_reply(reply: Reply) -> str:
    """All that is read of a reply."""
    return "\n".join(part for part in (words_of(reply.message) if reply.message else "", reply.toast) if part)
