"""A picture as both APIs take it."""

from __future__ import annotations

import base64

from agent.picture import ImagePart


def data_url(image: ImagePart) -> str:
    """The picture as a URL of its own bytes."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
