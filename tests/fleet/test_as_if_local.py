"""What people do with phones, by the same tests as on one machine: with a hub, an engine and a host in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Place
from tests.end_to_end.test_api import test_a_stream_is_taken_up_again_after_a_kill
from tests.end_to_end.test_discord import (
    test_a_code_is_asked_for_in_the_thread,
    test_a_kill_in_the_middle_of_an_action,
    test_a_message_changes_the_phone_and_the_thread_tells_it,
    test_stop_in_between_is_continued_by_resume,
)
from tests.end_to_end.test_hand import (
    test_a_phone_is_touched_from_discord,
    test_a_phone_is_touched_from_telegram,
    test_a_task_is_taken_over_and_goes_on_in_the_page,
    test_an_idle_phone_is_touched_in_the_page,
)
from tests.end_to_end.test_skill import test_a_saved_skill_is_done_in_every_way
from tests.end_to_end.test_telegram import (
    test_a_code_is_answered_by_a_reply_after_a_kill,
    test_a_message_changes_the_phone_and_the_chat_tells_it,
    test_a_photo_goes_to_the_phone_and_comes_back,
    test_an_approval_is_given_by_a_button,
    test_messages_to_one_person_are_allowed_for_the_task_over_a_kill,
    test_what_was_written_at_night_waits_for_a_press,
)
from tests.end_to_end.test_watch import test_a_price_is_watched_and_told_once
from tests.fixtures.adb import AdbServer
from tests.fleet.place import fleet_place_with

__all__ = [
    "test_a_code_is_answered_by_a_reply_after_a_kill",
    "test_a_code_is_asked_for_in_the_thread",
    "test_a_kill_in_the_middle_of_an_action",
    "test_a_message_changes_the_phone_and_the_chat_tells_it",
    "test_a_message_changes_the_phone_and_the_thread_tells_it",
    "test_a_phone_is_touched_from_discord",
    "test_a_phone_is_touched_from_telegram",
    "test_a_photo_goes_to_the_phone_and_comes_back",
    "test_a_price_is_watched_and_told_once",
    "test_a_saved_skill_is_done_in_every_way",
    "test_a_stream_is_taken_up_again_after_a_kill",
    "test_a_task_is_taken_over_and_goes_on_in_the_page",
    "test_an_approval_is_given_by_a_button",
    "test_an_idle_phone_is_touched_in_the_page",
    "test_messages_to_one_person_are_allowed_for_the_task_over_a_kill",
    "test_stop_in_between_is_continued_by_resume",
    "test_what_was_written_at_night_waits_for_a_press",
]

pytestmark = [pytest.mark.fleet, pytest.mark.slow]


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    """A machine whose phone is at a host."""
    async with fleet_place_with(adb_server, tmp_path) as made:
        yield made
