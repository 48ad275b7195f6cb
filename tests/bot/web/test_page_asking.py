"""What the page shows of questions and of what became of them, in a real Chromium (`make test-page`)."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page, expect

from agent.effect_facts import NotAllowed
from agent.events import Asked
from agent.questions import QuestionKind, Recipient
from agent.run import Outcome
from bot.domain.task import OpenQuestion, TaskState
from bot.domain.task_events import QuestionClosed
from bot.web.chat import HOME
from tests.bot.web.standins import ended, picture, question, task
from tests.bot.web.test_page import open_task
from tests.bot.web.test_page_replay import step
from tests.bot.web.world import World
from tests.fixtures.axe import looks_right_everywhere

pytestmark = pytest.mark.page


def asked(world: World, kind: QuestionKind, text: str, **more: object) -> OpenQuestion:
    """Task 5 waits for this answer, as its log says."""
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    made = question(kind, "5")
    made = replace(made, question=made.question.model_copy(update={"text": text, **more}))
    world.tables.happens("5", Asked(question=made.question))
    return made


async def test_the_time_to_answer_runs_down(world: World, page: Page) -> None:
    """The time is no sentence of the message: that would stand still, and begin anew with a reload."""
    one = replace(asked(world, QuestionKind.ASK, "Which?"), expires=time.time() + 62)
    world.tables.questions = [one]
    await open_task(page, "5")
    left = page.get_by_role("timer")
    await expect(left).to_have_text(re.compile(r"Open for 1 min [01] s\."))
    await expect(left).to_have_text("Open for 58 s.")
    await page.reload()
    await expect(left).to_have_text(re.compile(r"Open for 5\d s\."))
    world.tables.questions = [replace(one, expires=time.time() - 1)]
    await expect(left).to_have_text("The time to answer has run out.")


async def test_what_is_asked_is_read_before_its_details(world: World, page: Page) -> None:
    """Seen failing with the heading hidden wherever there are details: only those were to be read."""
    one = asked(world, QuestionKind.APPROVE, "Send “hello” to Bob in Messages?", detail="This sends something.")
    world.tables.questions = [one]
    await open_task(page, "5")
    message = page.locator(".message.question")
    await expect(message.get_by_role("heading", name="Send “hello” to Bob in Messages?")).to_be_visible()
    await expect(message).to_contain_text("This sends something.")


async def test_a_message_is_approved_by_what_it_says_to_whom_and_where(world: World, page: Page) -> None:
    one = asked(world, QuestionKind.APPROVE, "Send “hello” to Bob in Messages?", detail="Done by: tap Send")
    to = Recipient(name="Bob", app="com.messages", app_name="Messages")
    sends = one.question.model_copy(update={"to": to, "sends": "hello"})
    world.tables.questions = [replace(one, question=sends)]
    await open_task(page, "5")
    message = page.locator(".message.question")
    await expect(message.locator("dt")).to_have_text(["Message", "To", "App"])
    await expect(message.locator("dd")).to_have_text(["hello", "Bob", "Messages"])
    await expect(message.get_by_text("Done by: tap Send")).not_to_be_visible()
    await message.get_by_text("Details").click()
    await expect(message.get_by_text("Done by: tap Send")).to_be_visible()
    await looks_right_everywhere(page, "an approval")


async def test_on_a_narrow_screen_a_question_is_read_from_its_top_and_both_pictures_are_seen(
    world: World, page: Page
) -> None:
    """Seen failing at its end, where the buttons are, and with no picture at all: only one of the two stands above."""
    await page.set_viewport_size({"width": 360, "height": 740})
    before, now = [await world.frames.save(picture(colour), suffix="png") for colour in ("red", "green")]
    detail = "It has changed.\n" * 30
    world.tables.questions = [asked(world, QuestionKind.APPROVE, "Send it?", detail=detail, before=before, frame=now)]
    await open_task(page, "5")
    message = page.locator(".message.question")
    await expect(message.locator(".thumb.wide img")).to_be_visible()
    await expect(message.get_by_role("heading", name="Send it?")).to_be_in_viewport()
    await expect(message.get_by_role("button", name="Stop")).not_to_be_in_viewport()
    words, shown = [await message.locator(part).bounding_box() for part in (".text", ".thumb")]
    assert words is not None
    assert shown is not None
    assert words["y"] + words["height"] <= shown["y"]


async def test_a_closed_question_stays_and_is_no_card(world: World, page: Page) -> None:
    """The question is not gone from the conversation, and the phone stands there with its own words."""
    frame = await world.frames.save(picture(), suffix="png")
    world.tables.does(replace(step(1, frame), summary="Typing hello"))
    one = asked(world, QuestionKind.APPROVE, "Send it?", detail="This sends something.")
    world.tables.questions = [one]
    await open_task(page, "5")
    await expect(page.locator(".message.question")).to_be_visible()
    world.tables.questions, world.tables.closed = [], [replace(one, answer="deny", answered_by="operator")]
    world.tables.happens("5", QuestionClosed(question="q5", by="operator"))
    stage = page.get_by_label("The phone, live")
    for _ in ("live", "after a reload"):
        message = page.locator(".message:not(.film)")
        await expect(message.get_by_role("heading")).to_have_text("Send it?")
        await expect(message.locator(".footer")).to_contain_text("Deny")
        await expect(page.get_by_role("timer")).to_have_count(0)
        await expect(stage).to_contain_text("Typing hello")
        await expect(stage.locator("img")).to_be_visible()
        await expect(stage.get_by_role("button", name="Stop")).to_be_visible()
        await page.reload()


async def test_a_code_is_typed_where_nobody_reads_it(world: World, page: Page) -> None:
    """Seen failing with the keyboard in the open box below; who is in the middle of a line is left there."""
    line, covered = page.locator("#line"), page.locator(".reply input[type=password]")
    world.tables.tasks = [task("5")]
    await open_task(page, "5")
    await line.fill("not that one")
    first = asked(world, QuestionKind.SECRET, "Bank wants a code.", id="q1")
    world.tables.questions = [first]
    await expect(covered).to_be_visible()
    await expect(line).to_be_focused()
    await expect(line).to_have_attribute("placeholder", re.compile("in the field above"))
    await line.fill("")
    second = asked(world, QuestionKind.SECRET, "Bank wants a code again.", id="q2", again=True)
    world.tables.questions = [second]
    await expect(covered).to_have_count(1)
    await expect(covered).to_be_focused()
    await expect(page.locator(".message.question .kind")).to_have_text("Needs the code or password again")
    await page.keyboard.type("481516")
    await page.get_by_role("button", name="Type it").click()
    await expect(covered).to_have_value("")
    assert world.tables.answers == [("q2", "481516")]
    assert world.intake.messages == []
    assert "481516" not in await page.content()
    world.tables.questions = []
    await expect(covered).to_have_count(0)
    await expect(line).to_be_focused()
    world.tables.questions = [second]
    await page.reload()
    await expect(covered).to_be_focused()


async def test_a_step_that_was_denied_reads_so_and_an_end_is_no_sentence_of_the_end(world: World, page: Page) -> None:
    """With the caption alone "Sending to Alice" would read as done, and the last step as the reason."""
    why = "It was not allowed."
    denied = replace(step(1, None), summary="Sending to Alice", effect=(NotAllowed(consequence="send", text="hello"),))
    end = {"kind": "finish", "status": "failure", "summary": why, "data": None}
    world.tables.tasks = [ended("5", Outcome.FAILED, text="tell Alice", summary=why)]
    world.tables.steps = [denied, replace(step(2, None), summary=why, thought=why, action=end, effect=())]
    await page.evaluate("location.hash = '#replay-5'")
    view = page.locator("#view")
    await expect(view.locator(".steps .words")).to_have_text(["Not allowed: Sending to Alice", "Ended: not done"])
    await expect(view.get_by_role("heading")).to_have_text("Not allowed: Sending to Alice")
    await expect(view).to_contain_text("a person did not allow it")
    await page.keyboard.press("End")
    await expect(view.get_by_role("heading")).to_have_text("Ended: not done")
    await expect(view.locator(".thought")).to_have_text(why)


async def test_words_behind_the_end_follow_the_task_up_and_stay_until_they_are_taken(world: World, page: Page) -> None:
    """Kept on a failure, over a reload, and beside another place's line."""
    world.tables.tasks = [ended("5", Outcome.SUCCEEDED)]
    await open_task(page, "5")
    line = page.get_by_label("Command", exact=True)
    await line.fill("not that one, the blue one")
    await page.route("**/api/console/messages", lambda route: route.abort())
    await line.press("Enter")
    await expect(page.locator("#toast")).to_contain_text("Not sent")
    await page.unroute("**/api/console/messages")
    await page.evaluate("location.hash = '#'")
    await expect(line).to_have_value("")
    await page.reload()
    await open_task(page, "5")
    await expect(line).to_have_value("not that one, the blue one")
    await line.press("Enter")
    await expect(line).to_have_value("")
    assert [(said.text, said.command, said.place.address) for said in world.intake.messages] == [
        ("not that one, the blue one", None, replace(HOME, thread="t5"))
    ]


