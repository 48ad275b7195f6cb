"""What every `Phone` keeps to, whatever it is made of. A driver's tests subclass `PhoneContract` and give `subject`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from devices.errors import InputRejected, PhoneGone, PhoneTimeout, UnknownApp, UntypableText
from devices.geometry import Point, Size
from devices.inputs import Key, LongPress, OpenApp, OpenUrl, PressKey, Swipe, Tap, TypeText
from devices.phone import Element, NotificationSource, Observation, Phone
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.scenario import Dismiss, Notify


@dataclass(frozen=True, slots=True)
class Subject:
    """A phone as its users see it, and the virtual phone behind it with the truth."""

    phone: Phone
    virtual: VirtualPhone

    def receipts(self) -> list[str]:
        """The receipts of all commands that carried one, in order."""
        return [entry.receipt for entry in self.virtual.journal.entries if entry.receipt]


def element(look: Observation, label: str) -> Element:
    assert look.elements is not None
    return next(each for each in look.elements if label in (each.label, each.hint))


class PhoneContract:
    """The tests. `subject` is a fixture of the subclass: a prepared phone that shows its launcher."""

    async def test_a_look_has_picture_elements_and_app(self, subject: Subject) -> None:
        look = await subject.phone.observe()
        assert look.image is not None
        assert look.image.mode == "RGB"
        assert Size(*look.image.size) == look.size == Size(1080, 2400)
        assert element(look, "Settings").bounds.area
        assert look.package == "com.android.launcher3"
        assert (look.secure, look.settled, look.screen_on, look.locked) == (False, True, True, False)
        assert subject.phone.info.app == look.package

    async def test_a_picture_that_has_to_fit_is_made_at_once(self, subject: Subject) -> None:
        def half(screen: Size) -> Size:
            return Size(screen.width // 2, screen.height // 2)

        before = await subject.phone.observe(fit=half)
        await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="r-1.0")
        after = await subject.phone.observe(after=before, fit=half)
        for look in (before, after):
            assert look.image is None
            assert look.jpeg is not None
            assert look.jpeg.size == Size(540, 1200) == Size(*look.jpeg.image().size)
            assert look.size == Size(1080, 2400)
            assert look.without_picture().jpeg is None
        assert after.package == "org.example.notes"

    async def test_the_settled_look_shows_what_a_touch_did(self, subject: Subject) -> None:
        before = await subject.phone.observe()
        await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="r-1.0")
        after = await subject.phone.observe(after=before)
        assert after.package == "org.example.notes"
        assert element(after, "New note").clickable
        assert after.settled

    async def test_an_effect_that_comes_late_is_waited_for(self, subject: Subject) -> None:
        """Seen failing with `settle` returning its first frame."""
        before = await subject.phone.observe()
        subject.virtual.faults.set(effect_ms=300)
        await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="r-1.0")
        after = await subject.phone.observe(after=before)
        assert after.package == "org.example.notes"

    async def test_an_early_look_is_told_from_a_settled_one(self, subject: Subject) -> None:
        before = await subject.phone.observe()
        await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="r-1.0")
        early = await subject.phone.observe(after=before, settle=False)
        assert not early.settled
        assert early.package == "org.example.notes"
        assert element(early, "New note").clickable
        assert await subject.phone.confirmed(early)

    async def test_without_a_change_an_early_look_waits_as_any_other(self, subject: Subject) -> None:
        """Seen failing with the first frame returned whether it had changed or not."""
        before = await subject.phone.observe()
        subject.virtual.faults.set(effect_ms=300)
        await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="r-1.0")
        after = await subject.phone.observe(after=before, settle=False)
        assert after.settled
        assert element(after, "New note").clickable

    async def test_a_screen_that_moved_does_not_stand_still(self, subject: Subject) -> None:
        """Seen failing with `confirmed` returning True."""
        async with asyncio.timeout(60):
            while not await subject.phone.confirmed(seen := await subject.phone.observe()):
                pass  # its clock has gone on meanwhile, or the machine was too busy for a picture
        subject.virtual.pop_up("Update", "There is a new version.", ("Later",))
        subject.virtual.changed()
        assert not await subject.phone.confirmed(seen)
        now = await subject.phone.observe(after=seen)
        assert now.settled
        assert element(now, "Later").clickable

    async def test_a_look_without_a_picture_is_never_known_to_stand_still(self, subject: Subject) -> None:
        await subject.phone.act(OpenApp("Vault"), receipt="o")
        look = await subject.phone.observe()
        assert look.image is None
        assert not await subject.phone.confirmed(look)

    async def test_every_command_of_an_input_carries_its_receipt_once(self, subject: Subject) -> None:
        """Seen failing with `with_receipt` returning the line alone."""
        look = await subject.phone.observe()
        at = element(look, "Notes").bounds.centre
        untold = len([entry for entry in subject.virtual.journal.inputs() if not entry.receipt])
        await subject.phone.act(LongPress(Point(500, 1400)), receipt="run-7.1.1.0")
        await subject.phone.act(Swipe(Point(500, 1400), Point(500, 1000)), receipt="run-7.1.2.0")
        await subject.phone.act(PressKey(Key.HOME), receipt="run-7.1.3.0")
        await subject.phone.act(Tap(at, times=2), receipt="run-7.1.4.0")
        assert subject.receipts() == [
            "run-7.1.1.0.1",
            "run-7.1.2.0.1",
            "run-7.1.3.0.1",
            "run-7.1.4.0.1",
            "run-7.1.4.0.2",
        ]
        assert len([entry for entry in subject.virtual.journal.inputs() if not entry.receipt]) == untold

    async def test_a_watched_touch_tells_when_it_was_sent_and_that_nothing_else_got_it(self, subject: Subject) -> None:
        before = await subject.phone.observe()
        asked = asyncio.get_running_loop().time()
        done = await subject.phone.act(Tap(element(before, "Notes").bounds.centre), receipt="w-1.0", watched=True)
        assert done.sent is not None
        assert asked <= done.sent <= asyncio.get_running_loop().time()
        assert done.elsewhere == ""

    async def test_a_point_outside_the_screen_is_refused_and_nothing_sent(self, subject: Subject) -> None:
        """Seen failing with the check in `_inside` removed."""
        await subject.phone.observe()
        for at in (Point(1080, 0), Point(0, 2400), Point(-1, 5)):
            with pytest.raises(InputRejected):
                await subject.phone.act(Tap(at), receipt="r")
        assert subject.receipts() == []

    async def test_text_arrives_as_it_is_and_is_read_back(self, subject: Subject) -> None:
        text = 'it\'s 100%sure "quoted" $HOME `id`; 你好 👋'
        await self._new_note(subject)
        look = await subject.phone.observe()
        done = await subject.phone.act(TypeText(text, at=element(look, "Title").bounds.centre), receipt="t")
        assert done.field_text == text
        assert subject.virtual.truth.fields["title"] == text
        assert (await subject.phone.observe()).focused_text == text

    @pytest.mark.parametrize(
        "sign", ["\r", "\r\n", "\x0b", "\x85", "\u2028", "\x00", "\x08", "\x1b", "\x7f"], ids=ascii
    )
    async def test_a_text_that_a_driver_would_change_is_refused_and_nothing_sent(
        self, subject: Subject, sign: str
    ) -> None:
        """Seen failing with a driver that takes "\\r" for "\\n": it pressed Enter."""
        await self._new_note(subject)
        before = subject.receipts()
        with pytest.raises(UntypableText):
            await subject.phone.act(TypeText(f"a{sign}b", secret=True, submit=True), receipt="t")
        assert subject.receipts() == before

    async def test_clear_replaces_what_was_there(self, subject: Subject) -> None:
        await self._new_note(subject)
        await subject.phone.act(TypeText("first words"), receipt="t1")
        await subject.phone.observe()
        done = await subject.phone.act(TypeText("second", clear=True), receipt="t2")
        assert done.field_text == "second"
        assert subject.virtual.truth.fields["title"] == "second"

    async def test_submit_presses_enter_once(self, subject: Subject) -> None:
        await subject.phone.act(OpenApp("browser"), receipt="o")
        look = await subject.phone.observe()
        assert look.elements is not None
        field = next(each for each in look.elements if each.editable)
        done = await subject.phone.act(
            TypeText("weather in Berlin", at=field.bounds.centre, clear=True, submit=True), receipt="s"
        )
        assert done.field_text == "weather in Berlin"
        assert subject.virtual.truth.searches[-1:] == ("weather in Berlin",)
        assert len([entry for entry in subject.virtual.journal.inputs() if "KEYCODE_ENTER" in entry.argv]) == 1

    async def test_apps_open_by_name_and_unknown_ones_say_so(self, subject: Subject) -> None:
        for name, package in (("Settings", "com.android.settings"), ("时钟", "com.android.deskclock")):
            done = await subject.phone.act(OpenApp(name), receipt="o")
            assert "in front" in " ".join(done.notes)
            assert (await subject.phone.observe()).package == package
        before = len(subject.receipts())
        with pytest.raises(UnknownApp):
            await subject.phone.act(OpenApp("Flux Compensator"), receipt="o")
        assert len(subject.receipts()) == before

    async def test_addresses_open(self, subject: Subject) -> None:
        await subject.phone.act(OpenUrl("example.com/a?b=1&c='2'"), receipt="u")
        assert subject.virtual.truth.urls[-1] == "https://example.com/a?b=1&c='2'"

    async def test_a_secure_screen_has_elements_and_no_picture(self, subject: Subject) -> None:
        """Seen failing with `image` given all the same."""
        await subject.phone.act(OpenApp("Vault"), receipt="o")
        look = await subject.phone.observe()
        assert look.secure
        assert look.image is None
        assert look.size == Size(1080, 2400)
        assert element(look, "Recovery words").text
        again = await subject.phone.observe(after=look)
        assert again.secure

    async def test_a_secure_screen_is_known_beside_the_keyboard(self, subject: Subject) -> None:
        """The keyboard is a window of its own, and shows. Seen failing with the whole picture looked at alone."""
        subject.virtual.windows.launch("vault")
        subject.virtual.windows.open("unlock")
        subject.virtual.windows.focus("password")
        look = await subject.phone.observe()
        assert look.keyboard_shown
        assert look.secure
        assert look.image is None
        again = await subject.phone.observe(after=look)
        assert again.secure

    async def test_a_glance_is_a_picture_alone_and_none_of_what_nobody_should_see(self, subject: Subject) -> None:
        """Seen failing with the frame returned whatever the state."""
        seen = await subject.phone.glance()
        assert seen is not None
        assert seen.size == (1080, 2400)
        assert subject.receipts() == []
        await subject.phone.act(OpenApp("Vault"), receipt="o")
        assert await subject.phone.glance() is None
        await subject.phone.act(OpenApp("Notes"), receipt="o")
        assert await subject.phone.glance() is not None
        subject.virtual.state.locked = True
        assert await subject.phone.glance() is None
        subject.virtual.state.locked, subject.virtual.state.awake = False, False
        assert await subject.phone.glance() is None
        subject.virtual.state.awake = True

    async def test_without_elements_there_is_still_a_picture(self, subject: Subject) -> None:
        subject.virtual.faults.set(no_tree=True)
        look = await subject.phone.observe()
        assert look.image is not None
        assert look.elements is None

    async def test_prepare_wakes_and_unlocks_and_restore_puts_back(self, subject: Subject) -> None:
        settings = subject.virtual.state.settings
        await subject.phone.restore()
        before = {name: dict(values) for name, values in settings.items()}
        subject.virtual.state.awake, subject.virtual.state.locked = False, True
        await subject.phone.prepare()
        assert subject.virtual.truth.awake
        assert not subject.virtual.truth.locked
        assert settings["secure"]["default_input_method"] != before["secure"]["default_input_method"]
        await subject.phone.prepare()
        await subject.phone.restore()
        await subject.phone.restore()
        enabled = settings["secure"].pop("enabled_input_methods")
        assert before["secure"].pop("enabled_input_methods") in enabled
        assert settings == before

    async def test_files_go_there_and_back(self, subject: Subject) -> None:
        path = await subject.phone.push("a b.txt", b"content")
        assert await subject.phone.pull(path, limit=7) == b"content"

    async def test_a_pulled_cable_is_told_and_the_input_is_not_repeated(self, subject: Subject) -> None:
        """Seen failing with a second try in `Act.send`."""
        look = await subject.phone.observe()
        subject.virtual.faults.set(hang="input tap")
        act = asyncio.create_task(subject.phone.act(Tap(element(look, "Notes").bounds.centre), receipt="g"))
        await asyncio.wait([act], timeout=0.3)  # it has reached the phone
        await subject.virtual.set_link(LinkState.GONE)
        with pytest.raises(PhoneGone) as gone:
            await act
        assert gone.value.uncertain
        with pytest.raises(PhoneGone):
            await subject.phone.observe()

    async def test_a_cancelled_look_ends_at_once_and_the_phone_is_usable(self, subject: Subject) -> None:
        subject.virtual.faults.set(hang="*")
        look = asyncio.create_task(subject.phone.observe())
        await asyncio.wait([look], timeout=0.2)
        look.cancel()
        with pytest.raises(asyncio.CancelledError):
            await look
        subject.virtual.faults.set(hang="")
        assert (await subject.phone.observe()).image is not None

    async def test_a_phone_that_does_not_answer_is_told(self, subject: Subject) -> None:
        await subject.phone.observe()
        subject.virtual.faults.set(hang="dumpsys")
        with pytest.raises(PhoneTimeout):
            await subject.phone.observe()

    @staticmethod
    async def _new_note(subject: Subject) -> None:
        await subject.phone.act(OpenApp("Notes"), receipt="n1")
        look = await subject.phone.observe()
        await subject.phone.act(Tap(element(look, "New note").bounds.centre), receipt="n2")
        await subject.phone.observe(after=look)

    async def test_notifications_are_read_and_nothing_changes(self, subject: Subject) -> None:
        assert isinstance(subject.phone, NotificationSource)
        assert await subject.phone.sms_app() == "com.android.messaging"
        chat = "com.tencent.mm"
        assert await subject.phone.notifications(chat) == ()
        await happen(subject.virtual, Notify(package=chat, title="小明", text="到家了\n（八点）", number=7))
        await happen(subject.virtual, Notify(package=chat, title="2", text="2 chats", number=8, flags=0x200))
        await happen(subject.virtual, Notify(package=chat, title="song", text="", number=9, progress_of=100))
        await happen(subject.virtual, Notify(package=chat, title="old", text="", number=10, seconds_ago=86_400.0))
        one, *rest = await subject.phone.notifications(chat)
        assert (one.title, one.text, one.lasting, one.reposted) == ("小明", "到家了\n（八点）", False, False)
        assert one.key.startswith("0|com.tencent.mm|7|null|")
        assert 0.0 <= one.age < 60.0
        assert [(each.lasting, each.reposted) for each in rest] == [(True, False), (True, False), (False, True)]
        await happen(subject.virtual, Notify(package=chat, title="小明", text="我也到了", number=7))
        again = (await subject.phone.notifications(chat))[0]
        assert (again.key, again.posted, again.text) == (one.key, one.posted, "我也到了")
        first = await subject.phone.notifications("com.android.messaging")
        assert {each.title for each in first} == {"Alice", "小明"}
        await happen(subject.virtual, Dismiss(package=chat))
        assert await subject.phone.notifications(chat) == ()
