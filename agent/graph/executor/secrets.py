"""Codes and passwords: decides when a person is asked for one and which field it goes into, and types it without
showing it to a model.
"""

from __future__ import annotations

from agent.actions import Action, AskUser, EnterSecret, PressKey
from agent.effect_facts import Effect
from agent.graph.executor import questions
from agent.graph.executor.acting import give_up, send_input
from agent.graph.executor.anchors import anchor_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.gate import REFUSED, field_aim, spot_of
from agent.graph.executor.matters import headline
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import digest
from agent.observing import ScreenView
from agent.ports.journal import ActionKey
from agent.tools.spec import ActionError
from devices.inputs import Key, TypeText, as_typed, keys_in

NO_FIELD = "Refused and not asked: what you named is no field, and it {reason}. Name the field."
NO_FOCUS = "Refused and not asked: you named no field, and none has the focus. Name the field."
GONE = "The secret is gone: the service was restarted, or too much time has passed. Ask again if it is needed."
SEVERAL_LINES = (
    "What the person gave has a line end or a tab within it, which would press a key. Nothing was typed. Ask again, "
    "and say that it must be one line."
)
KEPT = (
    "The person has given it. A password or code is never told to you: it waits in memory. Call enter_secret with the "
    "field that it is for, and a person is asked whether it goes there. If you wanted to know something else, ask "
    "again with choices."
)
TYPED = (
    "The person has given it, and it was typed into the field {field}. A password or code is never told to you. If you "
    "wanted to know something else, ask again with choices."
)
ENTER_WAITS = (
    "It was typed, but Enter was not pressed, because that {reason}. Press the button for it: a person is asked then."
)


def asked_instead(state: ExecutorState, context: RunContext, view: ScreenView, action: AskUser) -> ExecutorState | None:
    """Return the update that asks a person for a secret, if the model's question asks for one; None if the model may be
    told the answer.

    The secret goes into the secret field on the screen, or is kept until there is one.
    """
    if action.choices or not context.policy.asks_for_secret(action.question):
        return None
    fields = [e for e in view.observation.elements or () if e.editable and context.policy.is_secret_field(e)]
    fields = [e for e in fields if e.focused] or fields
    if len(fields) != 1:
        return questions.asking(questions.secret_ahead(state, context, action.question))
    where = ResolvedTarget(fields[0], fields[0].bounds.clipped(view.observation.size).centre)
    return secret_question(state, context, view, where, action.question)


def asked_for_field(state: ExecutorState, context: RunContext, view: ScreenView, action: EnterSecret) -> ExecutorState:
    """Return the update that comes before a secret is typed: the question for it or, first, whether it may go into this
    field.

    The latter is asked if the field is not known to be for secrets, or if the secret was entered before its field was
    on the screen. Raises ActionError if there is no field, if it would press a button, or if the app must never be
    touched.
    """
    where = field_aim(action, view)
    gate = context.policy.gate(action.model_copy(update={"submit": False}), spot_of(view, where))
    if gate.verdict == "refuse":
        raise ActionError(REFUSED.format(reason=gate.reason), reason=gate.reason)
    if gate.verdict != "allow":
        raise ActionError(NO_FIELD.format(reason=gate.reason))
    if where.point is None and view.observation.elements is not None:
        raise ActionError(NO_FOCUS)
    known = where.element is not None and context.policy.is_secret_field(where.element)
    if known and state["safety"]["held_secret"] is None:
        return secret_question(state, context, view, where, action.question)
    question = questions.may_get_secret(state, context, where.element, view, action.question, known=known)
    told = {"about": secret_matter(view), "what": headline(question.text, "")}
    return questions.asking(question, {**anchor_of(where, view), **told})


def secret_matter(view: ScreenView) -> str:
    """Return the key that identifies the typing of a secret in this app
    (`agent.graph.executor.matters.Matter.about`).
    """
    return digest(["secret", view.observation.package])


def secret_question(
    state: ExecutorState,
    context: RunContext,
    view: ScreenView,
    target: ResolvedTarget,
    words: str = "",
    *,
    allowed: bool = False,
) -> ExecutorState:
    """Return the update that asks a person for the content of this field. `words` are the model's own.

    With `allowed`, a person approved a field that is not known to be for secrets; it must then still be at the same
    place, in the same window with the same recipient.
    """
    question = questions.secret(state, context, target.element, view, words)
    return questions.asking(question, anchor_of(target, view, facts=allowed))


async def type_secret(
    context: RunContext,
    key: ActionKey,
    view: ScreenView,
    action: EnterSecret,
    target: ResolvedTarget,
    secret: str,
    looked: float,
) -> tuple[tuple[Effect, ...], str]:
    """Type the value of a secret, directly from memory. The journal and the history only record that it happened.

    The action's beginning is in the journal already, and `looked` is when the observation began that showed the field
    (seconds of the event loop's clock). Returns the effects, and why Enter was not pressed ("" if it was, or was not
    requested). Raises ActionError and what `send_input` raises.
    """
    value = context.secrets.take(secret)
    if value is None:
        await give_up(context, key, "the secret is gone")
        raise ActionError(GONE)
    value = as_typed(value).rstrip("\n")  # a newline added by pasting is not part of it
    if keys_in(value):
        await give_up(context, key, "the secret has several lines")
        raise ActionError(SEVERAL_LINES)
    package, field = view.observation.package, target.element
    context.mask.add(value, package, once=value.isdecimal() and field is not None and context.policy.is_one_time(field))
    if field is not None:
        context.mask.cover_field(package, field)
    # The person only entered it for the field; Enter may do more than that.
    waits = context.policy.gate(PressKey(key=Key.ENTER), spot_of(view, target)).reason if action.submit else ""
    physical = TypeText(value, at=target.point, clear=True, submit=action.submit and not waits, secret=True)
    effect = await send_input(context, key, physical, view, looked=looked)
    return effect, ENTER_WAITS.format(reason=waits) if waits else ""


def secret_action(action: Action, target: ResolvedTarget) -> EnterSecret:
    """Return the action that types a secret into its field, made from the model's action, which may also be a question
    or normal typing.
    """
    if isinstance(action, EnterSecret):
        return action
    if isinstance(action, AskUser):
        return EnterSecret(question=action.question)
    submit = bool(getattr(action, "submit", False))
    return EnterSecret(
        question=questions.field_name(target.element), target=getattr(action, "target", None), submit=submit
    )


def what_was_typed(
    context: RunContext, action: Action, target: ResolvedTarget, view: ScreenView
) -> tuple[str, list[str]]:
    """Return a sentence for people about a typed secret, and a list of notices for a model that had asked for it in
    words.
    """
    told = [TYPED.format(field=repr(questions.field_name(target.element)))] if isinstance(action, AskUser) else []
    return context.actions.describe(secret_action(action, target), view), told
