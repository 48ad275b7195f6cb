from __future__ import annotations

from pathlib import Path

import pytest

from bot.store.frames import FrameFiles

DAY = 86_400.0


def kept(root: Path) -> set[str]:
    return {path.name for path in root.glob("*/*")}


async def test_the_same_bytes_are_kept_once_and_come_back(tmp_path: Path) -> None:
    frames = FrameFiles(tmp_path, lambda: DAY)
    first = await frames.save(b"picture", suffix="jpg")
    assert await frames.save(b"picture", suffix=".jpg") == first
    assert await frames.load(first) == b"picture"
    assert kept(tmp_path) == {first}


async def test_what_is_kept_again_is_as_new(tmp_path: Path) -> None:
    """Also when the former file is damaged. Seen failing with what is there left as it is."""
    now = DAY
    frames = FrameFiles(tmp_path, lambda: now, keep_days=10)
    reference = await frames.save(b"picture", suffix="jpg")
    path = tmp_path / reference[:2] / reference
    for content in (b"picture", b"pic"):
        path.write_bytes(content)
        now += 9 * DAY
        assert await frames.save(b"picture", suffix="jpg") == reference
        assert path.stat().st_mtime == now
        assert await frames.prune() == 0
        assert await frames.load(reference) == b"picture"


@pytest.mark.parametrize("suffix", ["", "../x", "j pg", "JPG", "x" * 11])
async def test_a_suffix_is_a_suffix(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match="is no suffix"):
        await FrameFiles(tmp_path, lambda: DAY).save(b"picture", suffix=suffix)


async def test_what_is_not_there_or_damaged_or_no_reference_is_a_key_error(tmp_path: Path) -> None:
    frames = FrameFiles(tmp_path, lambda: DAY)
    reference = await frames.save(b"picture", suffix="jpg")
    (tmp_path / reference[:2] / reference).write_bytes(b"pic")
    for wrong in (reference, "0" * 64 + ".jpg", "../../etc/passwd", ""):
        with pytest.raises(KeyError):
            await frames.load(wrong)


async def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    frames = FrameFiles(tmp_path, lambda: DAY)
    reference = await frames.save(b"picture", suffix="jpg")
    path = tmp_path / reference[:2] / reference
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="director"):
        await frames.save(b"picture", suffix="jpg")
    assert [found.name for found in path.parent.iterdir()] == [reference]


async def test_retention_by_age_then_by_size(tmp_path: Path) -> None:
    now = 0.0
    frames = FrameFiles(tmp_path, lambda: now, keep_days=2, keep_bytes=25)
    names = []
    for number in range(5):
        now = number * DAY
        names.append(await frames.save(bytes([number]) * 10, suffix="jpg"))
    assert await frames.prune() == 3
    assert kept(tmp_path) == set(names[3:])
    assert await frames.prune() == 0
