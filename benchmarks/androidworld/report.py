"""What is told of a run of AndroidWorld: success, steps, seconds and tokens, and what a person was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

_HEADING = "| task | right | claimed | steps | seconds | tokens | asked |\n|---|---|---|---|---|---|---|"


def report(episodes: Iterable[Mapping[str, Any]]) -> str:
    """A table with a row for each episode as AndroidWorld keeps it, and the sums. One without data was not run to its
    end: it counts as wrong.
    """
    rows, steps, seconds, right, false = [], list[int](), list[float](), 0, 0
    for episode in episodes:
        told = _last(episode.get("episode_data"))
        is_right = episode.get("is_successful") == 1
        claimed = told.get("outcome") in {"succeeded", "answered"}
        right, false = right + is_right, false + (claimed and not is_right)
        if told:
            steps.append(told["steps"])
            seconds.append(told["seconds"])
        tokens = told.get("tokens", {})
        spent = tokens.get("input", 0) + tokens.get("output", 0)
        cells = ("yes" if is_right else "no", told.get("outcome", "no end"), told.get("steps", ""))
        numbers = (f"{told['seconds']:.0f}" if told else "", spent or "", len(told.get("questions", ())))
        rows.append(f"| {' | '.join(map(str, (episode['task_template'], *cells, *numbers)))} |")
    if not rows:
        return "Nothing was run."
    middle = f"; median {median(steps):g} steps and {median(seconds):.0f} s" if steps else ""
    head = f"{right} of {len(rows)} right ({right / len(rows):.1%}), {false} claimed and not right{middle}."
    return "\n".join((head, "", _HEADING, *rows))


def _last(data: Any) -> Mapping[str, Any]:  # noqa: ANN401  # AndroidWorld's own, nan for an episode that failed
    """What the agent told last: AndroidWorld keeps a list for each of its keys."""
    if not isinstance(data, Mapping):
        return {}
    return {key: values[-1] for key, values in data.items() if isinstance(values, Sequence) and values}
