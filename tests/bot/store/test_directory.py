from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.store.directory import DataDirectory
from bot.store.errors import DirectoryInUse, StoreError

HOLDER = """
import sys, pathlib
from bot.store.directory import DataDirectory
with DataDirectory(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_told_who_has_it_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DirectoryInUse, match=rf"pid {holder.pid}\)\. Stop that one first"), DataDirectory(tmp_path):
            pass
        holder.kill()
    with DataDirectory(tmp_path) as directory:
        assert directory.path == tmp_path
    with DataDirectory(tmp_path):
        pass


def test_a_new_directory_is_for_this_user_alone(tmp_path: Path) -> None:
    with DataDirectory(tmp_path / "a" / "b") as directory:
        assert directory.path.stat().st_mode & 0o777 == 0o700


def test_a_file_in_its_place_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="cannot be used"), DataDirectory(tmp_path / "data"):
        pass
