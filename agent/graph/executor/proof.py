"""Proves by code that a simple task succeeded: every word of the task must be understood, and the screen must show
exactly what it asks for.

Evidence only counts if its words come from the task, it was not there before, and an action of this run came in
between. Text in a field proves nothing, and neither does a web page, which can show anything. What is not proven here
is verified by a model, so a missing case only costs a request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent.effect_facts import AppChanged, TextNow, effects_of
from agent.graph.executor.state import ExecutorState, PastData, status_of
from agent.guards.controls import is_settings_page, words_of_switch
from agent.guards.facts import about_of
from agent.guards.touch_target import TouchTarget
from agent.guards.words import plain
from agent.request_words import Kind, PlainTask, plain_tasks
from agent.scene import StepStatus
from devices.phone import Element, Observation

MAX_LOOKS: Final = 40
"""The maximum number of observations that are kept; a task that needs more is not a simple one."""

_SETTINGS_NAMES: Final = frozenset({"", "settings", "设置"})
"""Names in tasks for the app with the phone's own switches."""
_OPEN_END: Final = re.compile(
    r"\b(?:draft|unsaved|not (?:sent|saved|delivered)|sending|saving|failed|retry|undo|error|try again|scheduled"
    r"|deleted|trash|bin|archived?)\b"
    r"|草稿|未保存|未发送|发送中|保存中|失败|重试|撤销|错误|定时|已删除|回收站|归档",
    re.IGNORECASE,
)
"""Words next to which something shown may not be final."""
_FOR_NOTES: Final = re.compile(r"(?:\w+ )?notes?|keep(?: notes)?|.{0,4}(?:笔记|备忘录|便签)")
"""Names of apps whose items are notes."""
_TO_CART: Final = re.compile(
    r"add to (?:the |my |your )?(?:cart|basket|bag)|加入购物车|in den warenkorb|ajouter au panier"
    r"|añadir (?:al carrito|a la cesta)"
)
_IN_CART: Final = re.compile(
    r"(?:shopping )?(?:cart|basket|bag),? ?\(?(\d{1,3})\)?(?: items?)?|购物车[,，]? ?\(?(\d{1,3})\)?"
)
_RECEIPT: Final = re.compile(
    r"[\d:./ -]+(?:[ap]\.?m\.?)?|(?:just )?now|sent|delivered|刚刚|现在|已发送|已送达", re.IGNORECASE
)
"""What messengers put next to a sent message."""


@dataclass(frozen=True)
class _ScreenRecord:
    step: int
    package: str
    labels: Counter[str] | None
    switches: Mapping[str, bool]
    touched: frozenset[str] = frozenset()
    """What the control says that the step touched; empty if it touched none."""


@dataclass
class ScreenHistory:
    """What the observations of a sub-task showed, in the form in which code compares them. A process that has not seen
    all of them, for example after a restart, proves nothing.
    """

    subtask: int = 0
    records: list[_ScreenRecord] = field(default_factory=list)

    def add(self, subtask: int, step: int, observation: Observation) -> None:
        """Add the observation on which the step with this number was decided. It replaces an earlier observation of the
        same step.
        """
        if subtask != self.subtask or step == 1:
            self.subtask, self.records = subtask, []
        known = None if observation.elements is None else Counter(map(plain, _labels(observation)))
        self.records = [each for each in self.records if each.step != step]
        self.records.append(_ScreenRecord(step, observation.package, known, _switches(observation)))
        del self.records[MAX_LOOKS:]

    def touch(self, step: int, target: Element, observation: Observation) -> None:
        """Add what the control says that a step touched, with all words inside it."""
        inside = (e for e in observation.elements or () if target.bounds.holds(e.bounds.centre))
        said = frozenset(plain(label) for e in (target, *inside) for label in (e.text, e.description) if label)
        self.records = [replace(each, touched=said) if each.step == step else each for each in self.records]

    def complete(self, step: int) -> bool:
        """Whether there is an observation for every step up to this number."""
        return [each.step for each in self.records] == list(range(1, step + 1))


def is_shown(state: ExecutorState, history: ScreenHistory, observation: Observation) -> bool:
    """Whether the current screen (`observation`) proves that the task is done."""
    order, said, step = state["order"], state["conversation"], state["step"]["number"]
    if order["plan"] or order["goal"] != order["task"] or order["files"]:
        return False
    if said["user_messages"] or said["steering_notes"]:
        return False
    if history.subtask != order["subtask"] or not history.complete(step) or not _is_plain(observation):
        return False
    past = state["past"]
    known, app = history.records, observation.app_name
    return any(
        _PROOFS[each.kind](each, known, past, observation, app)
        for each in plain_tasks(order["task"])
        if each.kind in _PROOFS
    )


def _is_plain(observation: Observation) -> bool:
    """Whether the app itself reports the whole screen and nothing on it is pending."""
    if not observation.complete or observation.elements is None or observation.secure or observation.locked:
        return False
    if any("WebView" in each.class_name for each in observation.elements):
        return False
    return not any(_OPEN_END.search(label) for label in _labels(observation))


def _is_opened(
    asked: PlainTask, records: Sequence[_ScreenRecord], past: Sequence[PastData], observation: Observation, app: str
) -> bool:
    if plain(asked.app) != plain(app) or records[0].package == observation.package:
        return False
    changes = [
        fact for step in past if _is_done(step) for fact in effects_of(step["effects"]) if isinstance(fact, AppChanged)
    ]
    return bool(changes) and changes[-1].app == observation.package


