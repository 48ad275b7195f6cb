"""A service without hosts: nothing of a fleet is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_without_hosts_no_client_of_the_engine_is_loaded() -> None:
    loaded = "import bot.wiring.service, sys; print({'nats', 'nkeys', 'nacl'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
