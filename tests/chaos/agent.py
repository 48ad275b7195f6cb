"""A model without memory that does one harmless thing after another, asks now and then, and finishes at some point."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from tests.end_to_end.brain import FINISH, call
from tests.fakes.model_server import Answer, Recorded

APPS = ("Settings", "Notes", "Clock", "Messages")
FINISHES = 0.12
ASKS = 0.06
SLOWEST_PIECE_S = 0.15
"""Between two streamed pieces of an answer, so that kills also strike while the model speaks."""


def restless(chance: random.Random) -> Callable[[Recorded], Answer]:
    """The model's answers, drawn from `chance`."""

    def think(request: Recorded) -> Answer:
        return drawn(request).model_copy(update={"pace": chance.uniform(0.0, SLOWEST_PIECE_S)})

    def drawn(request: Recorded) -> Answer:
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working on the phone")
        lot = chance.random()
        if lot < FINISHES:
            return FINISH(request)
        if lot < FINISHES + ASKS:
            return call("ask_user", question="Which colour do you want?")(request)
        if lot < FINISHES + 2 * ASKS:
            return call("take_over", reason="Please look at the phone")(request)
        if lot < 0.6:
            return call("open_app", name=chance.choice(APPS))(request)
        if lot < 0.7:
            return call("key", key="home")(request)
        return call("scroll", direction=chance.choice(("up", "down")))(request)

    return think
