"""A question to an address on the web, within seconds and megabytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one answer: a list of a few thousand models has about one megabyte."""
_PIECE: Final = 64 * 1024


async def json_at(url: str, headers: Mapping[str, str], *, seconds: float) -> tuple[int, object]:
    """The status and what the body says; None for one that is no JSON or too long, and status 0 when nobody answers
    within so many seconds.

    Redirects are not followed: the headers may hold a key. Raises nothing, since the address may hold a token.
    """
    # Here and not above: every command reads the platforms, which have their check with them, and few commands ask.
    import aiohttp  # noqa: PLC0415 - see above

    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=seconds)) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            body = bytearray()
            async for piece in response.content.iter_chunked(_PIECE):
                body += piece
                if len(body) > MOST_BYTES:
                    return response.status, None
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return 0, None
    try:
        return response.status, json.loads(body)
    except (ValueError, RecursionError):
        return response.status, None
