"""A Chinese phone speaks Chinese: every text that its pages say is there in both languages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import devices.virtual_phone
from devices.geometry import Point
from devices.virtual_phone.android import TOGGLES
from devices.virtual_phone.apps import APPS
from devices.virtual_phone.apps.browser import RESULTS
from devices.virtual_phone.apps.settings import SUB_PAGES
from devices.virtual_phone.apps.shop import PRODUCTS
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.strings import chinese, date_text

SOURCES = sorted(Path(devices.virtual_phone.__file__).parent.rglob("*.py"))
SAID = re.compile(r'(?:windows\.say|windows\.field)\(\s*(?:"\w+",\s*)?"([^"]+)"')
DAY = datetime(2026, 11, 21, 12, 5, tzinfo=UTC)
PLACE = re.compile(r"\{\w+\}")


def said() -> set[str]:
    words = {text for source in SOURCES for text in SAID.findall(source.read_text("utf-8"))}
    words |= {app.label for app in APPS} | {toggle.title for toggle in TOGGLES}
    words |= {text for product in PRODUCTS for text in (product.name, product.text)}
    words |= {text for title, _, about in RESULTS for text in (title, about)}
    return words | {text for _, title, summary, _ in SUB_PAGES for text in (title, summary)}


def test_every_text_has_its_chinese() -> None:
    assert len(said()) > 80
    assert sorted(said() - chinese().keys()) == []
    for english, translated in chinese().items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(translated)), english


def test_dates() -> None:
    assert date_text(DAY, "zh-CN") == "11月21日 星期六"
    assert date_text(DAY, "en-US") == "Saturday, 21 November"


def words_of(phone: VirtualPhone) -> str:
    return " ".join(f"{node.text} {node.description} {node.hint}" for node in phone.scene().root.walk())


def tap(phone: VirtualPhone, words: str) -> None:
    node = next(node for node in phone.scene().root.walk() if words in {node.text, node.description})
    phone.hand.tap(Point(node.bounds.centre.x, node.bounds.centre.y))


@pytest.mark.slow
@pytest.mark.parametrize("app", [app.key for app in APPS])
async def test_pages_of_a_chinese_phone(app: str) -> None:
    """What is left in Latin letters is a name, a number with its unit, or data."""
    async with VirtualPhone(locale="zh-CN", clock=lambda: DAY) as phone:
        phone.windows.launch(app)
        words = words_of(phone)
        assert re.search(r"[\u4e00-\u9fff]", words)
        data = r"Alice|Bob|Friday|parcel|Great|thanks|Groceries|Milk|bread|coffee|maple|river|candle|orbit|Android|GB"
        left = set(re.findall(r"[A-Za-z]{3,}", words)) - {"WLAN"}
        assert not [word for word in left if not re.search(data, word) and word in " ".join(chinese())], words


@pytest.mark.slow
async def test_buying_in_chinese() -> None:
    async with VirtualPhone(locale="zh-CN", clock=lambda: DAY) as phone:
        assert "11月21日 星期六" in words_of(phone)
        for words in ("商店", "雨伞"):
            tap(phone, words)
        assert "有货，2 天内送达。" in words_of(phone)
        for words in ("加入购物车", "购物车, 1", "结算"):
            tap(phone, words)
        assert "支付 $18.75" in words_of(phone)
        tap(phone, "提交订单")
        assert "您已支付 $18.75。" in words_of(phone)
        assert phone.truth.orders[0].items == ("Umbrella",)
