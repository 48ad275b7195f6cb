"""OpenAI's form of a chat, so that a chat front end can give tasks: `/v1/chat/completions` and `/v1/models`.

A front end sends the whole conversation each time: only its last message of a person is the wish. Nothing is approved
here: who writes "yes" in a front end may be a model.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.events import Step
from agent.ports.agent import Guidance
from agent.questions import QuestionKind
from bot.application.access import NotAllowed, Refused, Unknown
from bot.application.interpret import Answer, NewTask, interpret
from bot.application.phones import open_phones
from bot.cards.formatting import source_lines
from bot.commands.parser import ParseError
from bot.domain.address import Address
from bot.domain.incoming import Attachment
from bot.domain.task import OverQuota, Task, TaskError, TaskState, TooManyTasks
from bot.domain.task_request import TaskDraft, TaskOptions
from bot.store.errors import StoreAway
from bot.tasks.files import MAX_FILE_BYTES
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.http import RequestRefused, Streamed, Write, get, post, read_body
from bot.web.token_calls import Progress, answer_ordinary, question_words, wait_for_task
from bot.web.v1.calls import ApiServices, Calls

MODEL: Final = "opengui"
"""Any phone; `opengui/NAME` is the phone of that name."""
MOST_BYTES: Final = 32 * 1024 * 1024
"""Of one request: pictures are in it, a third longer than they are."""
MOST_MESSAGES: Final = 2000
UNDELIVERED: Final = 500
"""Requests whose answer has not arrived, that are known again when the client tries again."""
BEAT_S: Final = 15.0
"""Between two signs of life in a stream, for proxies that end what is silent."""
PICTURES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}

_SIDE: Final = re.compile(
    r"\s*(### Task:\s"  # Open WebUI: titles, tags, follow-ups, searches, completions
    r"|(please )?(provide|generate|write|create) a (concise|short|brief)[^\n]{0,60} title\b"  # LibreChat
    r"|(you are a )?professional conversation summarizer|you are an assistant skilled (at|in) conversation"  # LobeChat
    r"|你是一名擅长会话的助理|请为.{0,20}生成.{0,10}标题)",
    re.IGNORECASE,
)
"""How the requests begin by which front ends have something written about a conversation."""


class ImageUrl(BaseModel):
    """Where a picture is."""

    url: str = Field(repr=False)


class Part(BaseModel):
    """A part of a message; of other types nothing is read."""

    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class ChatMessage(BaseModel):
    """A message of the conversation, as the front end has it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, str):
            return self.content.strip()
        return "\n".join(part.text for part in self.content or () if part.type == "text").strip()


class ChatRequest(TaskOptions):
    """What is read of a request, with how the task is to be done; all else that OpenAI knows means nothing here."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(default=MODEL, max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    n: int | None = None
    """How many answers are wanted; a task is done once."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)

    @property
    def guidance(self) -> Guidance:
        """How answers without a phone are to be worded."""
        return Guidance(temperature=self.temperature, max_tokens=self.max_completion_tokens or self.max_tokens)

    def options(self) -> TaskOptions:
        """How the task is to be done."""
        return TaskOptions(**self.model_dump(include=set(TaskOptions.model_fields)))


