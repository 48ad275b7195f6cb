"""Helpers for graph states that are trees of subjects: merging partial updates and reading what all states share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.models.base import Usage


def merged(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    """The reducer of one branch of a state: `new` overwrites the same keys of `old`, and None empties the branch.
    Updates from nodes that run at the same time can be applied in any order if they have different keys.
    """
    return {} if new is None else {**old, **new}


def joined_subjects(updates: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine several state updates branch by branch. For a key in two of them, the later one wins."""
    whole: dict[str, Any] = {}
    for update in updates:
        for subject, new in update.items():
            old = whole.get(subject)
            whole[subject] = {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new
    return whole


def spent(progress: Mapping[str, Any]) -> Usage:
    """Return the tokens used so far, from the branch of a state that has the key `usage`."""
    return Usage.of(progress.get("usage", {}))


def with_sources(known: list[dict[str, str]], more: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return both lists of pages combined, with each address once, in the order of first reading."""
    pages = {page["url"]: page for page in known}
    for page in more:
        pages.setdefault(page["url"], page)
    return list(pages.values())
