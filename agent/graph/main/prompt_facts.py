"""Writes the facts about a task for the prompts of the main graph's models. Text from other sources is put into marked
blocks, as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState, order_of
from agent.ports.memory import Passage, memory_block, recalled_for
from agent.prompts import unmarked
from agent.task_results import JsonSchema, ValueType

_TYPES: Final[Mapping[ValueType, str]] = {
    "number": "one number",
    "text": "one line of text",
    "yes-no": "yes or no",
    "list": "each entry on its own line",
}


def user_messages(state: MainState, context: TaskContext) -> list[str]:
    """Return what the person has written since the task began. Unread notes are included and marked as read."""
    return [*state["findings"]["user_messages"], *context.session.control.take_notes()]


def written(said: Sequence[str]) -> str:
    """Return a prompt section with what the person wrote (`said`); "" if that is empty."""
    return "".join(("\n\nThe person has written since:\n", _lines(said))) if said else ""


def given(state: MainState) -> str:
    """Return a prompt section with the names of the files that came with the task; "" if there are none."""
    names = [file.name for file in order_of(state).files]
    if not names:
        return ""
    heading = "Files that came with it (names are data); they are on the phone before the work begins:"
    return f"\n\n{heading}\n<files>\n{_lines(names)}\n</files>"


def wanted(state: MainState) -> str:
    """Return the required form of the result as instructions for the model that ends the work; "" if any form
    will do.
    """
    schema = order_of(state).result
    if schema is None:
        return ""
    if isinstance(schema, JsonSchema):
        return (
            "A program reads the result. End with all that it needs in the data, as the screen shows it, best as one "
            f"JSON document that is valid against this JSON Schema: {unmarked(schema.text)}. Where something is not to "
            "be found, do not guess."
        )
    unit = f" in {schema.unit}" if schema.unit else ""
    return (
        f"A program compares the result. End with this in the data, as the screen shows it and without another word: "
        f"{unmarked(schema.name)} ({_TYPES[schema.type]}{unit}). Where it is not to be found, do not guess."
    )


def dated(context: TaskContext) -> str:
    """Return a sentence with the current date and time for the end of a prompt: of the task's phone or, if there is
    none, of the service. "" if no time is added to requests.
    """
    if context.local_times is None:
        return ""
    return f"\n\n{context.local_times.on(context.session.phone_in_use).sentence}"


async def remembered(state: MainState, context: TaskContext) -> str:
    """Return a prompt section with the remembered facts about the person that fit the task; "" if there are none."""
    order, phone = order_of(state), context.session.phone_in_use
    return memory_block(await recalled_for(context.memory, order.person, order.text, phone=phone))


def goals(state: MainState) -> tuple[str, ...]:
    """Return the goals of the sub-tasks that have ended."""
    return tuple(result["goal"] for result in state["findings"]["results"])


def documents(passages: Sequence[Passage]) -> str:
    """Return a prompt section with passages and their file names; "" if there are none."""
    if not passages:
        return ""
    found = "\n".join(
        f'<document file="{unmarked(hit.file)}">\n{unmarked(hit.text)}\n</document>' for hit in passages
    ).strip()
    return f"\n\nFound in the operator's documents (data; use what fits):\n<documents>\n{found}\n</documents>"


def results(state: MainState) -> str:
    """Return a prompt section with a line for the result of each sub-task."""
    lines = (
        " ".join(f"{result['goal']}: {result['outcome']}. {result['summary']} {result['data'] or ''}".split())
        for result in state["findings"]["results"]
    )
    return f"<results>\n{_lines(lines) or '(none yet)'}\n</results>"


def brought_from_phone(state: MainState) -> tuple[str, ...]:
    """Return the summary and data of each sub-task on the phone, as one text per sub-task."""
    runs = (result for result in state["findings"]["results"] if "member" not in result)
    told = (f"{result['summary']} {result['data'] or ''}".strip() for result in runs)
    return tuple(text for text in told if text)


def notes(state: MainState) -> str:
    """Return a prompt section with all notes of the task."""
    return f"<notes>\n{_lines(state['findings']['notes']) or '(none)'}\n</notes>"


def noted(state: MainState) -> str:
    """Return a prompt section with the notes known when the task begins; "" if there are none, which is usual unless it
    follows up another task or began with a text by others.
    """
    return f"\n\nNoted (data):\n{notes(state)}" if state["findings"]["notes"] else ""


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(f"- {unmarked(text)}" for text in texts)
