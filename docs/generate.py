"""Writes what the documents quote from the program: floors, graphs, commands, settings, rules.

`.venv/bin/python docs/generate.py` fills the parts between `<!-- begin NAME -->` and `<!-- end NAME -->`.
A test compares them with the program.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Set as AbstractSet
from pathlib import Path

import grimp

from bot.commands.parser import forms_of
from bot.commands.spec import COMMANDS, CommandSpec, OptionKind
from bot.texts import catalogue

REPOSITORY = Path(__file__).parents[1]
POLICY = REPOSITORY / "agent" / "guards" / "policy.toml"
SETTINGS = REPOSITORY / ".env.example"
PROJECT = REPOSITORY / "pyproject.toml"
PARTS = ("bot", "agent", "devices")


def main() -> None:
    """Write every document anew."""
    parts = quoted()
    for document in documents():
        text = document.read_text(encoding="utf-8")
        document.write_text(filled(text, parts), encoding="utf-8")


def documents() -> list[Path]:
    """Every document that people read."""
    first = (REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    return [*first, *sorted((REPOSITORY / "docs").glob("*.md"))]


def quoted() -> dict[str, str]:
    """What the program says now, by the name of the part."""
    return {
        "packages": packages(),
        **floors(),
        **graphs(),
        "commands": commands(),
        "forms": forms(),
        "settings": settings(),
        "policy": policy(),
        "troubles": troubles(),
        "reachability": reachability(),
    }


def filled(text: str, parts: dict[str, str]) -> str:
    """The document with these parts in place. Raises KeyError for a part that nothing fills."""
    return re.sub(
        r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)",
        lambda found: f"{found[1]}{parts[found[2]]}\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


def floors() -> dict[str, str]:
    """The floors of each part, as the import linter holds them, with the imports that there really are."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        f"{part}_floors": f"{drawing(part, layers)}\n\n{legend(part, layers)}"
        for contract in contracts
        for part in contract.get("containers", ())
        for layers in [[layer.split(" | ") for layer in contract["layers"]]]
    }


def packages() -> str:
    """Every package of the program with what it is, as a tree."""
    sources = (source for part in PARTS for source in (REPOSITORY / part).rglob("__init__.py"))
    folders = sorted(source.parent.relative_to(REPOSITORY) for source in sources)
    folders.sort(key=lambda folder: PARTS.index(folder.parts[0]))
    return "\n".join(
        f"{'  ' * (len(folder.parts) - 1)}- `{folder.name}/`: {about(folder / '__init__.py')}" for folder in folders
    )


