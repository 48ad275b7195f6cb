"""Which window got an input: read from the input dispatcher's own lines, without a false alarm."""

from __future__ import annotations

from devices.adb.state import other_receiver

APP = "a1243f5 com.example.maps/com.example.maps.Main"
EVIL = "7d1f3e0 com.evil/com.evil.Main"
BAR = "3b2c1d0 PopupWindow:5c2f1d8"
NUMBER = "a1243f5"


def focus(at: float, window: str) -> str:
    return f"    {at:.3f}  1432  1520 I input_focus: [Focus entering {window} (server),reason=Window became focusable]"


def leaving(at: float, window: str) -> str:
    return f"    {at:.3f}  1432  1520 I input_focus: [Focus leaving {window} (server),reason=NOT_FOCUSABLE]"


def touch(at: float, *windows: str) -> str:
    names = "".join(f"{window} (server), " for window in windows)
    return (
        f"    {at:.3f}  1432  1520 I input_interaction: Interaction with: {names}[Gesture Monitor] swipe-up (server), "
    )


def received(*lines: str) -> str:
    return other_receiver("\n".join(("--------- beginning of events", *lines)), NUMBER, 100.0)


def test_a_window_that_came_up_and_got_it_is_named() -> None:
    log = (focus(90, APP), leaving(100.01, APP), focus(100.02, EVIL), touch(100.05, EVIL))
    assert received(*log) == "com.evil/com.evil.Main"


def test_what_the_touch_itself_has_opened_is_no_swap() -> None:
    """The first that got an input counts, whatever came after it."""
    assert received(focus(90, APP), touch(100.05, APP), focus(100.2, EVIL)) == ""
    assert received(focus(90, APP), touch(100.05, APP), focus(100.2, EVIL), touch(100.4, EVIL)) == ""


def test_a_window_beside_the_one_with_the_focus_may_get_it() -> None:
    """Seen failing with the focus left out of account."""
    assert received(focus(90, APP), touch(100.05, BAR)) == ""


def test_what_was_touched_before_does_not_count() -> None:
    """The dispatcher writes nothing while the same window gets one touch after the other."""
    assert received(focus(80, EVIL), touch(81, EVIL), focus(90, APP)) == ""
    assert received(focus(80, EVIL), touch(81, EVIL), focus(90, APP), touch(95, APP)) == ""


def test_what_cannot_be_read_says_nothing() -> None:
    assert received() == ""
    assert received("logcat: Unknown buffer events", "    100.1 x y z", "I input_focus: [Focus entering") == ""
