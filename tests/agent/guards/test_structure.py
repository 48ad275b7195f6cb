"""What is told without a word: places, ids, moves, and decoys that hide them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent import actions as act
from agent.guards.gate import Gate
from agent.guards.lexicon import has_table
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Point, Size
from devices.inputs import Key
from devices.phone import Element
from tests.agent.guards.screens import HERE, SIZE, touch

TAP = act.Tap(target=HERE)


def at(left: int, top: int, right: int, bottom: int, **more: Any) -> Element:
    return Element(Bounds(left, top, right, bottom), **more)


PAGE = at(0, 0, 1080, 2400, scrollable=True)
FIELD = at(130, 2250, 950, 2370, text="hello", hint="…", editable=True, clickable=True, focused=True)
ICON = at(960, 2250, 1080, 2370, clickable=True, class_name="android.widget.ImageView")


def gate(action: act.Action, target: Element | None, *around: Element, end: Point | None = None) -> Gate:
    start = target.bounds.centre if target is not None else None
    spot = TouchTarget("com.example", target, (PAGE, *around), start, end, size=SIZE)
    return Policy.default().gate(action, spot)


def test_what_is_held_says_why() -> None:
    """The decision names the consequence and its object in the window's own words."""
    window = {"window": "dialog", "title": "Diese Datei löschen?", "buttons": ["Abbrechen", "OK"]}
    held = Policy.default().gate(*touch(window, "OK"))
    assert (held.standing, held.consequence, held.object) == ("held", "delete", "Diese Datei löschen?")
    assert Policy.default().gate(*touch(window, "Abbrechen")).standing == "harmless"
    foreign = {"window": "dialog", "title": "Elkarrizketa hau betiko ezabatu nahi duzu?", "buttons": ["Bai"]}
    unknown = Policy.default().gate(*touch(foreign, "Bai"))
    assert (unknown.verdict, unknown.standing, unknown.sensitive) == ("approve", "unknown", True)
    plain = Policy.default().gate(*touch({"buttons": ["Blurb"]}, "Blurb"))
    assert (plain.verdict, plain.standing, plain.sensitive) == ("allow", "unknown", False)


ROWS = [["Inbox"], ["Mallory, missed call"], ["Yes, raise my limit"], ["5"], ["Storage"]]


@pytest.mark.parametrize("row", [row[0] for row in ROWS])
def test_a_row_among_alike_ones_is_unknown(row: str) -> None:
    """It may call, answer for the person or enter a digit. Seen failing before: each was known as harmless."""
    found = Policy.default().gate(*touch({"title": "Blurb", "rows": ROWS}, row))
    assert (found.verdict, found.standing) == ("allow", "unknown")
    three = {"title": "Blurb", "plain": ["one"], "buttons": [], "rows": [["Ja"], ["Nein"], ["Blurb"]]}
    assert Policy.default().gate(*touch(three, "Ja")).standing == "unknown"


@pytest.mark.parametrize("word", ["Next", "Weiter", "下一步", "Try again"])
def test_what_takes_an_offer_further_is_unknown(word: str) -> None:
    """Seen failing before: words that only show something were known as harmless, these among them."""
    assert Policy.default().gate(*touch({"title": "Blurb", "buttons": [word]}, word)).standing == "unknown"


def test_the_bars_of_android_tell_nothing_of_a_window() -> None:
    """Seen failing before: with the clock of the status bar a page without words counted as one that has some."""
    clock = Element(Bounds(0, 0, 100, 60), text="12:00", package="com.android.systemui")
    held = blind(TAP, "com.game.castle", "com.game.castle.CheckoutActivity", PAGE, clock)
    assert (held.verdict, held.standing) == ("approve", "unknown")
    wallet = blind(TAP, "com.tencent.mm", "com.tencent.mm.plugin.luckymoney.ui.LuckyMoneyReceiveUI", PAGE)
    assert held.sensitive
    assert wallet.verdict == "approve"


