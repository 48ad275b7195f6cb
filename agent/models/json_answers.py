"""Answers of models in JSON: asked for in a given form, found in the model's text, and read tolerantly.

The endpoint is asked to enforce the form as well as it can: if it refuses a JSON schema, the client falls back to any
JSON object and then to plain text, and remembers that. The form is always in the prompt too, because some endpoints
accept a schema but ignore it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from agent.models.base import Delta, Message, Model, ModelReply, ModelRequest, Usage
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.wording import words

logger = logging.getLogger(__name__)


MOST_BEGINNINGS = 500
"""How many opening braces are tried as the beginning of an object; a text with more is not an answer."""
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

T = TypeVar("T")

_decoder = json.JSONDecoder(strict=False)  # models put raw line breaks into strings


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """Yield the outermost JSON objects in a text, the last first, because drafts and examples come before the answer.

    Braces inside strings, code fences and surrounding prose are handled. A thought in `<think>` tags at the start is
    skipped.
    """
    found: list[dict[str, object]] = []
    spoken = THOUGHT.sub("", text, count=1)
    start = spoken.find("{")
    for _ in range(MOST_BEGINNINGS):
        if start < 0:
            break
        try:
            value, end = _decoder.raw_decode(spoken, start)
            found.append(whole(value))
        except (ValueError, RecursionError):
            end = start + 1
        start = spoken.find("{", end)
    yield from reversed(found)


def whole_signs(text: str) -> str:
    """Return the text with split surrogate pairs joined and single halves replaced, because no file or database accepts
    these.

    JSON may contain them, and an endpoint may split a pair when it cuts a stream into pieces.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole(value: T) -> T:
    """Return a JSON value with `whole_signs` applied to all its texts and names. Raises RecursionError if it is nested
    too deeply.
    """
    made: object = value
    match value:
        case str():
            made = whole_signs(value)
        case list():
            made = [whole(item) for item in value]
        case dict():
            made = {whole_signs(name): whole(item) for name, item in value.items()}
    return cast("T", made)


Form = TypeVar("Form", bound=BaseModel)

MOST_PROBLEMS = 5
"""How many problems of an unusable answer are named to the model."""


async def ask(
    model: Model,
    request: ModelRequest,
    schema: type[Form],
    *,
    check: Callable[[Form], str] = lambda _: "",
    on_delta: Callable[[Delta], None] | None = None,
) -> tuple[Form, Usage]:
    """Return the model's answer as an instance of `schema`, and the tokens used.

    An unusable answer is sent back once for correction. `check` returns what is wrong with an answer of the right form,
    as a text for the model, or "". The first answer is streamed to `on_delta`. Raises ModelAnswerUnusable if the second
    answer is unusable too, and any other ModelError.
    """
    formed = replace(request, schema=schema, messages=_with_form(request.messages, schema))
    first = await model.complete(formed, on_delta=on_delta)
    answer, problem = _read(first, schema, check)
    if answer is not None:
        return answer, first.usage
    logger.info("%s answered out of form for %s, asked once more", model.name, request.purpose)
    said = Message("assistant", (first.text or "(no text)",))
    again = Message("user", (f"That cannot be used: {problem} Answer with the JSON object alone.",))
    try:
        second = await model.complete(replace(formed, messages=(*formed.messages, said, again)))
    except ModelError as error:
        error.usage = first.usage + error.usage
        raise
    answer, problem = _read(second, schema, check)
    spent = first.usage + second.usage
    if answer is not None:
        return answer, spent
    raise ModelAnswerUnusable(words("model.formless", model=model.name), spent, text=first.text or second.text)


def _with_form(messages: tuple[Message, ...], schema: type[BaseModel]) -> tuple[Message, ...]:
    """Add the form to the system message, at its end so that the prompt's cached beginning stays the same."""
    form = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    told = f"Answer with one JSON object and nothing else. It has this JSON schema:\n{form}"
    if messages and messages[0].role == "system":
        return (replace(messages[0], parts=(*messages[0].parts, told)), *messages[1:])
    return (Message("system", (told,)), *messages)


def _read(reply: ModelReply, schema: type[Form], check: Callable[[Form], str]) -> tuple[Form | None, str]:
    """Return the answer, or None and what is wrong with it, in words for the model."""
    problem = ""
    for value in _candidates(reply):
        try:
            answer = schema.model_validate(value)
        except ValidationError as error:
            problem = problem or _problems(error)
            continue
        wrong = check(answer)
        if not wrong:
            return answer, ""
        problem = problem or wrong
    if reply.finish_reason == "length":
        return None, "it was cut off before its end; be shorter."
    return None, problem or "it holds no JSON object."


def _candidates(reply: ModelReply) -> Iterator[dict[str, object]]:
    """Yield objects from where models put them: the text, an unoffered tool call, or the reasoning."""
    yield from objects_in(reply.text)
    for call in reply.tool_calls:
        yield from objects_in(call.arguments)
    yield from objects_in(reply.reasoning)


def _problems(error: ValidationError) -> str:
    told = [
        f"{'.'.join(str(step) for step in problem['loc']) or 'the object'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)[:MOST_PROBLEMS]
    ]
    return "; ".join(told) + "."
