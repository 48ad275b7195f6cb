"""One step: where the work is, what the screen shows, what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.actions import Action, Finish, Note, Tap, Wait, WaitFor
from agent.actions import PressKey as PressKeyAction
from agent.offline.clauses import (
    THE_ANSWER,
    Clause,
    Instruction,
    Press,
    Read,
    Scroll,
    Unreadable,
    texts_of,
    with_texts,
)
from agent.offline.clauses import Ask as AskClause
from agent.offline.clauses import Tap as TapClause
from agent.offline.clauses import Wait as WaitClause
from agent.offline.grammar import ignorable, read
from agent.offline.matching import is_chinese
from agent.offline.page import Page
from agent.offline.progress import Taken, added, answer_of, mark, taken
from agent.offline.strategies.dispatch import done_words, next_move
from agent.offline.view import Act, Move, Stuck, View, on
from agent.offline.vocabulary import wording
from agent.scene import Scene
from devices.inputs import Key

PERSON_WRITES = "The person writes: "
"""How the graph hands on a person's note."""
MAX_STEPS = 40
"""Steps for one clause; none needs as many."""
MAX_POPUPS = 3
MAX_LOADING = 3
LOADING_S = 15.0
MAX_BLIND = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """The step: an action, the thought that marks the place, and the words for the card."""

    action: Action
    thought: str
    say: str


def choose(scene: Scene) -> Choice:
    """What to do on this scene. Never raises: what cannot be done ends in finish(failure)."""
    text = scene.goal or scene.task
    noted = tuple(told.removeprefix(PERSON_WRITES) for told in scene.told if told.startswith(PERSON_WRITES))
    also = tuple(note for note in noted if not ignorable(note))
    try:
        instruction = read(text)
    except Unreadable as error:
        return _failed(wording("unread", chinese=is_chinese(text), name=error.part), (), chinese=is_chinese(text))
    clauses = list(instruction.clauses)
    for note in (*added(scene.past), *also):
        try:
            clauses += read(note).clauses
        except Unreadable:
            reason = wording("note_unread", chinese=instruction.chinese, name=note)
            return _failed(reason, (), chinese=instruction.chinese)
    return _Work(scene, Instruction(tuple(clauses), instruction.chinese), also).choice()


def _failed(reason: str, done: tuple[str, ...], *, chinese: bool, data: str | None = None) -> Choice:
    if done:
        so_far = wording("so_far", chinese=chinese, done=wording("join", chinese=chinese).join(done))
    else:
        so_far = wording("nothing_done", chinese=chinese)
    summary = wording("failed", chinese=chinese, reason=reason, done=so_far)
    return Choice(Finish(status="failure", summary=summary, data=data), summary, "")


