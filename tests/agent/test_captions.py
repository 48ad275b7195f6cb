"""Captions: short, and never a part of a phrase."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.captions import deed, is_short, phrase
from agent.wording import words
from bot.texts import speaking

WRITTEN = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \n.,!?;:。！？，“”'\"()（）")), max_size=200
)


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("Open the search field", "Open the search field"),
        ("  **Open** `Settings`\nand more", "Open Settings"),
        ("Open Settings. Then I look for the switch of the dark mode and touch it", "Open Settings."),
        ("I should first open the settings because the person wants the dark mode", ""),
        ("Look e.g. for the switch of the dark mode, which is among the others there", ""),
        ("Write to Mr. Bean that the meeting of tomorrow morning has been moved to Friday", ""),
        ("Tap “Save. Now” and after that go on to the very next page of it", ""),
        (
            "Version 3.2 of the app is out. I install it now, as the person has asked me to",
            "Version 3.2 of the app is out.",
        ),
        ("打开设置", "打开设置"),
        ("打开设置。然后进入显示与亮度页面并且打开深色模式开关按钮", "打开设置。"),
        ("用户想要打开深色模式，因此我需要先进入设置应用，然后找到显示与亮度选项", ""),
        ("设定を開いて、ダークモードのスイッチを探してからそれを押します", ""),
        ("다크 모드 스위치를 찾기", "다크 모드 스위치를 찾기"),
        ("เปิดการตั้งค่า", "เปิดการตั้งค่า"),
        ("", ""),
    ],
)
def test_a_phrase_is_whole(text: str, caption: str) -> None:
    """Seen failing with the first ten words of a text, and with its first eighty letters where it has no spaces."""
    assert phrase(text) == caption


@given(WRITTEN)
def test_a_phrase_is_short_and_where_it_is_cut_a_sentence_ends(text: str) -> None:
    caption = phrase(text)
    assert is_short(caption)
    assert "\n" not in caption
    plain = "".join(each for each in caption if each.isalnum())
    lines = ["".join(each for each in line if each.isalnum()) for line in text.splitlines()]
    assert not plain or any(line.startswith(plain) for line in lines)
    assert not plain or plain in lines or caption[-1] in ".!?;。！？；\"'”’)」）"


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(["en", "zh"]))
def test_what_was_done_fits_whatever_it_was_done_to(text: str, target: str, language: str) -> None:
    """Seen failing with descriptions cut at their tenth word: "type 'a b c d e f g h i"."""
    done = words("did.not_done", what=words("did.type_into_submit", text=repr(text), target=repr(target)))
    with speaking(language):
        caption = deed([done, words("did.scroll_up"), words("did.scroll_down")])
    assert is_short(caption)
    assert caption


def test_what_was_done_is_told_as_far_as_it_fits() -> None:
    several = [words("did.tap", target="'OK'"), words("did.scroll_down"), words("did.open_app", name="'Messages'")]
    assert deed(several) == "tap 'OK' · scroll down · open 'Messages'"
    assert deed(several * 3) == "tap 'OK' · scroll down · open 'Messages' · tap 'OK' · scroll down"
    long = words("did.type_into_submit", text="'one two three four five six seven'", target="'the box for messages'")
    assert deed([long]) == "type 'one two…' into 'the box…' and submit"
