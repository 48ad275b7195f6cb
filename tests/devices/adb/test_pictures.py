import io
import struct
import warnings
import zlib

import pytest
from PIL import Image, ImageChops, ImageDraw

from devices.adb.screenshots import UnknownFormat, from_jpeg, from_png, from_raw, never
from devices.errors import CaptureFailed
from devices.geometry import Size
from devices.pictures import NoPicture, thumbnail_of


def raw(image: Image.Image, *, pixels: int = 1, colour_space: bool = True, mode: str = "RGBX") -> bytes:
    header = struct.pack("<III", *image.size, pixels) + (struct.pack("<I", 1) if colour_space else b"")
    return header + image.tobytes("raw", mode)


@pytest.fixture
def picture() -> Image.Image:
    image = Image.new("RGB", (30, 60), "#102030")
    ImageDraw.Draw(image).rectangle((5, 20, 20, 40), fill="#f0a010")
    return image


@pytest.mark.parametrize(
    ("pixels", "mode"), [(1, "RGBX"), (2, "RGBX"), (3, "RGB"), (5, "BGRX")], ids=["RGBA", "RGBX", "RGB", "BGRA"]
)
@pytest.mark.parametrize("colour_space", [True, False], ids=["android-9", "android-8"])
def test_raw_pictures_come_out_as_they_were(picture: Image.Image, pixels: int, mode: str, colour_space: bool) -> None:
    frame = from_raw(raw(picture, pixels=pixels, mode=mode, colour_space=colour_space))
    assert frame.size == Size(30, 60)
    assert frame.image is not None
    assert frame.image.mode == "RGB"
    assert frame.image.tobytes() == picture.tobytes()
    assert not frame.black


def test_rgb_565() -> None:
    white_red = struct.pack("<IIII", 2, 1, 4, 0) + struct.pack("<HH", 0xFFFF, 0xF800)
    frame = from_raw(white_red)
    assert frame.image is not None
    assert [frame.image.getpixel((x, 0)) for x in (0, 1)] == [(255, 255, 255), (255, 0, 0)]


def test_an_unknown_format_is_told_apart_from_a_broken_picture() -> None:
    with pytest.raises(UnknownFormat):
        from_raw(struct.pack("<IIII", 10, 10, 22, 1) + bytes(800))


@pytest.mark.parametrize("cut", [0, 3, 15, 16, 100, 7215])
def test_a_truncated_raw_picture_is_no_picture(picture: Image.Image, cut: int) -> None:
    """Seen failing with the length check removed: Pillow then gives a picture from too few bytes or a ValueError."""
    with pytest.raises(CaptureFailed):
        from_raw(raw(picture)[:cut])


def test_words_instead_of_a_picture_are_shown() -> None:
    with pytest.raises(CaptureFailed, match="/system/bin/sh: screencap: not found"):
        from_raw(b"/system/bin/sh: screencap: not found\n")
    with pytest.raises(CaptureFailed, match="not found"):
        from_png(b"/system/bin/sh: screencap: not found\n")


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def test_png_after_the_warning_of_a_phone_with_two_displays(picture: Image.Image) -> None:
    frame = from_png(b"[Warning] Multiple displays were found, but no display id was specified!\n" + png(picture))
    assert frame.image is not None
    assert frame.image.tobytes() == picture.tobytes()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_a_truncated_png_is_no_picture(share: float) -> None:
    noisy = Image.effect_noise((80, 160), 90).convert("RGB")
    data = png(noisy)
    with pytest.raises(CaptureFailed):
        from_png(data[: int(len(data) * share)])


@pytest.mark.parametrize("side", [9_000, 20_000, 2**31 - 1])
def test_a_few_bytes_that_say_they_are_gigabytes_are_no_picture(side: int) -> None:
    """The header alone is read. Seen failing without the look at the size, where the smaller one took 240 MB before it
    was found cut short, and without DecompressionBombError, which ended the run as a fault of the program.
    """
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(9)))]
    data = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # as in the program
        with pytest.raises(CaptureFailed) as failed:
            from_png(b"\x89PNG\r\n\x1a\n" + data)
    assert isinstance(failed.value.__cause__, NoPicture)


def test_a_secure_window_is_black_between_the_bars_of_the_system() -> None:
    image = Image.new("RGB", (1080, 2400))
    draw = ImageDraw.Draw(image)
    draw.text((40, 30), "12:00", fill="white", font_size=50)
    draw.rectangle((400, 2360, 680, 2370), fill="white")
    assert from_raw(raw(image)).black
    draw.text((300, 1200), "dark theme", fill="#404040", font_size=60)
    assert not from_raw(raw(image)).black


