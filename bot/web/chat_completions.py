"""The OpenAI-compatible endpoints `/v1/chat/completions` and `/v1/models`, through which chat programs can give tasks.

Such a program always sends the whole conversation; only the person's last message is new. Nothing can be approved here,
because a "yes" may have been written by a model.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.events import Step, Thinking
from agent.questions import QuestionKind
from agent.wording import shortened
from bot.application.access import NotAllowed, Refused, Unknown
from bot.application.interpret import Answer, NewTask, Note
from bot.application.phones import open_phones
from bot.application.services import Services
from bot.cards.formatting import source_lines
from bot.commands.parser import ParseError
from bot.domain.address import Address
from bot.domain.task import OverQuota, Task, TaskError, TaskState, TooManyTasks
from bot.domain.task_events import Noted
from bot.domain.task_request import PLAIN, TaskDraft
from bot.store.errors import StoreAway
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.chat_request import MODEL, ChatRequest, pictures_of
from bot.web.http import (
    Streamed,
    Write,
    answer_nobody,
    away_words,
    disconnected,
    get,
    post,
    read_body,
    refuse_as_openai,
)
from bot.web.v1.calls import Calls, CutOff, Progress, ProgressEvent, answer_ordinary, question_words, wait_for_task
from bot.web.v1.models import plain_options
from bot.web.wakeup import ends_before
from devices.recent import Recent

MOST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of one request; its pictures are base64, which makes them a third larger."""
UNDELIVERED: Final = 500
"""Requests with undelivered answers that are recognised when the client retries."""
BEAT_S: Final = 15.0
"""Seconds between signs of life in a stream, for proxies that close silent connections."""
MOST_OF_A_CALL: Final = 200
"""Characters of a tool call shown as progress."""

_SIDE: Final = re.compile(
    r"\s*(### Task:\s"  # Open WebUI: titles, tags, follow-ups, searches, completions
    r"|(please )?(provide|generate|write|create) a (concise|short|brief)[^\n]{0,60} title\b"  # LibreChat
    r"|(you are a )?professional conversation summarizer|you are an assistant skilled (at|in) conversation"  # LobeChat
    r"|你是一名擅长会话的助理|请为.{0,20}生成.{0,10}标题)",
    re.IGNORECASE,
)
"""How front ends' requests for titles and the like begin."""


