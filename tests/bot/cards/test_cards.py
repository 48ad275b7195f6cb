"""The card, the final message, questions and steps as they read."""

from __future__ import annotations

import io
import itertools
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from agent.effect_facts import NotAllowed
from agent.events import Source, Todo
from agent.models.base import Usage
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, QuestionKind, Recipient
from agent.run import Outcome
from bot.cards.buttons import ButtonAction, read_button
from bot.cards.card import TODO_LINES, CardFacts, render_card, render_step, state_line
from bot.cards.final import render_final, render_notice
from bot.cards.formatting import by_role
from bot.cards.picture import screen_picture
from bot.cards.question import render_answered, render_question
from bot.domain.outgoing import Message, Picture
from bot.domain.task import Ahead, OpenQuestion, TaskState, locator
from bot.store.frames import FrameFiles
from bot.texts import speaking
from tests.bot.records import ANNA, a_question, a_step, a_task, an_ended_task, screen_bytes


@pytest.fixture
def frames(tmp_path: Path) -> FrameFiles:
    return FrameFiles(tmp_path, time.time)


def labels(message: Message) -> list[list[str]]:
    return [[button.label for button in row] for row in message.buttons]


def everything(message: Message) -> str:
    return "\n".join((message.heading, message.body, message.footer))


async def test_a_working_card(frames: FrameFiles) -> None:
    reference = await frames.save(screen_bytes(), suffix=".jpg")
    step = a_step(frame=reference, mark=(540, 1200))
    card = await render_card(a_task(), CardFacts(step=step), frames=frames, now=1075.0)
    assert card.heading == "Task 12 · open settings and turn on airplane mode"
    assert card.body == "Step 3 · Settings\nTapped Network and internet"
    assert card.footer == "1 min 5 s · 12.3k tokens · cost 0.0123"
    assert labels(card) == [["Stop", "Pause", "Take over"]]
    assert not card.notify
    assert card.mention is None
    assert card.picture is not None
    with Image.open(io.BytesIO(card.picture.data)) as image:
        assert max(image.size) == 1200
        scale = image.width / 1080
        centre, radius = (round(540 * scale), round(1200 * scale)), image.width // 22
        red = image.getpixel((centre[0] + radius - 2, centre[1]))
        inside = image.getpixel(centre)
        assert isinstance(red, tuple)
        assert isinstance(inside, tuple)
        assert red[0] > 180
        assert red[1] < 90
        assert inside[0] < 60, "the ring leaves free what was touched"


async def test_the_last_action_is_at_most_ten_words(frames: FrameFiles) -> None:
    step = a_step(summary=" ".join(f"word{number}" for number in range(30)))
    card = await render_card(a_task(), CardFacts(step=step), frames=frames, now=1075.0)
    assert card.body.splitlines()[1].split() == [f"word{number}" for number in range(10)] + ["…"]
    denied = replace(a_step(summary="Sending Bob the note on where we meet next Friday"), effect=(NotAllowed(),))
    card = await render_card(a_task(), CardFacts(step=denied), frames=frames, now=1075.0)
    assert card.body.splitlines()[1].endswith("Sending Bob the note on where we meet next Friday")
    chinese = await render_card(a_task(), CardFacts(step=a_step(summary="点" * 300)), frames=frames, now=1075.0)
    assert len(chinese.body.splitlines()[1]) <= 90


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        (TaskState.QUEUED, [["Stop"]]),
        (TaskState.WORKING, [["Stop", "Pause", "Take over"]]),
        (TaskState.WAITING, [["Stop"]]),
        (TaskState.PAUSED, [["Resume", "Stop"]]),
        (TaskState.INTERRUPTED, [["Resume", "Stop"]]),
    ],
)
async def test_buttons_fit_the_state(frames: FrameFiles, state: TaskState, buttons: list[list[str]]) -> None:
    card = await render_card(a_task(state=state), CardFacts(), frames=frames, now=1075.0)
    assert labels(card) == buttons
    assert all(read_button(button.data) for row in card.buttons for button in row)


async def test_a_queued_card_says_its_place(frames: FrameFiles) -> None:
    card = await render_card(
        a_task(state=TaskState.QUEUED, started=None), CardFacts(place=2), frames=frames, now=1075.0
    )
    assert card.body == "Queued, position 2"


async def test_an_ended_card_is_frozen(frames: FrameFiles) -> None:
    card = await render_card(an_ended_task(Outcome.BLOCKED), CardFacts(step=a_step()), frames=frames, now=5000.0)
    assert card.buttons == ()
    assert card.body == "⛔ Blocked"
    assert (card.footer, card.picture) == ("", None), "the final message tells that"


