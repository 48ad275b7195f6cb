"""Whatever crosses the borders of Agent and Runner is the same after it was JSON: all kinds, with any values."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from agent.control import Signal
from agent.effect_facts import Effect, effects_data, effects_of
from agent.events import RunEvent, TaskEvent
from agent.ports.agent import TaskOrder
from agent.ports.runner import RunOrder
from agent.questions import Answer, Question
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction, StepRecord
from agent.run import RunId
from agent.task_results import JsonSchema

UNIONS = {"run events": RunEvent, "task events": TaskEvent, "signals": Signal, "effects": Effect}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Half of a surrogate pair is no text: neither a phone nor a model can tell it in UTF-8."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
FEW = settings(max_examples=25, deadline=None)

st.register_type_strategy(str, TEXT)
st.register_type_strategy(float, st.floats(-1e9, 1e9))
st.register_type_strategy(Decimal, st.decimals(allow_nan=False, allow_infinity=False))
SCHEMAS = ({"type": "object"}, {"type": "array", "items": {"enum": [1, "二", None]}})
st.register_type_strategy(JsonSchema, st.sampled_from([JsonSchema(document=document) for document in SCHEMAS]))
st.register_type_strategy(RunId, st.builds(RunId, st.from_regex(r"[1-9]\d{0,3}", fullmatch=True), st.integers(1, 9)))


def members(union: Any) -> tuple[type[BaseModel], ...]:
    """The models of a union that tells them apart by a field."""
    return get_args(get_args(union)[0])


adapter_of = cache(TypeAdapter)
"""To make one takes as long as twenty examples."""


@cache
def made(kind: type[BaseModel]) -> st.SearchStrategy[BaseModel]:
    """Any of this kind, with every field set."""
    return st.builds(kind, **{name: _field(name, field.annotation) for name, field in kind.model_fields.items()})


def _field(name: str, annotation: Any) -> st.SearchStrategy[Any]:
    if name == "max_steps":
        return st.integers(1, 500)
    if annotation == dict[str, Any]:
        return st.dictionaries(TEXT, JSON, max_size=3)
    if name == "translations":
        return st.dictionaries(TEXT, TEXT, max_size=3)
    return st.from_type(annotation)


st.register_type_strategy(Decimal, st.decimals(-1_000_000, 1_000_000, places=2))
RECORDED = st.builds(
    RecordedAction,
    action=st.builds(
        lambda kind, fields: {**fields, "kind": kind},
        TEXT.filter(bool),
        st.dictionaries(TEXT, JSON, max_size=2),
    ),
    package=TEXT,
    anchor=st.none() | st.builds(Anchor, package=TEXT, role=TEXT, words=TEXT, listed=st.booleans()),
    landmarks=st.tuples(st.builds(Landmark, words=TEXT, id=TEXT)),
    seconds=st.floats(0, 100),
)
st.register_type_strategy(
    StepRecord, st.builds(StepRecord, actions=st.tuples(RECORDED), followed=st.none() | st.integers(0, 9))
)

KINDS = [(union, kind) for union in UNIONS.values() for kind in members(union)]


@pytest.mark.parametrize(("union", "kind"), KINDS, ids=lambda each: getattr(each, "__name__", "of"))
@FEW
@given(values=st.data())
def test_each_of_a_union(union: Any, kind: type[BaseModel], values: st.DataObject) -> None:
    adapter: TypeAdapter[Any] = adapter_of(union)
    model = values.draw(made(kind))
    back = adapter.validate_json(adapter.dump_json(model))
    assert type(back) is kind
    assert back == model


@pytest.mark.parametrize("kind", [TaskOrder, RunOrder, Answer, Question])
@FEW
@given(values=st.data())
def test_each_that_stands_alone(kind: type[BaseModel], values: st.DataObject) -> None:
    model = values.draw(made(kind))
    assert kind.model_validate_json(model.model_dump_json()) == model


@FEW
@given(values=st.data())
def test_effects_as_they_are_kept(values: st.DataObject) -> None:
    effects = tuple(values.draw(st.lists(st.sampled_from(members(Effect)).flatmap(made), max_size=4)))
    assert effects_of(effects_data(effects)) == effects  # type: ignore[arg-type]  # members of the union