class ChatCompletions:
    """Handles the OpenAI-compatible endpoints for callers with an access token, until `stopping` is set."""

    def __init__(self, services: Services, stopping: asyncio.Event) -> None:
        self._services = services
        self._stopping = stopping
        self._undelivered: Recent[str, str] = Recent(UNDELIVERED)
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [post("/v1/chat/completions", self.complete, None), get("/v1/models", self.models, None)]

    async def models(self, request: Request) -> Response:
        """List the phones that the token may use, as models."""
        calls = Calls(self._services, caller_of(request))
        names = [MODEL, *(f"{MODEL}/{phone.name}" for phone in open_phones(calls.asking(), self._services))]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": MODEL} for name in names]
        return JSONResponse({"object": "list", "data": data})

    async def complete(self, request: Request) -> Response:
        """Treat the conversation's last message as a task, a note or an answer. Returns the result, or streams it."""
        try:
            chat = ChatRequest.model_validate_json(await read_body(request, MOST_BYTES))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
            return refuse_as_openai(400, f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}", "invalid_request")
        if (side := side_answer(chat)) is not None:
            return Streamed(partial(_tell_at_once, chat, side), _EVENTS) if chat.stream else _completion(chat, side)
        try:
            calls, task, key = await self._resolve_task(request, chat)
        except (Refused, TaskError, ParseError, StoreAway) as error:
            return _refused(error)
        return (
            self._streamed(calls, task, chat, key)
            if chat.stream
            else await self._respond(calls, task, chat, key, request)
        )

    async def _respond(self, calls: Calls, task: Task, chat: ChatRequest, key: str, request: Request) -> Response:
        answer = await answer_nobody(request, ClientDisconnect())

        async def wait() -> None:
            nonlocal answer
            try:
                told, below, ended = await self._wait_for_answer(calls, task)
                answer = _completion(chat, _joined(told, below), ended)
            except CutOff as error:
                answer = _refused(error)

        # Waiting this way notices when the client has gone, and keeps the answer for its retry.
        if await ends_before(disconnected(request.receive), wait()):
            self._undelivered.pop(key, None)
        return answer

    def _streamed(self, calls: Calls, task: Task, chat: ChatRequest, key: str) -> Response:
        async def tell(write: Write) -> None:
            stream = ChunkStream(chat, task.id, write, in_form=task.request.result_schema is not None)
            await stream.send({"role": "assistant", "content": ""})
            waiting = asyncio.ensure_future(self._wait_for_answer(calls, task, stream.send_progress))
            try:
                while not (await asyncio.wait([waiting], timeout=BEAT_S))[0]:
                    await write(b": still at work\n\n")
                await stream.end(*waiting.result())
            except CutOff as error:
                # Without a finish reason and [DONE], clients recognise that the answer was cut off.
                await write(b"data: " + bytes(_refused(error).body) + b"\n\n")
                return
            finally:
                waiting.cancel()
            self._undelivered.pop(key, None)

        return Streamed(tell, _EVENTS)

    async def _resolve_task(self, request: Request, chat: ChatRequest) -> tuple[Calls, Task, str]:
        """Return the task of this request: one at work, one that asks, or a new one. Raises Refused and TaskError."""
        said = [message for message in chat.messages if message.role == "user"]
        texts = [message.text for message in said]
        wish = texts[-1] if texts else ""
        if not wish:
            raise Refused(say("programs.no_wish"))
        if chat.n not in {None, 1}:
            raise Refused(say("programs.one_answer"))
        # The first message is the same in all requests of a conversation; what the front end adds may change.
        thread = f"openai-{hashlib.sha256(texts[0].encode('utf-8', 'replace')).hexdigest()[:16]}"
        calls = Calls(self._services, caller_of(request))
        phone = self._phone(calls, chat.model)
        key = _key(calls, chat)
        async with self._lock:
            known = self._undelivered.get(key) or await self._retried_task(calls.asking(thread).address, texts, chat)
            if known and (task := await self._services.task_service.get(known)) is not None:
                return calls, task, key
            # The first message begins a conversation, even if another one began with the same words.
            meaning = await calls.meaning(wish, thread, begins=len(said) == 1)
            pictures = pictures_of(said[-1])
            about = await self._about(meaning, texts)
            match meaning:
                case Answer(questions) if about is not None:
                    asked = next(one for one in questions if one.task == about.id)
                    if asked.question.kind is QuestionKind.ASK:
                        await answer_ordinary(calls, asked, wish)
                case Note() if about is not None and not pictures and _goes_with(chat, phone, about):
                    await calls.commands(thread).steer(about, wish)
                case _:
                    follows = about.id if about is not None and isinstance(meaning, NewTask) else ""
                    draft = TaskDraft(
                        wish, phone, plain_options(chat), follows=follows, result_schema=chat.result_schema
                    )
                    about = (await calls.commands(thread).start(draft, pictures, guidance=chat.guidance)).task
            self._undelivered[key] = about.id
            return calls, about, key

    async def _about(self, meaning: Answer | Note | NewTask, texts: list[str]) -> Task | None:
        """Return the task that the text answers, adds to or follows up, if it belongs to this conversation; others may
        have begun with the same words.
        """
        match meaning:
            case Answer(questions):
                numbers = [one.task for one in questions]
            case Note(task):
                numbers = [task.id]
            case NewTask(follows):
                numbers = [follows] if follows else []
        found = [await self._services.task_service.known(number) for number in numbers]
        return next((task for task in found if task.text in texts[:-1]), None)

    async def _retried_task(self, place: Address, texts: list[str], chat: ChatRequest) -> str:
        """Return the unfinished task of this conversation that was already given these words, because the client
        retries; "" if there is none.
        """
        *earlier, wish = texts
        for task in await self._services.task_service.active():
            if task.origin != place or task.state is TaskState.ENDED:
                continue
            if (task.text, task.request.result_schema) == (wish, chat.result_schema):
                return task.id
            if task.text in earlier and await self._is_noted(task, texts[earlier.index(task.text) + 1 :]):
                return task.id
        return ""

    async def _is_noted(self, task: Task, texts: list[str]) -> bool:
        """Whether the last of these texts is already a note of the task, as often as it occurs among them."""
        notes, after = 0, 0
        while found := await self._services.store.task_events.of_task(task.id, after):
            after = found[-1].number
            notes += sum(isinstance(one.event, Noted) and one.event.text == texts[-1] for one in found)
        return notes >= texts.count(texts[-1])

    def _phone(self, calls: Calls, model: str) -> str:
        name = model.removeprefix(f"{MODEL}/")
        if model == MODEL:
            return ""
        for phone in open_phones(calls.asking(), self._services):
            if name in {phone.name, phone.id} and name != model:
                return phone.id
        raise Unknown(say("programs.no_model", model=model[:60]))

    async def _wait_for_answer(
        self, calls: Calls, task: Task, progress: Progress | None = None
    ) -> tuple[str, str, Task]:
        """Wait for the end of the task or its question; return the answer, what follows below it, and the task. Raises
        CutOff.
        """
        asked = await wait_for_task(calls, task, self._stopping, progress)
        now = await self._services.task_service.known(task.id)
        if asked is not None:
            return question_words(asked), "", now
        return now.summary, _joined(now.data or "", source_lines(now.sources)), now