def page(width: int, height: int) -> Image.Image:
    image = Image.radial_gradient("L").resize((width, height)).convert("RGB")
    ImageDraw.Draw(image).text((20, height // 2), "Wi-Fi and internet", fill="#d03010", font_size=40)
    return image


def apart(one: Image.Image, other: Image.Image) -> float:
    """The largest difference in brightness."""
    assert (one.mode, one.size) == (other.mode, other.size)
    level = ImageChops.difference(one, other).getextrema()[1]
    assert isinstance(level, (int, float))
    return level


@pytest.mark.parametrize("size", [(1080, 2400), (1080, 2340), (54, 120)])
@pytest.mark.parametrize("opacity", [0, 255])
def test_what_is_only_compared_is_not_made_whole(size: tuple[int, int], opacity: int) -> None:
    image = page(*size)
    data = bytearray(raw(image))
    data[19::4] = bytes([opacity]) * (size[0] * size[1])
    frame = from_raw(memoryview(data), never)
    assert not frame.shows
    assert frame.size == Size(*size)
    assert apart(frame.thumbnail, image.reduce(8).convert("L")) <= 1


@pytest.mark.parametrize("kind", ["raw", "raw BGRA", "png", "jpeg", "jpeg of odd sides"])
def test_a_picture_that_has_to_fit_comes_as_jpeg(kind: str) -> None:
    image = page(1080, 2340 if kind == "jpeg of odd sides" else 2400)
    written = io.BytesIO()
    image.save(written, "PNG" if kind == "png" else "JPEG", quality=95)

    def half(screen: Size) -> Size:
        return Size(screen.width // 2, screen.height // 2)

    match kind:
        case "raw":
            frame = from_raw(memoryview(raw(image)), fit=half)
        case "raw BGRA":
            frame = from_raw(raw(image, pixels=5, mode="BGRX"), fit=half)
        case "png":
            frame = from_png(written.getvalue(), half)
        case _:
            frame = from_jpeg(written.getvalue(), fit=half)
            assert not from_jpeg(written.getvalue(), never, half).shows or image.height % 8
    assert frame.image is None
    assert frame.jpeg is not None
    assert frame.shows
    assert frame.jpeg.size == half(frame.size) == Size(*frame.jpeg.image().size)
    assert apart(frame.thumbnail, image.reduce(8).convert("L")) <= 3


def test_in_the_small_all_kinds_of_pictures_agree() -> None:
    """Whether a phone's screen stands still is asked of two pictures, which may have come in different ways."""
    image = page(1080, 2400)
    jpeg = io.BytesIO()
    image.save(jpeg, "JPEG", quality=80)
    plain = image.reduce(8).convert("L")
    assert apart(thumbnail_of(image), plain) <= 1
    assert apart(from_raw(raw(image)).thumbnail, plain) <= 1
    assert apart(from_raw(raw(image, pixels=5, mode="BGRX"), never).thumbnail, plain) <= 1
    assert apart(from_png(png(image)).thumbnail, plain) <= 1
    seen = from_jpeg(jpeg.getvalue(), never)
    assert seen.image is None
    assert seen.size == Size(1080, 2400)
    assert apart(seen.thumbnail, plain) <= 2
    whole = from_jpeg(jpeg.getvalue()).image
    assert whole is not None
    assert (whole.mode, whole.size) == ("RGB", (1080, 2400))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_a_truncated_jpeg_is_no_picture(share: float) -> None:
    jpeg = io.BytesIO()
    Image.effect_noise((160, 320), 90).convert("RGB").save(jpeg, "JPEG")
    data = jpeg.getvalue()
    with pytest.raises(CaptureFailed):
        from_jpeg(data[: int(len(data) * share)], never)


@pytest.mark.parametrize(
    "warning",
    [
        b"[Warning] Multiple displays were found, but no id was specified!\nSee dumpsys for valid display IDs.\n",
        b"Failed to create //.cache for shader cache (Read-only file system)---disabling.\n",
        b"",
    ],
)
def test_what_a_phone_says_before_a_raw_picture_is_left_out(warning: bytes) -> None:
    image = page(1080, 2400)
    assert apart(from_raw(warning + raw(image)).thumbnail, image.reduce(8).convert("L")) <= 1
