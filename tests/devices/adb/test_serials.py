from __future__ import annotations

import pytest

from devices.adb.links import (
    Way,
    dialled,
    error_for,
    health_of,
    known_as,
    on_network,
    parse_long,
    parse_states,
    target,
    told_apart,
    way_to,
)

# The long list's form: AOSP packages/modules/adb/transport.cpp, append_transport.
LONG = """\
0123456789ABCDEF       device usb:1-1 product:full_k80 model:S20_Ultra device:k80 transport_id:1
0123456789ABCDEF       unauthorized usb:1-1.2 transport_id:2
(no serial number)     device usb:3-2 product:x model:y device:z transport_id:3
R58M12ABCDE            no permissions (missing udev rules?); see [http://developer.android.com/x] usb:1-5 transport_id:4
10.0.0.5:5555          device product:p model:m device:d transport_id:5
HT7A1                  offline transport_id:6
"""


def test_phones_that_share_a_serial_are_told_apart_by_their_port() -> None:
    assert parse_long(LONG) == {
        "0123456789ABCDEF@usb:1-1": "device",
        "0123456789ABCDEF@usb:1-1.2": "unauthorized",
        "(no serial number)@usb:3-2": "device",
        "R58M12ABCDE": "no permissions (missing udev rules?); see [http://developer.android.com/x]",
        "10.0.0.5:5555": "device",
        "HT7A1": "offline",
    }


def test_a_serial_may_have_blanks_in_it() -> None:
    name = "adb-35121JEHN-jr888A (2)._adb-tls-connect._tcp"
    more = f"{name} device product:lynx model:Pixel_7a device:lynx transport_id:9\nmy phone  offline transport_id:8\n"
    listed = LONG + more
    assert {key: state for key, state in parse_long(listed).items() if " " in key and "@" not in key} == {
        name: "device",
        "my phone": "offline",
    }


WAYS = {
    "R58M12ABCDE": Way.CABLE,
    "0123456789ABCDEF@usb:1-1": Way.CABLE,
    "(no serial number)@usb:3-2": Way.CABLE,
    "10.0.0.5:5555": Way.NETWORK,
    "phone.lan:5555": Way.NETWORK,
    "[fd00::5]:37045": Way.NETWORK,
    "adb-R58M12ABCDE-AbCdEf._adb-tls-connect._tcp": Way.NETWORK,
    "127.0.0.1:41521": Way.HERE,
    "localhost:5555": Way.HERE,
    "[::1]:5555": Way.HERE,
    "emulator-5554": Way.HERE,
}


@pytest.mark.parametrize("name", WAYS)
def test_nobody_is_sent_to_a_cable_that_is_not_there(name: str) -> None:
    """Seen failing with one advice for all: unplug the cable, for Wi-Fi, virtual phones and emulators too."""
    assert way_to(name) is WAYS[name]
    told = [str(error_for("device offline", name)), health_of("offline", name)[2], health_of("weird", name)[2]]
    assert [("cable" in one or "USB" in one) for one in told] == [WAYS[name] is Way.CABLE] * 3
    assert ("Plug it in" in health_of("", name)[2]) is (WAYS[name] is not Way.HERE)


@pytest.mark.parametrize(
    ("listed", "enough"),
    [
        ("", True),
        ("A\tdevice\nB\toffline\n", True),
        ("A\tdevice\nA\tdevice\n", False),
        ("(no serial number)\tdevice\n", False),
    ],
)
def test_the_long_list_is_asked_for_only_when_it_is_needed(listed: str, enough: bool) -> None:
    assert told_apart(listed) is enough
    assert parse_states("A\tdevice\nB\toffline\n") == {"A": "device", "B": "offline"}


@pytest.mark.parametrize(
    ("name", "asked_for", "is_dialled", "network"),
    [
        ("R58M12ABCDE", "R58M12ABCDE", False, False),
        ("0123456789ABCDEF@usb:1-1", "usb:1-1", False, False),
        ("usb:1-1", "usb:1-1", False, False),
        ("10.0.0.5:5555", "10.0.0.5:5555", True, True),
        ("[fe80::1]:5555", "[fe80::1]:5555", True, True),
        ("adb-R58M12ABCDE-x1Yz9A._adb-tls-connect._tcp", "adb-R58M12ABCDE-x1Yz9A._adb-tls-connect._tcp", False, True),
        ("emulator-5554", "emulator-5554", False, False),
    ],
)
def test_what_a_name_means(name: str, asked_for: str, is_dialled: bool, network: bool) -> None:
    assert target(name) == asked_for
    assert dialled(name) is is_dialled
    assert on_network(name) is network
    assert {name, asked_for} <= known_as(name)


def test_a_phone_is_also_called_by_serial_or_port_alone() -> None:
    assert known_as("0123@usb:1-1") == {"0123@usb:1-1", "0123", "usb:1-1"}