class ChatCompletions:
    """Serves OpenAI's form to tokens."""

    def __init__(self, behind: ApiServices) -> None:
        self._behind = behind
        self._services = behind.services
        self._undelivered: OrderedDict[str, str] = OrderedDict()
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """What is served."""
        return [post("/v1/chat/completions", self.complete, None), get("/v1/models", self.models, None)]

    async def models(self, request: Request) -> Response:
        """The phones that the token may use, as models."""
        calls = self._calls(request)
        names = [MODEL, *(f"{MODEL}/{phone.name}" for phone in open_phones(calls.asking(), self._services))]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": MODEL} for name in names]
        return JSONResponse({"object": "list", "data": data})

    async def complete(self, request: Request) -> Response:
        """Give the last message as a task, or as the answer to a question, and tell what came of it."""
        try:
            chat = ChatRequest.model_validate_json(await read_body(request, MOST_BYTES))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
            return _problem(400, f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}", "invalid_request")
        except RequestRefused as refused:
            return _problem(refused.status, refused.sentence, "refused")
        if (side := side_answer(chat)) is not None:
            return _whole(chat, "0", side) if not chat.stream else _streamed(chat, "0", _says(side))
        try:
            calls, task, key = await self._begun(request, chat)
        except (Refused, TaskError, ParseError, StoreAway) as error:
            return _refused(error)
        if not chat.stream:

            async def whole(write: Write) -> None:
                told = await self._told(calls, task)
                await write(bytes(_whole(chat, task.id, told, await self._services.task_service.get(task.id)).body))
                self._undelivered.pop(key, None)

            # Streamed too: only so it is noticed that the client has gone, and its answer kept for when it comes again.
            return Streamed(whole, {"Content-Type": "application/json", "Cache-Control": "no-store"})

        async def tell(write: Write) -> None:
            async def step(done: Step) -> None:
                await write(_chunk(chat, task.id, {"reasoning_content": f"{done.summary}\n"}))

            await write(_chunk(chat, task.id, {"role": "assistant", "content": ""}))
            telling = asyncio.ensure_future(self._told(calls, task, step))
            try:
                while not (await asyncio.wait([telling], timeout=BEAT_S))[0]:
                    await write(b": still at work\n\n")
                await _says(telling.result())(write, chat, task.id)
            finally:
                telling.cancel()
            self._undelivered.pop(key, None)

        return Streamed(tell, _EVENTS)

    def _calls(self, request: Request) -> Calls:
        return Calls(self._behind, caller_of(request))

    async def _begun(self, request: Request, chat: ChatRequest) -> tuple[Calls, Task, str]:
        """The task that this request is about: one at work, one that asks, or a new one. Raises Refused, TaskError."""
        said = [message for message in chat.messages if message.role == "user"]
        wish = said[-1].text if said else ""
        if not wish:
            raise Refused(say("programs.no_wish"))
        if chat.n not in {None, 1}:
            raise Refused(say("programs.one_answer"))
        # What a conversation began with stays the same in all its requests; what the front end adds to it may not.
        thread = hashlib.sha256(said[0].text.encode("utf-8", "replace")).hexdigest()[:16]
        thread = f"openai-{thread}"
        calls = self._calls(request)
        place = calls.asking(thread).address
        phone = self._phone(calls, chat.model)
        key = _key(calls, chat)
        service = self._services.task_service
        async with self._turn:
            known = self._undelivered.get(key) or await self._at_work(place, wish)
            if known and (task := await service.get(known)) is not None:
                return calls, task, key
            # The first message begins a conversation, also where another one has begun with the same words.
            meaning = await interpret(calls.asking(thread), self._services) if len(said) > 1 else NewTask()
            if isinstance(meaning, Answer):
                asked = meaning.questions[0]
                task = await service.known(asked.task)
                if asked.question.kind is QuestionKind.ASK:
                    await answer_ordinary(calls, asked, wish)
                    self._remember(key, task.id)
                return calls, task, key
            follows = meaning.follows if isinstance(meaning, NewTask) else ""
            draft = TaskDraft(wish, phone, chat.options(), follows=follows)
            started = await calls.commands(thread).start(draft, pictures_of(said[-1]), guidance=chat.guidance)
            self._remember(key, started.task.id)
            return calls, started.task, key

    async def _at_work(self, place: Address, wish: str) -> str:
        """The task of the same words in this conversation that has not ended, "" for none."""
        for task in await self._services.task_service.active():
            if task.origin == place and task.text == wish and task.state is not TaskState.ENDED:
                return task.id
        return ""

    def _remember(self, key: str, task: str) -> None:
        self._undelivered[key] = task
        while len(self._undelivered) > UNDELIVERED:
            self._undelivered.popitem(last=False)

    def _phone(self, calls: Calls, model: str) -> str:
        name = model.removeprefix(f"{MODEL}/")
        if model == MODEL:
            return ""
        for phone in open_phones(calls.asking(), self._services):
            if name in {phone.name, phone.id} and name != model:
                return phone.id
        raise Unknown(say("programs.no_model", model=model[:60]))

    async def _told(self, calls: Calls, task: Task, step: Progress | None = None) -> str:
        """The end of the task, or what it asks, as an ordinary answer."""
        asked = await wait_for_task(calls, task, step)
        if asked is not None:
            return question_words(asked)
        ended = await self._services.task_service.get(task.id) or task
        return "\n\n".join(part for part in (ended.summary, ended.data or "", source_lines(ended.sources)) if part)


