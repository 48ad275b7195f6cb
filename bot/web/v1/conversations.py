"""Conversations: places where tasks are given, and what is said there."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from fastapi import APIRouter

from agent.ports.agent import Guidance
from bot.application.access import Refused
from bot.application.interpret import Answer, Note, interpret
from bot.commands.answers import sole
from bot.domain.right import Right
from bot.store.conversations import Conversation, Said
from bot.tasks.input import clean
from bot.texts import listed, say
from bot.web.v1.asking import Caller, Cursor, Id, Limit, NumberCursor, page
from bot.web.v1.calls import Calls, owner_text
from bot.web.v1.models.base import Listed
from bot.web.v1.models.conversations import (
    ConversationChange,
    ConversationInfo,
    MessageInfo,
    NewConversation,
    NewMessage,
    Taken,
)

SECRET = "••••••"  # noqa: S105 - stands for one

router = APIRouter(tags=["conversations"])


def _info(one: Conversation) -> ConversationInfo:
    return ConversationInfo(
        id=one.id,
        title=one.title,
        model=one.guidance.model,
        system_prompt=one.guidance.instructions,
        created=one.made,
    )


def _guidance(calls: Calls, model: str, system_prompt: str) -> Guidance:
    """Raises Refused for a model that is not set, BadText for words that say nothing."""
    names = tuple(dict.fromkeys(name for _, name in calls.models))
    if model and model not in names:
        raise Refused(say("api.no_model", name=model[:40], names=listed(names)))
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
    # The same for the same Idempotency-Key, also after a crash.
    number = hashlib.sha256(f"{calls.token.name} {calls.event}".encode()).hexdigest()[:16]
    guidance = _guidance(calls, wish.model, wish.system_prompt)
    made = await calls.services.store.conversations.add(number, owner_text(calls.token.owner), wish.title, guidance)
    return _info(made)


@router.get("/conversations")
async def list_conversations(calls: Caller, limit: Limit = 20, cursor: Cursor = "") -> Listed[ConversationInfo]:
    """One's own, the latest first."""
    calls.require(Right.USE)
    found = await calls.services.store.conversations.of(calls.owners, limit + 1, before=cursor)
    return page([_info(one) for one in found], limit, found[limit - 1].id if len(found) > limit else None)


@router.get("/conversations/{conversation}")
async def get_conversation(conversation: Id, calls: Caller) -> ConversationInfo:
    """One of them."""
    return _info(await calls.conversation(conversation))


@router.patch("/conversations/{conversation}")
async def change_conversation(conversation: Id, change: ConversationChange, calls: Caller) -> ConversationInfo:
    """Call it something else, or have its tasks thought about otherwise. Those that were given stay as they are."""
    found = await calls.conversation(conversation)
    title = found.title if change.title is None else change.title
    kept = found.guidance
    model = kept.model if change.model is None else change.model
    prompt = kept.instructions if change.system_prompt is None else change.system_prompt
    # A model that was set once may be gone since: it hinders no other change.
    guidance = _guidance(calls, "" if model == kept.model else model, prompt)
    guidance = guidance.model_copy(update={"model": model})
    await calls.services.store.conversations.change(found.id, title, guidance)
    return _info(await calls.conversation(conversation))


@router.delete("/conversations/{conversation}", status_code=204)
async def delete_conversation(conversation: Id, calls: Caller) -> None:
    """Forget it, with all that was said in it. Its tasks stay, and go on."""
    found = await calls.conversation(conversation)
    await calls.services.store.conversations.remove(found.id)


@router.get("/conversations/{conversation}/messages")
async def list_messages(
    conversation: Id, calls: Caller, limit: Limit = 20, cursor: NumberCursor = ""
) -> Listed[MessageInfo]:
    """What was said, in order."""
    found = await calls.conversation(conversation)
    said = await calls.services.store.conversations.messages(found.id, limit + 1, after=int(cursor or 0))
    return page([_message(one) for one in said], limit, str(said[limit - 1].id) if len(said) > limit else None)


@router.post("/conversations/{conversation}/messages", status_code=201)
async def post_message(conversation: Id, wish: NewMessage, calls: Caller) -> Taken:
    """Say something: it answers the open question, is a note for the task at work, or becomes a task."""
    found = await calls.conversation(conversation)
    store, key = calls.services.store.conversations, calls.said_as
    commands = calls.commands(found.id)
    meaning = await interpret(calls.asking(found.id), calls.services)
    if isinstance(meaning, Answer):
        one = await sole(meaning.questions, calls.services)
        hidden = one.question.kind.value == "secret"
        await commands.answer(one, wish.text)
        said = await store.say(found.id, SECRET if hidden else wish.text, key=key)
        return Taken(message=_message(said), became="answer", task=one.task)
    if isinstance(meaning, Note):
        await commands.steer(meaning.task, wish.text)
        said = await store.say(found.id, wish.text, key=key)
        return Taken(message=_message(said), became="note", task=meaning.task.id)
    files = await calls.files([(file.name, file.content) for file in wish.files])
    draft = replace(wish.draft(wish.text), follows=meaning.follows)
    task = (await commands.start(draft, files, guidance=found.guidance)).task
    said = await store.say(found.id, wish.text, key=key)
    return Taken(message=_message(said), became="task", task=task.id)
