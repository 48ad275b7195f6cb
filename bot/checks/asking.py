"""Sends one HTTP request with a time limit and a size limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one answer; a list of a few thousand models takes about one megabyte."""
_PIECE: Final = 64 * 1024


async def json_at(url: str, headers: Mapping[str, str], *, seconds: float) -> tuple[int, object]:
    """Send a GET request. Returns the HTTP status and the parsed JSON body: None if the body is not JSON or too long,
    status 0 if there is no answer within `seconds`.

    Redirects are not followed, because the headers may contain a key. Nothing is raised, because the address in an
    error text may contain a token.
    """
    # Imported here because every command imports the platforms with their checks, but few send a request.
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
