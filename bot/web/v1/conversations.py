"""The routes and models of conversations, in which tasks are given and messages exchanged."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from agent.ports.agent import Guidance
from agent.ports.stores import GivenFile
from bot.application.access import Refused, Unknown
from bot.application.interpret import Answer, Note
from bot.application.task_access import sole
from bot.domain.right import Right
from bot.domain.task import TaskState
from bot.domain.task_request import TaskDraft
from bot.store.conversations import Conversation, Said
from bot.tasks.files import MAX_FILES
from bot.tasks.input import clean
from bot.texts import listed, say
from bot.web.v1.asking import BadPage, Caller, Cursor, Id, Limit, Number, NumberCursor, page
from bot.web.v1.calls import Calls, owner_text
from bot.web.v1.models import Got, HowTo, Listed, Name, Sent, Text, ToolCallInfo
from bot.web.v1.tasks import calls_of_task

TITLE_LIMIT = 200
PROMPT_LIMIT = 4_000
"""Characters of a conversation's system prompt, about 1,000 tokens, because it is part of every prompt."""

_MODEL = "One of GET /models: it decides, plans and works where no phone is needed. Empty for those that are set."
_PROMPT = "Standing instructions for all tasks that are given here from now on. They allow nothing."
_TEMPERATURE = Field(default=None, ge=0, le=2, description="How freely answers without a phone are worded.")
_MOST_TOKENS = Field(default=None, ge=1, le=1_000_000, description="How long answers without a phone may be.")


class NewConversation(Sent):
    """The body of a request to begin a conversation, in which tasks can be given."""

    title: str = Field(default="", max_length=TITLE_LIMIT)
    model: Name = Field(default="", description=_MODEL)
    system_prompt: str = Field(default="", max_length=PROMPT_LIMIT, description=_PROMPT)
    temperature: float | None = _TEMPERATURE
    max_tokens: int | None = _MOST_TOKENS


class ConversationChange(Sent):
    """Changes to a conversation. Omitted fields are not changed; null for a number restores the endpoint's default."""

    title: str | None = Field(default=None, max_length=TITLE_LIMIT)
    model: Name | None = Field(default=None, description=_MODEL)
    system_prompt: str | None = Field(default=None, max_length=PROMPT_LIMIT, description=_PROMPT)
    temperature: float | None = _TEMPERATURE
    max_tokens: int | None = _MOST_TOKENS


class ConversationInfo(Got):
    """A conversation. Times are Unix seconds."""

    id: str
    title: str
    model: str
    system_prompt: str
    temperature: float | None
    max_tokens: int | None
    created: float
    updated: float = Field(description="When something was last said or done in it.")


class EndedConversation(Got):
    """The answer to deleting a conversation: the tasks that ended with it."""

    cancelled: list[str] = Field(description="The tasks that were at work in it, and are cancelled.")


class NewMessage(HowTo):
    """A message to post. While a question is open it is the answer; while a task is running, a message with only text
    is a note for it; otherwise it is a new task.
    """

    text: Text
    files: list[GivenFile] = Field(default_factory=list, max_length=MAX_FILES, description="Files of a new task.")


class MessageInfo(Got):
    """A message of a conversation."""

    id: int
    role: Literal["user", "assistant"]
    text: str
    task: str | None = Field(description="The task that it is about.")
    question: str | None = Field(description="The question that it asks.")
    sent: float


class Taken(Got):
    """A posted message, and what it became."""

    message: MessageInfo
    became: Literal["task", "answer", "note"]
    task: str


SECRET = "••••••"  # noqa: S105 - stands for one
NUMBERS: Final = {"temperature", "max_tokens"}
"""Numeric settings of a conversation, by their names in `Guidance`."""

router = APIRouter(tags=["conversations"])


def _info(one: Conversation) -> ConversationInfo:
    return ConversationInfo(
        id=one.id,
        title=one.title,
        model=one.guidance.model,
        system_prompt=one.guidance.instructions,
        temperature=one.guidance.temperature,
        max_tokens=one.guidance.max_tokens,
        created=one.made,
        updated=one.updated,
    )


def _guidance(calls: Calls, model: str, system_prompt: str) -> Guidance:
    """Validate model and prompt. Raises Unknown for a model that is not configured, BadText for an empty prompt."""
    names = tuple(dict.fromkeys(name for _, name in calls.models))
    if model and model not in names:
        raise Unknown(say("api.no_model", name=model[:40], names=listed(names)))
    words = clean(system_prompt, say("api.system_prompt")) if system_prompt else ""
    return Guidance(model=model, instructions=words)


def _message(one: Said) -> MessageInfo:
    return MessageInfo(
        id=one.id, role=one.role, text=one.text, task=one.task or None, question=one.question or None, sent=one.sent
    )


@router.post("/conversations", status_code=201)
async def create_conversation(wish: NewConversation, calls: Caller) -> ConversationInfo:
    """Begin a conversation."""
    calls.require(Right.USE)
    # The same id for the same Idempotency-Key, even after a crash.
    number = hashlib.sha256(f"{calls.token.name} {calls.event}".encode()).hexdigest()[:16]
    guidance = _guidance(calls, wish.model, wish.system_prompt).model_copy(update=wish.model_dump(include=NUMBERS))
    made = await calls.services.store.conversations.add(number, owner_text(calls.token.owner), wish.title, guidance)
    return _info(made)


