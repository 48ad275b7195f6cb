"""What a run has changed on a phone, put back whatever became of the phone meanwhile."""

from __future__ import annotations

from devices.adb.input_commands import BROADCAST_KEYBOARD
from devices.adb.preparation import INPUT_METHOD, SCREEN_TIMEOUT, KeptSettings
from devices.adb.shell import Shell
from devices.virtual_phone.state import LATIN_KEYBOARD
from tests.devices.adb.conftest import Bench


def keyboard(bench: Bench) -> str:
    return bench.virtual.state.settings["secure"]["default_input_method"]


def kept(bench: Bench) -> list[str]:
    return [name for name in bench.virtual.state.settings["global"] if name.startswith("opengui")]


async def test_a_keyboard_that_was_removed_in_the_run_is_replaced(bench: Bench) -> None:
    """Seen failing with "cannot be selected" read as "selected": the broadcast keyboard stayed."""
    settings = KeptSettings(Shell(bench.connection))
    bench.virtual.state.settings["secure"]["default_input_method"] = "com.gone.keyboard/.Ime"
    assert await settings.change(INPUT_METHOD, BROADCAST_KEYBOARD)
    await settings.restore(INPUT_METHOD)
    assert keyboard(bench) == LATIN_KEYBOARD
    assert kept(bench) == []


async def test_a_keyboard_that_cannot_be_chosen_is_not_believed(bench: Bench) -> None:
    settings = KeptSettings(Shell(bench.connection))
    assert not await settings.change(INPUT_METHOD, "com.gone.keyboard/.Ime")
    assert keyboard(bench) == LATIN_KEYBOARD


async def test_a_maker_that_lets_nothing_be_changed_keeps_what_it_has(bench: Bench) -> None:
    """A run begins and ends all the same, and types what can be typed as keys."""
    bench.virtual.faults.set(no_settings=True)
    before = {name: dict(values) for name, values in bench.virtual.state.settings.items()}
    settings = KeptSettings(Shell(bench.connection))
    assert not await settings.change(SCREEN_TIMEOUT, "1800000")
    await bench.phone.prepare()
    await bench.phone.restore()
    assert bench.virtual.state.settings == before
