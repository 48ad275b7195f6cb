"""The documents agree with the program, and their links lead somewhere."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import get_args

import discord
import pytest

from agent.dialects.select import AUTO, NAMES, dialect_for
from agent.run import Outcome
from bot.chats.installed import installed, model_of
from bot.cli.exits import OF_OUTCOME
from bot.commands.spec import COMMANDS
from bot.texts import catalogue
from devices.virtual_phone.apps import APPS
from devices.virtual_phone.faults import Faults
from devices.virtual_phone.options import add_options
from devices.virtual_phone.scenario import Happening

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
LARGEST_PICTURE = 400_000
HINT = "run .venv/bin/python docs/generate.py"


@cache
def generator() -> ModuleType:
    """docs/generate.py, which is a script and no package of the program."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def quoted() -> dict[str, str]:
    """What the program says now, by the name of the part."""
    parts: dict[str, str] = generator().quoted()
    return parts


@cache
def printed_graphs() -> dict[str, str]:
    """What `opengui graph` prints, by the name of the graph."""
    command = [sys.executable, "-m", "bot.cli", "graph"]
    printed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60).stdout
    parts = re.split(r"^%% (\w+) graph\n", printed, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def words(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its own heading."""
    below = text.split(f"\n{heading}\n", 1)[1]
    table = re.search(r"^\|.*\n\|[-|: ]+\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert table is not None, heading
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


FIRST = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS = [*FIRST, *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_something(document: Path) -> None:
    for found in LINK.finditer(document.read_text(encoding="utf-8")):
        link = found[1] or found[2]
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{document.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{document.name}: {link}"


def anchors(document: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_quoted_is_what_the_program_says(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert generator().filled(text, quoted()) == text, HINT


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_are_there(document: Path) -> None:
    """NAME in a path stands for what somebody adds."""
    text = document.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:bot|agent|devices|tests|docs)/[\w./*-]*)`", text):
        assert "NAME" in path or list(REPOSITORY.glob(path.rstrip("/"))), f"{document.name}: {path}"


def test_every_document_can_be_found_from_the_first_page() -> None:
    seen: set[Path] = set()
    waiting = [REPOSITORY / "README.md"]
    while waiting:
        document = waiting.pop()
        seen.add(document)
        for found in LINK.finditer(document.read_text(encoding="utf-8")):
            target = (document.parent / (found[1] or found[2]).partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in seen and target.exists():
                waiting.append(target)
    assert set(DOCUMENTS) <= seen


@pytest.mark.slow
def test_both_graphs_are_shown_as_they_are_printed() -> None:
    shown = re.findall(r"graph -->\n```mermaid\n(.*?)\n```", words("docs/architecture.md"), re.DOTALL)
    assert shown == [graph.strip() for graph in printed_graphs().values()]


@pytest.mark.slow
@pytest.mark.parametrize(("heading", "name"), [("## The main graph", "Main"), ("## The executor graph", "Executor")])
def test_the_tables_of_nodes_have_the_routes_of_the_graphs(heading: str, name: str) -> None:
    edges = re.findall(r"^\s*(\w+) -(?:\.-|-)> (\w+);", printed_graphs()[name], re.MULTILINE)
    routes: dict[str, set[str]] = {}
    for node, target in edges:
        routes.setdefault(node, set()).add(target)
    del routes["__start__"]
    table = rows(words("docs/architecture.md"), heading)
    assert {next(iter(names(node))): names(targets) for node, _, targets in table} == routes


def test_what_is_decided_somewhere_is_decided_there() -> None:
    table = rows(words("docs/architecture.md"), "## Where each thing is decided")
    assert len(table) > 20
    for _, where in table:
        path = ""
        for name in re.findall(r"`([^`]+)`", where):
            if "/" in name:
                path = name
                assert (REPOSITORY / path).exists(), name
            elif path.endswith(".py"):
                assert name in defined_in(path), f"{path} has no {name}"


def defined_in(path: str) -> set[str]:
    """Every name that a module defines; those of a class with its name before them."""
    found = set()
    for node in ast.parse(words(path)).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_the_table_of_commands_is_complete() -> None:
    text = words("docs/commands.md")
    for command in COMMANDS:
        assert re.search(rf"^\| `{command.name}\b[^|]*\| {re.escape(command.help)} \|", text, re.MULTILINE)
        for option in command.options:
            assert f"`--{option.name}" in text
    for outcome, code in OF_OUTCOME.items():
        assert [cell for cell in rows(text, "## How a task ends") if cell[0] == outcome.value and cell[2] == str(code)]
    assert len(rows(text, "## How a task ends")) == len(Outcome)


@pytest.mark.slow
def test_the_table_of_the_command_line_is_complete() -> None:
    command = [sys.executable, "-m", "bot.cli", "--help"]
    told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60).stdout
    known = set(re.findall(r"^    ([a-z]+)\b", told, re.MULTILINE))
    assert "run" in known
    table = rows(words("docs/commands.md"), "## The command line")
    assert {name for row in table for name in re.findall(r"`opengui ([a-z]+)", row[0])} == known


def test_the_table_of_settings_is_complete() -> None:
    listed = [next(iter(names(row[0]))) for row in rows(words("docs/operations.md"), "## Settings")]
    assert listed == [line.partition("=")[0] for line in words(".env.example").splitlines() if "=" in line[:40]]
    assert {name.lower() for name in listed} == set(model_of(installed()).model_fields)


def test_the_table_of_dialects_is_what_a_model_gets() -> None:
    table = rows(words("docs/models.md"), "## Dialects")
    assert {next(iter(names(row[0]))) for row in table} == set(NAMES) - {AUTO}
    for row in table:
        (name,) = names(row[0])
        assert dialect_for(name, "").image_window == int(row[3])
        for model in names(row[4]):
            assert dialect_for(AUTO, model).name == name, model


def test_the_invitation_asks_for_the_permissions_in_the_table() -> None:
    text = words("docs/discord.md")
    found = re.search(r"permissions=(\d+)", text)
    assert found is not None
    wanted = {name for name, granted in discord.Permissions(int(found[1])) if granted}
    titles = {row[0].lower().replace(" ", "_") for row in rows(text, "## 2. Invite it")}
    titles.discard("view_channel")
    wanted.discard("view_channel")
    wanted.discard("read_messages")  # what discord.py calls it
    assert titles == wanted


def test_the_virtual_phone_has_the_apps_and_faults_in_the_tables() -> None:
    text = words("docs/virtual-phone.md")
    assert {row[0] for row in rows(text, "## Apps")} == {app.label for app in APPS}
    assert {name for row in rows(text, "### Faults") for name in names(row[0])} == set(Faults().values())
    happenings = {kind.model_fields["do"].default for kind in get_args(get_args(Happening)[0])}
    assert {name for row in rows(text, "### What can happen") for name in names(row[0])} == happenings
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    options = set(re.findall(r"^  (--[a-z-]+)", parser.format_help(), re.MULTILINE))
    assert {name for row in rows(text, "## Start") for name in names(row[0])} == options


def test_pictures_are_small_and_shown_somewhere() -> None:
    shown = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    for picture in (DOCS / "pictures").glob("*.png"):
        assert picture.stat().st_size < LARGEST_PICTURE
        assert picture.name in shown, picture.name


def troubles() -> set[str]:
    """The messages that troubleshooting.md explains, by their keys."""
    places = tomllib.loads(words("docs/troubleshooting.toml"))
    told = {key for messages in places.values() for key in messages}
    return told | set(generator().mended(told))


def test_whatever_stops_a_start_is_explained() -> None:
    """Sentences of the settings and of the store; the rest are parts of others."""
    parts = {"settings.lines", "store.no_rights", "store.shared", "store.silent"}
    said = {key for key in catalogue() if re.fullmatch(r"(settings|store)\.\w+", key)}
    assert said - parts - troubles() == set()


def test_whatever_the_doctor_finds_wrong_is_explained() -> None:
    found = set()
    for source in [*(REPOSITORY / "bot/checks").glob("*.py"), *(REPOSITORY / "bot/cli/doctor").glob("*.py")]:
        for call in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(
                    func=ast.Name("Finding"),
                    args=[
                        _,
                        ast.Constant("bad"),
                        ast.Call(func=ast.Name("say"), args=[ast.Constant(str(key)), *_]),
                        *_,
                    ],
                ):
                    found.add(key)
    assert len(found) > 10
    assert found - troubles() == set()
