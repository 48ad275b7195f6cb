"""Does a recorded skill again: a model that answers from a recording, and asks the real one where it cannot.

The idea: at each step code looks whether the next recorded action fits this screen. It does: that action, without a
call. Not yet: it is waited for, or scrolled to. No: the real model does this step, told what the recording would do,
and the recording goes on as soon as it fits again.

What always holds: an action is only answered for an element that its anchor means and no other could be (see
agent.recorded_skills.anchors); what it answers is gated, asked about and journalled like the answer of any model; what
a person has written in this run counts more than the recording, so from then on the model decides.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from agent.effect_facts import NothingChanged, effects_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.foreign_words import is_foreign, names_by
from agent.graph.executor.state import ExecutorState, PastData, fate_of
from agent.guards.binding import words_of
from agent.models.base import PILOT, Delta, Model, ModelReply, ModelRequest, Purpose, ToolCall, Usage
from agent.observing import MAX_LINES, ScreenView
from agent.recorded_skills.anchors import (
    Found,
    Likeness,
    checked_now,
    find,
    folded,
    likeness,
    names_one,
    uncounted,
    words_at,
)
from agent.recorded_skills.skill_file import FIELDS, RecordedSkill
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction, filled
from agent.scene import Scene, StepFate
from agent.wording import sentence
from devices.phone import Element

RECORDED: Final = "recorded"
"""How a reply ends that no endpoint has written."""
PATIENCE: Final = 3.0
"""Times as long as it took in the recording, that the next screen is waited for."""
LEAST_WAIT_S, MOST_WAIT_S = 3.0, 30.0
MOST_SCROLLS: Final = 8
"""In one direction, before a model is asked where something is."""
MOST_BACKS: Final = 3
"""Pages that are gone back in an app that was just opened."""
TOLD_AHEAD: Final = 3
"""Recorded steps that a model is told of besides the one that it has to do."""
AHEAD: Final = 6
"""Recorded steps that are looked at after a model has acted: it may have done several at once."""
_HINT: Final = (
    "A recorded skill is followed here. Its step {number} of {all} could not be done by itself: {what}. Do on this "
    "screen what leads there, and no more: close what lies over it, wait, or find it under another name. The recording "
    "goes on by itself as soon as it fits. What you have done in this run counts: if that was this step, do not repeat "
    "it, but do what comes next. After it come: {rest}."
)
_SENT: Final = (
    " It was sent before, and it is not known whether it arrived: see first whether it has happened, and go on with "
    "what comes next if so. Never do it a second time where you cannot tell."
)
_NO_PICTURE: Final = " No screenshot is sent this time: the list names all that can be touched here."
_AT_END: Final = (
    "A recorded skill was followed to its end, but the last screen is not as it was then{marks}. See whether the task "
    "is done; finish then, or do what is missing."
)


Asked: TypeAlias = tuple[dict[str, str], Usage]
"""What recorded words are called now, by the folded recorded word, and what asking for them has used."""
_WAYS: Final = frozenset({"wait", "back", "reopen", "scroll"})
"""What is done while the next recorded step does not fit yet."""


class FollowingModel:
    """Implements Model around the acting one."""

    def __init__(
        self,
        model: Model,
        follower: Follower,
        names: Callable[[], Awaitable[Asked]] | None = None,
        *,
        bare_lists: bool = False,
    ) -> None:
        """`names` asks what the words of the recording are called on this phone; None where nobody can say.
        `bare_lists` tells that the model points by the numbers of a list, so that it may do without a picture.
        """
        self._model = model
        self._follower = follower
        self._names = names
        self._bare_lists = bare_lists

    @property
    def name(self) -> str:
        """The real model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """The recording's answer, else the real model's."""
        reply = self._follower.reply()
        if self._names is None or not self._follower.needs_names(reply):
            return reply or await self._by_model(request, on_delta)
        names, usage = await self._names()
        self._follower.learn(names)
        reply = self._follower.reply() or await self._by_model(request, on_delta)
        return replace(reply, usage=usage + reply.usage, memo={**reply.memo, "names": names})

    async def _by_model(self, request: ModelRequest, on_delta: Callable[[Delta], None] | None) -> ModelReply:
        if self._model.name == PILOT:
            return await self._by_pilot(request)
        return await self._model.complete(self._hinted(request), on_delta=on_delta)

    def _hinted(self, request: ModelRequest) -> ModelRequest:
        hint = self._follower.hint()
        messages = request.messages
        if self._bare_lists and self._follower.is_told_by_list:
            hint += _NO_PICTURE
            messages = tuple(
                replace(each, parts=tuple(part for part in each.parts if isinstance(part, str))) for each in messages
            )
        last = messages[-1]
        messages = (*messages[:-1], replace(last, parts=(hint, *last.parts)))
        scene = request.scene
        return replace(request, messages=messages, scene=scene and replace(scene, told=(*scene.told, hint)))

    async def _by_pilot(self, request: ModelRequest) -> ModelReply:
        """The pilot reads instructions and no hints: it is told the one step, and must not end the work as done."""
        assert request.scene is not None
        scene = self._follower.for_pilot(request.scene)
        reply = await self._model.complete(replace(request, scene=scene))
        ends = any(call.name == "finish" and '"success"' in call.arguments for call in reply.tool_calls)
        if not ends:
            return reply
        why = sentence("ended.not_fitting", step=self._follower.place, all=self._follower.all)
        return replace(reply, text=why, tool_calls=(_call("finish", {"status": "failure", "summary": why}),))


