"""An encoded picture on its way to a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from devices.geometry import Size

IMAGE_REMOVED: Final = "[image removed]"
"""What is said in the place of a picture that is shown no more."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An encoded picture, at exactly the size that the model is told."""

    data: bytes = field(repr=False)
    media_type: Literal["image/jpeg", "image/webp", "image/png"]
    size: Size
