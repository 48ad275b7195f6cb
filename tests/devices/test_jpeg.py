"""A screen as JPEG, from a picture and from the bytes of one."""

from __future__ import annotations

import pytest
from PIL import Image, ImageChops, ImageDraw

from devices.geometry import Size
from devices.pictures import Jpeg


def page(size: Size) -> Image.Image:
    image = Image.radial_gradient("L").resize((size.width, size.height)).convert("RGB")
    ImageDraw.Draw(image).text((10, size.height // 2), "Wi-Fi and internet", fill="#d03010", font_size=30)
    return image


@pytest.mark.parametrize(
    ("screen", "size"),
    [(Size(1080, 2400), Size(922, 2048)), (Size(2400, 1080), Size(1024, 460)), (Size(90, 203), Size(90, 203))],
    ids=["smaller", "half and turned", "as it is"],
)
def test_bytes_and_picture_make_the_same(screen: Size, size: Size) -> None:
    image = page(screen)
    jpeg = Jpeg.of(image, size)
    assert jpeg.size == size == Size(*jpeg.image().size)
    assert Jpeg.of_bytes(memoryview(image.tobytes("raw", "RGBX")), screen, size) == jpeg
    small = image.resize(jpeg.image().size, Image.Resampling.BILINEAR)
    apart = ImageChops.difference(small.convert("L"), jpeg.image().convert("L"))
    assert sum(level * count for level, count in enumerate(apart.histogram())) / (size.width * size.height) < 2


def test_the_bytes_count_no_more_when_it_is_made() -> None:
    """They are those of a buffer that the next picture is received in."""
    room = bytearray(page(Size(80, 160)).tobytes("raw", "RGBX"))
    with memoryview(room) as rows:
        jpeg = Jpeg.of_bytes(rows, Size(80, 160), Size(80, 160))
    before = jpeg.image().tobytes()
    room[:] = bytes(len(room))
    assert jpeg.image().tobytes() == before
