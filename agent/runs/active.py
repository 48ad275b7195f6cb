"""A run that this process knows of: its phone, its stop signs, and what it has seen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from langgraph.runtime import RunControl

from agent.control import Control
from agent.graph.executor.context import Live
from agent.guards.masking import Mask
from agent.ports.leases import Lease
from agent.questions import Answer
from agent.terms import Terms
from devices.phone import Phone


@dataclass
class ActiveRun:
    """`acting` while the graph is moving; `lock` keeps two attaches of one run from both acting."""

    id: str
    control: Control = field(default_factory=Control)
    drain: RunControl = field(default_factory=RunControl)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    live: Live = field(default_factory=Live)
    mask: Mask = field(default_factory=Mask)
    wish: str = ""
    """The phone it is to have, "" for any; from its first lease on that one."""
    lease: Lease | None = None
    phone: Phone | None = None
    terms: Terms | None = None
    """What it works with, from its first phone on."""
    files: list[str] = field(default_factory=list)
    """Paths on the phone of what this process has put there."""
    acting: bool = False
    answers: dict[str, Answer] = field(default_factory=dict)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def give(self, answer: Answer) -> None:
        """An answer has come; the first one for a question counts."""
        self.answers.setdefault(answer.question, answer)
        self.answered.set()

    async def answer_to(self, question: str) -> Answer:
        """The answer to this question, whenever it comes."""
        while question not in self.answers:
            self.answered.clear()
            await self.answered.wait()
        return self.answers.pop(question)
