"""executor_entry: begins a sub-task with clean counters."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState, ended, usage_data
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.wording import sentence


async def executor_entry(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "executor_exit"]]:
    """Reset everything but the order and the notes of earlier sub-tasks."""
    fresh: ExecutorState = {
        "step": 1,
        "bad_replies": 0,
        "verify_rounds": 0,
        "frame": None,
        "size": [],
        "app": "",
        "app_name": "",
        "reply": {"text": "", "reasoning": "", "tool_calls": []},
        "decision": {"thought": "", "summary": "", "actions": []},
        "index": 0,
        "did": [],
        "fate": None,
        "effect": [],
        "mark": None,
        "touched": [],
        "question": None,
        "approved": None,
        "anchor": None,
        "denied": state.get("denied", {}),
        "matters": state.get("matters", []),
        "acted": state.get("acted", False),
        "deeds": [],
        "deeds_before": 0,
        "unlike": {},
        "shown": {},
        "standing": state.get("standing", []),
        "passed": None,
        "secret": None,
        "held": state.get("held"),
        "entered": [],
        "entered_at": None,
        "said": state.get("said", []),
        "seen": state.get("seen", {}),
        "handed_out": state.get("handed_out", []),
        "read": [],
        "found": state.get("found", []),
        "sources": [],
        "askings": 0,
        "covered": state.get("covered", []),
        "readable": state.get("readable", []),
        "aside": False,
        "asides": state.get("asides", 0),
        "given_up": state.get("given_up", 0),
        "told": [],
        "notes": state.get("notes", []),
        "past": [],
        "history": [],
        "earlier": None,
        "sent": 0,
        "refused": "",
        "narrow": state.get("narrow", False),
        "gathered": None,
        "usage": usage_data(Usage()),
        "result": None,
    }
    if runtime.context.control.cancelled:
        fresh["result"] = ended(Outcome.CANCELLED, sentence("ended.cancelled_first"))
        return Command(goto="executor_exit", update=fresh)
    return Command(goto="screenshot", update=fresh)
