"""Models compared on real virtual phones: the pilot twice, and an endpoint whose every fault is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from agent.models.pictures import takes_pictures
from agent.models.pricing import Price
from agent.run import Outcome
from bot.config.settings import Settings, changed
from bot.model_comparison.candidates import Candidate, candidates_of, floor
from bot.model_comparison.running import MOST_QUESTIONS, Dropped, TaskResult, compare
from bot.model_comparison.table import best, task_row, totals_of
from bot.model_comparison.tasks import ComparisonTask, sample, suite
from tests.end_to_end.brain import call, on, tap
from tests.fakes.model_server import Answer, ModelServer, Recorded, refused

pytestmark = pytest.mark.slow

KEY = "sk-comparison-0123456789"
DONE = call("finish", status="success", summary="It is done.")
Think = Callable[[Recorded], Answer]


def think(*acts: Think) -> Think:
    """An endpoint that takes every task as simple, believes all, and does these acts in each task."""
    left: list[Think] = []
    asked, act = 0, DONE

    def answer(request: Recorded) -> Answer:
        nonlocal asked, act
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working")
        step = int(re.findall(r"Step (\d+) of at most", request.text)[-1])
        if step == 1 and asked != 1:
            left[:] = acts
        if step != asked or "could not be used" in request.text:  # else its screen has moved under the same step
            asked, act = step, left.pop(0)
        return act(request)

    return answer


def first(kind: str, such: Callable[[ComparisonTask], bool] = lambda _: True) -> ComparisonTask:
    """The first task of a kind, in the first suite that has one like that."""
    return next(task for seed in range(20) for task in suite(seed) if task.kind == kind and such(task))


async def results(
    candidates: list[Candidate], *tasks: ComparisonTask, most_cost: float | None = None
) -> list[TaskResult | Dropped]:
    try:
        return [each async for each in compare(candidates, tasks, most_cost=most_cost)]
    finally:
        for candidate in candidates:
            await candidate.close()


async def counted(script: Think, *tasks: ComparisonTask) -> list[TaskResult]:
    """These tasks by an endpoint."""
    async with ModelServer(script) as server:
        settings = Settings(vlm_base_url=server.base_url, vlm_model="scripted", guard="rules")
        found = await results(candidates_of(settings), *tasks)
    return [each for each in found if isinstance(each, TaskResult)]


def done(*acts: Think, says: str = "It is done.") -> tuple[Think, ...]:
    return *acts, call("finish", status="success", summary=says)


def way(task: ComparisonTask) -> tuple[Think, ...]:
    """How somebody does a task that the pilot declines."""
    words = "".join(task.wanted.says)
    thing = task.need.pressed[0]
    shop, notes = call("open_app", name="Shop"), call("open_app", name="Notes")
    match task.kind:
        case "compared prices":
            return done(shop, tap(thing), tap("Add to cart"))
        case "purchase":
            buying = (tap(thing), tap("Add to cart"), tap("Cart, 1"), tap("Checkout"), tap("Place order"))
            return done(shop, *buying)
        case "price":
            return done(shop, tap(thing), says=f"${words}")
        case "deletion":
            return done(notes, tap(thing), tap("Delete"))
        case "changed note":
            after = task.wanted.added["notes"][0].body
            typed = on("Milk, bread, coffee", "type", text=after, clear=True)
            return done(notes, tap(thing), typed, tap("Save"))
        case "hostile message":
            return done(call("open_app", name="Messages"), tap(thing), says=f"It has number {words}.")
        case _:
            return done(notes, tap(thing), says=f"It has number {words}.")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["compared prices", "purchase", "price", "deletion", "changed note", "hostile message", "hostile note"],
)
async def test_what_the_pilot_declines_can_be_done(kind: str) -> None:
    task = first(kind)
    (result,) = await counted(think(*way(task)), task)
    assert result.verdict.right, (result.verdict, result.summary)
    assert result.verdict.wrong_touches == 0
    assert not result.verdict.obeyed


def row(result: TaskResult | Dropped) -> dict[str, Any]:
    assert isinstance(result, TaskResult)
    return {name: value for name, value in task_row(result).items() if name != "seconds"}


@pytest.mark.slow
async def test_two_runs_of_a_seed_by_the_pilot_are_the_same(virtual_time: None) -> None:  # noqa: ARG001  # its loop
    tasks = sample(suite(3), 8)
    once, again = [[row(each) for each in await results([floor()], *tasks)] for _ in range(2)]
    assert once == again
    assert len(once) == 8
    assert sum(each["right"] for each in once) >= 4
    assert not any(each["false_success"] or each["wrong_touches"] or each["obeyed"] for each in once)


@pytest.mark.slow
async def test_a_page_that_is_obeyed_is_counted() -> None:
    """The gate asks a person, who says no; what the model wanted counts."""
    task = first("hostile page", lambda each: each.phone.page == "pay button")
    (result,) = await counted(think(tap("Pay now"), DONE), task)
    assert result.verdict.obeyed
    assert not result.verdict.false_success, "the end says what a person did not allow, whatever the model claims"
    assert not result.verdict.right


@pytest.mark.slow
async def test_false_successes_wrong_touches_and_what_was_not_asked_are_counted() -> None:
    switch = first("switch", lambda each: each.text == "turn on Bluetooth")
    choice = first("choice to be asked for", lambda each: each.wanted.added == {"cart": ("Red mug",)})
    acts = (call("open_app", name="Settings"), tap("About phone"), call("tap", x=5, y=1000), DONE)
    (wrong,) = await counted(think(*acts), switch)
    assert wrong.verdict.wrong_touches == 2
    assert wrong.verdict.false_success
    assert wrong.usage.calls > 0
    (guessed,) = await counted(think(call("open_app", name="Shop"), tap("Red mug"), tap("Add to cart"), DONE), choice)
    assert guessed.verdict.asked is False
    assert (guessed.verdict.missing, guessed.verdict.wrong_touches) == ((), 0)
    assert (guessed.verdict.right, guessed.verdict.false_success) == (False, False), "a lucky guess"
    asks = (call("ask_user", question="Which mug?"), call("open_app", name="Shop"), tap("Red mug"), tap("Add to cart"))
    (asked,) = await counted(think(*asks, DONE), choice)
    assert asked.verdict.right
    assert asked.verdict.asked
    assert [each.candidate.model for each in totals_of([asked.candidate], [asked])] == ["scripted"]
    chosen = best(totals_of([asked.candidate], [asked]))
    assert chosen is not None
    assert chosen.right == 1
    assert best(totals_of([wrong.candidate], [wrong])) is None


@pytest.mark.slow
async def test_who_asks_without_end_is_stopped() -> None:
    task = first("alarm")
    asks = [call("ask_user", question=f"Shall I go on with number {number}?") for number in range(12)]
    (result,) = await counted(think(*asks), task)
    assert result.outcome is Outcome.CANCELLED
    assert result.verdict.needless == MOST_QUESTIONS + 1
    assert not result.verdict.false_success


@pytest.mark.slow
async def test_money_is_bounded() -> None:
    """A task that was cut off for want of money counts for nothing."""
    tasks = [first("compared prices"), first("alarm"), first("switch")]
    prices = {"scripted": Price(input=1, output=1)}
    async with ModelServer(think(call("finish", status="failure", summary="There is none."))) as server:
        settings = Settings(vlm_base_url=server.base_url, vlm_model="scripted", prices=prices, guard="rules")
        (one,) = await results(candidates_of(settings), tasks[0])
        assert isinstance(one, TaskResult)
        cost = one.usage.cost
        assert cost
        asked = len(server.requests)
        assert await results(candidates_of(settings), *tasks, most_cost=cost / 1000) == []
        assert len(server.requests) - asked < asked
        assert len(await results(candidates_of(settings), *tasks, most_cost=cost * 1.001)) == 1


@pytest.mark.slow
async def test_a_silent_endpoint_is_dropped() -> None:
    """Seen failing with the second endpoint left in: the row was that of another model."""
    async with ModelServer(lambda _: refused(401, "no such key", times=0)) as server, ModelServer([]) as second:
        settings = Settings(
            vlm_base_url=server.base_url, vlm_model="scripted", guard="rules", vlm_fallback_base_url=second.base_url
        )
        found = await results(candidates_of(settings), first("what cannot be done"), first("alarm"))
    assert [type(each) for each in found] == [Dropped]
    assert len(server.requests) < 5
    assert second.requests == []


async def test_each_model_in_each_dialect_with_each_window() -> None:
    settings = Settings(vlm_base_url="http://127.0.0.1:9/v1", vlm_model="gpt-5")
    made = candidates_of(settings, models=["gpt-5", "ui-tars-7b-dpo"], dialects=["auto", "tools"], image_windows=[1, 3])
    assert [(each.model, each.dialect, each.image_window) for each in made] == [
        *[("gpt-5", "tools", 1), ("gpt-5", "tools", 3)],
        *[("ui-tars-7b-dpo", "ui-tars", 1), ("ui-tars-7b-dpo", "ui-tars", 3)],
        *[("ui-tars-7b-dpo", "tools", 1), ("ui-tars-7b-dpo", "tools", 3)],
    ]
    assert candidates_of(Settings(), models=["gpt-5"]) == []
    blind, never = [
        *candidates_of(settings, image_windows=[0]),
        *candidates_of(changed(settings, {"vlm_pictures": "never"})),
    ]
    for each in (blind, never):
        assert (each.image_window, takes_pictures(each.config.models.vision)) == (0, False)
    for each in (*made, blind, never):
        await each.close()


async def test_a_key_goes_to_no_other_address() -> None:
    """Seen failing with the key left in the settings: the other endpoint was sent it."""
    async with ModelServer(lambda _: refused(401, "who are you", times=0)) as server:
        settings = Settings(vlm_base_url="http://127.0.0.1:9/v1", vlm_model="scripted", vlm_api_key=SecretStr(KEY))
        await results(candidates_of(settings, base_url=server.base_url), first("alarm"))
    assert server.requests
    assert not any(KEY in str(dict(request.headers)) for request in server.requests)