def test_the_last_icon_beside_a_written_message_sends_it() -> None:
    """Seen passing before, for whatever has neither a word nor an id that tells."""
    empty = at(130, 2250, 950, 2370, text="", hint="…", editable=True, clickable=True, focused=True)
    search = at(130, 2250, 950, 2370, text="hello", hint="Suchen", editable=True, clickable=True, focused=True)
    first = at(0, 2250, 120, 2370, clickable=True)
    assert gate(TAP, ICON, FIELD, ICON).consequence == "send"
    assert gate(TAP, first, first, FIELD, ICON).verdict == "allow"
    assert gate(TAP, ICON, empty, ICON).verdict == "allow"
    assert gate(TAP, ICON, search, ICON).verdict == "allow"
    assert gate(act.PressKey(key=Key.ENTER), None, FIELD, ICON).consequence == "send"
    assert gate(act.PressKey(key=Key.ENTER), None, search, ICON).verdict == "allow"


@pytest.mark.parametrize(("end", "expected"), [((900, 560), "approve"), ((300, 560), "allow"), ((560, 1200), "allow")])
def test_a_row_that_a_finger_takes_away(end: tuple[int, int], expected: str) -> None:
    """Seen passing before: of a move only a button at its start, and a slider, were looked at."""
    rows = [at(0, 200 + 200 * n, 1080, 400 + 200 * n, text=f"Anna {n}", clickable=True) for n in range(4)]
    start = at(299, 559, 301, 561)
    for action in (act.Swipe(start=HERE, end=HERE), act.Scroll(direction="left")):
        assert gate(action, None, *rows).verdict == "allow"
        spot = TouchTarget("com.example", None, (PAGE, *rows), start.bounds.centre, Point(*end), size=SIZE)
        assert Policy.default().gate(action, spot).verdict == expected


def test_decoys_hide_nothing_and_take_no_time() -> None:
    """Specks at the edges make no page of a dialog; thousands of nodes hold nobody up."""
    text = at(100, 1000, 980, 1060, text="This file will be permanently deleted")
    ok = at(540, 1100, 980, 1200, text="Go on", clickable=True, class_name="android.widget.Button")
    specks = [at(0, n % 2400, 1, n % 2400 + 1, text=f"item {n}", clickable=True) for n in range(5000)]
    around = (*specks, text, ok)
    spot = TouchTarget("com.example", ok, around, ok.bounds.centre, size=Size(1080, 2400))
    begun = time.process_time()
    assert Policy.default().gate(TAP, spot).consequence == "delete"
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [("iv_send", "send"), ("composerSend", "send"), ("pay_now", "pay"), ("btnDeleteAll", "delete")]
    + [(other, "") for other in ("send_history", "delete_filter_chip", "sender_icon", "buy_list", "google_pay_logo")],
)
def test_ids_are_read_by_their_parts(identifier: str, expected: str) -> None:
    """Seen passing before: an id had to be a word of a rule and nothing else."""
    icon = at(900, 80, 1000, 180, resource_id=f"com.example:id/{identifier}", clickable=True)
    assert gate(TAP, icon, icon).consequence == expected
    labelled = at(900, 80, 1000, 180, text="Cancel", resource_id=f"com.example:id/{identifier}", clickable=True)
    assert gate(TAP, labelled, labelled).verdict == "allow"


@pytest.mark.parametrize("word", ["Next", "Bearbeiten", "Play", "再生"])
def test_a_word_that_only_shows_something_agrees_to_what_a_dialog_states(word: str) -> None:
    """Seen failing with all harmless words in one list, as buttons that close a dialog."""
    window = {"window": "dialog", "texts": ["3 photos will be permanently deleted"], "buttons": ["Cancel", word]}
    assert Policy.default().gate(*touch(window, word)).verdict == "approve"
    assert Policy.default().gate(*touch(window, "Cancel")).verdict == "allow"


@pytest.mark.parametrize(
    "locale", ["en-US", "sw-KE", "zh-Hans-CN", "nn-NO", "iw-IL", "in_ID", "tl-PH", "ms-MY", "ur-PK"]
)
def test_languages_with_a_table(locale: str) -> None:
    assert has_table(locale)


@pytest.mark.parametrize("locale", ["ka-GE", "am-ET", "te-IN", "xx"])
def test_languages_without_one(locale: str) -> None:
    assert not has_table(locale)


