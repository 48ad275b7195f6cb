"""What a strategy decides on, and what it can answer: do this, it is done, or it cannot be done."""

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
    """The next action. `stage` is what it is for, so that the step can be recognised later; `say` is for the card."""

    action: Action
    stage: str
    say: str


@dataclass(frozen=True, slots=True)
class Done:
    """The screen shows that the clause is done. `found` is data; `wanted` says that the person asked for it."""

    found: str = ""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Stuck:
    """The work cannot go on; `reason` is a sentence for the person, `kind` its key in wording.toml. `near` are
    instructions that come near to what was wanted and can be followed.
    """

    reason: str
    kind: str = ""
    near: tuple[str, ...] = ()


Move = Act | Done | Stuck


@dataclass(frozen=True, slots=True)
class View:
    """One clause, now. `steps` are those taken for it."""

    page: Page
    clauses: tuple[Clause, ...]
    index: int
    steps: tuple[Taken, ...]
    chinese: bool

    @property
    def before(self) -> Clause | None:
        """The clause before this one."""
        return self.clauses[self.index - 1] if self.index else None

    @property
    def after(self) -> Clause | None:
        """The clause after this one."""
        return self.clauses[self.index + 1] if self.index + 1 < len(self.clauses) else None

    def staged(self, *stages: str) -> tuple[Taken, ...]:
        """The steps that were taken for these purposes."""
        return tuple(step for step in self.steps if step.stage in stages)

    def worked(self, *stages: str) -> bool:
        """Whether one of these steps was done."""
        return any(step.worked for step in self.staged(*stages))

    def since(self, *stages: str) -> tuple[Taken, ...]:
        """The steps after the last one of these purposes; all when there was none."""
        last = max((n for n, step in enumerate(self.steps) if step.stage in stages), default=-1)
        return self.steps[last + 1 :]

    def words(self, key: str, **values: str) -> str:
        """A sentence in the person's language."""
        return wording(key, chinese=self.chinese, **values)

    def act(self, action: Action, stage: str, key: str, **values: str) -> Act:
        """An action with its words."""
        return Act(action, stage, self.words(key, **values))

    def stuck(self, key: str, **values: str) -> Stuck:
        """The end of the way, with its words; why the phone or the policy refused is added."""
        return Stuck(paragraph(self.words(key, **values), _refusal(self.steps)), key)

    @property
    def unknown_app(self) -> bool:
        """Whether the phone said of the last step that it has no such app."""
        refused = self.steps[-1].failure if self.steps else None
        return refused is not None and refused.unknown_app


def _refusal(steps: tuple[Taken, ...]) -> str:
    """Why the phone or the policy refused the last step, as a sentence; "" when neither did."""
    refused = steps[-1].failure if steps else None
    # That an app is not there is said already, and better than for a model.
    if refused is None or not refused.reason or refused.unknown_app:
        return ""
    reason = said(refused.reason)
    return reason if reason.endswith((".", "。", "!", "?")) else f"{reason}."


def on(element: ScreenElement) -> ElementTarget:
    """The element as the target of an action."""
    return ElementTarget(element=element.id)
