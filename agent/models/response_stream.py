"""Assembles an answer of the Responses API, streamed or not."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from agent.models.base import Delta, ModelReply, ToolCall
from agent.models.call_failure import Broken, CutShort
from agent.models.json_text import whole_signs
from agent.models.limits import MAX_CALLS, MAX_LETTERS, MAX_SHOWN_ARGUMENTS, TooMuch
from agent.models.tokens import Reported, ReportedUsage

TEXT_DELTAS = {"response.output_text.delta", "response.refusal.delta"}
REASONING_DELTAS = {"response.reasoning_text.delta", "response.reasoning_summary_text.delta"}
CALL_DELTAS = {"response.output_item.added", "response.function_call_arguments.delta"}
FINISH_REASONS = {"max_output_tokens": "length"}
"""Finish reasons of the Responses API and their names in chat completions."""
RESPONSE_ID = r"[A-Za-z0-9._~:=+-]{1,512}"
"""The form of an id, which is put into a URL again to delete the response."""


class _Part(BaseModel):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(BaseModel):
    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _Error(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    code: str | None = None
    message: str | None = None


class _Why(BaseModel):
    reason: str | None = None


class _Response(BaseModel):
    id: str = Field(pattern=rf"^{RESPONSE_ID}$")
    status: str = ""
    model: str | None = None
    previous_response_id: str | None = None
    output: list[_Item] | None = None
    usage: Reported = None
    error: _Error | None = None
    incomplete_details: _Why | None = None


class _Event(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    type: str
    delta: str | None = None
    item: _Item | None = None
    response: _Response | None = None
    code: str | None = None
    message: str | None = None


class ResponseReader:
    """Assembles one answer: pass every JSON value to `feed`, then call `check` and `reply`. `show` receives
    the pieces.
    """

    def __init__(self, show: Callable[[Delta], None]) -> None:
        self.usage: ReportedUsage | None = None
        self.response = ""
        """The id of the response."""
        self.continued = ""
        """The id of the response that the endpoint says it continued."""
        self._show = show
        self._items: list[_Item] = []
        self._writing: dict[str, tuple[str, str]] = {}
        """Name and arguments of unfinished calls, by their position in the answer."""
        self._finish = ""
        self._model = ""
        self._letters = 0

    def feed(self, value: object) -> None:
        """Add a streamed event, or a whole response.

        Raises ValueError if it is neither, Broken if it is an error, and TooMuch if the answer is too long.
        """
        if isinstance(value, dict) and value.get("object") == "response":
            self._end(_Response.model_validate(value))
            return
        if isinstance(value, dict) and value.get("error") and "type" not in value:
            raise Broken(value["error"])
        if not isinstance(value, dict) or not str(value.get("type", "")).startswith(("response.", "error")):
            raise ValueError("not an event")
        if value["type"] in TEXT_DELTAS:
            self._show(Delta(text=self._shown(value)))
        elif value["type"] in REASONING_DELTAS:
            self._show(Delta(reasoning=self._shown(value)))
        elif value["type"] in CALL_DELTAS:
            self._show_call(value)
        elif value["type"] in {"error", "response.output_item.done"} or "response" in value:
            self._take(_Event.model_validate(value))

    def _show_call(self, value: dict[str, object]) -> None:
        """Show an unfinished call; the end of its item repeats all of it."""
        place, item = str(value.get("output_index")), value.get("item")
        if isinstance(item, dict):
            if item.get("type") == "function_call" and len(self._writing) < MAX_CALLS:
                self._writing[place] = (whole_signs(str(item.get("name") or "")), "")
            return
        piece = self._shown(value)
        name, written = self._writing.get(place, ("", ""))
        if name and len(written) + len(piece) <= MAX_SHOWN_ARGUMENTS:
            self._writing[place] = (name, written + piece)
            self._show(Delta(call=ToolCall("", name, written + piece)))

    def check(self) -> None:
        """Check that the answer is complete. Raises CutShort if its end is missing."""
        if not self._finish:
            raise CutShort

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the answer."""
        return tuple(
            ToolCall(
                whole_signs(item.call_id or f"call_{number}"),
                whole_signs(item.name or ""),
                whole_signs(item.arguments or ""),
            )
            for number, item in enumerate(item for item in self._items if item.type == "function_call")
        )

    def reply(self, model: str) -> ModelReply:
        """Return the answer without its usage. `model` is used if the endpoint does not name its model."""
        parts = [part for item in self._items if item.type == "message" for part in item.content or ()]
        thoughts = [item for item in self._items if item.type == "reasoning"]
        return ModelReply(
            text=whole_signs("".join((part.text or "") + (part.refusal or "") for part in parts)),
            tool_calls=self.calls,
            reasoning=whole_signs(
                "\n".join(
                    part.text
                    for item in thoughts
                    for part in (*(item.content or ()), *(item.summary or ()))
                    if part.text
                )
            ),
            model=whole_signs(self._model) or model,
            finish_reason="tool_calls" if self._finish == "stop" and self.calls else self._finish,
        )

    def _take(self, event: _Event) -> None:
        if event.type == "error":
            raise Broken({"code": event.code, "message": event.message})
        if event.item is not None:
            self._items.append(event.item)
            self._check_size()
        elif event.response is not None and event.type in {
            "response.completed",
            "response.incomplete",
            "response.failed",
        }:
            self._end(event.response)

    def _end(self, response: _Response) -> None:
        if response.status == "failed" or response.error is not None:
            error = response.error or _Error()
            raise Broken({"code": error.code, "message": error.message})
        self.response = response.id
        self.continued = response.previous_response_id or ""
        self.usage = response.usage
        self._model = response.model or ""
        self._items = response.output or self._items
        self._check_size()
        why = (response.incomplete_details or _Why()).reason or ""
        self._finish = FINISH_REASONS.get(why, why) or "stop"

    def _shown(self, event: dict[str, object]) -> str:
        delta = str(event.get("delta") or "")
        self._letters += len(delta)
        if self._letters > MAX_LETTERS:
            raise TooMuch(f"the answer has more than {MAX_LETTERS} letters")
        return whole_signs(delta)

    def _check_size(self) -> None:
        if len(self._items) > MAX_CALLS or sum(map(_letters_of, self._items)) > MAX_LETTERS:
            raise TooMuch(f"the answer has more than {MAX_CALLS} parts or {MAX_LETTERS} letters")


def _letters_of(item: _Item) -> int:
    parts = (*(item.content or ()), *(item.summary or ()))
    return sum(len(text or "") for part in parts for text in (part.text, part.refusal)) + sum(
        len(text or "") for text in (item.name, item.arguments)
    )
