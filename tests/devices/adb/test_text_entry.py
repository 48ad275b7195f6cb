import base64
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devices.adb.input_commands import MAX_TEXT, clearing_commands, is_left_of, typing_commands
from devices.errors import UntypableText
from devices.inputs import as_typed, contains_typed

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=400)


def android_types(line: str) -> str:
    """What AOSP's InputShellCommand.sendText makes of its argument ("%s" is a space), or the key's character."""
    words = shlex.split(line)
    if words[:2] == ["input", "keyevent"]:
        return {"KEYCODE_ENTER": "\n", "KEYCODE_TAB": "\t"}[words[2]]
    assert words[:2] == ["input", "text"]
    (argument,) = words[2:]
    typed: list[str] = []
    escape = False
    for each in argument:
        if escape and each == "s":
            typed[-1] = " "
            escape = False
            continue
        escape = each == "%"
        typed.append(each)
    return "".join(typed)


@pytest.mark.slow
@given(st.lists(PRINTABLE, max_size=4).map("\n".join))
@example("100%sure, %s%%s")
def test_the_phone_types_exactly_the_text(text: str) -> None:
    """Seen failing with the cut between "%" and "s" removed."""
    assert "".join(android_types(line) for line in typing_commands(text, broadcast=False)) == text


@pytest.mark.parametrize("text", ["100%sure", "%s%s", "%%s", 'it\'s "quoted" $HOME `id`', "a\tb", "%"])
def test_traps(text: str) -> None:
    assert "".join(android_types(line) for line in typing_commands(text, broadcast=False)) == text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=5000))
def test_the_broadcast_keyboard_gets_any_script(text: str) -> None:
    typed = []
    for line in typing_commands(text, broadcast=True):
        words = shlex.split(line)
        assert words[:4] == ["am", "broadcast", "-a", "ADB_INPUT_B64"]
        assert words[4:6] == ["-p", "com.android.adbkeyboard"]
        typed.append(base64.b64decode(words[-1]).decode())
    assert "".join(typed) == text


def test_what_no_keyboard_can_type() -> None:
    with pytest.raises(UntypableText, match="ADBKeyboard"):
        typing_commands("你好", broadcast=False)
    with pytest.raises(UntypableText, match="control"):
        typing_commands("a\x07b", broadcast=True)
    with pytest.raises(UntypableText, match="characters"):
        typing_commands("a" * (MAX_TEXT + 1), broadcast=True)


def test_line_ends_of_other_systems() -> None:
    lines = typing_commands(as_typed("a\r\nb\rc\u2028d"), broadcast=False)
    assert "".join(android_types(line) for line in lines) == "a\nb\nc\nd"
    with pytest.raises(UntypableText, match="control"):
        typing_commands("a\rb", broadcast=False)


def test_clearing_deletes_a_little_more_than_there_is() -> None:
    (line,) = clearing_commands(5, broadcast=False)
    assert line == "input keyevent KEYCODE_MOVE_END" + " KEYCODE_DEL" * 13
    assert sum(line.count("KEYCODE_DEL") for line in clearing_commands(None, broadcast=False)) == 200
    assert sum(line.count("KEYCODE_DEL") for line in clearing_commands(10**6, broadcast=False)) == 1000
    assert "ADB_CLEAR_TEXT" in clearing_commands(5, broadcast=True)[0]


@pytest.mark.parametrize(
    ("wanted", "read", "same"),
    [
        ("5551234567", "(555) 123-4567", True),
        ("Hello", "hello", True),
        ("你好", "你好！", True),
        ("hello", "helo", False),
        ("hello", "help", False),
        ("+49 170 123", "(+49) 170-123", True),
        ("Straße 5", "STRASSE 5", True),
        ("??", "??", True),
        ("??", "", False),
        ("!!", "hello!!", True),
        ("!!", "hello", False),
        ("👍", "see you 👍", True),
        ("👍 👍", "ok👍👍", True),
    ],
)
def test_reading_back(wanted: str, read: str, same: bool) -> None:
    """Seen failing for a text of signs alone in a field with other words."""
    assert contains_typed(read, wanted) is same


@pytest.mark.parametrize(
    ("left", "is_left"),
    [("abcdXefg", True), ("abcdefg", True), ("abcd", True), ("efg", True), ("", False), ("Message", False)],
)
def test_what_is_left_of_a_text(left: str, is_left: bool) -> None:
    """Seen failing with any part of it: a sign that is gone from the middle leaves no such part."""
    assert is_left_of("abcdXefg", left) is is_left
