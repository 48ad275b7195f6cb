"""The chat in memory keeps the contract, so that what is tested on it holds elsewhere."""

from __future__ import annotations

import pytest

from tests.bot.chats.contract import ChatContract
from tests.bot.chats.loopback import LoopbackBench, LoopbackChat


class TestLoopback(ChatContract):
    @pytest.fixture
    def bench(self) -> LoopbackBench:
        return LoopbackBench(LoopbackChat())
