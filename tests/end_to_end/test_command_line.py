"""The command line as a script uses it: lines of JSON, exit codes, answers; alone and with a running service."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from yarl import URL

from bot.cli.remote import running_service
from bot.store.directory import service_starts
from devices.virtual_phone.state import Note
from tests.end_to_end.brain import FINISH, Act, call, on, tap
from tests.end_to_end.service import START_S, Place, Service, place_with
from tests.end_to_end.workshop import Workshop, hang, kinds, workshop_at
from tests.fakes.model_server import Answer
from tests.fixtures.adb import AdbServer

BLUETOOTH: tuple[Act, ...] = (call("open_app", name="Settings", say="Opening Settings"), tap("Bluetooth"), FINISH)
GIVE_UP = call("finish", status="failure", summary="It was not allowed.")
SIGN_IN: tuple[Act, ...] = (
    call("open_app", name="Account"),
    on("User name", "type", text="anna", submit=True),
    on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True),
)


def deleting(place: Place) -> tuple[Act, ...]:
    """What deletes a note that is there, which has to be approved."""
    place.phone.state.notes.append(Note(99, "Bread", ""))
    place.phone.changed()
    return (call("open_app", name="Notes"), tap("Bread"), tap("Delete"))


FORMS = pytest.mark.parametrize(
    ("least", "ending"), [(40, (0, "succeeded", "42")), (43, (4, "failed", None))], ids=["fits", "fits not"]
)


async def _with_schema(shop: Workshop, folder: Path, least: int, ending: tuple[int, str, str | None]) -> None:
    """A run that ends with 42, in a form that it fits or not."""
    file = folder / "schema.json"
    file.write_text(f'{{"type": "integer", "minimum": {least}}}', encoding="utf-8")
    shop.brain.acts(*BLUETOOTH, lambda _: Answer(text='{"found": false}'))
    ran = await shop.do("--schema", str(file), "switch Bluetooth on")
    assert (ran.code, ran.final["outcome"], ran.final["data"]) == ending, ran.err


async def _with_files(shop: Workshop, folder: Path) -> None:
    """Two files go with a task; one that is not there is told before anything is done."""
    (folder / "a photo.jpg").write_bytes(b"1" * 400_000)
    (folder / "list.txt").write_bytes(b"2")
    shop.brain.acts(FINISH)
    given = [f"--file={folder / name}" for name in ("a photo.jpg", "list.txt")]
    ran = await shop.do("keep them for Anna", *given)
    assert ran.code == 0, ran.err
    run = ran.of("started")[0]["run"]
    assert shop.place.phone.files.read(f"/sdcard/Pictures/OpenGUI/{run}/a photo.jpg") == b"1" * 400_000
    assert shop.place.phone.files.read(f"/sdcard/Download/OpenGUI/{run}/list.txt") == b"2"
    ran = await shop.do("keep them for Anna", *given, f"--file={folder / 'none'}")
    assert (ran.code, ran.out) == (64, "")
    assert "No such file" in ran.err


# One loop for all, so that no phone of this file ever stands still: a service asks every phone on its adb server.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def alone(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Workshop]:
    """No service runs: the command does the task itself."""
    async with place_with(adb_server, tmp_path) as place, workshop_at(place) as made:
        yield made


class TestAlone:
    """`opengui do` without a service."""

    async def test_a_task_that_succeeds(self, alone: Workshop) -> None:
        alone.brain.acts(*BLUETOOTH)
        ran = await alone.do("turn on Bluetooth for me")
        assert ran.code == 0, ran.err
        assert alone.place.phone.truth.toggles["bluetooth"]
        assert kinds(ran.lines) == ["task", "started", "step", "step", "step", "final"]
        first, second, _ = ran.of("step")
        assert (first["step"], first["max_steps"], first["summary"]) == (1, 60, "Opening Settings")
        assert first["action"]["kind"] == "open_app"
        assert (second["app"], second["app_name"]) == ("com.android.settings", "Settings")
        assert (alone.place.data / "frames").is_dir()
        assert second["frame"]
        assert second["mark"]
        final = ran.final
        assert (final["outcome"], final["summary"], final["steps"]) == ("succeeded", "It is done.", 3)
        assert final["data"] == "42"
        assert final["tokens"]["input"] > 0
        assert final["tokens"]["calls"] >= 4
        listed = await alone.opengui("tasks", "--json")
        assert [(row["task"], row["state"], row["outcome"]) for row in listed.lines] == [
            (ran.lines[0]["task"], "ended", "succeeded")
        ]

    async def test_files_go_with_it(self, alone: Workshop, tmp_path: Path) -> None:
        await _with_files(alone, tmp_path)

    @FORMS
    async def test_the_result_fits_a_schema(
        self, alone: Workshop, tmp_path: Path, least: int, ending: tuple[int, str, str | None]
    ) -> None:
        await _with_schema(alone, tmp_path, least, ending)

    @pytest.mark.parametrize("text", ['{"type": "nix"}', "[]", "{", "[" * 100_000])
    async def test_what_is_no_schema_begins_no_task(self, alone: Workshop, tmp_path: Path, text: str) -> None:
        (tmp_path / "schema.json").write_text(text, encoding="utf-8")
        ran = await alone.do("--schema", str(tmp_path / "schema.json"), "switch Bluetooth on")
        assert (ran.code, ran.lines) == (64, []), ran.err
        assert "schema.json" in ran.err

    async def test_a_question_without_an_answer_blocks(self, alone: Workshop) -> None:
        alone.brain.acts(*SIGN_IN, FINISH)
        ran = await alone.do("sign in as anna")
        assert ran.code == 3, ran.err
        (question,) = ran.of("question")
        assert question["kind"] == "secret"
        assert "Account (org.example.account) wants a password or code" in question["text"]
        assert "Which code came to your phone?" in question["detail"]
        assert ran.final["outcome"] == "blocked"
        assert "wants a password or code" in ran.final["summary"]
        assert "in time" not in ran.final["summary"]
        assert "--answer-file" in ran.err
        assert alone.place.phone.truth.signed_in == ""

    async def test_who_sits_at_the_terminal_is_asked(self, alone: Workshop) -> None:
        alone.brain.acts(*SIGN_IN, FINISH)
        code, shown = await alone.at_a_terminal({"(not shown while you type): ": "246810\n"}, "sign in as anna")
        assert code == 0, shown
        assert "Which code came to your phone?" in shown
        assert "246810" not in shown
        assert alone.place.phone.truth.signed_in == "anna"

    async def test_ctrl_c_cancels(self, alone: Workshop) -> None:
        alone.brain.acts(BLUETOOTH[0], hang)
        ran = await alone.signalled(signal.SIGINT, "step", "switch Bluetooth on")
        assert ran.code == 5, ran.err
        assert ran.final["outcome"] == "cancelled"
        assert "Traceback" not in ran.err


async def _asked(workshop: Workshop, task: str) -> None:
    """Returns once this task asks something."""
    async with running_service(workshop.place.data) as remote, asyncio.timeout(START_S):
        assert remote is not None
        while not any(one["task"] == task for one in await remote.questions()):
            await asyncio.sleep(0.1)


async def _ended(workshop: Workshop, task: str) -> None:
    """Returns once this task has come to its end."""
    async with running_service(workshop.place.data) as remote, asyncio.timeout(START_S):
        assert remote is not None
        while (await remote.task(task))[0]["outcome"] is None:
            await asyncio.sleep(0.1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(
    adb_server: AdbServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Workshop, Service]]:
    """One workshop with one running service for all tests of a class."""
    async with (
        place_with(adb_server, tmp_path_factory.mktemp("service")) as place,
        workshop_at(place) as workshop,
        place.service() as service,
    ):
        yield workshop, service


class TestWithAService:
    """Commands that a running service is asked to do."""

    async def test_the_service_does_the_task(self, shared: tuple[Workshop, Service]) -> None:
        workshop, service = shared
        workshop.brain.acts(*BLUETOOTH)
        was = workshop.place.phone.truth.toggles["bluetooth"]
        ran = await workshop.do("switch Bluetooth")
        assert ran.code == 0, ran.err
        assert workshop.place.phone.truth.toggles["bluetooth"] is not was
        assert kinds(ran.lines) == ["task", "started", "step", "step", "step", "final"]
        assert ran.final["data"] == "42"
        listed = await workshop.opengui("tasks", "--json", "--limit", "1")
        assert [row["task"] for row in listed.lines] == [ran.lines[0]["task"]]
        assert "Traceback" not in service.log

    async def test_a_code_is_not_taken_from_the_command_line(self, shared: tuple[Workshop, Service]) -> None:
        """Everybody on the machine can list it there. Seen failing without the question's kind being looked at."""
        workshop, service = shared
        workshop.brain.acts(*SIGN_IN, FINISH)
        number = (await workshop.do("--detach", "sign in as anna")).lines[0]["task"]
        await _asked(workshop, number)
        refused = await workshop.opengui("answer", number, "246810")
        assert (refused.code, refused.out) == (64, "")
        assert "process list" in refused.err
        nobody = await workshop.opengui("answer", number)
        assert (nobody.code, "no terminal" in nobody.err) == (64, True)
        given = await workshop.opengui("answer", number, "--file", "-", stdin="246810\n")
        assert given.code == 0, given.err
        await _ended(workshop, number)
        assert workshop.place.phone.truth.signed_in == "anna"
        assert "246810" not in given.out + refused.err + service.log
        workshop.place.phone.state.account.signed_in = ""

    async def test_words_for_a_person(self, shared: tuple[Workshop, Service]) -> None:
        workshop, service = shared
        workshop.brain.acts(*SIGN_IN, FINISH)
        ran = await workshop.opengui("do", "sign in as anna", "--answer", "246810")
        assert ran.code == 0, ran.err
        assert "? Account (org.example.account) wants a password or code" in ran.out
        assert ran.out.splitlines()[-2:] == ["SUCCEEDED: It is done.", "42"]
        assert workshop.place.phone.truth.signed_in == "anna"
        assert "246810" not in ran.out + ran.err + service.log

    @pytest.mark.parametrize("where", ["file", "-"])
    async def test_answers_are_read_where_no_list_of_processes_shows_them(
        self, shared: tuple[Workshop, Service], tmp_path: Path, where: str
    ) -> None:
        """Before, there was no way but the arguments, which everybody on the machine can list."""
        workshop, service = shared
        workshop.place.phone.state.account.signed_in = ""
        workshop.brain.acts(*SIGN_IN, FINISH)
        given, path = "\n246810\r\n", tmp_path / "answers"
        path.write_text(given, encoding="utf-8", newline="")
        named, stdin = (str(path), "") if where == "file" else ("-", given)
        ran = await workshop.do("sign in as anna", f"--answer-file={named}", stdin=stdin)
        assert ran.code == 0, ran.err
        assert workshop.place.phone.truth.signed_in == "anna"
        assert "246810" not in ran.out + ran.err + service.log

    async def test_answers_that_cannot_be_read(self, shared: tuple[Workshop, Service], tmp_path: Path) -> None:
        workshop, _ = shared
        (tmp_path / "picture").write_bytes(b"\xff\xd8")
        for name, words in (("none", "No such file"), ("picture", "not UTF-8 text")):
            ran = await workshop.do("sign in", f"--answer-file={tmp_path / name}")
            assert (ran.code, ran.out) == (64, "")
            assert words in ran.err

    async def test_a_wrong_code_is_asked_for_anew_and_then_nobody_answers(
        self, shared: tuple[Workshop, Service]
    ) -> None:
        """Before, the second question was taken for the first, and answered with nothing for ever."""
        workshop, _ = shared
        workshop.place.phone.state.account.signed_in = ""
        again = on("6-digit code", "type", text="999999", submit=True)
        workshop.brain.acts(*SIGN_IN[:2], *[again] * 9, GIVE_UP)
        ran = await workshop.do("sign in as anna", "--answer", "111111")
        assert (ran.code, ran.final["outcome"]) == (3, "blocked")
        first, second = ran.of("question")
        assert first["question"] != second["question"]

    async def test_what_is_not_proven_is_unverified(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        workshop.brain.acts(FINISH, FINISH, proven=False)
        ran = await workshop.do("switch Bluetooth on")
        assert ran.code == 2, ran.err
        assert ran.final["outcome"] == "unverified"
        assert "Nothing shows it." in ran.final["summary"]

    async def test_what_the_agent_gives_up_has_failed(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        workshop.brain.acts(call("finish", status="failure", summary="There is no such switch."))
        ran = await workshop.do("switch the moon on", "--quick")
        assert ran.code == 4, ran.err
        assert (ran.final["outcome"], ran.final["summary"]) == ("failed", "There is no such switch.")

    async def test_answers_are_used_in_order(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        notes = workshop.place.phone.truth.notes
        ask = call("ask_user", question="The first or the last?", choices=["first", "last"])
        workshop.brain.acts(ask, *deleting(workshop.place), FINISH)
        assert len(workshop.place.phone.truth.notes) == len(notes) + 1
        ran = await workshop.do("delete a note", "--answer", "the very last", "--answer", "allow")
        assert ran.code == 0, ran.err
        assert [question["kind"] for question in ran.of("question")] == ["ask", "approve"]
        assert ran.of("question")[0]["choices"] == ["first", "last"]
        assert workshop.place.phone.truth.notes == notes
        assert "the very last" in workshop.model.requests[-2].text

    @pytest.mark.parametrize("end", [GIVE_UP, FINISH])
    async def test_a_denied_approval_is_declined(self, shared: tuple[Workshop, Service], end: Act) -> None:
        """Seen failing before: 4 for a model that gives up, and 0 for one that claims it. Only the former is quoted."""
        workshop, _ = shared
        workshop.brain.acts(*deleting(workshop.place), end)
        notes = workshop.place.phone.truth.notes
        ran = await workshop.do("delete the last note", "--answer", "deny")
        assert (ran.code, ran.final["outcome"]) == (7, "declined"), ran.err
        assert "Not done, because a person did not allow it" in ran.final["summary"]
        assert ("It was not allowed." in ran.final["summary"]) is (end is GIVE_UP)
        assert "It is done." not in ran.final["summary"]
        assert workshop.place.phone.truth.notes == notes

    async def test_a_reply_is_an_answer_and_no_end_of_a_task(self, shared: tuple[Workshop, Service]) -> None:
        """Seen failing before: 0 for all of it, and the phone as it was."""
        workshop, _ = shared
        workshop.brain.acts(reply="In Settings, under Display.")
        ran = await workshop.do("how do I turn on dark mode?")
        assert (ran.code, ran.final["outcome"], ran.final["summary"]) == (6, "answered", "In Settings, under Display.")
        on = workshop.place.phone.truth.toggles["bluetooth"]
        workshop.brain.acts(*BLUETOOTH, FINISH, reply="...")
        ran = await workshop.do("turn on Bluetooth for me")
        assert (ran.code, ran.final["outcome"]) == (0, "succeeded"), ran.err
        assert workshop.place.phone.truth.toggles["bluetooth"] is not on

    async def test_an_answer_that_is_none_blocks(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        workshop.brain.acts(call("take_over", reason="Solve the puzzle"), FINISH)
        ran = await workshop.do("buy a ticket", "--answer", "perhaps")
        assert ran.code == 3
        assert "Please answer done" in ran.err
        assert "Solve the puzzle" in ran.final["summary"]

    async def test_ctrl_c_cancels_what_the_service_does(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        workshop.brain.acts(BLUETOOTH[0], hang)
        ran = await workshop.signalled(signal.SIGINT, "step", "switch Bluetooth on")
        assert ran.code == 5, ran.err
        assert ran.final["outcome"] == "cancelled"

    async def test_what_is_wrong_with_the_words(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        unknown = await workshop.do("open Settings", "--device", "nokia")
        assert (unknown.code, unknown.out) == (64, "")
        assert 'There is no phone called "nokia". Known: Virtual Phone.' in unknown.err

    async def test_a_task_is_looked_after(self, shared: tuple[Workshop, Service], tmp_path: Path) -> None:
        """Each command as somebody types it who has given a task somewhere else, with its exit code."""
        workshop, service = shared
        opengui = workshop.opengui
        workshop.brain.acts(call("ask_user", question="The first or the last?", choices=["first", "last"]), hang)
        number = (await opengui("do", "--json", "--detach", "delete a note")).lines[0]["task"]
        await _asked(workshop, number)
        shown = await opengui("show", number)
        assert (shown.code, shown.out.splitlines()[1]) == (0, "  delete a note")
        assert (await opengui("answer", number, "last")).out == f"Task {number} has its answer.\n"
        refused = await opengui("answer", number, "last")
        assert (refused.code, refused.err) == (64, f"opengui answer: Task {number} is not asking anything.\n")
        assert "Paused" in (await opengui("pause", number)).out
        assert (await opengui("resume", number, "take the blue one")).code == 0
        assert "Cancelled" in (await opengui("cancel", number)).out
        assert (await opengui("show", number, "--json")).lines[0]["outcome"] == "cancelled"
        assert (await opengui("cancel", "9999")).code == 64

        workshop.brain.acts(*BLUETOOTH)
        again = await opengui("again", number, "and switch Bluetooth on")
        assert (again.code, again.out) == (0, f"Task {int(number) + 1} is accepted.\n")
        await _ended(workshop, str(int(number) + 1))
        shown = await opengui("show")
        lines = shown.out.splitlines()
        assert lines[1] == "  delete a note This time: and switch Bluetooth on", "no line of it looks like a step"
        assert lines[-2:] == ["  It is done.", "  42"]
        assert [line[:5] for line in lines[2:-2]] == ["  1  ", "  2  ", "  3  "], shown.out
        assert shown.out.count("It is done.") == 1
        picture = tmp_path / "screen.jpg"
        assert (await opengui("screen", "-o", str(picture))).code == 0
        assert picture.read_bytes().startswith(b"\xff\xd8\xff")
        planned = await opengui("schedule", "every day 07:30 do open settings", "--deep", "--member", "Executor")
        assert planned.out.startswith("Schedule 1: every day 07:30"), planned
        (listed,) = (await opengui("schedules", "--json")).lines
        assert listed["options"] == {"deep": True, "member": "executor"}
        assert "is paused" in (await opengui("schedules", "pause", "1")).out
        removed = await opengui("schedules", "remove", "1")
        assert (removed.code, removed.out) == (0, "Schedule 1 was removed.\n")
        assert (await opengui("schedules", "remove", "1")).code == 64
        for given in ("do skill clear-notifications", "skill clear-notifications"):
            assert (await opengui("schedule", f"every day 07:30 {given}")).code == 0
        told = {line["text"] for line in (await opengui("schedules", "--json")).lines}
        assert told == {"Follow the skill clear-notifications."}, "both mean the skill, not a text for the model"
        watched = await opengui("watch", "every 30m do skill clear-notifications tell me when it changes", "--yes")
        assert "Follow the skill clear-notifications." in watched.out
        logged = await opengui("logs", "-n", "500")
        assert "Ready." in logged.out
        assert logged.out.splitlines()[0] in service.log

    async def test_the_console_is_opened_without_its_token_on_a_command_line(
        self, shared: tuple[Workshop, Service], tmp_path: Path
    ) -> None:
        workshop, service = shared
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/given\n')
        browser.chmod(0o700)
        opened = await workshop.opengui("open", "1", BROWSER=str(browser))
        assert opened.code == 0, opened.err
        page = workshop.place.data / "open.html"
        assert (tmp_path / "given").read_text().strip() == page.as_uri()
        assert page.stat().st_mode & 0o077 == 0
        token = service.console.partition("token=")[2]
        assert token
        assert f"token={token}#task-1" in page.read_text()
        assert token not in opened.out

    async def test_the_phones(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        ran = await workshop.opengui("devices", "--json")
        assert ran.code == 0
        (phone,) = ran.lines
        assert (phone["serial"], phone["state"], phone["usable"]) == (workshop.place.phone.address, "ready", True)
        assert phone["id"]
        assert phone["name"] == "Virtual Phone"

    async def test_everybody_is_signed_out_of_the_console(self, shared: tuple[Workshop, Service]) -> None:
        workshop, service = shared
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            async with browser.get(service.console) as response:
                assert response.status == 200
            ran = await workshop.opengui("signout")
            assert (ran.code, ran.out) == (0, "Console sessions ended: 1\n")
            async with browser.get(URL(service.console).with_path("/api/state").with_query(None)) as response:
                assert response.status == 401

    async def test_the_doctor_beside_a_service(self, shared: tuple[Workshop, Service]) -> None:
        workshop, _ = shared
        ran = await workshop.opengui("doctor")
        assert "✓ Phone Virtual Phone" in ran.out
        assert "The service is running." in ran.out

    @FORMS
    async def test_the_result_fits_a_schema(
        self, shared: tuple[Workshop, Service], tmp_path: Path, least: int, ending: tuple[int, str, str | None]
    ) -> None:
        await _with_schema(shared[0], tmp_path, least, ending)


async def test_a_service_that_is_just_starting_is_waited_for(alone: Workshop) -> None:
    """Seen failing without the wait: the directory was in use, and nothing was done."""
    service = alone.place.service()
    starting = asyncio.create_task(service.__aenter__())
    try:
        while not service_starts(alone.place.data):
            await asyncio.sleep(0)
        assert (await alone.opengui("tasks")).out == "No tasks yet.\n"
    finally:
        await starting
        await service.__aexit__(None, None, None)


async def test_a_service_that_dies_while_it_is_followed(alone: Workshop) -> None:
    alone.brain.acts(BLUETOOTH[0], hang)
    async with alone.place.service() as service:
        followed = alone.signalled(signal.SIGCONT, "final", "switch Bluetooth on")
        running = asyncio.create_task(followed)
        await alone.model.arrived(2, timeout=30)
        await service.kill()
        ran = await running
    assert ran.code == 69
    assert "is gone" in ran.err
    assert "Traceback" not in ran.err
