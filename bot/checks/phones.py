"""What is known of the attached phones without asking them anything."""

from __future__ import annotations

from collections.abc import Sequence

from bot.checks.finding import Finding
from bot.tasks.views import Json

NONE_ATTACHED = Finding(
    "phone", "bad", "No phone is attached.", "Plug one in with USB debugging on, or set VIRTUAL_PHONES=1."
)


def findings(rows: Sequence[Json]) -> list[Finding]:
    """One for each phone, as `phone_json` tells it, or one for none at all."""
    return [health(row) for row in rows] or [NONE_ATTACHED]


def health(row: Json) -> Finding:
    """Whether a phone can be used, and what it needs."""
    kind = "Virtual phone" if row["virtual"] else "Phone"
    if row["state"] == "ready":
        return Finding("phone", "good", f"{kind} {row['name']} ({row['serial']}) is ready.")
    text = f"{kind} {row['name']}: {row['state']}. {row['reason']}".strip()
    return Finding("phone", "note" if row["usable"] else "bad", text, row["fix"])