async def test_plans_are_shown_around_what_is_in_progress(frames: FrameFiles) -> None:
    todos = [Todo(title=f"part {number}", state="completed") for number in range(10)]
    todos += [Todo(title="this one", state="in progress"), *(Todo(title=f"later {number}") for number in range(10))]
    task = a_task(todos=tuple(todos))
    card = await render_card(
        task, CardFacts(step=a_step()), frames=frames, now=1075.0, note=lambda _: "Waiting for the phone"
    )
    assert "▶ this one" in card.body
    assert "✓ part 9" in card.body
    assert "Waiting for the phone" in card.body
    assert f"… and {len(todos) - TODO_LINES} more" in card.body


async def test_the_longest_card_fits_a_caption(frames: FrameFiles) -> None:
    todos = tuple(Todo(title="long " * 100) for _ in range(30))
    card = await render_card(
        a_task(text="words " * 500, todos=todos),
        CardFacts(step=a_step(summary="long" * 500, app="app" * 200)),
        frames=frames,
        now=1e9,
        note=lambda _: "note " * 300,
    )
    assert len(everything(card)) <= 1024


async def test_a_lost_or_broken_frame_costs_only_the_picture(frames: FrameFiles) -> None:
    broken = await frames.save(b"no picture at all", suffix=".jpg")
    for reference in (f"{'0' * 64}.jpg", broken):
        card = await render_card(a_task(), CardFacts(step=a_step(frame=reference)), frames=frames, now=1075.0)
        assert card.picture is None
        assert card.body


async def test_a_mark_outside_of_the_picture_is_not_drawn(frames: FrameFiles) -> None:
    reference = await frames.save(screen_bytes(100, 200, "PNG"), suffix=".png")
    marked = await screen_picture(frames, reference, (500, 500))
    plain = await screen_picture(frames, reference)
    assert marked == plain
    assert plain is not None


def test_a_step_message_is_silent() -> None:
    message = render_step(a_step())
    assert everything(message) == "Task 12 · Step 3 · Settings\nTapped Network and internet\n"
    assert not message.notify


@pytest.mark.parametrize(("label", "shown"), [("浏览器", "浏览器"), ("", "Browser")])
def test_people_read_the_label_of_an_app_and_never_its_package(label: str, shown: str) -> None:
    step = a_step(app="com.android.browser", app_name=label)
    assert render_step(step).heading == f"Task 12 · Step 3 · {shown}"
    assert state_line(a_task(state=TaskState.WORKING), step) == f"Step 3 · {shown}"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.SUCCEEDED, "✅ Done · "),
        (Outcome.UNVERIFIED, "☑️ Done, but not verified · "),
        (Outcome.BLOCKED, "⛔ Blocked · "),
        (Outcome.FAILED, "❌ Failed · "),
        (Outcome.CANCELLED, "⏹️ Cancelled · "),
    ],
)
async def test_the_final_message_is_honest(frames: FrameFiles, outcome: Outcome, words: str) -> None:
    reference = await frames.save(screen_bytes(), suffix=".jpg")
    task = an_ended_task(outcome, data="42 EUR", frame=reference)
    message = await render_final(task, frames=frames, now=9999.0)
    assert message.heading.startswith(words)
    assert message.body == "Airplane mode is on.\n\n42 EUR"
    assert message.footer == "3 steps · 1 min 30 s · 12.3k tokens · cost 0.0123"
    assert message.picture is not None
    assert message.notify
    assert message.mention == ANNA
    assert labels(message) == [["Again"]]


async def test_a_final_message_without_words_says_so(frames: FrameFiles) -> None:
    task = an_ended_task(summary="", usage=Usage(), steps=1)
    message = await render_final(task, frames=frames, now=9999.0, repeated=True)
    assert message.body == "There is no summary."
    assert message.footer.startswith("1 step · 1 min 30 s\n")
    assert "repeat" in message.footer


async def test_the_receipt_tells_what_reading_presses_has_taken(frames: FrameFiles) -> None:
    usage = Usage(
        input=12000, output=345, calls=3, cost=0.0123, guard_tokens=1500, guard_seconds=2.34, guard_cost=0.001
    )
    task = an_ended_task(Outcome.SUCCEEDED, usage=usage)
    told = "including 1.5k tokens, 2.3 s to check presses, cost 0.0010"
    assert (await render_final(task, frames=frames, now=9999.0)).footer.endswith(told)
    with speaking("zh"):
        assert "其中操作复核：1.5k 个 token，2.3 秒" in (await render_final(task, frames=frames, now=9999.0)).footer