def _is_switched(
    asked: PlainTask,
    records: Sequence[_ScreenRecord],
    past: Sequence[PastData],
    observation: Observation,
    app: str,
) -> bool:
    """Whether the only switch of that name had the other state and was turned since by a step in this app."""
    named, name, on = plain(asked.app), plain(asked.thing), asked.kind == "on"
    own = named in _SETTINGS_NAMES
    if not (is_settings_page(observation.package, observation.activity) if own else named == plain(app)):
        return False
    if _switches(observation).get(name) is not on:
        return False
    others = [
        each.step for each in records if each.package == observation.package and each.switches.get(name) is (not on)
    ]
    return bool(others) and any(
        _is_done(step) and step["app"] == observation.package and step["number"] >= others[-1] for step in past
    )


def _is_sent(
    asked: PlainTask, records: Sequence[_ScreenRecord], past: Sequence[PastData], observation: Observation, app: str
) -> bool:
    """Whether the text is in the conversation with this person, followed by nothing but its receipt."""
    if (asked.app and plain(asked.app) != plain(app)) or plain(asked.person) not in map(plain, about_of(observation)):
        return False
    typed = _typed_at(asked.text, past, observation.package)
    if typed is None or not _is_new(asked.text, records, typed, observation):
        return False
    last, now = records[-2], Counter(map(plain, _labels(observation)))
    if last.labels is None or last.package != observation.package:
        return False
    come = now - last.labels
    come.subtract([plain(asked.text)])
    return all(_RECEIPT.fullmatch(label) for label, count in come.items() if count > 0)


def _is_noted(
    asked: PlainTask, records: Sequence[_ScreenRecord], past: Sequence[PastData], observation: Observation, app: str
) -> bool:
    """Whether title and text follow each other directly, outside fields, in the app that is named, or one for notes."""
    right = plain(asked.app) == plain(app) if asked.app else _FOR_NOTES.fullmatch(plain(app)) is not None
    if not right:
        return False
    texts = [text for text in (asked.text, asked.second) if text]
    for text in texts:
        typed = _typed_at(text, past, observation.package)
        if typed is None or not _is_new(text, records, typed, observation):
            return False
    labels = [plain(label) for label in _labels(observation)]
    at = labels.index(plain(texts[0]))
    return labels[at : at + len(texts)] == [plain(text) for text in texts]


def _is_chosen(
    asked: PlainTask, records: Sequence[_ScreenRecord], past: Sequence[PastData], observation: Observation, app: str
) -> bool:
    """Whether the cart counts one item more since its only button was tapped on the page of this item, which was opened
    by the last touch before.
    """
    touches = [each for each in records if each.touched and each.package == observation.package]
    if not asked.app or plain(asked.app) != plain(app) or len(touches) < 2:
        return False
    opened, tapped = touches[-2:]
    name, done = plain(asked.thing), {step["number"] for step in past if _is_done(step)}
    if tapped.labels is None or not tapped.labels[name] or name not in opened.touched:
        return False
    buttons = [label for label in tapped.labels.elements() if _TO_CART.fullmatch(label)]
    if len(buttons) != 1 or buttons[0] not in tapped.touched or not {opened.step, tapped.step} <= done:
        return False
    before, now = _in_cart(tapped.labels), _in_cart(map(plain, _labels(observation)))
    return before is not None and now == before + 1


def _in_cart(labels: Iterable[str]) -> int | None:
    """Return the number that the cart's own label says; None unless exactly one label says one."""
    found = [int(said[1] or said[2]) for label in labels if (said := _IN_CART.fullmatch(label))]
    return found[0] if len(found) == 1 else None


_PROOFS: Final[
    Mapping[Kind, Callable[[PlainTask, Sequence[_ScreenRecord], Sequence[PastData], Observation, str], bool]]
] = {
    "opened": _is_opened,
    "on": _is_switched,
    "off": _is_switched,
    "sent": _is_sent,
    "noted": _is_noted,
    "chosen": _is_chosen,
}


def _typed_at(text: str, past: Sequence[PastData], package: str) -> int | None:
    """Return the step of this app that typed exactly this and was followed by another step there."""
    steps = [
        step["number"]
        for step in past
        if step["app"] == package
        and _is_done(step)
        and any(isinstance(fact, TextNow) and fact.text == text for fact in effects_of(step["effects"]))
    ]
    if not steps or not any(_is_done(step) and step["app"] == package and step["number"] > steps[-1] for step in past):
        return None
    return steps[0]


def _is_new(text: str, records: Sequence[_ScreenRecord], typed: int, observation: Observation) -> bool:
    """Whether this text is shown once, outside fields, and was not there before it was typed."""
    elements = observation.elements or ()
    if any(each.editable and text in (each.text or "") for each in elements):
        return False
    before = [each for each in records if each.package == observation.package and each.step <= typed]
    if not before or any(each.labels is None or each.labels[plain(text)] for each in before):
        return False
    return [label for label in _labels(observation) if plain(label) == plain(text)] == [text]


def _is_done(step: PastData) -> bool:
    return bool(step["performed"]) and status_of(step) is StepStatus.DONE and step["failure"] is None


def _labels(observation: Observation) -> list[str]:
    """Return what is shown outside fields, in the phone's reading order."""
    return [
        " ".join(label.split())
        for each in observation.elements or ()
        if not each.editable
        for label in dict.fromkeys(filter(None, (each.text, each.description)))
    ]


def _switches(observation: Observation) -> dict[str, bool]:
    """Return each switch by the title of its row; those with the same title are left out."""
    found: dict[str, list[bool]] = {}
    for each in observation.elements or ():
        if each.checkable and (title := _title(each, observation)):
            found.setdefault(title, []).append(each.checked)
    return {title: states[0] for title, states in found.items() if len(states) == 1}


def _title(switch: Element, observation: Observation) -> str:
    spot = TouchTarget(observation.package, switch, observation.elements or (), size=observation.size)
    words = words_of_switch(switch, spot)
    return plain(words[0]) if words else ""