@router.get("/conversations")
async def list_conversations(calls: Caller, limit: Limit = 20, cursor: Cursor = "") -> Listed[ConversationInfo]:
    """List the caller's conversations, the latest first."""
    calls.require(Right.USE)
    store = calls.services.store.conversations
    if cursor and ((known := await store.get(cursor)) is None or known.owner not in calls.owners):
        raise BadPage
    found = await store.of(calls.owners, limit + 1, before=cursor)
    return page([_info(one) for one in found], limit)


@router.get("/conversations/{conversation}")
async def get_conversation(conversation: Id, calls: Caller) -> ConversationInfo:
    """Return a conversation."""
    return _info(await calls.conversation(conversation))


@router.patch("/conversations/{conversation}")
async def change_conversation(conversation: Id, change: ConversationChange, calls: Caller) -> ConversationInfo:
    """Rename a conversation, or change the settings for its future tasks."""
    found = await calls.conversation(conversation)
    title = found.title if change.title is None else change.title
    kept = found.guidance
    model = kept.model if change.model is None else change.model
    prompt = kept.instructions if change.system_prompt is None else change.system_prompt
    # A model that is no longer configured does not prevent other changes.
    guidance = _guidance(calls, "" if model == kept.model else model, prompt)
    numbers = {name: getattr(kept, name) for name in NUMBERS} | change.model_dump(include=NUMBERS, exclude_unset=True)
    guidance = guidance.model_copy(update={"model": model, **numbers})
    await calls.services.store.conversations.change(found.id, title, guidance)
    return _info(await calls.conversation(conversation))


@router.delete("/conversations/{conversation}")
async def delete_conversation(
    conversation: Id,
    calls: Caller,
    cancel: Annotated[bool, Query(description="Cancel what is at work in it.")] = False,
) -> EndedConversation:
    """Delete a conversation with its messages. Refused while one of its tasks is running, unless `cancel` is set, which
    ends these tasks. The records of its tasks are kept.
    """
    found = await calls.conversation(conversation)
    place, commands = calls.asking(found.id).address, calls.commands(found.id)
    tasks = [one for one in await calls.services.task_service.active() if one.origin == place and not one.parent]
    if tasks and not cancel:
        raise Refused(say("api.conversation_at_work", tasks=listed([one.called for one in tasks])))
    for one in tasks:
        await commands.cancel(one)
    await calls.services.store.conversations.remove(found.id)
    return EndedConversation(cancelled=[one.id for one in tasks])


@router.get("/conversations/{conversation}/messages")
async def list_messages(
    conversation: Id, calls: Caller, limit: Limit = 50, cursor: NumberCursor = ""
) -> Listed[MessageInfo]:
    """List the messages of a conversation, in order."""
    found = await calls.conversation(conversation)
    said = await calls.services.store.conversations.messages(found.id, limit + 1, after=int(cursor or 0))
    return page([_message(one) for one in said], limit)


async def _said(calls: Calls, conversation: str, message: int) -> Said:
    """Return the message if its conversation belongs to the caller. Raises Unknown."""
    found = await calls.conversation(conversation)
    said = await calls.services.store.conversations.message(found.id, message)
    if said is None:
        raise Unknown(say("api.no_message"))
    return said


@router.get("/conversations/{conversation}/messages/{message}")
async def get_message(conversation: Id, message: Number, calls: Caller) -> MessageInfo:
    """Return a message."""
    return _message(await _said(calls, conversation, message))


@router.get("/conversations/{conversation}/messages/{message}/tool-calls")
async def list_tool_calls_of_message(conversation: Id, message: Number, calls: Caller) -> Listed[ToolCallInfo]:
    """List the tools that need no phone and were used for the message's task, in order."""
    return await calls_of_task(calls, (await _said(calls, conversation, message)).task)


@router.delete("/conversations/{conversation}/messages/{message}", status_code=204)
async def delete_message(conversation: Id, message: Number, calls: Caller) -> None:
    """Delete a message. Later messages no longer refer to its task. Refused while that task is running."""
    said = await _said(calls, conversation, message)
    task = await calls.services.task_service.get(said.task)
    if task is not None and task.state is not TaskState.ENDED:
        raise Refused(say("api.message_at_work", task=task.called))
    await calls.services.store.conversations.delete_message(conversation, said.id)


@router.post("/conversations/{conversation}/messages", status_code=201)
async def post_message(conversation: Id, wish: NewMessage, calls: Caller) -> Taken:
    """Post a message. It answers the open question if there is one, else it is a note for the running task, else a new
    task. A message with files or task options is never a note.
    """
    found = await calls.conversation(conversation)
    store, key = calls.services.store.conversations, f"user:{calls.event}"
    commands = calls.commands(found.id)
    meaning = await calls.meaning(wish.text, found.id)
    if isinstance(meaning, Answer):
        one = await sole(meaning.questions, calls.services)
        hidden = one.question.kind.value == "secret"
        await commands.answer(one, wish.text)
        said = await store.say(found.id, SECRET if hidden else wish.text, task=one.task, key=key)
        return Taken(message=_message(said), became="answer", task=one.task)
    draft = wish.draft(wish.text)
    # A note is only text; a message with more becomes a task.
    if isinstance(meaning, Note) and not wish.files and draft == TaskDraft(wish.text):
        await commands.steer(meaning.task, wish.text)
        said = await store.say(found.id, wish.text, task=meaning.task.id, key=key)
        return Taken(message=_message(said), became="note", task=meaning.task.id)
    files = await calls.files([(file.name, file.content) for file in wish.files])
    draft = replace(draft, follows=await calls.latest_in(found))
    task = (await commands.start(draft, files, guidance=found.guidance)).task
    said = await store.say(found.id, wish.text, task=task.id, key=key)
    return Taken(message=_message(said), became="task", task=task.id)
