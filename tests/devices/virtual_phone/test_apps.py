from __future__ import annotations

import pytest

from devices.geometry import Point
from devices.virtual_phone.ground_truth import PlacedOrder, SavedNote, SentMessage, Touched
from devices.virtual_phone.phone import VirtualPhone
from tests.devices.virtual_phone.conftest import Hands


async def test_a_search_in_the_browser(hands: Hands) -> None:
    await hands.tap("Browser")
    await hands.tap("url_bar")
    assert hands.truth().keyboard_shown
    await hands.out("input text 'OpenGUI%sbot'")
    assert hands.truth().fields == {"url_bar": "OpenGUI bot"}
    await hands.out("input keyevent 66")
    assert hands.truth().searches == ("OpenGUI bot",)
    assert not hands.truth().keyboard_shown
    titles = [node["text"] for node in await hands.nodes() if node["resource-id"].endswith("result_title")]
    assert len(titles) >= 4
    assert all("OpenGUI bot" in title for title in titles)
    await hands.tap(titles[1])
    assert hands.truth().page == "site"
    assert len(hands.truth().urls) == 1
    assert titles[1] in await hands.texts()
    await hands.out("input keyevent KEYCODE_BACK")
    assert hands.truth().page == "results"


async def test_a_note_is_written_changed_and_deleted(hands: Hands) -> None:
    await hands.tap("Notes")
    await hands.tap("New note")
    await hands.out("input text Plan")
    await hands.out("input keyevent TAB")
    await hands.out("input text 'one'; input keyevent ENTER; input text 'two'")
    await hands.tap("Save")
    assert hands.truth().notes[-1] == SavedNote("Plan", "one\ntwo")
    await hands.tap("Plan")
    await hands.tap("title")
    await hands.out("input keyevent 67 67 67 67; input text Idea")
    await hands.tap("Save")
    assert hands.truth().notes[-1] == SavedNote("Idea", "one\ntwo")
    await hands.tap("Idea")
    await hands.tap("Delete")
    assert hands.truth().deleted_notes == (SavedNote("Idea", "one\ntwo"),)
    assert [note.title for note in hands.truth().notes] == ["Groceries"]


async def test_line_ends_and_tabs_of_a_typed_text_are_keys(hands: Hands) -> None:
    await hands.tap("Notes")
    await hands.tap("New note")
    await hands.out("input text 'Plan\tone\ntwo'")
    await hands.tap("Save")
    assert hands.truth().notes[-1] == SavedNote("Plan", "one\ntwo")


async def test_messages_to_old_and_new_people(hands: Hands) -> None:
    await hands.tap("Messages")
    await hands.tap("Alice")
    await hands.tap("compose_message_text")
    await hands.out("input text 'Yes,%sFriday'")
    await hands.tap("Send")
    await hands.out("input keyevent BACK BACK")
    await hands.tap("New message")
    await hands.out("input text 5551234")
    await hands.tap("compose_message_text")
    await hands.out("input text hello")
    await hands.tap("Send")
    assert SentMessage("Alice", "Yes, Friday") in hands.truth().messages
    assert SentMessage("5551234", "hello") in hands.truth().messages
    assert "hello" in await hands.texts()


async def test_switches_are_real_settings(hands: Hands) -> None:
    await hands.tap("Settings")
    assert await hands.out("settings get global bluetooth_on") == "0\n"
    await hands.tap("Bluetooth")
    assert await hands.out("settings get global bluetooth_on") == "1\n"
    await hands.tap("Aeroplane mode")
    toggles = hands.truth().toggles
    assert toggles["airplane"]
    assert not toggles["wifi"]
    assert not toggles["bluetooth"]
    checked = [node["checked"] for node in await hands.nodes() if node["class"].endswith("Switch")]
    assert "true" in checked
    assert "false" in checked


async def test_a_long_list_scrolls_to_its_sub_pages(hands: Hands) -> None:
    await hands.tap("Settings")
    assert "About phone" not in await hands.texts()
    await hands.out("input swipe 540 1900 540 500 300")
    await hands.tap("About phone")
    assert "VIRTUAL0001" in await hands.texts()
    await hands.out("input keyevent BACK")
    assert hands.truth().page == "main"


async def test_an_order_is_placed_once(hands: Hands) -> None:
    await hands.tap("Shop")
    await hands.tap("Coffee beans 500 g")
    await hands.tap("Add to cart")
    await hands.tap("cart")
    await hands.tap("Checkout")
    assert "Pay $12.90" in await hands.texts()
    assert hands.truth().orders == ()
    await hands.tap("Place order")
    assert hands.truth().orders == (PlacedOrder(("Coffee beans 500 g",), 1290),)
    assert "Order placed" in await hands.texts()
    await hands.out("input keyevent BACK")
    assert hands.truth().app == "launcher"


async def test_signing_in_needs_the_code(hands: Hands) -> None:
    await hands.tap("Account")
    await hands.tap("user_name")
    await hands.out("input text anna")
    await hands.tap("Next")
    await hands.out("input text 111111")
    await hands.tap("Verify")
    assert "Wrong code. Try again." in await hands.texts()
    await hands.tap("code")
    await hands.out("input text 246810; input keyevent 66")
    assert hands.truth().signed_in == "anna"
    assert hands.truth().wrong_codes == 1
    assert "Signed in as anna" in await hands.texts()
    await hands.tap("Sign out")
    assert hands.truth().signed_in == ""


async def test_alarms_and_the_time(hands: Hands) -> None:
    await hands.tap("Clock")
    assert "12:00" in await hands.texts()
    await hands.tap("onoff")
    assert hands.truth().alarms == ()


