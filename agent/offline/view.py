"""What a strategy of the offline pilot decides on (`View`), and its possible moves: an action, done, or stuck."""

from __future__ import annotations

from dataclasses import dataclass

from agent.actions import Action, ElementTarget
from agent.offline.clauses import Clause
from agent.offline.page import Page
from agent.offline.progress import Taken
from agent.offline.vocabulary import wording
from agent.scene import ScreenElement
from agent.wording import paragraph
from devices.wording import said


@dataclass(frozen=True, slots=True)
class Act:
    """A move: the next action. `stage` names its purpose, by which the step is recognised later; `say` is the text for
    the task's card in the chat.
    """

    action: Action
    stage: str
    say: str


@dataclass(frozen=True, slots=True)
class Done:
    """A move: the screen shows that the clause is done. `found` is the data that was read; `wanted` means that the
    person asked for it.
    """

    found: str = ""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Stuck:
    """A move: the clause cannot be done.

    `reason` is a sentence for the person, and `kind` is its key in wording.toml. `near` are similar instructions that
    can be followed.
    """

    reason: str
    kind: str = ""
    near: tuple[str, ...] = ()


Move = Act | Done | Stuck


@dataclass(frozen=True, slots=True)
class View:
    """What a strategy decides on: one clause and the current screen.

    `clauses` are all of the instruction, `index` is the position of this one, and `steps` are those taken for it so
    far. `chinese` selects the language of the wording.
    """

    page: Page
    clauses: tuple[Clause, ...]
    index: int
    steps: tuple[Taken, ...]
    chinese: bool

    @property
    def before(self) -> Clause | None:
        """The clause before this one; None if there is none."""
        return self.clauses[self.index - 1] if self.index else None

    @property
    def after(self) -> Clause | None:
        """The clause after this one; None if there is none."""
        return self.clauses[self.index + 1] if self.index + 1 < len(self.clauses) else None

    def staged(self, *stages: str) -> tuple[Taken, ...]:
        """Return the steps that were taken for these purposes."""
        return tuple(step for step in self.steps if step.stage in stages)

    def worked(self, *stages: str) -> bool:
        """Whether one of the steps for these purposes succeeded."""
        return any(step.worked for step in self.staged(*stages))

    def since(self, *stages: str) -> tuple[Taken, ...]:
        """Return the steps after the last one with one of these purposes; all steps if there was none."""
        last = max((n for n, step in enumerate(self.steps) if step.stage in stages), default=-1)
        return self.steps[last + 1 :]

    def words(self, key: str, **values: str) -> str:
        """Return the sentence with this key of wording.toml, in the person's language and with its values filled in."""
        return wording(key, chinese=self.chinese, **values)

    def act(self, action: Action, stage: str, key: str, **values: str) -> Act:
        """Return a move with this action. `stage` is its purpose; `key` and `values` give the sentence for the task's
        card in the chat (see `words`).
        """
        return Act(action, stage, self.words(key, **values))

    def stuck(self, key: str, **values: str) -> Stuck:
        """Return the move for a clause that cannot be done. `key` and `values` give the sentence (see `words`); if the
        phone or the policy refused the last step, the reason is added.
        """
        return Stuck(paragraph(self.words(key, **values), _refusal(self.steps)), key)

    @property
    def unknown_app(self) -> bool:
        """Whether the last step failed because the phone has no app of that name."""
        refused = self.steps[-1].failure if self.steps else None
        return refused is not None and refused.unknown_app


def _refusal(steps: tuple[Taken, ...]) -> str:
    """Return why the phone or the policy refused the last step, as a sentence; "" if neither did."""
    refused = steps[-1].failure if steps else None
    # The pilot's own sentence already says that an app is missing.
    if refused is None or not refused.reason or refused.unknown_app:
        return ""
    reason = said(refused.reason)
    return reason if reason.endswith((".", "。", "!", "?")) else f"{reason}."


def on(element: ScreenElement) -> ElementTarget:
    """Return the element as the target of an action."""
    return ElementTarget(element=element.id)
