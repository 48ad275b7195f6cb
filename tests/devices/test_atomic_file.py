"""A file is replaced as a whole."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from devices.atomic_file import write_atomically


def test_the_file_is_whole_and_nobody_else_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    write_atomically(path, b"one")
    path.chmod(0o644)
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_what_could_not_be_written_leaves_everything_as_it_was(tmp_path: Path) -> None:
    taken = tmp_path / "note.json"
    (taken / "within").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_atomically(taken, b"one")
    assert list(tmp_path.iterdir()) == [taken]
