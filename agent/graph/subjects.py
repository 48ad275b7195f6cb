"""States that are trees: how an update of some keys of a subject gets into the state, and what all states keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.models.base import Usage


def merged(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    """The reducer of a subject: both, the new one winning; None empties it. What several nodes write at once adds up in
    any order.
    """
    return {} if new is None else {**old, **new}


def joined_subjects(updates: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Several updates of a state as one, subject by subject; of what two of them have, the later counts."""
    whole: dict[str, Any] = {}
    for update in updates:
        for subject, new in update.items():
            old = whole.get(subject)
            whole[subject] = {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new
    return whole


def spent(progress: Mapping[str, Any]) -> Usage:
    """The tokens spent so far, by the branch of a state that has its `usage`."""
    return Usage.of(progress.get("usage", {}))