BLIND = [
    ("com.mybank.mobile", ""),
    ("com.game.castle", "com.game.castle.CheckoutActivity"),
    ("io.flutter.shop", "io.flutter.shop.PayActivity"),
    ("com.venmo", ""),
    ("com.crypto.wallet", ""),
]
SEEN_NOT = [("com.game.castle", "com.game.castle.MainActivity"), ("com.display.paper", "com.display.paper.Player")]
ACROSS = Point(900, 2000)


def blind(action: act.Action, package: str, activity: str, *around: Element, end: Point | None = None) -> Gate:
    start = None if isinstance(action, act.PressKey | act.Type) else Point(100, 2000)
    target = around[0] if around else None
    return Policy.default().gate(action, TouchTarget(package, target, around, start, end, activity, SIZE))


@pytest.mark.parametrize(("package", "activity"), BLIND)
def test_without_elements_what_may_pay_waits(package: str, activity: str) -> None:
    """Seen failing with `tells_nothing` always false: only a touch in a few named apps was held."""
    page = Element(Bounds(0, 0, 1080, 2400), class_name="android.webkit.WebView", resource_id="x:id/web")
    deeds: list[Gate] = [
        blind(TAP, package, activity),
        blind(TAP, package, activity, page),
        blind(act.Tap(target=HERE), package, activity),
        blind(act.Swipe(start=HERE, end=HERE), package, activity, end=ACROSS),
        blind(act.Drag(start=HERE, end=HERE), package, activity, end=Point(100, 900)),
        blind(act.PressKey(key=Key.ENTER), package, activity),
        blind(act.Type(text="harmless, it only opens a page", submit=True), package, activity),
    ]
    assert [each.verdict for each in deeds] == ["approve"] * len(deeds)
    assert all(each.sensitive and each.standing == "unknown" for each in deeds)
    assert blind(act.Scroll(direction="down"), package, activity).verdict == "allow"


@pytest.mark.parametrize(("package", "activity"), SEEN_NOT)
def test_without_elements_a_game_is_played(package: str, activity: str) -> None:
    assert blind(TAP, package, activity).verdict == "allow"
    assert blind(act.Swipe(start=HERE, end=HERE), package, activity, end=ACROSS).verdict == "allow"
    assert blind(act.PressKey(key=Key.ENTER), package, activity).verdict == "allow"


def price_list(*words: tuple[str, ...], last_class: str = "android.widget.LinearLayout") -> list[list[Element]]:
    """Rows down to the lower edge, each with its words below each other."""
    rows = []
    for number, labels in enumerate(words):
        top, kind = 2100 - 230 * (len(words) - 1 - number), "android.widget.LinearLayout"
        kind = last_class if number == len(words) - 1 else kind
        row = at(0, top, 1080, top + 230, clickable=True, class_name=kind)
        inside = [at(280, top + 20 + 60 * line, 1000, top + 70 + 60 * line, text=t) for line, t in enumerate(labels)]
        rows.append([row, *inside])
    return rows


def last_row(*words: tuple[str, ...], beside: tuple[Element, ...] = (), **more: Any) -> str:
    """What stands before a touch of the last one."""
    rows = price_list(*words, **more)
    title = at(0, 100, 1080, 200, text="Blurbs")
    return gate(TAP, rows[-1][0], title, *beside, *(element for row in rows for element in row)).verdict


GOODS = (("Blue mug", "$9.50"), ("Desk lamp", "$34.99"), ("Notebook A5", "$6.20"), ("Umbrella", "$18.75"))


def test_the_last_row_of_a_price_list_is_no_button_that_ends_a_payment() -> None:
    assert last_row(*GOODS) == "allow"


def test_what_ends_a_page_below_a_price_list_is_held() -> None:
    """Seen failing, all but the last, where any row of a list passes."""
    total = at(0, 200, 1080, 300, text="Blurb $69.44")
    assert last_row(*GOODS, beside=(total,)) == "approve", "there is a sum beside the list"
    assert last_row(*GOODS[:3], ("Blurb",)) == "approve", "it costs nothing itself"
    assert last_row(*GOODS[:3], ("$69.44",)) == "approve", "it is an amount alone"
    assert last_row(*GOODS, last_class="android.widget.Button") == "approve", "it is a button"
    assert last_row(*GOODS[:2]) == "approve", "two are no list"
