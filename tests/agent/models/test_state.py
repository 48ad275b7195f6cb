"""How a model is doing, by what became of the requests to it."""

from __future__ import annotations

import pytest

from agent.models.state import ABOUT_THE_REQUEST, Cause, ModelState, ModelStatus

NEW = ModelState(ModelStatus.NOT_TESTED, "a-model")


def test_an_answer_connects_it_and_the_moment_stays_that_of_the_first() -> None:
    connected = NEW.after(None, 10.0)
    assert (connected.status, connected.since) == (ModelStatus.CONNECTED, 10.0)
    assert connected.after(None, 20.0) == connected


@pytest.mark.parametrize("cause", sorted(set(Cause) - ABOUT_THE_REQUEST))
def test_a_failure_is_known_with_its_cause_since_it_began(cause: Cause) -> None:
    failing = NEW.after(None, 10.0).after(cause, 20.0).after(cause, 30.0)
    assert (failing.status, failing.cause, failing.since) == (ModelStatus.FAILING, cause, 20.0)
    assert failing.after(None, 40.0) == ModelState(ModelStatus.CONNECTED, "a-model", None, 40.0)


@pytest.mark.parametrize("cause", sorted(ABOUT_THE_REQUEST))
def test_what_one_request_was_refused_for_is_no_failure_of_the_endpoint(cause: Cause) -> None:
    assert NEW.after(cause, 10.0).status is ModelStatus.CONNECTED


def test_the_offline_pilot_stays_what_it_is() -> None:
    assert ModelState(ModelStatus.OFFLINE).after(Cause.NO_CREDIT, 10.0) == ModelState(ModelStatus.OFFLINE)