def about(source: Path) -> str:
    """What a file of the program says first of itself."""
    said = ast.get_docstring(ast.parse((REPOSITORY / source).read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split())


def drawing(part: str, layers: list[list[str]]) -> str:
    """A graph of the imports between the rooms of a part. An arrow that others lead round to is left out."""
    graph = grimp.build_graph(part, cache_dir=None)
    for room in sorted(graph.find_children(part)):
        graph.squash_module(room)
    names = [name for layer in layers for name in layer]
    below = {
        name: {
            other
            for other in names
            if other != name and graph.direct_import_exists(importer=f"{part}.{name}", imported=f"{part}.{other}")
        }
        for name in names
    }
    reached: dict[str, set[str]] = {}
    for name in reversed(names):  # what is imported stands below, so it is known already
        reached[name] = below[name].union(*(reached[other] for other in below[name]))
    lines = ["graph TD"]
    for number, layer in enumerate(layers, start=1):
        lines += [f'  subgraph floor{number}[" "]', *(f"    {part}_{name}[{name}]" for name in layer), "  end"]
    for name in names:
        round_about = set().union(*(reached[other] for other in below[name]))
        lines += [f"  {part}_{name} --> {part}_{other}" for other in names if other in below[name] - round_about]
    return "\n".join(["```mermaid", *lines, "```"])


def legend(part: str, layers: list[list[str]]) -> str:
    """One row for each room: its floor, counted from the ground, and what its docstring says first."""
    rows = []
    for number, layer in zip(range(len(layers), 0, -1), layers, strict=True):
        for name in layer:
            room = REPOSITORY / part / name
            said = about(room / "__init__.py" if room.is_dir() else room.with_suffix(".py"))
            rows.append(f"| {number} | `{part}/{name}{'/' if room.is_dir() else '.py'}` | {said} |")
    return "\n".join(["| floor | room | what it is |", "|---|---|---|", *rows])


def graphs() -> dict[str, str]:
    """`opengui graph` as code blocks; its headings are left out, because front matter must come first."""
    printed = subprocess.run(
        [sys.executable, "-m", "bot.cli", "graph"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    parts = re.split(r"^%% (\w+) graph\n", printed, flags=re.MULTILINE)[1:]
    return {
        f"{name.lower()}_graph": f"```mermaid\n{graph.strip()}\n```"
        for name, graph in zip(parts[::2], parts[1::2], strict=True)
    }


def troubles() -> str:
    """Messages with what to do about them, a table for each place where they appear. Raises KeyError for one that the
    program does not say.
    """
    places = tomllib.loads((REPOSITORY / "docs" / "troubleshooting.toml").read_text(encoding="utf-8"))
    places["doctor"] |= mended({key for messages in places.values() for key in messages})
    lines = []
    for place, messages in places.items():
        lines += [f"## {place.capitalize()}", "", "| message | what to do |", "|---|---|"]
        for key, remedy in messages.items():
            lines.append(f"| {re.sub('{.*?}', '…', catalogue()[key])} | {remedy} |")
        lines.append("")
    return "\n".join(lines)


def reachability() -> str:
    """How many of AndroidWorld's tasks are reached, and one row for each."""
    table = tomllib.loads((REPOSITORY / "docs" / "reachability.toml").read_text(encoding="utf-8"))
    tasks, needs, requests = table["tasks"], table["needs"], table["shown"]
    reached = [sum(task["reach"] == reach for task in tasks.values()) for reach in ("shown", "by argument", "no")]
    lines = [
        f"Of {len(tasks)} tasks {reached[0]} are shown, {reached[1]} reached by argument, {reached[2]} not reached.",
        "",
        "| task | optimal steps | requests | reached | needs |",
        "|---|---|---|---|---|",
    ]
    for name, task in tasks.items():
        made = str(requests[task["kind"]]) if "kind" in task else ""
        told = "; ".join(needs[each] for each in task["needs"])
        reach = f"{task['reach']}: {task['why']}" if "why" in task else task["reach"]
        lines.append(f"| {name} | {task['steps']} | {made} | {reach} | {told} |")
    return "\n".join(lines)


def mended(told: AbstractSet[str]) -> dict[str, str]:
    """What the doctor finds and how the catalogue says it is mended, without what is told already."""
    fixes = {key.removesuffix("_fix"): fix for key, fix in catalogue().items() if key.endswith("_fix")}
    # The two of adb are what is said when all is well; what is wrong with it stands under Phones.
    found = {key: fix for key, fix in fixes.items() if re.match(r"check\.(?!adb\.)", key) and key in catalogue()}
    return {key: re.sub("{.*?}", "…", fix) for key, fix in found.items() if key not in told}


def commands() -> str:
    """One row for each command."""
    rows = [f"| `{usage(command)}` | {command.help} | {options(command)} |" for command in COMMANDS]
    return "\n".join(["| command | does | options |", "|---|---|---|", *rows])


def forms() -> str:
    """One row for each command that is picked otherwise than it is typed."""
    rows = []
    for form in (form for command in COMMANDS for form in forms_of(command) if form.group):
        words = " ".join(word.strip("{}").upper() if "{" in word else word for word in (form.words or "").split())
        typed = usage(form.command) if form.words is None else f"{form.command.name} {words}".strip()
        rows.append(f"| `/opengui {form.path}` | `{typed}` |")
    return "\n".join(["| picked | typed |", "|---|---|", *rows])


def usage(command: CommandSpec) -> str:
    """The command with its text, as `help` writes it."""
    words = [command.name]
    words += [f"[{command.argument}]"] if command.argument else []
    if command.text is not None:
        words.append(f"<{command.text.name}>" if command.text.required else f"[{command.text.name}]")
    return " ".join(words)


def options(command: CommandSpec) -> str:
    """The options, each with its meaning."""
    return "<br>".join(
        f"`--{option.name}{'' if option.kind is OptionKind.FLAG else f' <{option.name}>'}`: {option.help}"
        for option in command.options
    )


def settings() -> str:
    """One row for each setting of `.env.example`."""
    rows = []
    comment = ""
    for line in SETTINGS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            comment = line.removeprefix("# ")
        elif "=" in line:
            name, _, default = line.partition("=")
            rows.append(f"| `{name}` | {f'`{default}`' if default else ''} | {comment} |")
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])


def policy() -> str:
    """One row for each rule of the policy file."""
    rules = tomllib.loads(POLICY.read_text(encoding="utf-8"))["approve"]
    rows = [f"| `{name}` | {rule['reason']} |" for name, rule in rules.items()]
    return "\n".join(["| rule | stops what |", "|---|---|", *rows])


if __name__ == "__main__":
    main()