def side_answer(chat: ChatRequest) -> str | None:
    """The answer to a request for a title, tags or the like, made by code; None for a wish. No phone is touched."""
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
    """A few words of what the conversation began with."""
    history = re.search(r"(?:<chat_history>|User:|USER:)(.+)", about, re.DOTALL)
    said = next((message.text for message in chat.messages if message.role == "user"), "")
    text = history[1] if history else said if said != about else ""
    text = re.sub(r"^\s*(?:USER|User|user)\s*:", "", text)
    return " ".join(text.split()[:6])[:60] or "Phone"


def pictures_of(message: ChatMessage) -> tuple[Attachment, ...]:
    """The pictures in a message, as files of the task. Raises Refused for one that is elsewhere: nothing is fetched."""
    found: list[Attachment] = []
    for part in message.content if isinstance(message.content, list) else ():
        if part.type != "image_url" or part.image_url is None:
            continue
        head, _, data = part.image_url.url.partition(";base64,")
        ending = PICTURES.get(head.removeprefix("data:"))
        try:
            content = base64.b64decode(data, validate=True) if ending and head.startswith("data:") else b""
        except binascii.Error:
            content = b""
        if not content or len(content) > MAX_FILE_BYTES:
            raise Refused(say("programs.bad_picture"))
        found.append(Attachment(f"picture{len(found) + 1}.{ending}", content))
    return tuple(found)


_EVENTS: Final = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}


def _key(calls: Calls, chat: ChatRequest) -> str:
    data = json.dumps(
        [calls.token.name, chat.model, [each.model_dump() for each in chat.messages if each.role != "system"]]
    )
    return hashlib.sha256(data.encode()).hexdigest()


def _whole(chat: ChatRequest, task: str, text: str, ended: Task | None = None) -> Response:
    message = {"role": "assistant", "content": text}
    spent = (0, 0) if ended is None else (ended.usage.input, ended.usage.output)
    usage = {"prompt_tokens": spent[0], "completion_tokens": spent[1], "total_tokens": sum(spent)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse({**_head(chat, task, "chat.completion"), "choices": [choice], "usage": usage})


def _streamed(chat: ChatRequest, task: str, say_it: Callable[[Write, ChatRequest, str], Awaitable[None]]) -> Response:
    async def tell(write: Write) -> None:
        await say_it(write, chat, task)

    return Streamed(tell, _EVENTS)


def _says(text: str) -> Callable[[Write, ChatRequest, str], Awaitable[None]]:
    async def tell(write: Write, chat: ChatRequest, task: str) -> None:
        await write(_chunk(chat, task, {"role": "assistant", "content": text}))
        await write(_chunk(chat, task, {}, "stop"))
        await write(b"data: [DONE]\n\n")

    return tell


def _chunk(chat: ChatRequest, task: str, delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {**_head(chat, task, "chat.completion.chunk"), "choices": [choice]}
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _head(chat: ChatRequest, task: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{task}", "object": kind, "created": int(time.time()), "model": chat.model}


def _refused(error: Exception) -> Response:
    """Why nothing was done, under the names by which clients know OpenAI's refusals."""
    match error:
        case NotAllowed():
            return _problem(403, str(error), "not_allowed", "permission_error")
        case Unknown():
            return _problem(404, str(error), "model_not_found")
        case OverQuota():
            used_up = _problem(429, str(error), "insufficient_quota", "insufficient_quota")
            # Otherwise OpenAI's client tries again at once, twice, and the quota is that of a day.
            used_up.headers["X-Should-Retry"] = "false"
            return used_up
        case TooManyTasks():
            return _problem(429, str(error), "rate_limit_exceeded", "requests")
        case StoreAway():
            return _problem(503, str(error), "store_away", "server_error")
    return _problem(400, str(error), "not_done")


def _problem(status: int, message: str, code: str, kind: str = "invalid_request_error") -> Response:
    return JSONResponse({"error": {"message": message, "type": kind, "param": None, "code": code}}, status)
