"""OfflinePilot, which uses rules in place of a model, so that the program works without any endpoint. It decides the
next step from the current clause and what the screen shows, and suggests instructions similar to one that it cannot
follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from agent.actions import Action, AskUser, ElementTarget, Finish, Note, Tap, Wait, WaitFor
from agent.actions import PressKey as PressKeyAction
from agent.dialects.tool_schemas import SAY
from agent.models.base import PILOT, Delta, ModelReply, ModelRequest, Purpose, ToolCall
from agent.models.errors import ModelAnswerUnusable
from agent.offline.clauses import THE_ANSWER, Clause, Press, Read, Scroll, Unreadable, texts_of, with_texts
from agent.offline.clauses import Ask as AskClause
from agent.offline.clauses import Tap as TapClause
from agent.offline.clauses import Wait as WaitClause
from agent.offline.grammar import ignorable, read, topic_of
from agent.offline.matching import speaks_chinese
from agent.offline.progress import REPEATABLE, STEER, SURE, Taken, answer_of, memo_of, taken
from agent.offline.strategies.dispatch import done_words, next_move
from agent.offline.view import Act, Move, Page, Stuck, View, on
from agent.offline.vocabulary import in_both, patterns, wording
from agent.run import NeedsModel
from agent.scene import Scene
from devices.inputs import Key
from devices.wording import Words

MAX_NEAR = 3
MAX_LETTERS = 60
"""The maximum number of letters of a suggested instruction, because it is shown on a button."""


def nearest(text: str, *, chinese: bool) -> tuple[str, ...]:
    """Return at most MAX_NEAR instructions that are similar to this text and that the pilot can follow, the closest
    first.
    """
    found: list[str] = []
    for near in patterns().near:
        if (fits := near.pattern.fullmatch(text.strip(" .!?。！？"))) is None:
            continue
        groups = {name.rstrip("234"): value.strip() for name, value in fits.groupdict().items() if value}
        found += [form.format(**groups) for form in (near.zh if chinese else near.en)]
    return tuple(filter(_is_read, dict.fromkeys(found)))[:MAX_NEAR]


def offered(near: tuple[str, ...], *, chinese: bool) -> str:
    """Return a sentence for people that offers these instructions; "" if there are none."""
    if not near:
        return ""
    texts = wording("join", chinese=chinese).join(f"“{text}”" for text in near)
    return wording("offer", chinese=chinese, texts=texts)


def _is_read(text: str) -> bool:
    try:
        read(text)
    except Unreadable:
        return False
    return len(text) <= MAX_LETTERS


MAX_STEPS = 40
"""The maximum number of steps for one clause; none needs as many."""
MAX_POPUPS = 3
MAX_LOADING = 3
LOADING_S = 15.0
MAX_BLIND = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen step.

    `thought` is the reason, in words for people, and `say` the text for the task's card in the chat. `memo` is stored
    with the step, so that the pilot can tell later which clause it was for.
    """

    action: Action
    thought: str
    say: str
    memo: Mapping[str, int | str] = field(default_factory=dict)


def choose(scene: Scene) -> Choice:
    """Return the next action for this scene. Never raises: if something cannot be done, the action is a finish with
    failure, or offers similar instructions.
    """
    text = scene.goal or scene.task
    chinese = speaks_chinese(text)
    speech = _Speech(chinese, begins=not scene.past)
    if topic := topic_of(text):
        answer = wording(topic, chinese=chinese)
        return Choice(Finish(status="success", summary=answer), answer, "")
    steps = taken(scene.past, in_both("it_happened"))
    try:
        instruction = read(text)
    except Unreadable as error:
        reason = wording("unread", chinese=chinese, name=error.part)
        return speech.failed(reason, (), NeedsModel(choices=nearest(error.part, chinese=chinese)))
    clauses = list(instruction.clauses)
    replaced = {step.index: step.answer for step in steps if step.stage == STEER}
    for number, written in enumerate(scene.steering_notes):
        steer = replaced.get(number, written)
        if isinstance(steer, Words) or ignorable(steer) or steer in in_both("go_on"):
            continue
        try:
            clauses += read(steer).clauses
        except Unreadable:
            return speech.note_unread(steer, memo_of(number, STEER))
    place = tuple(step for step in steps if step.stage != STEER)
    return _Work(scene, tuple(clauses), instruction.rests, place, speech).choice()