async def test_signed_out_no_phone_is_said_to_be_missing(world: World, browser: Browser, page: Page) -> None:
    """Who only has to sign in looks for no cable."""
    stranger = await browser.new_page()
    await stranger.goto(world.url)
    await expect(stranger.locator("#link")).to_have_text("Signed out")
    await expect(stranger.locator("#phone-list li")).to_have_count(0)
    await expect(stranger.locator("#task-list")).not_to_contain_text("No tasks yet")
    world.tables.phones = []
    await expect(page.locator("#phone-list")).to_have_text("No phone connected.")


async def test_a_task_shows_its_screen_and_its_time_before_there_is_a_card(world: World, page: Page) -> None:
    """The time goes on between two steps. The screen is the task's, also reloaded."""
    frame = await world.frames.save(picture(), suffix="png")
    world.tables.tasks = [task("5", steps=0, frame=frame, started=time.time() - 3)]
    await open_task(page, "5")
    stage = page.get_by_label("The phone, live")
    for _ in ("live", "after a reload"):
        await expect(stage.locator(".screen img")).to_be_visible()
        await expect(stage).not_to_contain_text("No picture yet")
        await page.reload()
    await expect(stage).to_contain_text("1.3k tokens")
    shown = await stage.locator(".clock").inner_text()
    assert re.fullmatch(r"\d+ s", shown)
    await expect(stage.locator(".clock")).not_to_have_text(shown)
