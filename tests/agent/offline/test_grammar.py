"""From words to clauses."""

from __future__ import annotations

import contextlib
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.offline.clauses import (
    THE_ANSWER,
    Alarm,
    Ask,
    Clause,
    EnterSecret,
    Open,
    OpenUrl,
    Press,
    Read,
    Scroll,
    Search,
    SendMessage,
    SignIn,
    Tap,
    Toggle,
    TypeText,
    Unreadable,
    Wait,
    WriteNote,
)
from agent.offline.grammar import ignorable, read, topic_of
from devices.inputs import Key

CASES: list[tuple[str, list[Clause]]] = [
    ("open browser and search OpenGUI", [Open("browser"), Search("OpenGUI")]),
    ("OPEN   BROWSER , SEARCH FOR CATS!!!", [Open("BROWSER"), Search("CATS")]),
    ("search for cats and dogs", [Open("Browser"), Search("cats and dogs")]),
    ("search for then and now", [Open("Browser"), Search("then and now")]),
    ("search cats on the web, then tap the last result", [Open("Browser"), Search("cats"), Tap("", -1)]),
    (
        'search for "tap a and open b" and scroll up 2 times',
        [Open("Browser"), Search("tap a and open b"), Scroll("up", 2)],
    ),
    ("open shop. Tap Umbrella; go back", [Open("shop"), Tap("Umbrella"), Press(Key.BACK)]),
    ("go back twice and press enter", [Press(Key.BACK), Press(Key.BACK), Press(Key.ENTER)]),
    ("please go to the home screen now", [Press(Key.HOME)]),
    ("show recent apps then pull down the notification shade", [Press(Key.RECENTS), Press(Key.NOTIFICATIONS)]),
    ("in the shop, tap Cart", [Open("shop"), Tap("Cart")]),
    ("turn on wifi and bluetooth", [Toggle("wifi", on=True), Toggle("bluetooth", on=True)]),
    ("turn the torch off too", [Toggle("torch", on=False)]),
    ("send Bob a message that I'm late", [SendMessage("Bob", "I'm late")]),
    ("send a text to Bob that the train is late.", [SendMessage("Bob", "the train is late.")]),
    ("wake me up at 6:30 am", [Alarm("06:30", on=True)]),
    ("早上7点叫我起床", [Alarm("07:00", on=True)]),
    ("read my messages", [Open("messages"), Read(content=True)]),
    ("读一下我的消息", [Open("消息"), Read(content=True)]),
    ("ensure location is disabled", [Toggle("location", on=False)]),
    ("disable the 7 am alarm", [Alarm("07:00", on=False)]),
    ("set an alarm for 12:15 a.m.", [Alarm("00:15", on=True)]),
    ("turn on wifi, then turn it off again", [Toggle("wifi", on=True), Toggle("wifi", on=False)]),
    ("tap Groceries in Notes", [Open("Notes"), Tap("Groceries")]),
    ("double tap the picture", [Tap("picture", gesture="double_tap")]),
    ("press and hold Groceries", [Tap("Groceries", gesture="long_press")]),
    ("tap Add to cart three times", [Tap("Add to cart")] * 3),
    ("swipe up", [Scroll("down")]),
    ("scroll to the bottom", [Scroll("down", 0)]),
    ("scroll up to the top", [Scroll("up", 0)]),
    ("scroll down until Storage appears", [Scroll("down", 1, "Storage")]),
    ("open settings and find Storage, tap it", [Open("settings"), Scroll("down", 1, "Storage"), Tap("Storage")]),
    ("wait 5 seconds", [Wait(5.0)]),
    ("wait 1.5 minutes", [Wait(90.0)]),
    ("wait a moment", [Wait(2.0)]),
    ("wait until the Results page appears", [Wait(text="Results page")]),
    ("type hello into the title field", [TypeText("hello", "title")]),
    ("fill in the user name with anna", [TypeText("anna", "user name")]),
    ("type I live in Rome", [TypeText("I live in Rome")]),
    ("type how are you?", [TypeText("how are you?")]),
    ("type thanks", [TypeText("thanks")]),
    ("enter the code 12 34", [TypeText("12 34")]),
    ("enter the verification code", [EnterSecret("verification code")]),
    ("type my password into the field", [EnterSecret("password")]),
    ("ask me for a word, type it in the note field", [Ask("for a word"), TypeText(THE_ANSWER, "note")]),
    ("ask me what to open, then open it", [Ask("what to open"), Open(THE_ANSWER)]),
    ("log in to the bank app as anna", [Open("bank"), SignIn("anna")]),
    ("sign in as anna to Account", [Open("Account"), SignIn("anna")]),
    ("text Bob: are you there?", [SendMessage("Bob", "are you there?")]),
    ("message Bob saying call me please", [SendMessage("Bob", "call me please")]),
    ('send "Hello!" to Bob, thanks', [SendMessage("Bob", "Hello!")]),
    ("send a message to Bob on WhatsApp saying hi", [Open("WhatsApp"), SendMessage("Bob", "hi")]),
    ("send Bob a WhatsApp message saying hi", [Open("WhatsApp"), SendMessage("Bob", "hi")]),
    ("send Bob a Signal saying hi", [Open("Signal"), SendMessage("Bob", "hi")]),
    ("send my brother a WhatsApp saying hi", [Open("WhatsApp"), SendMessage("my brother", "hi")]),
    ("send the boss a text: hi", [SendMessage("the boss", "hi")]),
    ("send my mum a Line message: hi", [Open("Line"), SendMessage("my mum", "hi")]),
    ("WhatsApp Bob saying I am late", [Open("WhatsApp"), SendMessage("Bob", "I am late")]),
    ("给小明发微信说我晚点到", [Open("微信"), SendMessage("小明", "我晚点到")]),
    ("给老板发钉钉消息：请假一天", [Open("钉钉"), SendMessage("老板", "请假一天")]),
    ("给小明发微信", [Ask("给小明发什么内容"), Open("微信"), SendMessage("小明", THE_ANSWER)]),
    ("给小明发短信说我晚点到", [SendMessage("小明", "我晚点到")]),
    ("send Bob a text saying one, two and open three", [SendMessage("Bob", "one, two and open three")]),
    ("note down that the door is open", [WriteNote("the door is open")]),
    ('add a note titled "A, b" saying "c"; go home', [WriteNote("c", "A, b"), Press(Key.HOME)]),
    ("visit https://example.org/a?b=c", [OpenUrl("https://example.org/a?b=c")]),
    ("open chrome and go to wikipedia.org", [Open("chrome"), OpenUrl("wikipedia.org")]),
    ("what is on the screen?", [Read()]),
    ("open shop and tell me the price", [Open("shop"), Read("price")]),
    ("read the 2nd result to me", [Read(nth=2)]),
    ("in the browser, search cats on the web", [Open("Browser"), Search("cats")]),
    ("打开设置里的蓝牙", [Open("设置"), Toggle("蓝牙", on=True)]),
    ("用浏览器搜索猫", [Open("浏览器"), Search("猫")]),
    ("打开蓝牙和飞行模式", [Toggle("蓝牙", on=True), Toggle("飞行模式", on=True)]),
    ("打开便签，再打开第二个便签", [Open("便签"), Tap("", 2)]),
    ("在标题里输入你好，然后按回车", [TypeText("你好", "标题"), Press(Key.ENTER)]),
    ("输入验证码", [EnterSecret("验证码")]),
    ("返回上一页，回到主屏幕", [Press(Key.BACK), Press(Key.HOME)]),
    ("往上滑三次，等5秒", [Scroll("up", 3), Wait(5.0)]),
    ("等到结果出现", [Wait(text="结果")]),
    ("设一个下午3点半的闹钟", [Alarm("15:30", on=True)]),
    ("登录账号，用户名是anna", [Open("账号"), SignIn("anna")]),
    ("新建一个标题为购物的便签，内容是鸡蛋", [WriteNote("鸡蛋", "购物")]),
    ("打开浏览器访问example.com", [Open("浏览器"), OpenUrl("example.com")]),
    ("打开商店，读一下价格", [Open("商店"), Read("价格")]),
    ("请截图", [Read()]),
    ("在地址栏输入熊猫", [TypeText("熊猫", "地址栏")]),
    ("用户名是lee，登录账号", [Open("账号"), SignIn("lee")]),
    ("用anna登录账号", [Open("账号"), SignIn("anna")]),
]