async def test_a_task_that_goes_on_has_no_final_message(frames: FrameFiles) -> None:
    with pytest.raises(ValueError, match="not ended"):
        await render_final(a_task(), frames=frames, now=1.0)


def test_a_notice() -> None:
    notice = render_notice(a_task(), "The phone is away.", repeated=True)
    assert notice.notify
    assert notice.mention == ANNA
    assert notice.body == "The phone is away."


async def test_a_message_to_somebody_known_has_a_third_button(frames: FrameFiles) -> None:
    to = Recipient(name="Bob", app="com.android.messaging")
    question = a_question(QuestionKind.APPROVE, text="Send “hello” to Bob in Messages?")
    asked = question.question.model_copy(update={"to": to, "choices": (ALLOW, DENY, ALLOW_FOR_TASK)})
    with speaking("en"):
        message = await render_question(replace(question, question=asked), a_task(), frames=frames, now=1000.0)
    assert labels(message) == [["Allow", "Deny"], ["Allow messages to Bob for this task"], ["Stop"]]
    assert "until the task ends" in message.footer
    data = read_button(message.buttons[1][0].data)
    assert data is not None
    assert (data.action, data.choice) == (ButtonAction.ANSWER, ALLOW_FOR_TASK)
    with speaking("zh"):
        chinese = await render_question(replace(question, question=asked), a_task(), frames=frames, now=1000.0)
    assert labels(chinese)[1] == ["本任务内允许给“Bob”发消息"]


async def test_an_approval_has_exactly_allow_and_deny(frames: FrameFiles) -> None:
    question = a_question(QuestionKind.APPROVE, text="Send this message?", detail='"See you at 8"')
    message = await render_question(question, a_task(), frames=frames, now=1000.0)
    assert labels(message) == [["Allow", "Deny"], ["Stop"]]
    pressed = [read_button(button.data) for button in message.buttons[0]]
    assert [(data.action, data.subject, data.choice) for data in pressed if data] == [
        (ButtonAction.ANSWER, locator("12-1.q1"), ALLOW),
        (ButtonAction.ANSWER, locator("12-1.q1"), DENY),
    ]
    assert message.heading == "Send this message?"
    assert '"See you at 8"' in message.body
    assert message.footer.startswith("Your approval is needed · Task 12 · ")
    assert "15 min" in message.footer
    assert message.notify
    assert message.mention == ANNA


async def test_an_approval_that_is_asked_anew_shows_both_screens(frames: FrameFiles) -> None:
    """Seen failing before: it showed only the screen that was there now."""
    was = await frames.save(screen_bytes(540, 1200), suffix=".jpg")
    now = await frames.save(screen_bytes(541, 1200), suffix=".jpg")
    question = a_question(QuestionKind.APPROVE, frame=now, before=was)
    message = await render_question(question, a_task(), frames=frames, now=1000.0)
    alone = await render_question(a_question(QuestionKind.APPROVE, frame=now), a_task(), frames=frames, now=1000.0)
    assert message.picture is not None
    assert alone.picture is not None
    with Image.open(io.BytesIO(message.picture.data)) as both, Image.open(io.BytesIO(alone.picture.data)) as one:
        assert both.width > 2 * one.width
    assert "Picture 1 shows what you allowed" in message.footer
    assert "Picture 1" not in alone.footer


async def test_choices_are_buttons_while_they_fit(frames: FrameFiles) -> None:
    few = await render_question(a_question(choices=("red", "blue")), a_task(), frames=frames, now=1000.0)
    assert labels(few) == [["red"], ["blue"], ["Stop"]]
    five = await render_question(a_question(choices=tuple("abcde")), a_task(), frames=frames, now=1000.0)
    assert len(five.buttons) == 5
    for choices in (tuple("abcdef"), ("x" * 81, "y")):
        many = await render_question(a_question(choices=choices), a_task(), frames=frames, now=1000.0)
        assert labels(many) == [["Stop"]]
        assert many.menu is None
        assert f"1. {choices[0]}" in many.body
        assert "a number" in many.footer


