"""What the rest of the program knows of Slack: what no log shows, and what is loaded of it."""

from __future__ import annotations

import re

import pytest

from bot.chats.feishu.manifest import FEISHU
from bot.chats.installed import installed
from bot.chats.slack.manifest import SLACK
from devices.extras import Extra

SECRET = "T0AB/123/AbCdEfGhIj"


@pytest.mark.parametrize("host", ["hooks.slack.com", "hooks.slack-gov.com"])
@pytest.mark.parametrize("kind", ["actions", "commands", "services"])
def test_addresses_that_answer_presses_are_in_no_log(host: str, kind: str) -> None:
    told = f"POST https://{host}/{kind}/{SECRET}"
    for form in SLACK.secrets:
        told = re.sub(form, "…", told)
    assert SECRET not in told


def test_what_is_loaded_is_named_where_a_library_is_needed() -> None:
    """A service that stands by loads it ahead, and a missing extra is said instead."""
    assert (SLACK.extra, FEISHU.extra) == (Extra.SLACK, Extra.FEISHU)
    assert all(one.loads for one in installed() if one.name in {"discord", "feishu", "slack", "telegram"})
