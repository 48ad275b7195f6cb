"""Translates Slack's errors into those that the outbox (the sender of messages to chats) handles, each with a sentence
for a person that contains no token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.chats.sending import seconds_in
from bot.chats.slack import limits
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait

NO_THREAD: Final = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message", "invalid_thread_ts"})
NO_BLOCKS: Final = "invalid_blocks"
REFUSED_TOKEN: Final = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "missing_scope",
    }
)
"""Errors of a token that will not be accepted later either (Web API, auth.test and apps.connections.open)."""

_GONE: Final = {
    "channel_not_found": "the channel does not exist, or the bot is not in it",
    "not_in_channel": "the bot is not in this channel; invite it there with /invite",
    "is_archived": "the channel is archived",
    "message_not_found": "the message does not exist any more",
    "thread_not_found": "the thread does not exist any more",
    "cant_update_message": "the message is not the bot's",
    "edit_window_closed": "the message is too old to be changed",
    "user_not_found": "this person does not exist",
    "user_disabled": "this person's account is closed",
    "cannot_dm_bot": "this is a bot",
    "messages_tab_disabled": "private messages are switched off on the App Home page of the app",
    "restricted_action": "an admin of the workspace does not let the bot write there",
    "restricted_action_read_only_channel": "only some people may write in this channel",
    "restricted_action_thread_locked": "the thread is locked",
}
_AS_IT_IS: Final = {
    "msg_too_long": "it is too long",
    "msg_blocks_too_long": "it is too long",
    NO_BLOCKS: "something in it is not as Slack wants it",
    "no_text": "it is empty",
    "storage_limit_reached": "the workspace has no room for files",
    "file_upload_size_restricted": "the file is larger than the workspace allows",
}
"""Error codes and their meanings (Web API: chat.postMessage, chat.update, conversations.open and files)."""


Refusal = SlackApiError | aiohttp.ClientResponseError
"""A refusal by a method of the Web API, or by an address from Slack for uploads or for answers to presses."""


def code_of(refused: Refusal) -> str:
    """Return Slack's error code, or one made from the HTTP status if the answer has none."""
    if isinstance(refused, aiohttp.ClientResponseError):
        return f"status_{refused.status}"
    data = getattr(refused.response, "data", None)
    if isinstance(data, Mapping) and data.get("error"):
        return str(data["error"])
    return f"status_{_status(refused)}"


def is_flood(refused: Refusal) -> bool:
    """Return whether Slack's rate limit refused the request."""
    return code_of(refused) in {"ratelimited", f"status_{HTTPStatus.TOO_MANY_REQUESTS}"}


def _status(refused: SlackApiError) -> int:
    return int(getattr(refused.response, "status_code", 0) or getattr(refused.response, "status", 0))


@asynccontextmanager
async def translated(doing: str) -> AsyncIterator[None]:
    """Turn errors of Slack and of the network in the block into FloodWait, ChatGone or ChatError. The block has a
    time limit, which counts as a network error. `doing` completes the sentence "Slack refused …".
    """
    try:
        async with asyncio.timeout(limits.REQUEST_SECONDS):
            yield
    except SlackApiError as refused:
        raise _meaning(refused, doing) from None
    except aiohttp.ClientResponseError as refused:
        if is_flood(refused):
            raise _flood(refused.headers or {}) from None
        raise ChatError(f"Slack refused {doing} (status {refused.status}).") from None
    except (TimeoutError, OSError, aiohttp.ClientError) as away:
        raise ChatError(f"Slack could not be reached for {doing}; it may or may not have arrived.") from away
    except SlackClientError as odd:
        raise ChatError(f"Slack answered {doing} in a way that was not understood: {type(odd).__name__}") from odd


def _meaning(refused: SlackApiError, doing: str) -> Exception:
    code = code_of(refused)
    if is_flood(refused):
        return _flood(getattr(refused.response, "headers", {}))
    if code in _GONE:
        return ChatGone(f"Slack refused {doing}: {_GONE[code]}.")
    if code in _AS_IT_IS or _status(refused) == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return ChatRefused(f"Slack refused {doing}: {_AS_IT_IS.get(code, 'it is too large')}.")
    if code == "missing_scope":
        needed = refused.response.data.get("needed", "")
        return ChatError(f"Slack refused {doing}: the app lacks the scope {needed}; add it and install the app again.")
    return ChatError(f"Slack refused {doing} (error {code}).")


def _flood(headers: Mapping[str, str]) -> FloodWait:
    return FloodWait(seconds_in(headers.get("Retry-After", ""), limits.SILENCE_SECONDS))