@pytest.mark.parametrize(("text", "clauses"), CASES)
def test_it_is_read(text: str, clauses: list[Clause]) -> None:
    assert list(read(text).clauses) == clauses


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("it's", "it's"),
        ("open settings, then juggle", "juggle"),
        ("open settings and buy milk", "buy milk"),
        ("type my address", "type my address"),
        ("write a poem", "write a poem"),
        ("search for it", "it"),
        ("send it to Bob", "send it to Bob"),
        ("tell me the price", "tell me the price"),
        ("find cheap hotels", "find cheap hotels"),
        ("wait 3 hours", "wait 3 hours"),
        ("tap Next 500 times", ""),
        ("set an alarm for 25:99", "set an alarm for 25:99"),
        ("帮我点外卖", "点外卖"),
        ("line one: hello", "line one: hello"),
        ("take a screenshot of my bank", "take a screenshot of my bank"),
        ("tap a, " * 60, ""),
        ("x" * 5000, "x"),
    ],
)
def test_what_is_no_literal_instruction(text: str, part: str) -> None:
    with pytest.raises(Unreadable) as error:
        read(text)
    assert part in error.value.part


@pytest.mark.parametrize(
    "text",
    [
        "write the first line: hello",
        "write a line: hello",
        "write one line: hello",
        "write Bob a line: hello",
        "write the first message: hello",
        "write this short text: hello",
        "write the first WhatsApp message: hello",
        "Telegram settings: turn on dark mode",
        "WhatsApp Business: check for new messages",
        "WeChat chat settings: turn off sounds",
        "text size: large",
        "message settings: turn off previews",
    ],
)
def test_nothing_is_sent_to_what_is_nobody(text: str) -> None:
    clauses: tuple[Clause, ...] = ()
    with contextlib.suppress(Unreadable):
        clauses = read(text).clauses
    assert not any(isinstance(each, SendMessage) for each in clauses)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Hi!", "hello"),
        ("who are you?", "who"),
        ("What can you do for me?", "help"),
        ("你好。", "hello"),
        ("谢谢", "thanks"),
        ("Stop!", "stop"),
        ("never mind", "stop"),
        ("停下", "stop"),
        ("stop the music", ""),
    ]
    + [("hi there Bob", ""), ("open settings", "")],
)
def test_chat(text: str, topic: str) -> None:
    assert topic_of(text) == topic


def test_remarks_that_ask_for_nothing() -> None:
    assert ignorable("ok, go on")
    assert not ignorable("not that one")


PLAIN = st.text(string.ascii_letters + string.digits + " ,.;!?:-()&然后和，。", min_size=1, max_size=60)


@given(PLAIN)
def test_quoted_text_is_kept_as_it_is(text: str) -> None:
    assert read(f'type "{text}" into the title field') == read(f"type “{text}” into the title field")
    assert read(f'type "{text}" into the title field').clauses == (TypeText(text, "title"),)
    assert read(f"send a message to Bob saying “{text}” and then go home").clauses[0] == SendMessage("Bob", text)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(max_size=200) | st.lists(st.sampled_from([w for text, _ in CASES for w in text.split()])).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    topic_of(text)
    with contextlib.suppress(Unreadable):
        assert read(text).clauses
