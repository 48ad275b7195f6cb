"""The strategies for typing a text or having a secret entered: into the named field, the focused one, or the
only one.
"""

from __future__ import annotations

from agent.actions import EnterSecret as EnterSecretAction
from agent.actions import Type
from agent.effect_facts import TextNow
from agent.guards.masking import BULLET
from agent.offline.clauses import EnterSecret, Press, Tap, TypeText
from agent.offline.matching import GOOD, contains, gist, likeness
from agent.offline.strategies.tapping import look_further
from agent.offline.view import Act, Done, Move, Page, Stuck, View, on
from agent.offline.vocabulary import labels
from agent.scene import ScreenElement
from devices.inputs import Key, contains_typed

_BULLETS = frozenset("•●*")


def type_next(clause: TypeText, view: View) -> Move:
    """Return the next move of a type clause: types once. The clause is done when a field shows the text."""
    if view.worked("type"):
        return Done() if typed(view, clause.text, "type") else view.stuck("not_typed", name=clause.text)
    if view.staged("type"):
        return view.stuck("not_typed", name=clause.text)
    field = field_named(view.page, clause.field) if clause.field else ready_field(view.page)
    if field is None:
        return _no_field(view, clause.field)
    return fill(view, field, clause.text, "type")


def secret_next(clause: EnterSecret, view: View) -> Move:
    """Return the next move of an enter-secret clause: has the person enter the secret. It is submitted with Enter,
    unless the next clause does that.
    """
    steps = view.staged("secret")
    if any(step.worked for step in steps):
        refused = view.page.says(*labels().signs["wrong"]) and secret_field(view.page) is not None
        return view.stuck("secret_refused", name=clause.what) if refused else Done()
    if len(steps) > 1:
        return view.stuck("no_secret_field", name=clause.what)
    field = secret_field(view.page) or ready_field(view.page)
    if field is None:
        return look_further(view, clause.what) or view.stuck("no_secret_field", name=clause.what)
    pressed = isinstance(view.after, Tap) or view.after == Press(Key.ENTER)
    return ask_secret(view, field, clause.what, submit=not pressed)


def ask_secret(view: View, field: ScreenElement, what: str, *, submit: bool) -> Act:
    """Return the action that asks the person for a secret and types it into this field. `what` names the secret."""
    question = view.words("question_secret", name=what, app=view.page.app_title)
    action = EnterSecretAction(question=question, target=on(field), submit=submit)
    return view.act(action, "secret", "secret", name=what)


def fill(view: View, field: ScreenElement, text: str, stage: str, *, clear: bool = False, submit: bool = False) -> Act:
    """Return the action that types a text into this field, which is not touched if it has the focus.

    `stage` is the purpose by which the step is recognised later.
    """
    target = None if "focused" in field.states else on(field)
    return view.act(Type(text=text, target=target, clear=clear, submit=submit), stage, "typing", name=text)


def typed(view: View, text: str, stage: str) -> bool:
    """Whether a field has the text now, or the phone read it back from the field after the step with this purpose
    (`stage`). A field that hides its content counts as well.
    """
    facts = [fact for step in view.staged(stage) for fact in step.effects if isinstance(fact, TextNow)]
    read_back = any(BULLET in fact.text or contains_typed(fact.text, text) for fact in facts)
    return read_back or any(gist(text) in gist(each.text) for each in view.page.fields)


def field_named(page: Page, name: str) -> ScreenElement | None:
    """Return the field that a person means by this name: by its hint, its kind, or the label above it. None if there is
    none.
    """
    exact = [each for each in page.fields if likeness(name, each.text) >= GOOD]
    if exact:
        return exact[0]
    kinds = [kind for kind, words in labels().fields.items() if any(likeness(name, word) >= GOOD for word in words)]
    for kind in kinds:
        if (field := field_of(page, kind)) is not None:
            return field
    label = page.find(name, such=lambda each: each.role == "text")
    if not isinstance(label, ScreenElement):
        return None
    near = [each for each in page.fields if 0 <= each.bounds.top - label.bounds.top <= 3 * label.bounds.height]
    return near[0] if near else None


def field_of(page: Page, kind: str) -> ScreenElement | None:
    """Return the first field of a kind such as "search" (see [fields] in labels.toml), or None. A short word must be
    the field's whole text.
    """
    for word in labels().fields[kind]:
        for each in page.fields:
            if likeness(word, each.text) >= GOOD or (len(word) > len("to") and contains(each.text, word)):
                return each
    return None


def secret_field(page: Page) -> ScreenElement | None:
    """Return the field for a code or password, even if one is already in it, or None."""
    hidden = next((each for each in page.fields if "password" in each.states), None)
    covered = next((each for each in page.fields if each.text and set(each.text) <= _BULLETS), None)
    return hidden or covered or field_of(page, "code") or field_of(page, "password")


def ready_field(page: Page) -> ScreenElement | None:
    """Return the focused field, otherwise the only one. None if there are several or none."""
    focused = next((each for each in page.fields if "focused" in each.states), None)
    return focused or (page.fields[0] if len(page.fields) == 1 else None)


def _no_field(view: View, name: str) -> Act | Stuck:
    if not name and len(view.page.fields) > 1:
        return view.stuck("which_field")
    further = look_further(view, name) if name else None
    return further or (view.stuck("no_such_field", name=name) if name else view.stuck("no_field"))
