"""Reads the figures out of what an endpoint was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.journey import step_of
from tests.fakes.model_server import ModelServer, Recorded


@dataclass(frozen=True)
class Figures:
    """One task. `gaps` are seconds from the end of a step's answer to the arrival of the request that the next step
    was decided on: everything the service, adb and the phone took between them. `numbers` are those steps.
    """

    gaps: tuple[float, ...]
    numbers: tuple[int, ...]
    upload: int
    tokens: int
    steps: int
    resent: int


def figures_of(server: ModelServer) -> Figures:
    """The figures of all that an endpoint was asked, by one task."""
    return figures_in(server.requests, server.tokens.input)


def figures_in(requests: Sequence[Recorded], tokens: int = 0) -> Figures:
    """The figures of one task's requests. One that was answered in vain counts as upload and tokens, not as a step."""
    last: dict[int, Recorded] = {}
    acting = 0
    for request in requests:
        step = step_of(request)
        if step is not None and "You check whether" not in request.text:
            last[step] = request
            acting += 1
    ordered = [last[step] for step in sorted(last)]
    gaps = {
        number: last[after].arrived - answered
        for number, after in pairwise(sorted(last))
        if (answered := last[number].answered) is not None
    }
    upload = sum(int(request.headers.get("Content-Length", 0)) for request in requests)
    return Figures(tuple(gaps.values()), tuple(gaps), upload, tokens, len(ordered), acting - len(ordered))
