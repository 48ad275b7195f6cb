from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.chats.installed import installed, model_of
from bot.logs.setup import CHATTY
from tests.fixtures.checkout import as_checkout

NAMES = ["", *CHATTY, *(name for platform in installed() for name in platform.chatty)]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty checkout to be in, and nothing set but where the data is and that there is no phone."""
    for name in model_of(installed()).model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("ANDROID_ADB_SERVER_PORT", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("VIRTUAL_PHONES", "0")
    monkeypatch.chdir(as_checkout(tmp_path))
    root = logging.getLogger()
    handlers, levels = root.handlers[:], {name: logging.getLogger(name).level for name in NAMES}
    yield tmp_path
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
