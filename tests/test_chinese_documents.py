"""The Chinese documents name only what the product has, and it is known which of them are out of date."""

from __future__ import annotations

import importlib.util
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from zoneinfo import ZoneInfo

import pytest

from agent import actions as act
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from bot.chats.installed import installed, model_of
from bot.cli.options import parser
from bot.commands.parser import parse
from bot.commands.spec import COMMANDS
from bot.domain.schedule import plan_in
from bot.domain.schedule_words import read_rule
from bot.domain.watch import split_watch, watch_of
from bot.texts import catalogue
from devices.geometry import Bounds
from devices.phone import Element
from tests.test_documents import LINK, anchors

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.zh-CN.md", *sorted((REPOSITORY / "docs" / "zh").glob("*.md"))]
CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
OTHERS = {"YOUR_APPLICATION_ID", "UV_DEFAULT_INDEX", "ADBUTILS_ADB_PATH", "BASE", "PYTHON"}
"""Names in capitals that are no settings of this program."""

pages = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


@cache
def status() -> ModuleType:
    """docs/zh_status.py, which is a script and no package of the program."""
    spec = importlib.util.spec_from_file_location("zh_status", REPOSITORY / "docs" / "zh_status.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code(page: Path) -> str:
    """What a page shows as code, a line for each piece."""
    return "\n".join(block or span for block, span in CODE.findall(page.read_text(encoding="utf-8")))


@pages
def test_links_lead_to_something(page: Path) -> None:
    for found in LINK.finditer(page.read_text(encoding="utf-8")):
        link = found[1] or found[2]
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_can_be_found_from_the_first_one() -> None:
    assert "](README.zh-CN.md)" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    seen: set[Path] = set()
    waiting = [PAGES[0]]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        for found in LINK.finditer(page.read_text(encoding="utf-8")):
            target = (page.parent / (found[1] or found[2]).partition("#")[0]).resolve()
            if target in PAGES and target not in seen:
                waiting.append(target)
    assert seen == set(PAGES)
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"zh/{page.name}" not in navigation] == []


@pages
def test_the_command_line_knows_its_commands(page: Path) -> None:
    (commands,) = (action.choices for action in parser()._actions if action.dest == "name")
    for name in re.findall(r"(?<![\w/!-])opengui ([a-z][a-z-]*)", code(page)):
        assert name in set(commands or ()), name


@pages
def test_chats_know_their_commands(page: Path) -> None:
    known = {command.name for command in COMMANDS}
    for name in re.findall(r"(?:^|[^\w/.:])(?:!opengui |/)([a-z]+)(?=[ @\n]|$)", code(page)):
        assert name in known | {"newbot", "revoke", "opengui"}, name  # two of BotFather


@pages
def test_settings_are_settings(page: Path) -> None:
    text = code(page)
    known = {name.upper() for name in model_of(installed()).model_fields}
    named = set(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", text)) | set(re.findall(r"\b([A-Z]{4,})=", text))
    assert named - known - OTHERS == set()


@pages
def test_make_has_its_targets(page: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    extras = re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)
    assert extras is not None
    known = {f"install-{extra}" for extra in extras[1].split()} | set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))
    assert set(re.findall(r"\bmake (?:[A-Z]+=\S+ )?([a-z][a-z-]*)", code(page))) <= known


@pages
def test_labels_are_what_the_product_shows(page: Path) -> None:
    """【…】 is a word of the console or of a card; → leads from one to the next."""
    shown = set(catalogue("zh").values())
    for label in re.findall(r"【([^】]+)】", page.read_text(encoding="utf-8")):
        assert shown >= set(label.split(" → ")), label


def test_the_first_page_is_short() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) < 120


def test_it_is_known_which_pages_are_out_of_date(tmp_path: Path) -> None:
    (tmp_path / "docs" / "zh").mkdir(parents=True)
    for name in ("README.md", "docs/phones.md", "docs/models.md"):
        (tmp_path / name).write_text("First.\n", encoding="utf-8")
    first = tmp_path / "README.zh-CN.md"
    phones, models = (tmp_path / "docs" / "zh" / name for name in ("phones.md", "models.md"))
    for page in (first, phones, models):
        page.write_text("# 页面\n\n内容\n", encoding="utf-8")
    assert status().stale([first, phones, models]) == [first, phones, models]

    for page in (first, phones, models):
        status().accept(page)
    assert status().stale([first, phones, models]) == []
    assert phones.read_text(encoding="utf-8").startswith("# 页面\n\n内容\n\n<!-- ")

    (tmp_path / "docs" / "phones.md").write_text("Second.\n", encoding="utf-8")
    (tmp_path / "README.md").write_bytes(b"First.\r\n")
    assert status().stale([first, phones, models]) == [phones]

    before = phones.read_text(encoding="utf-8")
    status().accept(phones)
    assert status().stale([phones]) == []
    assert len(phones.read_text(encoding="utf-8")) == len(before)


def test_every_page_follows_an_english_one() -> None:
    for page in PAGES:
        assert status().english_of(page).exists(), page.name


@pytest.mark.parametrize(("app", "package"), [("微信", "com.tencent.mm"), ("支付宝", "com.eg.android.AlipayGphone")])
def test_buttons_that_are_named_as_asked_about_are(app: str, package: str) -> None:
    text = (REPOSITORY / "docs" / "zh" / "security.md").read_text(encoding="utf-8")
    (named,) = re.findall(rf"^- \*\*{app}\*\*：(.*?)^- ", text, re.MULTILINE | re.DOTALL)
    labels = re.findall(r"“([^”]+)”", named)
    assert len(labels) > 5
    for label in labels:
        button = Element(Bounds(0, 0, 9, 9), text=label, clickable=True, package=package)
        tap = act.Tap(target=act.PointTarget(x=1, y=1))
        assert Policy.default().gate(tap, TouchTarget(package, button)).verdict == "approve", label


@pages
def test_what_is_typed_in_a_chat_is_understood(page: Path) -> None:
    known = {command.name for command in COMMANDS}
    for line in (re.sub(r"^(?:!opengui |/)", "", line.strip()) for line in code(page).splitlines()):
        if line.partition(" ")[0] not in known:
            continue
        call = parse(line)
        if call.name not in ("schedule", "watch") or not call.rest:
            continue
        plan = plan_in(call.rest)
        assert plan is not None, line
        read_rule(plan[0], now=datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp(), zone=ZoneInfo("Asia/Shanghai"))
        if call.name == "watch" and "…" not in line:
            watch = split_watch(plan[1])
            assert watch is not None, line
            assert watch_of(watch[1]).result.type == "number", line
