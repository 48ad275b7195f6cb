"""Converts the result of a tool: to the text for a model, without secrets, and to data for the record of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.effect_facts import effects_data, effects_of, in_english
from agent.guards.masking import Mask
from agent.models.base import Usage
from agent.models.json_text import whole
from agent.tools.spec import Done, PageSource


def told_of(done: Done) -> str:
    """Return a result as text for a model. Text by others is between <read> marks that it cannot close."""
    blocks = [f"<read>\n{text.replace('<read', '‹read').replace('</read', '‹/read')}\n</read>" for text in done.read]
    return "\n".join(part for part in (in_english(done.effects), *done.told, *blocks) if part) or "Done."


def covered(done: Done, mask: Mask) -> Done:
    """Return a copy of the result with the secrets in its texts replaced by bullets. Addresses stay as they are."""
    cover = mask.text
    return replace(
        done,
        effects=mask.effects(done.effects),
        told=tuple(map(cover, done.told)),
        notes=tuple(map(cover, done.notes)),
        gathered=None if done.gathered is None else cover(done.gathered),
        read=tuple(map(cover, done.read)),
        sources=tuple(PageSource(cover(each.title), each.url) for each in done.sources),
        documents=tuple(map(cover, done.documents)),
        data=None if done.data is None else mask.told(dict(done.data)),
    )


def done_data(done: Done) -> dict[str, Any]:
    """Return a result as plain JSON data. Its model usage is left out, because it is counted when it occurs."""
    data: dict[str, Any] = {
        "effects": effects_data(done.effects),
        "told": list(done.told),
        "notes": list(done.notes),
        "gathered": done.gathered,
        "read": list(done.read),
        "found": list(done.found),
        "sources": [[each.title, each.url] for each in done.sources],
        "documents": list(done.documents),
        "data": None if done.data is None else dict(done.data),
    }
    kept: dict[str, Any] = whole({name: value for name, value in data.items() if value not in (None, [])})
    return kept


def done_of(data: Mapping[str, Any]) -> Done:
    """Rebuild a result from the data that `done_data` returned."""
    return Done(
        effects=effects_of(data.get("effects", [])),
        told=tuple(data.get("told", ())),
        notes=tuple(data.get("notes", ())),
        gathered=data.get("gathered"),
        usage=Usage(),
        read=tuple(data.get("read", ())),
        found=tuple(data.get("found", ())),
        sources=tuple(PageSource(title, url) for title, url in data.get("sources", ())),
        documents=tuple(data.get("documents", ())),
        data=data.get("data"),
    )
