from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.store.directory import LOCK_NAME, STARTS_S, DataDirectory, service_starts
from bot.store.errors import DirectoryInUse, StoreError
from bot.store.store import Store

HOLDER = """
import sys, pathlib
from bot.store.directory import DataDirectory
with DataDirectory(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_second_process_is_told_who_has_it_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DirectoryInUse, match=rf"pid {holder.pid}\)"), DataDirectory(tmp_path):
            pass
        holder.kill()
    with DataDirectory(tmp_path) as directory:
        assert directory.path == tmp_path
    with DataDirectory(tmp_path):
        pass


def test_a_service_is_waited_for_only_while_it_starts(tmp_path: Path) -> None:
    assert not service_starts(tmp_path)
    with DataDirectory(tmp_path):
        assert not service_starts(tmp_path)  # a command with the directory to itself answers nobody
    with DataDirectory(tmp_path, serves=True):
        assert service_starts(tmp_path)
        begun = (tmp_path / "lock").stat().st_mtime - STARTS_S - 1
        os.utime(tmp_path / "lock", (begun, begun))
        assert not service_starts(tmp_path)
    with DataDirectory(tmp_path, serves=True):
        pass
    assert not service_starts(tmp_path)


def test_a_new_directory_is_for_this_user_alone(tmp_path: Path) -> None:
    with DataDirectory(tmp_path / "a" / "b") as directory:
        assert directory.path.stat().st_mode & 0o777 == 0o700


def test_a_file_in_its_place_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="cannot be used"), DataDirectory(tmp_path / "data"):
        pass


def test_a_directory_that_was_open_to_others_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Seen failing with the rights given to new directories alone: it stayed as it was."""
    data = tmp_path / "data"
    (data / "frames").mkdir(parents=True)
    (data / "opengui.sqlite3").write_text("")
    (data / "notes.txt").write_text("")
    for path, mode in ((data, 0o755), (data / "frames", 0o775), (data / "opengui.sqlite3", 0o644)):
        path.chmod(mode)
    other = (data / "notes.txt").stat().st_mode
    with DataDirectory(data):
        pass
    assert "was accessible to other users (mode 755)" in caplog.text
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "frames").stat().st_mode & 0o777 == 0o700
    assert (data / "opengui.sqlite3").stat().st_mode & 0o777 == 0o600
    assert (data / "notes.txt").stat().st_mode == other, "it may be a folder with other things"
    caplog.clear()
    with DataDirectory(data):
        pass
    assert not caplog.text


def test_a_folder_that_all_users_share_is_refused(tmp_path: Path) -> None:
    """Seen failing with the rights given to new directories alone."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    with pytest.raises(StoreError, match="open to other users"), DataDirectory(tmp_path / "shared"):
        pass
    assert (tmp_path / "shared").stat().st_mode & 0o7777 == 0o1777


async def test_what_is_made_in_it_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Seen failing: databases and pictures could be read by others as soon as somebody opened the directory."""
    before = os.umask(0o022)
    try:
        with DataDirectory(tmp_path):
            store = await Store.open(tmp_path)
            await store.frames.save(b"a picture", suffix="jpg")
            assert sorted(_open_to_others(tmp_path)) == [LOCK_NAME], "which holds the number of the process alone"
            await store.close()
        assert os.umask(0o022) == 0o022, "and afterwards all is as it was"
    finally:
        os.umask(before)


def _open_to_others(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.stat().st_mode & 0o077]
