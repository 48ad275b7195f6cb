"""The API's models of conversations and their messages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.ports.stores import GivenFile
from bot.tasks.files import MAX_FILES
from bot.web.v1.models.base import Got, Name, Sent, Text
from bot.web.v1.models.tasks import HowTo

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
