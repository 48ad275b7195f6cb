"""Asks a person to approve an action, for exactly what the phone shows at that moment. An action that they denied is
not asked about again, and one that they approved in advance passes without a question.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from agent import actions as act
from agent.effect_facts import AllowedAhead
from agent.graph.executor import questions
from agent.graph.executor.action_spec import ResolvedInput
from agent.graph.executor.anchors import anchor_of, looks, nearest
from agent.graph.executor.context import RunContext
from agent.graph.executor.matters import about_of, headline
from agent.graph.executor.outgoing import typed_and_standing
from agent.graph.executor.state import ExecutorState, joined
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import ApprovalContext, approval_context, digest, picture_of, whole_screen, words_of
from agent.guards.facts import facts_of
from agent.guards.gate import Gate
from agent.guards.recipients import Message, message_of
from agent.guards.touch_target import LARGE_SHARE
from agent.observing import ScreenView
from agent.questions import ALLOW_FOR_TASK, Answer, Question, StandingYes
from agent.tools.spec import ActionError, ActionSpec
from devices.errors import PhoneError, PhoneUnavailable
from devices.geometry import Point
from devices.phone import Observation
from devices.wording import said

MAX_TRIES: Final = 3
"""How often a denied action may be tried: the first try is asked about, the second is reported, the third ends the
work.
"""
MAX_ASKINGS: Final = 2
"""How often a person is asked about a control whose screen changes after each approval; after that, the person does it.
"""
DENIED = (
    "A person has denied this before: {what}. They were not asked again, and it was not done. Do not try it once more, "
    "nor another way to the same; go on without it, or finish with failure."
)
GONE = "What you chose is not there any more, so nobody was asked, and it was not done. Look again."
UNSEEN = "The phone could not be looked at once more, so nobody was asked, and it was not done: {error}"
GRID = 80
"""Pixels within which touches of an unlabelled spot count as the same touch, tried again."""


class Denied(ActionError):
    """Raised if a person denied this action earlier in the run.

    `consequence` is the digest of what the action would do, `about` is the key that repeated tries share (see
    `agent.graph.executor.matters.about_of`), `what` describes the action, and `tries` counts the tries including this
    one.
    """

    def __init__(self, consequence: str, what: str, tries: int, about: str) -> None:
        super().__init__(DENIED.format(what=what))
        self.consequence = consequence
        self.about = about
        self.what = what
        self.tries = tries


async def approval_of(state: ExecutorState, context: RunContext, it: ResolvedInput, gate: Gate) -> ExecutorState:
    """Return the update that asks a person to approve this action: the question, and the target that the answer applies
    to. If the action was approved in advance, the update contains that approval instead of the question. If the screen
    changed after each of two approvals, the person is asked to do the action themselves.

    The phone is looked at again, and the person is shown that observation. Anything that has changed since the model's
    observation changes on its own and is not compared later. Raises Denied, ActionError, Stopped and PhoneUnavailable.
    """
    now, action, spec = await _look(context), it.action, it.spec
    before = it.sight.observation
    where = _found(it.where, before, now)
    covered = context.mask.covers_words(now)
    sight = ScreenView(now, replace(it.sight.screen, covered=covered), it.sight.targets)
    near = approval_context(now, where.element, where.point)
    what = spec.asks(action, sight, where.element)
    anchor = anchor_of(where, sight, before=before)
    control = anchor["control"] = _control(spec, action, where, sight)
    anchor["consequence"] = _consequence(spec.meant(action), near, where, sight, anchor)
    anchor["typed"] = context.mask.text(typed_and_standing(state, now))
    told = context.actions.describe(action, sight) if covered else what
    anchor["about"], anchor["what"] = about_of(gate, near, anchor["consequence"]), context.mask.text(said(told))
    _refuse_denied(state, anchor["consequence"], told, anchor["about"])
    askings = state["safety"]["changed_screens"].get(control, 0)
    anchor["frame"] = frame = await context.screen.store(now)
    if askings >= MAX_ASKINGS:
        return questions.asking(questions.instead(state, context, what, sight, near, frame), anchor)
    message = message_of(action, now, where.element, where.point, gate)
    if message is not None and (ahead := allowed_ahead(state, message)) is not None:
        return joined(ahead, {"question": {"binding": anchor}})
    element = where.element
    press = questions.PressToApprove(
        what=what,
        gate=gate,
        sight=sight,
        near=near,
        control=element,
        shown=spec.shown(action),
        typed=action.text if isinstance(action, act.Type) else None,
        blind="touches" in spec.traits and not (element and element.label),
        frame=frame,
        anew=askings > 0,
        before=state["safety"]["approved_frames"].get(control) if askings else None,
        message=message,
    )
    question = questions.approval(state, context, press)
    anchor["what"] = headline(question.text, context.mask.text(what))
    return questions.asking(question, anchor)


def tool_approval_of(
    state: ExecutorState, context: RunContext, spec: ActionSpec[Any], action: act.Action, gate: Gate
) -> ExecutorState:
    """Return the update that asks a person to approve a tool call, which its arguments identify. No screen is involved.
    Raises Denied.
    """
    what, consequence = spec.asks(action, context.screen.view), digest([action.kind, spec.meant(action)])
    _refuse_denied(state, consequence, what, consequence)
    question = questions.tool_approval(state, context, what, gate, spec.shown(action))
    told = context.mask.text(said(what))
    return questions.asking(question, {"consequence": consequence, "about": consequence, "what": told})


def counted(counts: dict[str, int], key: str | None, count: int | None = None) -> dict[str, int]:
    """Return a copy of the counts with this key increased by one, or set to `count` (0 removes the key). If `key` is
    None, the counts are returned unchanged.
    """
    if key is None:
        return counts
    now = counts.get(key, 0) + 1 if count is None else count
    rest = {each: number for each, number in counts.items() if each != key}
    return {**rest, key: now} if now else rest


def _refuse_denied(state: ExecutorState, consequence: str, what: str, about: str) -> None:
    tries = state["safety"]["denials"].get(consequence, 0)
    if tries:
        raise Denied(consequence, what, tries + 1, about)


async def _look(context: RunContext) -> Observation:
    try:
        return await context.screen.peek()
    except PhoneUnavailable:
        raise
    except PhoneError as error:
        raise ActionError(UNSEEN.format(error=error)) from error


def _found(target: ResolvedTarget, before: Observation, now: Observation) -> ResolvedTarget:
    """Find the same place on the new observation. Raises ActionError if the target is gone."""
    if (before.package, before.size) != (now.package, now.size):
        raise ActionError(GONE)
    if target.element is None:
        return target
    element = nearest(looks(target.element), target.element.bounds, now)
    if element is None:
        raise ActionError(GONE)
    old, new = target.element.bounds.centre, element.bounds.centre
    return ResolvedTarget(element, *(_moved(each, new.x - old.x, new.y - old.y) for each in (target.point, target.end)))


def _moved(point: Point | None, dx: int, dy: int) -> Point | None:
    return None if point is None else Point(point.x + dx, point.y + dy)


def _control(spec: ActionSpec[Any], action: act.Action, target: ResolvedTarget, view: ScreenView) -> str:
    """Identify the touched or pressed control, whatever is around it and however fingers touch it."""
    kind = "touch" if "touches" in spec.traits else action.kind
    place: list[Any] = looks(target.element) if target.element is not None else []
    if target.point is not None and _is_blind(target, view):
        place = [*place, target.point.x // GRID, target.point.y // GRID]
    return digest([view.observation.package, kind, getattr(action, "key", ""), place])


def _consequence(
    meant: dict[str, Any], context: ApprovalContext, target: ResolvedTarget, view: ScreenView, anchor: dict[str, Any]
) -> str:
    """Identify the consequence: the control and the words of its dialog or row or, on a page, the recipient, the text
    and the amounts. If there are no words, the picture counts.
    """
    seen = view.observation
    about: list[Any] = [context.title, anchor["own"]]
    if context.kind == "page":
        about += [[words_of(e) for e in context.window if e.editable], facts_of(seen).amounts]
    if _is_blind(target, view):
        about.append(picture_of(seen, whole_screen(seen)))
    return digest([anchor["control"], meant, about])


def _is_blind(target: ResolvedTarget, view: ScreenView) -> bool:
    """Whether only the picture shows what is there, because there is no element or one as large as a page."""
    element, size = target.element, view.observation.size
    if element is None:
        return target.point is not None
    return not words_of(element) and element.bounds.area > LARGE_SHARE * size.width * size.height


def standing_after(state: ExecutorState, asked: Question, answer: Answer) -> list[dict[str, Any]]:
    """Return the approvals given in advance, after this answer: a new one is added if the person approved for the whole
    task.
    """
    known = state["safety"]["standing"]
    if answer.text != ALLOW_FOR_TASK or asked.to is None:
        return known
    return [*known, StandingYes(to=asked.to.name, app=asked.to.app, by=answer.by).model_dump(mode="json")]


def allowed_ahead(state: ExecutorState, message: Message) -> ExecutorState | None:
    """Return the update with the approval given in advance that covers this message; None if there is none.

    A schedule's approval is used up before the message is sent, whatever happens then. So nothing is sent twice without
    a question, even after a crash.
    """
    known = [StandingYes.model_validate(each) for each in state["safety"]["standing"]]
    used = next((each for each in known if each.covers(message.to, message.text)), None)
    if used is None:
        return None
    left = [each for each in known if each is not used or not used.schedule]
    return {
        "question": {"pending": None, "standing_yes": used.model_dump(mode="json")},
        "safety": {"standing": [each.model_dump(mode="json") for each in left]},
    }


def standing_effect(standing_yes: dict[str, Any]) -> AllowedAhead:
    """Return the effect that records which approval given in advance lets the step pass. It is stored before the
    message is sent.
    """
    yes = StandingYes.model_validate(standing_yes)
    return AllowedAhead(to=yes.to, by=yes.by, schedule=yes.schedule)
