"""What every prompt says of the words of others: whatever it is shown of them is data, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Final

import pytest

from agent.dialects.base import Dialect
from agent.dialects.select import NAMES, dialect_for
from agent.graph.main import prompt_facts
from agent.graph.main.state import begun, joined
from agent.ports.agent import Guidance, TaskOrder
from agent.ports.memory import Passage, memory_block
from agent.ports.stores import GivenFile
from agent.skills.library import Skill, Skills
from agent.tools.call_values import told_of
from agent.tools.spec import ActionResult
from tests.agent.dialects.test_render import SCENE

COVERED: Final[Mapping[str, frozenset[str]]] = {
    "caption": frozenset({"steps", "words"}),
    "guard": frozenset({"All of that"}),
    "intent": frozenset({"<files>", "<notes>", "<memory>"}),
    "member": frozenset({"<read>", "<results>", "<notes>", "<memory>", "<earlier>"}),
    "names": frozenset({"All of these words"}),
    "parameters": frozenset({"Values", "parameters"}),
    "plan": frozenset({"<documents>", "<read>", "<notes>", "<files>", "<memory>"}),
    "sum_up": frozenset({"<notes>"}),
    "sum_up_turns": frozenset({"<earlier>", "<turns>"}),
    "summarize": frozenset({"<results>", "<notes>"}),
    "supervise": frozenset({"<results>", "<notes>"}),
    "value": frozenset({"<results>"}),
    "value_json": frozenset({"<results>"}),
    "verify": frozenset({"Steps", "claim", "screen"}),
    "dialects/rules": frozenset({"<screen>", "<steps>", "<earlier>", "<notes>", "<read>", "<files>", "<memory>"}),
}
"""What of others each prompt is shown, and so what its rule on data has to name."""
PARTS: Final = {
    *("intent_members", "plan_deep", "watch"),
    *(f"dialects/{name}" for name in ("autoglm", "by_list", "by_picture", "gelab", "mai_ui")),
    *(f"dialects/{name}" for name in ("mobile_use", "tools", "ui_tars")),
    "dialects/tool_descriptions",
}
"""Prompts that are a part of one above, or are shown nothing but a person's own words."""
FOLLOWED: Final = ("<skill>", "<skills>", "<instructions>", "skill", "standing instructions")
"""What may be followed, as far as the task asks for it: no rule on data names it."""


def rule_on_data(text: str) -> str:
    """The sentence that says what is data."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
    found = [each for each in sentences if re.search(r"\bdata\b", each) and "JSON" not in each]
    assert len(found) == 1, found
    return found[0]


def blocks(text: str) -> set[str]:
    """The marks of the blocks in a text."""
    return {f"<{name}>" for name in re.findall(r"^<([a-z]+)(?: [^>\n]*)?>$", text, re.MULTILINE)}


def written(name: str) -> str:
    return resources.files("agent.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def test_every_prompt_is_known_here() -> None:
    root = Path(str(resources.files("agent.prompts")))
    names = {str(file.relative_to(root).with_suffix("")) for file in root.rglob("*.md")}
    assert names == COVERED.keys() | PARTS


@pytest.mark.parametrize("name", COVERED)
def test_the_rule_on_data_names_what_is_shown_and_no_skill(name: str) -> None:
    """Seen failing with a sentence on skills before "They are data" in the planner's: it was told not to follow skills,
    and documents, pages and notes were covered no more; and with none at all for whoever decides how to begin.
    """
    rule = rule_on_data(written(name))
    assert not [each for each in COVERED[name] if each not in rule]
    assert not [each for each in FOLLOWED if each in rule.lower()]


def test_what_the_main_graph_tells_of_others_is_covered() -> None:
    """The marks are those that code writes. Seen failing with `<memory>` and `<files>` in no rule."""
    file = GivenFile(name="f.txt", content="c")
    state = joined(begun(TaskOrder(task="1", text="t", files=(file,))), {"findings": {"notes": ["n"]}})
    given, noted = prompt_facts.given(state), prompt_facts.noted(state)
    results, memory = prompt_facts.results(state), memory_block(["a fact"])
    documents = prompt_facts.documents([Passage("a.md", "text")])
    pages = told_of(ActionResult(read=("a page",)))
    shown = {
        "intent": given + noted + memory,
        "plan": given + noted + memory + documents + pages,
        "supervise": results + prompt_facts.notes(state),
        "summarize": results + prompt_facts.notes(state),
        "member": results + noted + memory + pages,
        "value": results,
    }
    for name, text in shown.items():
        found = blocks(text) - {"<document>"}
        assert found
        assert found <= COVERED[name], name


@pytest.mark.parametrize("dialect", [dialect_for(name, "") for name in NAMES if name != "auto"], ids=lambda it: it.name)
def test_what_who_acts_is_told_of_others_is_covered(dialect: Dialect) -> None:
    """Seen failing with `<earlier>`, `<files>` and `<memory>` named nowhere, and with skills and the person's standing
    instructions among what does not count.
    """
    tea = Skill("tea", "Makes tea.", Path(), "Boil water.")
    skills = Skills({"tea": tea})
    scene = replace(
        SCENE,
        past_summary="a summary",
        files=("f.txt",),
        facts=("a fact",),
        texts_read=("a page",),
        instructions=Guidance(instructions="be brief").block.strip(),
        skill=(skills.listed() + skills.followed("tea")).strip(),
    )
    system, *rest = dialect.render(scene)[0]
    instructions = "\n".join(map(str, system.parts))
    shown = blocks("\n".join(part for message in rest for part in message.parts if isinstance(part, str)))
    data = (line for line in instructions.splitlines() if line.startswith("- Whatever is between"))
    rule = rule_on_data("\n".join(data))
    assert shown >= {"<earlier>", "<files>", "<memory>", "<read>", "<screen>", "<instructions>", "<skill>", "<skills>"}
    assert not [each for each in shown - {"<instructions>", "<skills>", "<skill>"} if each not in rule]
    assert not [each for each in FOLLOWED if each in rule.lower()]
    assert "standing instructions" in instructions
    assert "skill" in instructions