@dataclass(frozen=True, slots=True)
class _Speech:
    """How the pilot words things in a task; it introduces itself only when it `begins`."""

    chinese: bool
    begins: bool

    def failed(
        self,
        reason: str,
        done: tuple[str, ...],
        lacks: NeedsModel | None = None,
        *,
        able: bool = False,
        began: bool = False,
        data: str | None = None,
    ) -> Choice:
        """End with a failure. `able` means that a model could not do it either, `began` that a clause was partly done
        on the phone. With `lacks`, the task is blocked rather than failed.
        """
        nothing = "" if began else self._words("nothing_done")
        so_far = self._words("so_far", done=self._words("join").join(done)) if done else nothing
        parts = [self._words("i_am") if self.begins else "", reason, so_far, "" if able else self._words("model")]
        summary = self._row([*parts, offered(lacks.choices, chinese=self.chinese) if lacks is not None else ""])
        return Choice(Finish(status="failure", summary=summary, data=data, needs_model=lacks), summary, "")

    def note_unread(self, note: str, memo: Mapping[str, int | str]) -> Choice:
        """Ask what a note means, offering similar instructions and a way to continue without it."""
        near = nearest(note, chinese=self.chinese)
        offer = self._words("meant") if near else ""
        question = self._row([self._words("i_am") if self.begins else "", self._words("note_unread", name=note), offer])
        say = self._words("asking")
        return Choice(AskUser(question=question, choices=(*near, self._words("go_on"))), say, say, memo)

    def act(self, move: Act, memo: Mapping[str, int | str]) -> Choice:
        """Return a step of the work."""
        say = f"{self._words('i_am_short')} {move.say}" if self.begins else move.say
        return Choice(move.action, move.say, say, memo)

    def _row(self, sentences: list[str]) -> str:
        return ("" if self.chinese else " ").join(filter(None, sentences))

    def _words(self, key: str, **values: str) -> str:
        return wording(key, chinese=self.chinese, **values)


