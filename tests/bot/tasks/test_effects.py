"""What a step has changed is read in the person's language, whatever the screen says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.effect_facts import (
    AllowedAhead,
    Answered,
    AppChanged,
    Appeared,
    CameTrue,
    DeniedBefore,
    Disappeared,
    DoneByHand,
    Effect,
    EffectUnseen,
    FileSent,
    KeyboardClosed,
    KeyboardOpened,
    LookedBefore,
    NotAllowed,
    NothingChanged,
    NotWithin,
    OtherWindow,
    PageChanged,
    PhoneNote,
    PlainText,
    ScreenChanged,
    ScreenTurned,
    SwitchedTo,
    TextNow,
    Worded,
    effects_data,
    effects_of,
)
from agent.effects import difference
from bot.texts import speaking
from bot.views.tasks import effect_words
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

NAMES = {"com.android.settings": "设置"}
BEFORE = Observation(Size(200, 400), None, (), package="com.android.launcher", activity="Main")
KINDS = get_args(get_args(Effect)[0])
LABELS = st.text(alphabet="设置网络 12；;、，'\"\\()", min_size=1, max_size=12)


EACH: tuple[tuple[Effect, str, str], ...] = (
    (AppChanged(app="com.android.settings"), "app is now 设置", "当前应用变为 设置"),
    (AppChanged(app="org.example.notes"), "app is now Notes", "当前应用变为 Notes"),
    (AppChanged(app=""), "app is now Unknown", "当前应用变为 Unknown"),
    (PageChanged(), "another page of the app", "进入应用的另一个页面"),
    (
        Appeared(words=("A", "it's; so"), more=3),
        "new: 'A', 'it's; so' and 3 more",
        "新出现：“A”、“it's; so” 等，另有 3 项",
    ),
    (Appeared(words=("A",)), "new: 'A'", "新出现：“A”"),
    (Disappeared(words=("B",), more=1), "gone: 'B' and 1 more", "已消失：“B” 等，另有 1 项"),
    (Disappeared(words=("B",)), "gone: 'B'", "已消失：“B”"),
    (KeyboardOpened(), "keyboard opened", "键盘已弹出"),
    (KeyboardClosed(), "keyboard closed", "键盘已收起"),
    (ScreenTurned(), "screen turned", "屏幕已旋转"),
    (SwitchedTo(name="Wi-Fi", on=True), "'Wi-Fi' is now on", "“Wi-Fi” 已打开"),
    (SwitchedTo(name="GPS", on=False), "'GPS' is now off", "“GPS” 已关闭"),
    (ScreenChanged(), "the screen changed", "画面有变化"),
    (NothingChanged(), "nothing visible changed", "看不出变化"),
    (TextNow(text="hi"), "the field now reads 'hi'", "输入框现在的内容：“hi”"),
    (PhoneNote(sentence="phone.note.opened", values={"name": "a\\x"}), "opened a\\x", "已打开 a\\x"),
    (EffectUnseen(), "sent; its effect could not be seen", "已发送；没能看到结果"),
    (CameTrue(seconds=0.4), "so after 0.4 s", "0.4 秒后满足"),
    (NotWithin(seconds=20), "not so within 20 s", "20 秒内没有满足"),
    (FileSent(name="a.txt", size=12), "sent a.txt (12 bytes)", "已发送 a.txt（12 字节）"),
    (
        Worded(sentence="dice.rolled", values={"n": "4"}, form="rolled {n}", translations={"zh": "掷出了 {n}"}),
        "rolled 4",
        "掷出了 4",
    ),
    (DoneByHand(), "a person did something on the phone by hand", "有人在手机上亲手操作过"),
    (NotAllowed(consequence="send", text="hi"), "a person did not allow it", "有人没有允许这一步"),
    (
        AllowedAhead(to="Bob", by="Anna"),
        "not asked: Anna allowed messages to Bob for this task",
        "未询问：Anna 已允许本任务给“Bob”发消息",
    ),
    (
        AllowedAhead(to="Bob", by="Anna", schedule="3"),
        "not asked: this message to Bob was allowed by the standing yes of Anna (schedule 3)",
        "未询问：Anna 已为定时任务 3 长期允许给“Bob”发这条消息",
    ),
    (LookedBefore(milliseconds=61), "the screen was checked at most 61 ms before", "操作前最多 61 毫秒核对过画面"),
    (
        DeniedBefore(tries=2),
        "not asked again and not done: a person had denied the same before (try 2)",
        "没有再次询问，也没有执行：之前已有人拒绝了同一操作（第 2 次尝试）",
    ),
    (OtherWindow(window="Pay"), "another window got the input: Pay", "操作落到了另一个窗口：Pay"),
    (Answered(text="the blue one; now"), "answer: the blue one; now", "回答：the blue one; now"),
    (PlainText(text="what a model said"), "what a model said", "what a model said"),
)
"""Each fact, and how it reads in English and in Chinese."""


@pytest.mark.parametrize(("effect", "english", "chinese"), EACH, ids=lambda each: getattr(each, "kind", ""))
def test_it_reads_as_people_speak(effect: Effect, english: str, chinese: str) -> None:
    assert effect_words([effect], NAMES) == english
    with speaking("zh"):
        assert effect_words([effect], NAMES) == chinese


def test_several_stand_in_one_line() -> None:
    told = (CameTrue(seconds=0.4), NothingChanged())
    assert effect_words(told, NAMES) == "so after 0.4 s; nothing visible changed"
    with speaking("zh"):
        assert effect_words(told, NAMES) == "0.4 秒后满足；看不出变化"
    assert effect_words((), NAMES) == ""


def test_every_fact_is_kept_as_json_and_read_back() -> None:
    facts = tuple(effect for effect, _, _ in EACH)
    assert {fact.kind for fact in facts} == {get_args(each.model_fields["kind"].annotation)[0] for each in KINDS}
    assert effects_of(json.loads(json.dumps(effects_data(facts)))) == facts


@given(
    shown=st.lists(LABELS, max_size=9),
    gone=st.lists(LABELS, max_size=9),
    switch=st.none() | LABELS,
    keyboard=st.booleans(),
    turned=st.booleans(),
    package=st.sampled_from(["com.android.settings", "com.android.launcher"]),
)
def test_no_english_is_left_of_what_the_agent_says(
    shown: list[str], gone: list[str], switch: str | None, keyboard: bool, turned: bool, package: str
) -> None:
    def elements(words: list[str], *, checked: bool) -> tuple[Element, ...]:
        switches = (
            [] if switch is None else [Element(Bounds(0, 90, 9, 99), text=switch, checkable=True, checked=checked)]
        )
        return (*(Element(Bounds(0, 90, 9, 99), text=word) for word in words), *switches)

    before = replace(BEFORE, elements=elements(gone, checked=False))
    after = replace(
        BEFORE,
        elements=elements(shown, checked=True),
        package=package,
        keyboard_shown=keyboard,
        rotation=int(turned),
    )
    with speaking("zh"):
        assert re.findall(r"[A-Za-z]+", effect_words(difference(before, after), NAMES)) == []
