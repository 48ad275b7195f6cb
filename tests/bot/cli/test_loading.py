"""What a command loads: most of the time that a short one takes is spent there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    *("openai", "langgraph", "langchain_core", "discord", "telegram", "telebot", "aiohttp", "httpx"),
    *("adbutils", "PIL", "numpy", "uvloop"),
}
ASKED = """
import json, sys
from bot.cli.main import main

code = main(json.loads(sys.argv[1]))
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


@pytest.mark.parametrize("command", [["tasks"], ["usage"], ["schedules"]], ids=" ".join)
def test_a_list_of_what_is_kept_loads_no_client_no_graph_and_no_phone(command: list[str]) -> None:
    """In an interpreter of its own, since this one has loaded everything. Seen failing with the client of HTTP at the
    top of a check.
    """
    ran = subprocess.run(
        [sys.executable, "-c", ASKED, json.dumps(command)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    code, loaded = json.loads(ran.stdout.splitlines()[-1])
    assert code == 0
    assert "bot" in loaded
    assert not HEAVY & set(loaded)