async def test_more_choices_become_a_menu_where_there_is_one(frames: FrameFiles) -> None:
    question = a_question(choices=tuple("abcdef"))
    message = await render_question(question, a_task(), frames=frames, now=1000.0, menu_choices=6)
    assert message.menu is not None
    assert [choice.label for choice in message.menu.choices] == list("abcdef")
    read = [read_button(choice.data) for choice in message.menu.choices]
    assert [data.choice for data in read if data] == list("123456")
    assert labels(message) == [["Stop"]]
    assert "1. a" not in message.body
    assert "from the list" in message.footer
    seven = await render_question(
        a_question(choices=tuple("abcdefg")), a_task(), frames=frames, now=1000.0, menu_choices=6
    )
    assert seven.menu is None
    assert "7. g" in seven.body


async def test_choices_that_are_too_long_for_a_label_are_listed_beside_the_menu(frames: FrameFiles) -> None:
    question = a_question(choices=("x" * 90, "y"))
    message = await render_question(question, a_task(), frames=frames, now=1000.0, menu_choices=25)
    assert message.menu is not None
    assert [choice.label[:4] for choice in message.menu.choices] == ["1. x", "2. y"]
    assert "1. " + "x" * 90 in message.body


async def test_take_over_and_secret(frames: FrameFiles) -> None:
    hands = await render_question(a_question(QuestionKind.TAKE_OVER), a_task(), frames=frames, now=1000.0)
    assert labels(hands) == [["Done", "Touch it here"], ["Stop"]]
    data = read_button(hands.buttons[0][0].data)
    assert data is not None
    assert data.choice == DONE
    secret = await render_question(a_question(QuestionKind.SECRET), a_task(), frames=frames, now=1000.0, repeated=True)
    assert labels(secret) == [["Stop"]]
    assert "repeat" in secret.footer


async def test_a_page_with_a_field_for_the_answer_tells_nobody_to_reply(frames: FrameFiles) -> None:
    """Every kind, in both languages: the sentence that a chat needs would send somebody looking for a message."""

    async def footer(asked: OpenQuestion, *, page: bool) -> str:
        shown = await render_question(
            asked, a_task(), frames=frames, now=1000.0, menu_choices=100, counts_down=page, titled=page
        )
        return shown.footer

    asked = [a_question(choices=choices) for choices in ((), ("red", "blue"), tuple("abcdefg"))]
    asked += [a_question(QuestionKind.TAKE_OVER), a_question(QuestionKind.SECRET)]
    for language, reply in (("en", "eply to this message"), ("zh", "回复")):
        with speaking(language):
            assert [reply in await footer(one, page=False) for one in asked] == [True] * 5
            assert [reply in await footer(one, page=True) for one in asked] == [False] * 5
    assert "no model sees it" in await footer(a_question(QuestionKind.SECRET), page=True)


@pytest.mark.parametrize(
    ("kind", "answer", "words"),
    [
        (QuestionKind.ASK, "blue", "Answered by Ben: blue"),
        (QuestionKind.APPROVE, ALLOW, "Answered by Ben: Allow"),
        (QuestionKind.APPROVE, DENY, "Answered by Ben: Deny"),
        (QuestionKind.TAKE_OVER, DONE, "Answered by Ben: Done"),
        (QuestionKind.SECRET, "", "Answered by Ben. It was typed into the phone and is not stored."),
    ],
)
def test_everybody_sees_who_answered(kind: QuestionKind, answer: str, words: str) -> None:
    message = render_answered(a_question(kind, answer=answer, answered_by="Ben"), a_task())
    assert message.footer.splitlines()[0] == words
    assert message.buttons == ()
    assert not message.notify


def test_a_secret_is_never_shown_even_if_it_were_kept() -> None:
    """Seen failing with the branch for secrets taken out of `closed_line`: the footer then held the code."""
    message = render_answered(a_question(QuestionKind.SECRET, answer="123456", answered_by="Ben"), a_task())
    assert "123456" not in everything(message)


def test_an_expired_question_says_so() -> None:
    assert "not answered in time" in render_answered(a_question(expired=True), a_task()).footer


async def test_buttons_never_hold_what_a_model_wrote(frames: FrameFiles) -> None:
    question = a_question(choices=("rm -rf", "1:stop:99"), id="x" * 300 + "::")
    message = await render_question(question, a_task(), frames=frames, now=1000.0)
    for button in itertools.chain(*message.buttons):
        assert len(button.data.encode()) <= 64
        assert "rm" not in button.data
        assert ":99" not in button.data


async def test_a_question_too_long_for_a_heading_stands_whole_below_one(frames: FrameFiles) -> None:
    long = "Which of these? " * 30
    message = await render_question(a_question(text=long), a_task(), frames=frames, now=1000.0)
    assert message.heading.startswith("A question for you · Task 12 · ")
    assert long in message.body