class _Work:
    """The clauses of one scene, processed from the current one."""

    def __init__(
        self,
        scene: Scene,
        clauses: tuple[Clause, ...],
        rests: tuple[str, ...],
        steps: tuple[Taken, ...],
        speech: _Speech,
    ) -> None:
        self._scene = scene
        self._clauses = clauses
        self._rests = rests
        self._chinese = speech.chinese
        self._speech = speech
        self._steps = steps
        self._page = Page(scene.screen)

    def choice(self) -> Choice:
        """Act for the first clause that is not done; finish if there is none."""
        found = ""
        for index, clause in self._open_clauses():
            mine = tuple(step for step in self._steps if step.index == index)
            view = View(self._page, self._clauses, index, mine, self._chinese)
            move = self._move(clause, view)
            if isinstance(move, Stuck):
                return self._stuck(move, index)
            if isinstance(move, Act):
                return self._acted(index, move)
            found = move.found
            if move.wanted and index < len(self._clauses) - 1:
                say = wording("noting", chinese=self._chinese)
                return self._acted(index, Act(Note(text=move.found), "note", say))
        return self._finished(found)

    def _open_clauses(self) -> Iterator[tuple[int, Clause]]:
        """Yield the clauses from the last step's on; a clause that was noted is done."""
        start = 0
        if self._steps:
            start = self._steps[-1].index + (self._steps[-1].stage == "note")
        answer = answer_of(self._steps)
        for index in range(start, len(self._clauses)):
            yield index, _answered(self._clauses[index], answer)

    def _move(self, clause: Clause, view: View) -> Move:
        """Return what must be moved out of the way first, otherwise what the clause needs."""
        if THE_ANSWER in texts_of(clause).values():
            return view.stuck("no_answer")
        if view.steps and view.steps[-1].denied:
            return view.stuck("denied")
        if view.steps and view.steps[-1].uncertain and view.steps[-1].stage not in REPEATABLE:
            return self._sure(clause, view)
        if len(view.steps) >= MAX_STEPS:
            return view.stuck("too_long", name=done_words(clause, chinese=self._chinese))
        if self._page.unreadable:
            if _tail(view.steps, "blind") >= MAX_BLIND:
                return view.stuck("blind")
            return view.act(Wait(seconds=1.0), "blind", "looking_again")
        if (sign := self._page.loading) and not isinstance(clause, AskClause | WaitClause | Press):
            if _tail(view.steps, "loading") >= MAX_LOADING:
                return view.stuck("loading")
            return view.act(WaitFor(what="gone", text=sign, seconds=LOADING_S), "loading", "waiting_for", name=sign)
        return self._popup(clause, view) or next_move(clause, view)

    def _sure(self, clause: Clause, view: View) -> Move:
        """Ask a person to check, because nothing that may have happened is done twice."""
        choices = tuple(view.words(key) for key in ("it_happened", "do_again"))
        question = view.words("uncertain", name=done_words(clause, chinese=self._chinese))
        return Act(AskUser(question=question, choices=choices), SURE, view.words("asking"))

    def _popup(self, clause: Clause, view: View) -> Move | None:
        """Close a pop-up that hides the clause's target, with a button that agrees to nothing."""
        if not self._page.popup or isinstance(clause, Read | AskClause | WaitClause | Press):
            return None
        if isinstance(clause, TapClause) and (clause.nth or view.worked("tap")):
            return None
        target = clause.label if isinstance(clause, TapClause) else clause.until if isinstance(clause, Scroll) else ""
        if target and self._page.find(target) is not None:
            return None
        if len(view.staged("dismiss")) >= MAX_POPUPS:
            return view.stuck("popup", name=self._page.named[0].text)
        button = self._page.neutral_button
        if button is None:
            return view.act(PressKeyAction(key=Key.BACK), "dismiss", "going_back")
        return view.act(Tap(target=on(button)), "dismiss", "dismissing", name=button.text)

    def _acted(self, index: int, move: Act) -> Choice:
        return self._speech.act(move, memo_of(index, move.stage))

    def _done(self, until: int) -> tuple[str, ...]:
        answer = answer_of(self._steps)
        clauses = [_answered(clause, answer) for clause in self._clauses[:until]]
        return tuple(done_words(clause, chinese=self._chinese) for clause in clauses)

    def _stuck(self, move: Stuck, index: int) -> Choice:
        data = "\n".join(self._noted()) or None
        began, able = any(step.moved for step in self._steps), move.kind == "denied"
        near = tuple(self._onward(instruction, index) for instruction in move.near)
        lacks = NeedsModel(choices=near) if near else None
        return self._speech.failed(move.reason, self._done(index), lacks, able=able, began=began, data=data)

    def _onward(self, instruction: str, index: int) -> str:
        """Return the instruction followed by the rest of the task after the clause that it replaces."""
        rest = self._rests[index] if index < len(self._rests) else ""
        return wording("onward_with", chinese=self._chinese, near=instruction, rest=rest) if rest else instruction

    def _noted(self) -> tuple[str, ...]:
        """Return what was read before this step's clause."""
        count = sum(step.stage == "note" for step in self._steps)
        return self._scene.notes[-count:] if count else ()

    def _finished(self, found: str) -> Choice:
        text = wording("join", chinese=self._chinese).join(self._done(len(self._clauses)))
        summary = text[:1].upper() + text[1:] + wording("end", chinese=self._chinese)
        if isinstance(self._clauses[-1], Read) and found and "\n" not in found:
            summary = found  # what was asked for, without anything around it
        data = "\n".join([*self._noted(), found]).strip()
        return Choice(Finish(status="success", summary=summary, data=data or None), summary, "")


def _answered(clause: Clause, answer: str) -> Clause:
    """Return the clause with the person's answer filled in."""
    return with_texts(clause, lambda text: answer if text == THE_ANSWER else text) if answer else clause


