"""Harmless by structure: plain switches of the settings, tabs and calculator keys, and nothing that looks alike."""

from __future__ import annotations

from typing import Any

import pytest

from agent import actions as act
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Size
from devices.phone import Element

SIZE = Size(1080, 2400)
HERE = act.PointTarget(x=1, y=1)
PAD = "7 8 9 ÷ 4 5 6 × 1 2 3 - 0 . = +"


def standing(touched: Element, around: list[Element], package: str, activity: str = "") -> str:
    spot = TouchTarget(package, touched, (*around,), activity=activity, size=SIZE)
    return Policy.default().gate(act.Tap(target=HERE), spot).standing


def row(title: str, package: str, *roles: str, top: int = 600) -> list[Element]:
    """A row with its title and switches, as Android lays it out; the first element is what takes the touch."""
    whole = Element(Bounds(0, top, 1080, top + 180), clickable=True, package=package)
    said = Element(Bounds(40, top + 20, 700, top + 160), text=title, package=package)
    knobs = [
        Element(
            Bounds(900 - 150 * at, top + 50, 1000 - 150 * at, top + 130),
            class_name=f"android.widget.{role}",
            checkable=True,
            package=package,
        )
        for at, role in enumerate(roles)
    ]
    return [whole, said, *knobs]


def keys(labels: str, **more: Any) -> list[Element]:
    width, height = 1080 // 4, 200
    return [
        Element(
            Bounds(width * (at % 4), 1400 + height * (at // 4), width * (at % 4 + 1), 1600 + height * (at // 4)),
            text=label,
            clickable=True,
            class_name="android.widget.Button",
            **more,
        )
        for at, label in enumerate(labels.split())
    ]


@pytest.mark.parametrize("title", ["Blurb", "Dark theme", "Donkere modus", "深色主题"])
@pytest.mark.parametrize("role", ["Switch", "ToggleButton"])
def test_a_switch_of_the_settings_is_harmless(title: str, role: str) -> None:
    own = row(title, "com.android.settings", role)
    for page in ("com.android.settings.Settings", "com.android.settings.Settings$DisplaySettingsActivity"):
        assert standing(own[0], own, "com.android.settings", page) == "harmless"


@pytest.mark.parametrize(
    ("package", "activity", "roles"),
    [
        ("com.example.bank", "com.example.bank.Settings", ["Switch"]),
        ("com.android.settings", "com.android.settings.SubSettings", ["Switch"]),
        ("com.android.settings", "com.android.settings.Settings$SpecialThingsActivity", ["Switch"]),
        ("com.android.settings", "com.android.settings.Settings", []),
        ("com.android.settings", "com.android.settings.Settings", ["RadioButton"]),
        ("com.android.settings", "com.android.settings.Settings", ["Switch", "Switch"]),
    ],
)
def test_other_switches_and_rows_are_read(package: str, activity: str, roles: list[str]) -> None:
    """Seen failing without the check of app, page and state in turn; three alike are no proof either."""
    rows = [each for at in range(3) for each in row(f"Blurb {at}", package, *roles, top=600 + 200 * at)]
    assert standing(rows[0], rows, package, activity) == "unknown"


def test_a_security_page_is_held_as_ever() -> None:
    own = row("Blurb", "com.android.settings", "Switch")
    page = "com.android.settings.Settings$DevelopmentSettingsDashboardActivity"
    assert standing(own[0], own, "com.android.settings", page) == "held"


@pytest.mark.parametrize("label", [*PAD.split()])
def test_the_keys_of_a_calculator_are_harmless(label: str) -> None:
    pad = keys(PAD)
    key = next(each for each in pad if each.text == label)
    assert standing(key, pad, "com.example") == ("unknown" if label == "." else "harmless")


@pytest.mark.parametrize("labels", ["1 2 3 4 5 6 7 8 9 * 0 #", "1 2 3 4 5 6 7 8 9 0 OK", "7 8 9 ÷ = + -"])
def test_other_pads_are_read(labels: str) -> None:
    """Seen failing without the operators, and without the digits."""
    pad = keys(labels)
    assert standing(pad[0], pad, "com.example") == "unknown"


def test_a_tab_is_harmless_and_what_only_looks_like_one_is_read() -> None:
    """Seen failing with any row of three alike taken for tabs."""
    own = "androidx.appcompat.app.ActionBar$Tab"
    for role, chosen, known in ((own, 1, "harmless"), (own, 0, "unknown"), ("android.widget.TextView", 1, "unknown")):
        tabs = [
            Element(
                Bounds(360 * at, 200, 360 * (at + 1), 320),
                text=f"Blurb {at}",
                class_name=role,
                clickable=True,
                selected=at < chosen,
            )
            for at in range(3)
        ]
        assert standing(tabs[1], tabs, "com.example") == known


def test_a_tab_that_pays_is_held() -> None:
    tab = Element(Bounds(0, 200, 360, 320), text="Pay now", class_name="android.app.ActionBar$Tab", clickable=True)
    assert standing(tab, [tab], "com.example") == "held"