class ChunkStream:
    """Streams an answer in OpenAI's chunks. Steps, tools and thoughts are sent as `reasoning_content`, the answer in
    pieces. With `in_form`, the answer is JSON and is sent whole at the end.
    """

    def __init__(self, chat: ChatRequest, task: str, write: Write, *, in_form: bool = False) -> None:
        self._chat = chat
        self._task = task
        self._write = write
        self._in_form = in_form
        self._thinker: object = None
        self._has_said = False
        self._answer = ""
        """What was sent of the answer since its author last used a tool."""

    async def send(self, delta: Mapping[str, str | None], finish: str | None = None, **more: object) -> None:
        """Send one chunk. `delta` is the new part of the message, `finish` its finish reason; `more` are further
        fields.
        """
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        await self._data({**_head(self._chat, self._task, "chat.completion.chunk"), "choices": [choice], **more})

    async def send_progress(self, event: ProgressEvent) -> None:
        """Send an event of the task as progress: a step, a thought, or a used tool."""
        match event:
            case Step():
                await self._think(event, event.summary)
            case Thinking():
                await self._think(event.node, event.reasoning)
                is_said = event.is_answer and not self._in_form
                await (self._say if is_said else partial(self._think, event.node))(event.text)
            case _:
                used = json.dumps(event.arguments, ensure_ascii=False)
                await self._think(event, shortened(f"{event.name} {used}", MOST_OF_A_CALL))
                self._answer = ""

    async def end(self, answer: str, below: str = "", task: Task | None = None) -> None:
        """Send the rest of the answer, what stands `below` it (sources, for example), and the end of the stream. If the
        pieces sent so far are not the beginning of the answer, the whole answer follows them.
        """
        begun, whole = self._answer.lstrip(), _joined(answer, below)
        if begun.rstrip() == answer:
            begun = answer
        if begun and whole.startswith(begun):
            whole = whole.removeprefix(begun)
        else:
            self._answer = ""
        await (self.send(_said(whole, task)) if self._in_form else self._say(whole))
        await self.send({}, "stop", **_state(task))
        if self._chat.stream_options is not None and self._chat.stream_options.include_usage:
            head = _head(self._chat, self._task, "chat.completion.chunk")
            await self._data({**head, "choices": [], "usage": _usage(task)})
        await self._write(b"data: [DONE]\n\n")

    async def _think(self, thinker: object, text: str) -> None:
        """Begin a new line for each thinker and each step."""
        if text:
            other = self._thinker is not None and thinker != self._thinker
            self._thinker = thinker
            await self.send({"reasoning_content": f"\n{text}" if other else text})

    async def _say(self, text: str) -> None:
        if text:
            apart = self._has_said and not self._answer
            self._has_said = True
            self._answer += text
            await self.send({"content": f"\n\n{text}" if apart else text})

    async def _data(self, data: dict[str, Any]) -> None:
        await self._write(f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode())


