"""Tasks that code understands to the last word, and those that it leaves to a model."""

from __future__ import annotations

import pytest

from agent.request_words import PlainTask, plain_tasks


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("open the Notes app", PlainTask("opened", "Notes")),
        ("Please launch Google Maps.", PlainTask("opened", "Google Maps")),
        ("打开微信", PlainTask("opened", "微信")),
        ("open the notes app", PlainTask("opened", "notes")),
        ("Open Google maps", PlainTask("opened", "Google maps")),
        ("Put a Desk lamp into the cart of the Shop app.", PlainTask("chosen", "Shop", "Desk lamp")),
        ("把台灯加入购物车", PlainTask("chosen", thing="台灯")),
        ("set an alarm for 7:30 am", PlainTask("timed")),
        ("设一个5分钟的计时器", PlainTask("timed")),
        ("Turn off Wi-Fi please", PlainTask("off", thing="Wi-Fi")),
        ("In Settings, switch Airplane mode on.", PlainTask("on", "Settings", "Airplane")),
        ("switch the phone to dark mode", PlainTask("on", thing="dark")),
        ("在设置里关闭蓝牙。", PlainTask("off", "设置", "蓝牙")),
        ("用微信给小王发消息：“你好”", PlainTask("sent", "微信", person="小王", text="你好")),
        ("Send Ann Lee the text “See you”", PlainTask("sent", person="Ann Lee", text="See you")),
        ("send a message to Ann Lee saying 'See you'", PlainTask("sent", person="Ann Lee", text="See you")),
        ("打开微信发消息给小王：今晚几点到", PlainTask("sent", "微信", person="小王", text="今晚几点到")),
        ("发信息给小王：“你好，明天见”", PlainTask("sent", person="小王", text="你好，明天见")),
        ("Write a note that says 'two eggs' in Keep", PlainTask("noted", "Keep", text="two eggs")),
        (
            "create a note called 'Milk' and the text 'two' in the Notes app",
            PlainTask("noted", "Notes", text="Milk", second="two"),
        ),
    ],
)
def test_a_plain_task_is_understood(text: str, meant: PlainTask) -> None:
    assert meant in plain_tasks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "what is Bluetooth?",
        "don't turn on Bluetooth",
        "never open Settings",
        "turn on Bluetooth and Location",
        "turn on Bluetooth if Wi-Fi is off",
        "turn off all alarms",
        "open Settings and delete everything",
        "Open Chrome, search for weather and open the first result.",
        "open the app that my bank has sent me a link for",
        "turn on Bluetooth. Then pay the bill",
        "turn on Bluetooth\nand pay the bill",
        "Send 'hi' to Bob and 'ho' to Ann",
        "打开蓝牙并删除照片",
        "put a lamp into the cart and pay",
        "send a message to Bob saying hello",
        "send a message to Bob and Ann saying 'hello'",
        "发消息给小王：你好。然后删除照片",
        "发消息给小王：你好，再给小李发一条",
        "write a note that says 'a' and delete the others",
        "add all lamps to my cart",
        "set an alarm for the day of the match",
        "如果没电就关闭蓝牙",
        "不要打开蓝牙",
        "turn it on",
        "switch that back on",
        "turn them off please",
        "关掉它",
        "打开那个应用",
        "打开蓝牙有什么用",
        "打开天窗说亮话",
        "打开蓝牙会费电",
        "打开商店读取价格",
        "打开相机拍2张照片",
        "start a conversation with me",
        "start over",
        "open questions about life",
        "launch party ideas",
        "open up",
    ],
)
def test_what_has_a_word_more_is_left_to_a_model(text: str) -> None:
    """Seen failing with names of any words, with a form that only begins the text, and with apps of any spelling."""
    assert not list(plain_tasks(text))
