"""An encoded picture that is sent to a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from devices.geometry import Size

IMAGE_REMOVED: Final = "[image removed]"
"""The text that replaces a picture that is no longer shown."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An encoded picture, of exactly the size that the model is told."""

    data: bytes = field(repr=False)
    media_type: Literal["image/jpeg", "image/webp", "image/png"]
    size: Size