@pytest.mark.parametrize("kind", ["ask_user", "finish"])
async def test_what_a_message_of_its_own_tells_is_no_text_of_a_step(frames: FrameFiles, kind: str) -> None:
    step = a_step(summary="finish: success", action={"kind": kind})
    card = await render_card(a_task(), CardFacts(step=step), frames=frames, now=1075.0)
    assert card.body == "Step 3 · Settings"


async def test_a_card_tells_what_is_being_done_before_there_is_a_step(frames: FrameFiles) -> None:
    thinking = a_task(state=TaskState.QUEUED, started=None)
    assert (await render_card(thinking, CardFacts(), frames=frames, now=1075.0)).body == "Planning"
    assert (await render_card(a_task(), CardFacts(), frames=frames, now=1075.0)).body == "Looking at the phone"
    ending = await render_card(a_task(), CardFacts(step=a_step(), ending=True), frames=frames, now=1075.0)
    assert (ending.body.splitlines()[0], ending.buttons) == ("Stopping", ())


async def test_a_queued_card_says_behind_whom_and_about_how_long(frames: FrameFiles) -> None:
    task, other = a_task(state=TaskState.QUEUED, started=None), a_task(id="7")
    card = await render_card(task, CardFacts(place=2, ahead=Ahead(other, 200.0)), frames=frames, now=1.0)
    assert card.body == "Queued, position 2, behind task 7 · about 3 min"
    asking = Ahead(replace(other, state=TaskState.WAITING), 200.0)
    card = await render_card(task, CardFacts(place=2, ahead=asking), frames=frames, now=1.0)
    assert card.body == "Queued, position 2, behind task 7, which waits for an answer"


@pytest.mark.parametrize("size", [(1080, 2340), (1440, 3200), (1080, 1920), (2560, 1600)])
async def test_pictures_are_1200_pixels_long_whatever_the_phone(frames: FrameFiles, size: tuple[int, int]) -> None:
    reference = await frames.save(screen_bytes(*size), suffix=".jpg")
    made = await screen_picture(frames, reference, (5, 5))
    assert made is not None
    with Image.open(io.BytesIO(made.data)) as image:
        assert max(image.size) == 1200


async def test_the_recap_is_the_finals_own_picture_where_files_are_messages_of_their_own(frames: FrameFiles) -> None:
    recap = Picture("recap.gif", b"GIF")
    final = await render_final(an_ended_task(), frames=frames, now=1.0, recap=recap, one_message=True)
    assert (final.picture, final.files) == (recap, ())


def test_a_receipt_names_roles_where_their_models_differ() -> None:
    acting = Usage(12_000, 345, calls=3, cost=0.5).booked_on("vision", "big")
    reading = Usage(300, 10, calls=1).booked_on("basic", "small")
    member = Usage(700, calls=1, cost=0.25).booked_on("researcher", "small")
    assert by_role(acting + replace(acting, booked=()).booked_on("basic", "big")) == ""
    assert by_role(acting + reading + member) == (
        "big (acting): 12.3k, cost 0.5000 · small (researcher): 700, cost 0.2500 · small (reading and summarizing): 310"
    )
    with speaking("zh"):
        assert by_role(acting + reading) == "big（操作）：12.3k，费用 0.5000 · small（阅读与总结）：310"


async def test_who_of_the_team_works_is_told_and_no_phone_is_offered(frames: FrameFiles) -> None:
    todos = (Todo(title="what A costs", member="researcher", state="in progress"),)
    task = replace(a_task(), state=TaskState.WORKING, todos=todos, phone_name="", frame=None)
    card = await render_card(task, CardFacts(), frames=frames, now=task.created)
    assert card.body == "Working\n▶ researcher: what A costs"
    assert labels(card) == [["Stop", "Pause"]]


async def test_pages_that_were_read_stand_below_the_result(frames: FrameFiles) -> None:
    pages = tuple(Source(title=f"Shop {number}", url=f"https://shop.example/{number}") for number in range(10))
    task = replace(an_ended_task(), summary="A is cheaper.", data=None, sources=pages)
    final = await render_final(task, frames=frames, now=task.created)
    lines = final.body.splitlines()
    assert lines[:4] == ["A is cheaper.", "", "Sources:", "- Shop 0 https://shop.example/0"]
    assert lines[-1] == "… and 2 more"
    with speaking("zh"):
        assert "来源：" in (await render_final(task, frames=frames, now=task.created)).body