class _Work:
    """The clauses of one scene, walked through from the one that is worked on."""

    def __init__(self, scene: Scene, instruction: Instruction, also: tuple[str, ...]) -> None:
        self._scene = scene
        self._clauses = instruction.clauses
        self._chinese = instruction.chinese
        self._also = also
        self._steps = taken(scene.past)
        self._page = Page(scene.screen)

    def choice(self) -> Choice:
        """Act for the first clause that is not done; finish when there is none."""
        found = ""
        for index, clause in self._open_clauses():
            view = self._view(index)
            move = self._move(clause, view)
            if isinstance(move, Stuck):
                return self._stuck(move, index)
            if isinstance(move, Act):
                return self._acted(index, move)
            found = move.found
            last = index == len(self._clauses) - 1
            if move.wanted and not last:
                say = wording("noting", chinese=self._chinese)
                return self._acted(index, Act(Note(text=move.found), "note", say))
        return self._finished(found)

    def _open_clauses(self) -> Iterator[tuple[int, Clause]]:
        """From the clause of the last step on; one that was noted down is over."""
        start = 0
        if self._steps:
            start = self._steps[-1].index + (self._steps[-1].stage == "note")
        answer = answer_of(self._steps)
        for index in range(start, len(self._clauses)):
            yield index, _answered(self._clauses[index], answer)

    def _view(self, index: int) -> View:
        mine = tuple(step for step in self._steps if step.index == index)
        current = bool(mine) and mine[-1] is self._steps[-1]
        told = tuple(each for each in self._scene.told if not each.startswith(PERSON_WRITES)) if current else ()
        return View(self._page, self._clauses, index, mine, told, self._chinese)

    def _move(self, clause: Clause, view: View) -> Move:
        """What has to be got out of the way first, else what the clause needs."""
        if THE_ANSWER in texts_of(clause).values():
            return view.stuck("no_answer")
        if view.steps and view.steps[-1].denied:
            return view.stuck("denied")
        if len(view.steps) >= MAX_STEPS:
            return view.stuck("too_long", name=done_words(clause, chinese=self._chinese))
        if self._page.unreadable:
            if len(_tail(view.steps, "blind")) >= MAX_BLIND:
                return view.stuck("blind")
            return view.act(Wait(seconds=1.0), "blind", "looking_again")
        if (sign := self._page.loading) and not isinstance(clause, AskClause | WaitClause | Press):
            if len(_tail(view.steps, "loading")) >= MAX_LOADING:
                return view.stuck("loading")
            return view.act(WaitFor(what="gone", text=sign, seconds=LOADING_S), "loading", "waiting_for", name=sign)
        return self._popup(clause, view) or next_move(clause, view)

    def _popup(self, clause: Clause, view: View) -> Move | None:
        """Closes a pop-up that hides what the clause is about, with the button that agrees to nothing."""
        if not self._page.popup or isinstance(clause, Read | AskClause | WaitClause | Press):
            return None
        if isinstance(clause, TapClause) and (clause.nth or self._page.find(clause.label) is not None):
            return None
        if isinstance(clause, TapClause) and view.worked("tap"):
            return None
        if isinstance(clause, Scroll) and clause.until and self._page.find(clause.until) is not None:
            return None
        if len(view.staged("dismiss")) >= MAX_POPUPS:
            return view.stuck("popup", name=self._page.named[0].text)
        button = self._page.neutral_button
        if button is None:
            return view.act(PressKeyAction(key=Key.BACK), "dismiss", "going_back")
        return view.act(Tap(target=on(button)), "dismiss", "dismissing", name=button.text)

    def _acted(self, index: int, move: Act) -> Choice:
        thought = mark(index, len(self._clauses), move.stage, move.say, self._also)
        return Choice(move.action, thought, move.say)

    def _done(self, until: int) -> tuple[str, ...]:
        answer = answer_of(self._steps)
        clauses = [_answered(clause, answer) for clause in self._clauses[:until]]
        return tuple(done_words(clause, chinese=self._chinese) for clause in clauses)

    def _stuck(self, move: Stuck, index: int) -> Choice:
        data = "\n".join(self._noted()) or None
        return _failed(move.reason, self._done(index), chinese=self._chinese, data=data)

    def _noted(self) -> tuple[str, ...]:
        """What was read before the clause of this step."""
        count = sum(step.stage == "note" for step in self._steps)
        return self._scene.notes[-count:] if count else ()

    def _finished(self, found: str) -> Choice:
        text = wording("join", chinese=self._chinese).join(self._done(len(self._clauses)))
        summary = text[:1].upper() + text[1:] + wording("end", chinese=self._chinese)
        data = "\n".join([*self._noted(), found]).strip()
        return Choice(Finish(status="success", summary=summary, data=data or None), summary, "")


def _answered(clause: Clause, answer: str) -> Clause:
    """The clause with the person's answer in the place that waits for it."""
    return with_texts(clause, lambda text: answer if text == THE_ANSWER else text) if answer else clause


def _tail(steps: tuple[Taken, ...], stage: str) -> tuple[Taken, ...]:
    """The last steps in a row that were of this stage."""
    count = 0
    for step in reversed(steps):
        if step.stage != stage:
            break
        count += 1
    return steps[len(steps) - count :]