async def test_a_secure_page_is_black_but_can_be_read(hands: Hands) -> None:
    await hands.tap("Vault")
    assert any("maple river" in text for text in await hands.texts())
    picture = (await hands.phone.frame()).image
    assert picture.getextrema() == ((0, 0), (0, 0), (0, 0))
    await hands.tap("Close")
    assert (await hands.phone.frame()).image.getextrema() != ((0, 0), (0, 0), (0, 0))


async def test_back_closes_the_keyboard_first_and_a_tap_beside_it_too(hands: Hands) -> None:
    await hands.tap("Account")
    await hands.tap("user_name")
    await hands.out("input tap 540 2000")
    assert hands.truth().keyboard_shown, "a tap on the keyboard's picture does nothing"
    await hands.out("input keyevent BACK")
    assert not hands.truth().keyboard_shown
    assert hands.truth().app == "account"
    await hands.tap("user_name")
    await hands.out("input tap 540 1100")
    assert not hands.truth().keyboard_shown
    await hands.out("input keyevent BACK")
    assert hands.truth().app == "launcher"


async def test_navigation_buttons_recents_and_shade(hands: Hands) -> None:
    await hands.tap("Clock")
    await hands.out("input tap 540 2350")
    assert hands.truth().app == "launcher"
    await hands.out("input tap 810 2350")
    assert hands.phone.state.recents
    await hands.tap("Clock")
    assert hands.truth().app == "clock"
    await hands.out("input tap 270 2350")
    assert hands.truth().app == "launcher"
    await hands.out("input swipe 540 10 540 900")
    assert "Are we still on for Friday?" in await hands.texts()
    await hands.out("input keyevent BACK")
    assert not hands.phone.state.shade
    await hands.tap("Notes")
    await hands.out("input keyevent APP_SWITCH")
    await hands.tap("Clear all")
    assert hands.phone.state.tasks == []


async def test_the_lock_screen_with_and_without_a_pin(hands: Hands) -> None:
    phone = hands.phone
    await hands.out("input keyevent SLEEP")
    assert not hands.truth().awake
    await hands.out("input tap 500 500")
    await hands.out("input keyevent WAKEUP")
    assert hands.truth().locked
    await hands.out("input swipe 540 2000 540 800")
    assert not hands.truth().locked
    phone.windows.lock("1379")
    await hands.out("input swipe 540 2000 540 800")
    assert hands.truth().locked
    await hands.out("input text 0000")
    assert hands.truth().locked
    for digit in "137":
        await hands.tap(digit)
    await hands.out("input text 9")
    assert not hands.truth().locked


async def test_a_pop_up_takes_the_touches(hands: Hands) -> None:
    await hands.tap("Shop")
    hands.phone.pop_up("Rate this app", "Do you like it?", ("Later", "Rate"))
    assert set(await hands.texts()) >= {"Rate this app", "Later", "Rate"}
    await hands.out("input tap 540 2350")
    assert hands.truth().app == "shop"
    await hands.tap("Later")
    assert hands.truth().dialog_answers == ("Rate this app: Later",)
    assert "Coffee beans 500 g" in await hands.texts()


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_seed_shuffles_the_same_way_each_time(seed: int) -> None:
    def order(which: int) -> list[str]:
        return [node.text for node in VirtualPhone(seed=which).scene().root.walk() if node.long_clickable]

    assert order(seed) == order(seed)
    assert order(seed) != order(0)
    assert sorted(order(seed)) == sorted(order(0))


async def test_chinese_labels_and_dark_theme_change_the_picture() -> None:
    phone = VirtualPhone()
    light = (await phone.frame()).image.copy()
    phone.state.locale = "zh-CN"
    assert "浏览器" in phone.elements(compressed=True)
    phone.state.locale = "en-US"
    phone.state.settings["secure"]["ui_night_mode"] = "2"
    dark = (await phone.frame()).image
    assert sum(dark.reduce(40).convert("L").tobytes()) < sum(light.reduce(40).convert("L").tobytes()) * 0.6


async def test_gestures_instead_of_buttons(hands: Hands) -> None:
    await hands.out("settings put secure navigation_mode 2")
    await hands.tap("Notes")
    await hands.tap("New note")
    await hands.out("input tap 270 2340")
    assert hands.truth().page == "edit", "there is no button any more"
    await hands.out("input keyevent KEYCODE_BACK")  # the keyboard
    await hands.out("input swipe 540 1200 900 1200")
    assert hands.truth().page == "edit", "a finger in the middle goes nowhere"
    await hands.out("input swipe 5 1200 600 1220")
    assert hands.truth().page == "main"
    await hands.out("input swipe 1075 1200 500 1200")
    assert hands.truth().app == "launcher"
    await hands.tap("Clock")
    await hands.out("input swipe 540 2395 540 1500 200")
    assert hands.truth().app == "launcher"
    await hands.out("input swipe 540 2395 540 1500 900")
    assert "Clear all" in await hands.texts()


def test_what_a_touch_has_landed_on_is_remembered() -> None:
    phone = VirtualPhone()
    phone.windows.launch("notes")
    phone.hand.tap(Point(540, 1200))
    phone.hand.tap(_middle(phone, "New note"))
    phone.hand.tap(_middle(phone, "body"))
    phone.pop_up("Rate this app", "", ("Later", "Rate"))
    phone.hand.tap(_middle(phone, "Later"))
    assert list(phone.hand.touched) == [
        Touched("notes", "main", taken=False),
        Touched("notes", "main", ("New note",), "new_note"),
        Touched("notes", "edit", ("Note",), "body", field=True),
        Touched("dialog", "edit", ("Later",), "button1"),
    ]


def _middle(phone: VirtualPhone, wanted: str) -> Point:
    nodes = phone.scene().root.walk()
    return next(each.bounds.centre for each in nodes if wanted in {each.text, each.description, each.identifier})
