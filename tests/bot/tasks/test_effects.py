"""What a step has changed is read in the person's language, whatever the screen says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.effects import describe
from bot.tasks.effects import effect_words
from bot.texts import speaking
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

NAMES = {"com.android.settings": "设置"}
BEFORE = Observation(Size(200, 400), None, (), package="com.android.launcher", activity="Main")
LABELS = st.text(alphabet="设置网络 12；;、，'\"\\()", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("kept", "english", "chinese"),
    [
        ("app is now com.android.settings", "app is now 设置", "当前应用变为 设置"),
        ("app is now org.example.notes", "app is now Notes", "当前应用变为 Notes"),
        (
            "new: 'A', \"it's; so\" and 3 more; keyboard opened",
            "new: 'A', 'it's; so' and 3 more; keyboard opened",
            "新出现：“A”、“it's; so” 等，另有 3 项；键盘已弹出",
        ),
        ("'Wi-Fi' is now on; 'GPS' is now off", "'Wi-Fi' is now on; 'GPS' is now off", "“Wi-Fi” 已打开；“GPS” 已关闭"),
        ("the field now reads 'hi'", "the field now reads 'hi'", "输入框现在的内容：“hi”"),
        ("answer: the blue one; now", "answer: the blue one; now", "回答：the blue one; now"),
        (
            "so after 0.4 s; nothing visible changed",
            "so after 0.4 s; nothing visible changed",
            "0.4 秒后满足；看不出变化",
        ),
        ("sent; its effect could not be seen", "sent; its effect could not be seen", "已发送；没能看到结果"),
        ("opened 'a\\x'", "opened 'a\\x'", "已打开 “a\\x”"),
        ("something of a later version", "something of a later version", "something of a later version"),
        ("", "", ""),
    ],
)
def test_it_reads_as_people_speak(kept: str, english: str, chinese: str) -> None:
    assert effect_words(kept, NAMES) == english
    with speaking("zh"):
        assert effect_words(kept, NAMES) == chinese


def test_what_the_agent_never_tells_stays_and_costs_nothing() -> None:
    """Seen failing: two thousand changes took most of a second."""
    with speaking("zh"):
        assert effect_words("a; " * 2000, NAMES) == "a; " * 2000


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
        assert re.findall(r"[A-Za-z]+", effect_words(describe(before, after), NAMES)) == []