def following(model: Model, state: ExecutorState, context: RunContext, view: ScreenView) -> Model:
    """The acting model, behind the recording that the run follows, where there is one."""
    skill = context.live.recorded
    if skill is None or state.get("steers") or state.get("said"):
        return model
    follower = Follower(skill, context.live.arguments, state["past"], view)
    basic = context.models.for_purpose(Purpose.SUMMARIZE)
    if basic.name == PILOT:
        return FollowingModel(model, follower)

    async def names() -> Asked:
        return await names_by(
            basic, follower.words, follower.shown, conversation=f"{state['run']}-names", task=context.run.task
        )

    return FollowingModel(model, follower, names, bare_lists=context.dialect.name == "tools")


def is_proven(state: ExecutorState) -> bool:
    """Whether code has seen that the recording came to its end: the last screen is as it was then."""
    return state["reply"].get("memo", {}).get("proven") is True and state["reply"].get("finish_reason") == RECORDED


@dataclass
class _Way:
    """How far the recording was followed, by what the steps of the run have kept."""

    step: int = 0
    """The next recorded one."""
    tried: bool = False
    """Whether it was sent or refused before, and did not simply succeed."""
    unsure: bool = False
    """Whether nobody knows if that has arrived."""
    waits: int = 0
    backs: int = 0
    scrolls: list[PastData] = field(default_factory=list)
    model: list[RecordedAction] = field(default_factory=list)
    """What the model has done since the last recorded step."""
    asked: int = 0
    """Steps of the model since then."""