def _tail(steps: tuple[Taken, ...], stage: str) -> int:
    """Return how many of the last steps in a row are of this stage."""
    return len(list(takewhile(lambda step: step.stage == stage, reversed(steps))))


_BESIDE = re.compile(r"\n\n[^\n]+\n<(files|memory|notes)>\n.*</(files|memory|notes)>\Z", re.DOTALL)
"""Text that follows the task in prompts (files, remembered facts, an earlier task), which is not an instruction."""


class OfflinePilot:
    """Implements `agent.models.base.Model` without a model: follows literal instructions by matching them with the
    labels on the screen.

    It answers in the tools dialect, keeps nothing between calls, and costs nothing.
    """

    @property
    def name(self) -> str:
        """Always "offline"."""
        return PILOT

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the next step or, for other purposes than acting, a plain answer.

        Raises ModelAnswerUnusable if an acting call has no scene.
        """
        reply = _answer(request)
        if on_delta is not None and reply.text:
            on_delta(Delta(text=reply.text))
        return reply


def _answer(request: ModelRequest) -> ModelReply:
    match request.purpose:
        case Purpose.ACT:
            return _act(request)
        case Purpose.INTENT:
            return _data(_intent(_BESIDE.sub("", _asked(request))))
        case Purpose.PLAN:
            return _text(wording("no_plan", chinese=speaks_chinese(_asked(request))))
        case Purpose.SUPERVISE:
            reason = wording("no_plan", chinese=speaks_chinese(_asked(request)))
            return _data({"decision": "complete", "remaining": [], "next": "", "reason": reason})
        case Purpose.VERIFY:
            return _data({"proven": False, "reason": wording("no_verdict", chinese=speaks_chinese(_asked(request)))})
        case Purpose.SUMMARIZE | Purpose.CAPTION | Purpose.GUARD | Purpose.MEMBER:
            # It has no words of its own, so the caller shows what is known from the results.
            return _text("")


def _act(request: ModelRequest) -> ModelReply:
    if request.scene is None:
        raise ModelAnswerUnusable("The offline pilot can only act on a scene, and was given none.")
    choice = choose(request.scene)
    arguments = _arguments(choice.action)
    if choice.say:
        arguments[SAY] = choice.say
    call = ToolCall(f"step-{request.scene.step}", choice.action.kind, json.dumps(arguments, ensure_ascii=False))
    return ModelReply(choice.thought, (call,), model=PILOT, finish_reason="tool_calls", memo=choice.memo)


def _arguments(action: Action) -> dict[str, Any]:
    """Return the action as arguments of its tool: without defaults, with the target as the tool names it."""
    arguments = action.model_dump(mode="json", exclude_defaults=True, exclude={"target"})
    if isinstance(target := getattr(action, "target", None), ElementTarget):
        arguments["element"] = target.element
    return arguments


def _intent(text: str) -> dict[str, Any]:
    chinese = speaks_chinese(text)
    if topic := topic_of(text):
        return {"kind": "chat", "need_plan": False, "answer": wording(topic, chinese=chinese)}
    try:
        read(text)
    except Unreadable as error:
        near = nearest(error.part, chinese=chinese)
        answer = wording("refused_near" if near else "refused", chinese=chinese, name=error.part)
        if near:
            answer = ("" if chinese else " ").join((answer, offered(near, chinese=chinese)))
        return {"kind": "refuse", "need_plan": False, "answer": answer, "needs_model": {"choices": near}}
    return {"kind": "simple", "need_plan": False, "answer": ""}


def _asked(request: ModelRequest) -> str:
    """Return the person's text, which is the last part of the last message."""
    parts = request.messages[-1].parts if request.messages else ()
    last = parts[-1] if parts else ""
    return last if isinstance(last, str) else ""


def _data(values: dict[str, Any]) -> ModelReply:
    return _text(json.dumps(values, ensure_ascii=False))


def _text(text: str) -> ModelReply:
    return ModelReply(text, model=PILOT, finish_reason="stop")