def side_answer(chat: ChatRequest) -> str | None:
    """Answer a chat program's automatic request for a title, tags and the like, without a model or a phone. Returns
    None if the request is an ordinary task.
    """
    last = next((message.text for message in reversed(chat.messages) if message.role == "user"), "")
    system = next((message.text for message in chat.messages if message.role in {"system", "developer"}), "")
    about = next((text for text in (last, system) if _SIDE.match(text)), None)
    if about is None:
        return None
    for name, empty in (("follow_ups", []), ("queries", []), ("tags", []), ("text", "")):
        if f'"{name}"' in about:
            return json.dumps({name: empty})
    title = _title(chat, about)
    return json.dumps({"title": title}, ensure_ascii=False) if '"title"' in about else title


def _title(chat: ChatRequest, about: str) -> str:
    """Return a few words from the beginning of the conversation."""
    history = re.search(r"(?:<chat_history>|User:|USER:)(.+)", about, re.DOTALL)
    said = next((message.text for message in chat.messages if message.role == "user"), "")
    text = history[1] if history else said if said != about else ""
    text = re.sub(r"^\s*(?:USER|User|user)\s*:", "", text)
    return " ".join(text.split()[:6])[:60] or "Phone"


async def _tell_at_once(chat: ChatRequest, text: str, write: Write) -> None:
    stream = ChunkStream(chat, "0", write)
    await stream.send({"role": "assistant", "content": ""})
    await stream.end(text)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


_EVENTS: Final = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}


def _goes_with(chat: ChatRequest, phone: str, task: Task) -> bool:
    """Whether everything else in the request fits this task, so that its text can be a note."""
    is_as_given = chat.result_schema is None and plain_options(chat) in (PLAIN, task.request.options)
    return is_as_given and phone in {"", task.phone} and task.state is TaskState.WORKING


def _key(calls: Calls, chat: ChatRequest) -> str:
    form = None if chat.result_schema is None else chat.result_schema.document
    data = json.dumps(
        [calls.token.name, chat.model, [each.model_dump() for each in chat.messages if each.role != "system"], form]
    )
    return hashlib.sha256(data.encode()).hexdigest()


def _completion(chat: ChatRequest, text: str, task: Task | None = None) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", **_said(text, task)}, "finish_reason": "stop"}
    head = _head(chat, "0" if task is None else task.id, "chat.completion")
    return JSONResponse({**head, "choices": [choice], "usage": _usage(task), **_state(task)})


def _said(text: str, task: Task | None) -> dict[str, str | None]:
    """Return the answer as message fields. For a result with a schema that is only the JSON, or else the reason as a
    refusal, which clients do not parse.
    """
    if task is None or task.request.result_schema is None:
        return {"content": text}
    return {"content": None, "refusal": text} if task.data is None else {"content": task.data}


def _usage(task: Task | None) -> dict[str, int]:
    spent = (0, 0) if task is None else (task.usage.input, task.usage.output)
    return {"prompt_tokens": spent[0], "completion_tokens": spent[1], "total_tokens": sum(spent)}


def _state(task: Task | None) -> dict[str, Any]:
    """Return the state of the task in a field of our own: OpenAI's `stop` does not say whether it succeeded."""
    return {} if task is None else {"opengui": {"task": task.id, "state": task.state, "outcome": task.outcome}}


def _head(chat: ChatRequest, task: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{task}", "object": kind, "created": int(time.time()), "model": chat.model}


def _refused(error: Exception) -> Response:
    """Return the refusal with the codes that OpenAI's clients know."""
    match error:
        case NotAllowed():
            return refuse_as_openai(403, str(error), "not_allowed", "permission_error")
        case Unknown():
            return refuse_as_openai(404, str(error), "model_not_found")
        case OverQuota():
            used_up = refuse_as_openai(429, str(error), "insufficient_quota", "insufficient_quota")
            # Otherwise OpenAI's client retries twice at once, but the quota is a daily one.
            used_up.headers["X-Should-Retry"] = "false"
            return used_up
        case TooManyTasks():
            return refuse_as_openai(429, str(error), "rate_limit_exceeded", "requests")
        case StoreAway():
            return refuse_as_openai(503, away_words(error), "store_away")
        case CutOff():
            return refuse_as_openai(503, str(error), "cut_off")
    return refuse_as_openai(400, str(error), "not_done")
