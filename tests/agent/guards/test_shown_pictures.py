"""An approval is for the picture that the person saw, not only for the words around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image

from agent.graph.executor.anchors import anchor_of, relocated
from agent.graph.executor.targets import ResolvedTarget
from agent.observing import ScreenView, screen_of
from devices.geometry import Bounds
from devices.phone import Element, Observation
from devices.pictures import thumbnail_of
from tests.agent.guards.screens import SIZE

BAR = Element(Bounds(130, 80, 900, 180), text="Photo", package="app")
DELETE = Element(
    Bounds(800, 2200, 1080, 2340),
    description="Delete",
    class_name="android.widget.ImageButton",
    clickable=True,
    package="app",
)
PHOTO = Element(Bounds(0, 300, 1080, 2100), class_name="android.widget.ImageView", package="app")
DRAWN = Element(Bounds(0, 300, 1080, 2100), class_name="android.view.View", package="app")
PREVIEW = Element(
    Bounds(40, 1900, 340, 2150), class_name="android.widget.ImageView", description="Attachment", package="app"
)
ICON = Element(Bounds(40, 80, 120, 160), class_name="android.widget.ImageView", package="app")


def look(*elements: Element, colour: str = "red", where: Bounds | None = None) -> Observation:
    """A page with a picture of this colour."""
    image = Image.new("RGB", (SIZE.width, SIZE.height), "white")
    box = where or elements[0].bounds
    image.paste(colour, (box.left, box.top, box.right, box.bottom))
    return Observation(SIZE, image, (*elements, BAR, DELETE), "app", thumbnail=thumbnail_of(image))


def allowed(seen: Observation, before: Observation | None = None) -> dict[str, object]:
    screen, targets = screen_of(seen, SIZE)
    where = ResolvedTarget(DELETE, DELETE.bounds.centre)
    return anchor_of(where, ScreenView(seen, screen, targets, None), before=before or seen)


@pytest.mark.parametrize("picture", [PHOTO, DRAWN, PREVIEW], ids=["photo", "drawn", "preview beside the button"])
def test_another_picture_in_its_place_is_another_thing(picture: Element) -> None:
    """Seen failing before: only words were bound, and photos have none."""
    anchor = allowed(look(picture))
    assert relocated(anchor, look(picture)) is not None
    assert relocated(anchor, look(picture, colour="blue")) is None


def test_a_picture_that_is_gone_is_another_thing() -> None:
    """Seen failing before."""
    assert relocated(allowed(look(PHOTO)), look(ICON, where=PHOTO.bounds)) is None


def test_what_had_changed_by_itself_and_small_icons_do_not_count() -> None:
    playing = allowed(look(PHOTO), before=look(PHOTO, colour="yellow"))
    assert relocated(playing, look(PHOTO, colour="blue")) is not None
    assert relocated(allowed(look(ICON)), look(ICON, colour="blue")) is not None


def test_a_description_of_the_picture_counts_as_its_words_do() -> None:
    told = replace(PHOTO, description="Taken on 3 May")
    assert relocated(allowed(look(told)), look(replace(PHOTO, description="Taken on 4 May"))) is None