class Follower:
    """One recording at one step of a run."""

    def __init__(
        self, skill: RecordedSkill, arguments: Mapping[str, str], past: Sequence[PastData], view: ScreenView
    ) -> None:
        self._skill = skill
        self._values = dict(arguments)
        self._steps = skill.steps
        self._view = view
        self._seen = view.observation
        self._other_version = False
        self._names_asked = False
        self._renamed: dict[str, str] = {}
        """What recorded words are called now, by the folded word: what a model has touched in this run in their place,
        or has said when it was asked for the names of another language.
        """
        self._way = self._walked(past)
        self._open = self._way.step
        """The first step that nobody has done, as far as is known: what a model is told of."""

    @property
    def place(self) -> int:
        """The number of the recorded step that is next, from 1."""
        return min(self._open + 1, len(self._steps))

    @property
    def all(self) -> int:
        """How many steps the recording has."""
        return len(self._steps)

    def reply(self) -> ModelReply | None:
        """What the recording does on this screen; None where a model has to be asked."""
        way, seen = self._way, self._seen
        if self._other_version or seen.elements is None or not seen.complete:
            return None
        step = self._unset(way.step)
        if not way.tried:
            if step == len(self._steps):
                return self._end() or (None if way.waits else self._wait_for_end())
            # What the model has just done may leave the page as it was, as a thing put in a cart: once is enough.
            if not self._taken(self._steps[step], list(way.model)) and (found := self._fit(step)) is not None:
                return self._do(step, found)
        if (later := self._later(step)) is not None:
            return later
        if way.tried or way.asked or not self._followable(step):
            return None
        return self._scroll(step) or (self._back(step) if way.waits else self._wait(step))

    def needs_names(self, reply: ModelReply | None) -> bool:
        """Whether the recording does not fit here because the phone speaks another language, and nobody was asked yet
        what its words are called in it.
        """
        if self._names_asked or self._other_version or (reply is not None and reply.memo.get("how") not in _WAYS):
            return False
        package = self._steps[self._open].package if self._open < len(self._steps) else self._skill.end.package
        return package == self._seen.package and is_foreign(self.words, self.shown)

    def learn(self, names: Mapping[str, str]) -> None:
        """Take what recorded words are called now. What a model has touched in their place counts more."""
        self._names_asked = True
        self._renamed = {**names, **self._renamed}

    @property
    def words(self) -> list[str]:
        """The words that are looked for from here on, with the values of this run."""
        steps = (*self._steps[self._open :], self._skill.end)
        anchors = [each for step in steps for each in (step.anchor, *step.reads) if each is not None]
        said = [words for each in anchors for words in (each.words, each.beside)]
        said += [mark.words for step in steps for mark in step.landmarks]
        return list(dict.fromkeys(uncounted(filled(words, self._values)) for words in said if words))

    @property
    def shown(self) -> list[str]:
        """The words of this screen."""
        return list(dict.fromkeys(words for e in self._seen.elements or () if (words := words_of(e))))

    @property
    def is_told_by_list(self) -> bool:
        """Whether a model can do this step by the list of elements alone: all that can be touched has words, and it is
        the first try. A picture is half of what a call costs.
        """
        seen = self._seen
        if self._way.asked or seen.secure or not seen.complete or not seen.elements:
            return False
        able = [e for e in seen.elements if e.clickable or e.checkable or e.editable]
        said = [e for e in seen.elements if e.label]
        return len(self._view.targets) < MAX_LINES and all(
            e.label or any(e.bounds.holds(other.bounds.centre) for other in said) for e in able
        )

    def hint(self) -> str:
        """What a model is told that has to do this step."""
        if self._open >= len(self._steps):
            words = ", ".join(repr(filled(mark.words, self._values)) for mark in self._skill.end.landmarks[:4])
            return _AT_END.format(marks=f", which showed {words}" if words else "")
        following = self._steps[self._open + 1 : self._open + 1 + TOLD_AHEAD]
        rest = "; ".join(map(self._told, following)) or "nothing, then the task is done"
        hint = _HINT.format(number=self.place, all=self.all, what=self._told(self._steps[self._open]), rest=rest)
        return hint + _SENT * self._way.unsure

    def for_pilot(self, scene: Scene) -> Scene:
        """The scene for who reads literal instructions: the one step, and what was done of it."""
        step = self._steps[min(self._open, len(self._steps) - 1)]
        words = filled(step.anchor.words, self._values) if step.anchor is not None else ""
        match step.kind:
            case "type":
                goal = f'type "{self._text(step, "text")}"' + (f' into "{words}"' if words else "")
            case "open_app":
                goal = f"open {self._text(step, 'name')}"
            case _:
                goal = f'tap "{words}"'
        own = scene.past[len(scene.past) - self._way.asked :]
        return replace(scene, task=goal, goal=goal, past=own, steers=())

    def _walked(self, past: Sequence[PastData]) -> _Way:
        way = _Way()
        for each in past:
            memo = each.get("memo", {})
            if "names" in memo:
                self.learn(memo["names"])
            number = memo.get("followed")
            if number is None:
                way.waits, way.scrolls = 0, []
                way.asked += 1
                if fate_of(each) is StepFate.DONE and each.get("not_done") is None:
                    way.model += [RecordedAction.model_validate(data) for data in each.get("touched", [])]
                continue
            self._other_version |= memo.get("version") != self._skill.version
            match memo.get("how"):
                case "wait":
                    way.waits += 1
                case "back":
                    way.backs += 1
                case "reopen":
                    way.backs = MOST_BACKS
                case "scroll":
                    way.scrolls.append(each)
                case "end":  # it was not taken as proven
                    way = _Way(step=number, tried=True)
                case _:
                    free = list(way.model)
                    for step in self._steps[way.step : number]:
                        self._taken(step, free)
                    done = fate_of(each) is StepFate.DONE and each.get("not_done") is None
                    why = each.get("not_done")
                    unsure = fate_of(each) is StepFate.INTERRUPTED or (why is not None and why["uncertain"])
                    way = _Way(step=number + 1) if done else _Way(step=number, tried=True, unsure=unsure)
        return way

    def _unset(self, step: int) -> int:
        """The first step from here on that is not there already, as a switch that is set as the step would set it."""
        while step < len(self._steps) and self._is_set(self._steps[step]):
            step += 1
        return step

    def _is_set(self, step: RecordedAction) -> bool:
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self._fitting(step)
        if found is None:
            return False
        now = checked_now(found, self._seen)
        return now is not None and now is not step.anchor.checked

    def _is_unset(self, step: RecordedAction) -> bool:
        """Whether a switch is to be seen here that the step was to set, and is not set."""
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self._find(step.anchor)
        return found is not None and checked_now(found, self._seen) is step.anchor.checked

    def _followable(self, step: int) -> bool:
        action = self._steps[step]
        return (action.kind in FIELDS and action.action.keys() - {"kind"} != set()) or action.anchor is not None

    def _fit(self, number: int, *, strictly: bool = False) -> Found | bool | None:
        """What the step touches here, True for one that touches nothing and fits, None where it does not fit."""
        step = self._steps[number]
        if step.kind not in FIELDS or (step.touches and step.anchor is None and not step.reads):
            return None
        if step.kind in {"open_app", "open_url"}:
            return None if strictly else True
        if step.anchor is not None:
            return self._fitting(step)
        if step.kind == "type" or step.package != self._seen.package:
            return None
        if any(not words_at(place, self._seen, self._values) for place in step.reads):
            return None
        like = self._likeness(step.landmarks)
        return (
            True if like in {Likeness.SAME, Likeness.TRANSLATED} or (like is Likeness.UNTOLD and not strictly) else None
        )

    def _fitting(self, step: RecordedAction) -> Found | None:
        """The element that the step touches, on a screen that is the recorded one."""
        assert step.anchor is not None
        if step.package != self._seen.package:
            return None
        found = self._find(step.anchor)
        if found is None or not found.element.enabled:
            return None
        like = self._likeness(step.landmarks)
        if found.renamed:
            translated = like is Likeness.TRANSLATED and step.activity == self._seen.activity
            return found if like is Likeness.SAME or translated else None
        return found if like is not Likeness.OTHER or self._way.scrolls else None

    def _find(self, anchor: Anchor) -> Found | None:
        """The element that the anchor means, by its recorded words, else by what they are called now."""
        found = find(anchor, self._seen, self._values)
        if found is not None and not found.renamed:
            return found
        words, beside = self._name_of(anchor.words), self._name_of(anchor.beside)
        named = find(anchor.model_copy(update={"words": words, "beside": beside}), self._seen, self._values)
        return found if named is None or named.renamed else named

    def _name_of(self, words: str) -> str:
        """What recorded words are called now, with the values of this run."""
        now = filled(words, self._values)
        return self._renamed.get(folded(now)) or self._renamed.get(folded(uncounted(now)), now)

    def _later(self, step: int) -> ModelReply | None:
        """A later step that fits, where those before it are done or not needed here."""
        way = self._way
        free = list(way.model)
        for number in range(step, min(step + AHEAD, len(self._steps))):
            if not self._is_done(self._steps[number], free):
                return None
            following = self._open = number + 1
            if following == len(self._steps):
                return self._end(strictly=True)
            if (found := self._fit(following, strictly=True)) is not None:
                return self._do(following, found)
        return None

    def _is_done(self, step: RecordedAction, free: list[RecordedAction]) -> bool:
        """Whether the model has done the same, or it needs not be done; what it has done counts for one step."""
        if step.dialog and step.kind == "tap":
            return True
        if self._is_set(step):
            return True
        if step.kind == "type" and self._shows(self._text(step, "text")):
            return True
        return self._taken(step, free)

    def _taken(self, step: RecordedAction, free: list[RecordedAction]) -> bool:
        """Whether one of these actions of a model is this step; it is taken from them, and its name is kept."""
        same = next((each for each in free if self._is_alike(step, each)), None)
        if same is None:
            return False
        free[:] = free[free.index(same) + 1 :]
        if step.anchor is not None and same.anchor is not None and step.anchor.words and same.anchor.words:
            words = filled(step.anchor.words, self._values)
            if folded(words) != folded(same.anchor.words):
                self._renamed[folded(words)] = same.anchor.words
        return True

    def _likeness(self, marks: Sequence[Landmark]) -> Likeness:
        """How much this screen is like the one with these landmarks, by the names that they have now."""
        return likeness(marks, self._seen, self._values, self._renamed)

    def _is_alike(self, step: RecordedAction, done: RecordedAction) -> bool:
        """Whether what a model did is what the step does: of one kind, on the same screen, with the same text."""
        if step.kind != done.kind or done.dialog is not step.dialog:
            return False
        if step.kind == "type" and "text" in step.action:
            return folded(self._text(step, "text")) == folded(str(done.action.get("text", "")))
        if step.kind in {"open_app", "open_url"} or step.kind not in FIELDS:
            return True
        if step.package != done.package:
            return False
        if step.anchor is not None and done.anchor is not None:
            if names_one(step.anchor.id) and done.anchor.id == step.anchor.id:
                return True
            words = {folded(filled(step.anchor.words, self._values)), folded(self._name_of(step.anchor.words))}
            if folded(done.anchor.words) in words - {""}:
                return True
        ours = {folded(self._name_of(mark.words)) for mark in step.landmarks}
        theirs = {folded(mark.words) for mark in done.landmarks}
        if not ours & theirs and is_foreign(ours, theirs):
            return step.activity == done.activity and _is_same_kind(step, done)
        return not ours or not theirs or 2 * len(ours & theirs) >= min(len(ours), len(theirs))

    def _shows(self, text: str) -> bool:
        wanted = folded(text)
        return bool(wanted) and any(e.editable and folded(e.text) == wanted for e in self._seen.elements or ())

    def _do(self, number: int, found: Found | bool) -> ModelReply:
        step = self._steps[number]
        fields = {
            key: filled(value, self._values) if isinstance(value, str) else value for key, value in step.action.items()
        }
        fields.pop("kind")
        if step.reads:
            fields["text"] = "\n".join(words_at(place, self._seen, self._values) for place in step.reads)
        if isinstance(found, Found):
            if step.touches or not found.element.focused:  # else it was typed where the focus was, and is
                fields |= self._target(found.element)
            if step.kind == "type" and self._holds_other(found.element, step):
                fields["clear"] = True
        return self._answer(step.kind, number, "done", fields)

    def _holds_other(self, element: Element, step: RecordedAction) -> bool:
        """Whether the field has another text than it had: the recorded one must not be added to that."""
        assert step.anchor is not None
        return bool(element.text) and folded(element.text) not in {folded(element.hint), folded(step.anchor.words)}

    def _target(self, element: Element) -> dict[str, Any]:
        for number, target in enumerate(self._view.targets):
            if target is element:
                return {"element": number}
        place = element.bounds.clipped(self._seen.size).centre.mapped(self._seen.size, self._view.screen.space)
        return {"x": place.x, "y": place.y}

    def _end(self, *, strictly: bool = False) -> ModelReply | None:
        """The end, where the last screen is as it was; `proven` where it has words to tell."""
        end = self._skill.end
        if end.touches or end.package != self._seen.package:
            return None
        like = self._likeness(end.landmarks)
        if like is Likeness.OTHER or (strictly and like is Likeness.UNTOLD):
            return None
        data = [words_at(place, self._seen, self._values) for place in end.reads]
        if not all(data) or any(self._is_unset(step) for step in self._steps):
            return None
        summary = sentence("ended.followed", task=self._skill.asked(self._values))
        fields = {"status": "success", "summary": summary, **({"data": "\n".join(data)} if data else {})}
        return self._answer("finish", len(self._steps), "end", fields, proven=like is Likeness.SAME)

    def _wait_for_end(self) -> ModelReply:
        marks = [filled(mark.words, self._values) for mark in self._skill.end.landmarks]
        shown = {folded(e.label) for e in self._seen.elements or ()}
        missing = next((mark for mark in marks if folded(mark) not in shown), "")
        return self._waiting(len(self._steps), missing)

    def _wait(self, number: int) -> ModelReply:
        anchor = self._steps[number].anchor
        return self._waiting(number, "" if anchor is None else filled(anchor.words, self._values))

    def _waiting(self, number: int, text: str) -> ModelReply:
        took = self._steps[number - 1].seconds if number else 0.0
        seconds = min(MOST_WAIT_S, max(LEAST_WAIT_S, PATIENCE * took))
        there = any(folded(text) == folded(e.label) for e in self._seen.elements or ())
        what = {"what": "text", "text": text} if text and not there else {"what": "change"}
        return self._answer("wait_for", number, "wait", {"seconds": seconds, **what})

    def _back(self, number: int) -> ModelReply | None:
        """One page back, where an app was opened that shows the page on which it was left; where that led out of it,
        it is opened anew.
        """
        if not number or self._steps[number - 1].kind != "open_app" or self._way.backs >= MOST_BACKS:
            return None
        if self._steps[number].package == self._seen.package:
            return self._answer("key", number, "back", {"key": "back"})
        if not self._way.backs:
            return None
        opened = self._steps[number - 1].action
        return self._answer("open_app", number, "reopen", {"name": filled(str(opened["name"]), self._values)})

    def _scroll(self, number: int) -> ModelReply | None:
        """One page on, where the next anchor stood in a list: down to the end, then up to the beginning."""
        step, way = self._steps[number], self._way
        if step.anchor is None or not step.anchor.listed or step.package != self._seen.package:
            return None
        like = self._likeness(step.landmarks)
        if like is Likeness.OTHER and not way.scrolls:
            return None
        lists = [e for e in self._seen.elements or () if e.scrollable]
        if not lists:
            return None
        stops = [n for n, each in enumerate(way.scrolls) if _changed_nothing(each)]
        if len(stops) > 1 or len(way.scrolls) >= 2 * MOST_SCROLLS:
            return None
        down = not stops and len(way.scrolls) < MOST_SCROLLS
        largest = max(lists, key=lambda e: e.bounds.area)
        fields = {"direction": "down" if down else "up", **self._target(largest)}
        return self._answer("scroll", number, "scroll", fields)

    def _answer(
        self, kind: str, number: int, how: str, fields: Mapping[str, Any], *, proven: bool = False
    ) -> ModelReply:
        memo = {"followed": number, "how": how, "version": self._skill.version, "proven": proven}
        return ModelReply("", (_call(kind, fields),), model=RECORDED, finish_reason=RECORDED, memo=memo)

    def _text(self, step: RecordedAction, name: str) -> str:
        return filled(str(step.action.get(name, "")), self._values)

    def _told(self, step: RecordedAction) -> str:
        """A recorded step in words for a model."""
        parts = [step.kind.replace("_", " ")]
        parts += [repr(self._text(step, key)) for key in ("text", "name", "url", "reason", "key") if key in step.action]
        if (anchor := step.anchor) is not None:
            words, beside = (filled(each, self._values) for each in (anchor.words, anchor.beside))
            parts.append(f"on the {anchor.role} {words!r}" if words else f"on the {anchor.role}")
            parts += [f"beside {beside!r}"] if beside else []
            parts += [f"with the id {anchor.id}"] if anchor.id else []
            parts.append(f"which stood at {anchor.at[0]:.0%} across and {anchor.at[1]:.0%} down")
        parts.append(f"in {step.package}")
        return " ".join(parts)


def _is_same_kind(step: RecordedAction, done: RecordedAction) -> bool:
    """Whether both touched a control of one kind in the same sort of place: what is left to go by without words."""
    ours, theirs = step.anchor, done.anchor
    if ours is None or theirs is None:
        return False
    return (ours.role, ours.listed, ours.editable, ours.checked is None, step.chosen) == (
        theirs.role,
        theirs.listed,
        theirs.editable,
        theirs.checked is None,
        done.chosen,
    )


def _changed_nothing(past: PastData) -> bool:
    return any(isinstance(fact, NothingChanged) for fact in effects_of(past["effect"]))


def _call(kind: str, fields: Mapping[str, Any]) -> ToolCall:
    return ToolCall(RECORDED, kind, json.dumps(dict(fields), ensure_ascii=False))
