"""What Discord refuses and simcord does not: files without the right, edits in archived threads, and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from simcord import BackendError
from simcord.backend import Backend

_MESSAGES = re.compile(r"/channels/(\d+)/messages(?:/(\d+))?(/threads)?")
FILE_LIMIT = 10 * 1024 * 1024
NONCE_LIMIT = 25


def check(
    backend: Backend,
    method: str,
    path: str,
    body: Mapping[str, Any],
    files: Sequence[bytes],
    names: Sequence[str] = (),
) -> None:
    """Raise BackendError as Discord would; unarchive a thread that gets a new message."""
    match = _MESSAGES.fullmatch(path)
    if match is None or method not in ("POST", "PATCH"):
        return
    channel = backend.channels.get(int(match[1]))
    if channel is None:
        return
    if any(len(data) > FILE_LIMIT for data in files):
        raise BackendError(413, 40005, "Request entity too large")
    if len(str(body.get("nonce") or "")) > NONCE_LIMIT:
        raise BackendError(400, 50035, "Invalid Form Body: nonce must be 25 or fewer in length")
    bot = backend.bot_user.id
    if match[3]:
        if int(match[2] or 0) in backend.channels:
            raise BackendError(400, 160004, "A thread has already been created for this message")
        if channel.is_thread or channel.guild_id is None:
            raise BackendError(400, 50024, "Cannot execute action on this channel type")
        return
    if files:
        backend.require_permissions(channel.guild_id, bot, channel.id, "attach_files")
    _check_embeds(body.get("embeds") or (), names)
    if body.get("embeds"):
        backend.require_permissions(channel.guild_id, bot, channel.id, "embed_links")
    if body.get("message_reference") and channel.guild_id is not None:
        try:
            backend.require_permissions(channel.guild_id, bot, channel.id, "read_message_history")
        except BackendError:
            raise BackendError(400, 160002, "Cannot reply without permission to read message history") from None
    metadata = channel.thread_metadata
    if metadata is not None and metadata.archived:
        if method == "PATCH":
            raise BackendError(400, 50083, "Thread is archived")
        if metadata.locked:
            raise BackendError(400, 160005, "Thread is locked")
        backend.edit_channel(channel.id, {}, thread_metadata={"archived": False})


def _check_embeds(embeds: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    for embed in embeds:
        if not embed.keys() & {"title", "description", "image", "footer", "author", "fields", "thumbnail"}:
            raise BackendError(400, 50035, "Invalid Form Body: embeds[0].description is required")
        shown = str((embed.get("image") or {}).get("url", ""))
        if shown.startswith("attachment://") and shown.removeprefix("attachment://") not in names:
            raise BackendError(400, 50035, f"Invalid Form Body: no attachment of the name {shown}")
