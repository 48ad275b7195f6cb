"""Encodes a picture as a data URL, which both APIs accept."""

from __future__ import annotations

import base64

from agent.picture import ImagePart


def data_url(image: ImagePart) -> str:
    """Return the picture's bytes as a base64 data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
