"""Requests that ask for an act, and those that do not, as people have worded them; sources stand beside each."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.request_words import asks_for_act, leaves_unsent

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "requests.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("half", ["seen", "aside"])
def test_requests_of_people(half: str) -> None:
    """An answer must never be taken for an act; of acts one in ten may stay unknown. The half that is set aside was
    written down before the first word of the table.
    """
    acts = [text for part, act, _, text, _ in ROWS if (part, act) == (half, "yes")]
    others = [text for part, act, _, text, _ in ROWS if (part, act) == (half, "no")]
    assert [text for text in others if asks_for_act(text)] == []
    unknown = [text for text in acts if not asks_for_act(text)]
    assert len(unknown) <= len(acts) // 10, unknown


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("send hello to Bob in Messages", "does"),
        ("Hi! Could you turn on dark mode, please?", "sets"),
        ("turn on dark mode. Thanks!", "sets"),
        ("In Settings, turn off Wi-Fi", "sets"),
        ("给妈妈发消息说我晚点到", "does"),
        ("Please look up the opening hours of the museum", "looks"),
        ("search for tea. Then send it to Bob", "looks"),
        ("搜索附近的咖啡馆", "looks"),
        ("such die Öffnungszeiten", "looks"),
        ("天気を検索して", "looks"),
        ("Bluetoothをオンにして", "sets"),
        ("how do I turn on dark mode?", ""),
        ("Can you explain how to send a message?", ""),
        ('Translate "Open the door" into German', ""),
        ("write me a poem about open windows", ""),
        ("Open source vs closed source", ""),
        ("add 2 and 3", ""),
        ("call me Bob", ""),
        ("打开蓝牙有什么用", ""),
        ("ब्लूटूथ कैसे चालू करें", ""),
        ("블루투스 어떻게 켜", ""),
        ("👍", ""),
        ("", ""),
    ],
)
def test_what_a_request_asks_for(text: str, act: str) -> None:
    assert asks_for_act(text) == act


def test_a_message_that_is_not_to_be_sent() -> None:
    assert leaves_unsent("write hello to Bob but don't send it")
    assert leaves_unsent("写一条消息给小明，先别发送")
    assert not leaves_unsent("send hello to Bob")
