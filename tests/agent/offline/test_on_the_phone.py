"""What goes wrong on phones: people who say no, pop-ups, slow and deaf phones, apps left on other pages."""

from __future__ import annotations

import json

import pytest

from agent.control import done_by_hand
from agent.events import Asked, Step
from agent.models.base import Models
from agent.offline.pilot import OfflinePilot
from agent.questions import QuestionKind
from agent.run import NeedsModel, Outcome
from devices.virtual_phone.state import ChatLine, Conversation
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.offline.phones import Phones, Result, piloted

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED = 3


async def test_sending_is_asked_about_with_the_exact_words(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    result = await piloted(rig, 'send a message to Bob saying "See you at 6, by the door"', "allow")
    question = result.asked[0].question
    assert question.kind is QuestionKind.APPROVE
    assert "See you at 6, by the door" in question.detail
    assert result.end.outcome is Outcome.SUCCEEDED
    assert result.end.summary == "Sent the message to Bob."


async def test_a_message_that_is_not_allowed_is_not_sent(phones: Phones) -> None:
    """Seen failing with the look at `denied` taken out of deciding.py: the pilot then says something else."""
    rig = phones.fresh(SEED)
    sent = rig.phone.truth.messages
    result = await piloted(rig, "send a message to Bob saying hello there", "deny")
    assert result.end.outcome is Outcome.DECLINED
    assert "not allowed" in result.end.summary
    assert rig.phone.truth.messages == sent


async def test_a_draft_is_replaced_and_another_conversation_left(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    task_service = rig.phone.windows
    task_service.launch("messages")
    task_service.open("thread", person="Alice")
    task_service.page.fields["compose_message_text"] = "half a thought"
    result = await piloted(rig, "send a message to Bob saying on my way", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert ("Bob", "on my way") in [(each.to, each.text) for each in rig.phone.truth.messages]


async def test_the_name_must_be_exact(phones: Phones) -> None:
    """Bobs is not Bob. Seen failing with the conversation looked up by likeness, as other labels are."""
    rig = phones.fresh(SEED, conversations=[Conversation("Bobs", [ChatLine("hi", mine=False)])])
    result = await piloted(rig, "send a message to Bob saying lunch?", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert [(each.to, each.text) for each in rig.phone.truth.messages] == [("Bob", "lunch?")]


async def test_a_name_in_a_conversation_is_not_its_title(phones: Phones) -> None:
    """Seen failing with every label of the page taken as its title: the words go to Alice."""
    rig = phones.fresh(SEED)
    task_service = rig.phone.windows
    rig.phone.state.conversations[0].lines.append(ChatLine("Bob", mine=False))
    task_service.launch("messages")
    task_service.open("thread", person="Alice")
    result = await piloted(rig, "open messages and send a message to Bob saying surprise", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert ("Bob", "surprise") in [(each.to, each.text) for each in rig.phone.truth.messages]


async def test_another_note_that_is_open_is_left_as_it_is(phones: Phones) -> None:
    """Seen failing with the check for a new note in `note_next` taken out."""
    rig = phones.fresh(SEED)
    task_service = rig.phone.windows
    task_service.launch("notes")
    task_service.open("edit", number="1").fields = {"title": "Groceries", "body": "Milk, bread, coffee"}
    result = await piloted(rig, "write a note that says call the plumber")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert [note.body for note in rig.phone.truth.notes] == ["Milk, bread, coffee", "call the plumber"]


async def test_a_pop_up_is_closed_with_the_button_that_agrees_to_nothing(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.pop_up("Share your location?", "Maps wants to know where you are.", ("Allow", "Not now"))
    result = await piloted(rig, "turn on Bluetooth")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.dialog_answers == ("Share your location?: Not now",)
    assert rig.phone.truth.toggles["bluetooth"]


async def test_a_pop_up_without_such_a_button_is_left_with_back(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.pop_up("Subscribe", "Only today.", ("Yearly", "Monthly"))
    result = await piloted(rig, "open shop and tap Umbrella")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.dialog_answers == ()
    assert rig.phone.truth.page == "product"


async def test_a_button_of_a_pop_up_can_be_named(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.pop_up("Rate this app", "Do you like it?", ("Later", "Rate"))
    result = await piloted(rig, "tap Rate")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.dialog_answers == ("Rate this app: Rate",)


async def test_a_slow_page_is_waited_for(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.faults.set(page_ms=3200)
    result = await piloted(rig, "open browser and search slow trains")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert "slow trains - official site" in (result.end.data or "")
    assert any("Waiting for Loading" in thought for thought in result.thoughts)


async def test_a_touch_without_effect_is_no_success_and_is_not_repeated(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.windows.launch("shop")
    rig.phone.faults.set(deaf=True)
    before = len(rig.inputs())
    result = await piloted(rig, "tap Umbrella")
    assert result.end.outcome is Outcome.FAILED
    assert "nothing on the screen changed" in result.end.summary
    assert len(rig.inputs()) == before + 1


async def test_a_wrong_code_is_asked_for_once_more_and_never_shown(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    pilot = OfflinePilot()
    work = Work(rig.agent(Models(pilot, pilot, pilot)), order("sign in as anna", max_steps=40, task="secret"))
    first = await work.until(Asked)
    assert first.question.kind is QuestionKind.SECRET
    await work.answer(rig.secrets.keep("135791"))
    await work.until(Asked, lambda each: each.question.id != first.question.id)
    await work.answer(rig.secrets.keep("246810"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert (rig.phone.truth.signed_in, rig.phone.truth.wrong_codes) == ("anna", 1)
    told = json.dumps([event.model_dump(mode="json") for event in work.events])
    assert "135791" not in told
    assert "246810" not in told


async def test_two_wrong_codes_are_enough(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    result = await piloted(rig, "sign in as anna", "secret:111111", "secret:222222")
    assert result.end.outcome is Outcome.FAILED
    assert "not accepted" in result.end.summary
    assert rig.phone.truth.wrong_codes == 2


async def test_the_user_name_is_asked_for_when_it_was_not_given(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    result = await piloted(rig, "log in", "otto", "secret:246810")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.signed_in == "otto"


async def test_somebody_else_is_signed_in(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    rig.phone.state.account.signed_in = "paula"
    result = await piloted(rig, "sign in as anna")
    assert result.end.outcome is Outcome.FAILED
    assert "paula" in result.end.summary
    assert rig.phone.truth.signed_in == "paula"


async def test_paying_is_asked_about_and_happens_once(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    text = "open shop, tap Blue mug, tap Add to cart, tap Cart, tap Checkout and tap Place order"
    result = await piloted(rig, text, "allow", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert [order.total_cents for order in rig.phone.truth.orders] == [950]


async def test_which_of_two_fields_is_not_guessed(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    task_service = rig.phone.windows
    task_service.launch("notes")
    task_service.open("edit")
    result = await piloted(rig, "type hello")
    assert result.end.outcome is Outcome.FAILED
    assert "several fields" in result.end.summary
    assert rig.phone.truth.fields == {}


@pytest.mark.parametrize(
    "text",
    ["turn on Bluetooth", "打开设置，打开蓝牙", "open settings and turn on 蓝牙"],
)
async def test_a_phone_in_chinese(phones: Phones, text: str) -> None:
    rig = phones.fresh(SEED, locale="zh-CN")
    result = await piloted(rig, text)
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.toggles["bluetooth"]


async def test_a_note_and_a_message_on_a_phone_in_chinese(phones: Phones) -> None:
    rig = phones.fresh(SEED, locale="zh-CN")
    result = await piloted(rig, "写一条便签，内容是“买票”，然后给小明发短信说好的", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.notes[-1].body == "买票"
    assert ("小明", "好的") in [(each.to, each.text) for each in rig.phone.truth.messages]
    assert result.end.summary == "便签已保存，信息已发送给小明。"


async def test_what_is_read_on_the_way_is_kept(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    text = "open settings, open About phone, read the android version, go back, open Storage and read Images"
    result = await piloted(rig, text)
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert result.end.data == "Android version: 14\nImages: 12 GB"


async def test_a_person_adds_a_step(phones: Phones) -> None:
    result = await _steered(phones.fresh(SEED), "and turn on Bluetooth too")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert "Bluetooth" in result.end.summary


async def test_a_note_that_it_cannot_follow_is_asked_about(phones: Phones) -> None:
    result = await _steered(phones.fresh(SEED), "not that one, the blue", "Go on without it")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story


async def test_a_person_takes_over_and_is_done(phones: Phones) -> None:
    """The work is cut off in the middle of an action; then it goes on from what the screen shows."""
    rig = phones.fresh(SEED)
    pilot = OfflinePilot()
    agent = rig.agent(Models(pilot, pilot, pilot))
    work = Work(agent, order("open settings, turn on Bluetooth and go home", max_steps=40, task="taken"))
    await work.until(Step)
    await agent.pause(work.order.task)
    rig.phone.state.settings["global"]["bluetooth_on"] = "1"
    rig.phone.changed()
    await agent.resume(work.order.task, done_by_hand("Ann"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED, end.summary
    assert rig.phone.truth.toggles["bluetooth"]


async def test_the_demonstration_in_chinese(phones: Phones) -> None:
    """Sent in WeChat after its approval, and nowhere else."""
    rig = phones.fresh(SEED)
    result = await piloted(rig, "打开微信发消息给文件传输助手：测试成功", "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert [each.question.kind for each in result.asked] == [QuestionKind.APPROVE]
    assert "测试成功" in result.asked[0].question.detail
    assert [(each.to, each.text) for each in rig.phone.truth.chats] == [("文件传输助手", "测试成功")]
    assert result.end.summary == "已打开微信，信息已发送给文件传输助手。"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("tell me the Android version", "Android version: 14"),
        ("open settings and tell me the Android version", "Android version: 14"),
        ("告诉我安卓版本", "Android version: 14"),
        ("what is the model of this phone?", "Model: Virtual Phone"),
        ("is wifi on?", "Wi-Fi: On"),
        ("what time is it?", "12:00"),
    ],
)
async def test_a_question_is_answered_from_where_the_phone_tells_it(phones: Phones, text: str, answer: str) -> None:
    result = await piloted(phones.fresh(SEED), text)
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert result.end.data == answer
    assert result.end.summary == answer


async def test_a_page_of_settings_is_opened(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    result = await piloted(rig, "open About phone")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.page == "about"


@pytest.mark.parametrize(("text", "answers"), [("send Alice hello", ()), ("send a message to Alice", ("hello",))])
async def test_a_message_in_few_words(phones: Phones, text: str, answers: tuple[str, ...]) -> None:
    rig = phones.fresh(SEED)
    result = await piloted(rig, text, *answers, "allow")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert ("Alice", "hello") in [(each.to, each.text) for each in rig.phone.truth.messages]


async def test_the_alarms_that_there_are_are_offered_below_the_result(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    blocked = await piloted(rig, "set an alarm for 6:15 and go home")
    assert blocked.end.outcome is Outcome.BLOCKED, blocked.story
    assert not blocked.asked
    lacks = blocked.end.needs_model
    assert lacks is not None
    assert "set an alarm for 08:30, then go home" in lacks.choices
    result = await piloted(rig, "set an alarm for 08:30, then go home")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert rig.phone.truth.alarms == ("07:00", "08:30")
    assert rig.phone.truth.app == "launcher"


async def test_a_word_of_encouragement_changes_nothing(phones: Phones) -> None:
    result = await _steered(phones.fresh(SEED), "go on")
    assert result.end.outcome is Outcome.SUCCEEDED, result.story


async def test_chat_and_refusals_touch_no_phone(phones: Phones) -> None:
    rig = phones.fresh(SEED)
    before = len(rig.inputs())
    hello = await piloted(rig, "Who are you?")
    assert hello.end.outcome is Outcome.ANSWERED
    assert "offline pilot" in hello.end.summary
    assert (await piloted(rig, "hello", quick=True)).end.outcome is Outcome.ANSWERED
    refused = await piloted(rig, "plan my holiday")
    assert refused.end.outcome is Outcome.BLOCKED
    assert refused.end.needs_model == NeedsModel()
    assert "open browser and search OpenGUI" in refused.end.summary
    for quick in (False, True):
        near = await piloted(rig, "install WhatsApp", quick=quick)
        assert near.end.outcome is Outcome.BLOCKED
        assert near.end.needs_model == NeedsModel(choices=("search the web for WhatsApp",))
    assert len(rig.inputs()) == before
    assert rig.leases.log == []


async def _steered(rig: Rig, note: str, *answers: str) -> Result:
    """A task of a few steps, and a person who writes after the first."""
    pilot = OfflinePilot()
    agent = rig.agent(Models(pilot, pilot, pilot))
    work = Work(agent, order("ask me for a word, open browser and search it", max_steps=40, task=f"steer{len(note)}"))
    await work.until(Asked)
    await agent.steer(work.order.task, note)
    await work.answer("owls")
    known = 1
    for answer in answers:
        known += 1
        await work.until(Asked, lambda _, known=known: sum(isinstance(each, Asked) for each in work.events) >= known)  # type: ignore[misc]
        await work.answer(answer)
    end = await work.ended()
    return Result(end, (), tuple(event.thought for event in work.events if isinstance(event, Step)))
