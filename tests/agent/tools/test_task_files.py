"""The folder of a task: nothing outside of it is read or written, whatever path, link or pipe is tried."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.tools.files import MOST_BYTES, MOST_FILES, FileRefused, TaskFiles, TaskFolder


@pytest.fixture
def folder(tmp_path: Path) -> TaskFolder:
    (tmp_path / "secret").write_text("outside")
    return TaskFiles(tmp_path / "work").of("7")


def test_what_was_written_can_be_read(folder: TaskFolder) -> None:
    assert folder.write("notes/你好.txt", "words") == 5
    assert folder.write("notes/你好.txt", "others") == 6
    assert folder.read("notes/你好.txt") == "others"
    assert [(entry.path, entry.size) for entry in folder.entries()] == [("notes/你好.txt", 6)]


@pytest.mark.parametrize(
    "name", ["../secret", "a/../../secret", "/etc/passwd", "..", "", ".", "a\0b", "a\\b", "x\u202e.txt", "a/" * 9 + "b"]
)
def test_no_path_leads_out(folder: TaskFolder, name: str) -> None:
    folder.write("a/b", "x")
    with pytest.raises(FileRefused):
        folder.read(name)
    with pytest.raises(FileRefused):
        folder.write(name, "x")


def test_no_link_leads_out(folder: TaskFolder, tmp_path: Path) -> None:
    """Seen failing without O_NOFOLLOW: both links were followed, and the text outside was read and overwritten."""
    folder.write("a", "x")
    (folder.path / "link").symlink_to(tmp_path / "secret")
    (folder.path / "out").symlink_to(tmp_path)
    os.link(tmp_path / "secret", folder.path / "hard")
    os.mkfifo(folder.path / "pipe")
    for name in ("link", "out/secret", "hard", "pipe"):
        with pytest.raises(FileRefused):
            folder.read(name)
    for name in ("link", "out/secret", "pipe"):
        with pytest.raises(FileRefused):
            folder.write(name, "changed")
    folder.write("hard", "changed")
    assert (tmp_path / "secret").read_text() == "outside"
    assert [entry.path for entry in folder.entries()] == ["a", "hard"]


def test_there_is_a_limit_to_everything(folder: TaskFolder) -> None:
    with pytest.raises(FileRefused, match="4 MB"):
        folder.write("big", b"x" * (MOST_BYTES + 1))
    for number in range(12):
        folder.write(f"{number}", b"x" * MOST_BYTES)
    with pytest.raises(FileRefused, match="50 MB"):
        folder.write("more", b"x" * MOST_BYTES)
    for number in range(12, MOST_FILES):
        (folder.path / str(number)).touch()
    with pytest.raises(FileRefused, match="500 files"):
        folder.write("more", "x")


@pytest.mark.parametrize("task", ["..", "", "a/b", "../7", ".x", "a" * 99])
def test_a_name_that_is_no_task(tmp_path: Path, task: str) -> None:
    with pytest.raises(FileRefused):
        TaskFiles(tmp_path).of(task)
