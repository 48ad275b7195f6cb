"""Pictures in the form in which they are sent to models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from devices.geometry import Size

IMAGE_REMOVED: Final = "[image removed]"
"""The text that replaces a picture that is no longer shown."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An encoded picture. `size` is its exact size in pixels, which the model is told."""

    data: bytes = field(repr=False)
    media_type: Literal["image/jpeg", "image/webp", "image/png"]
    size: Size
