"""The policy, which judges every action by rules in code over app, element and action. A model can make it stricter,
never looser.

Nothing that is typed or shown on the screen makes an action allowed: words only ever give a reason to ask or refuse.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent import actions as act
from agent.guards.amounts import has_amount
from agent.guards.controls import (
    is_nameless,
    is_reversible,
    is_sensitive,
    pastes_unknown,
    slides,
    tells_nothing,
    words_of_switch,
)
from agent.guards.dialogs import Agreement, agreed
from agent.guards.egress import address_reason, asked_for
from agent.guards.forms import answers, goes_on, switched, waits
from agent.guards.gate import ALLOWED, HARMLESS, LEAVES, NAMELESS, SLID, Gate, answering, of_rule
from agent.guards.keys import entered, focused_button, keys_of, presses_enter, stays, stays_on_button
from agent.guards.lexicon import lexicon_of
from agent.guards.overlay import laid_over, switched_off
from agent.guards.pickers import is_part_of_picker
from agent.guards.places import is_app_icon, is_listed, place_in_few, titled
from agent.guards.rules import App, RuleName, Rules, fits, shipped
from agent.guards.secrets import SecretWords
from agent.guards.slides import (
    is_confirming_slider,
    is_made_to_slide,
    on_slider,
    takes_call,
    words_around,
    words_by_end,
    words_in_row,
)
from agent.guards.structure import (
    answers_call,
    by_id,
    form_button,
    is_drawn,
    is_for_messages,
    is_navigation,
    is_price,
    is_swiped_away,
    is_wide,
    message_field,
    sends_by_place,
    takes_price,
)
from agent.guards.surfaces import consent, consent_reason
from agent.guards.touch_target import TouchTarget, Words, beside, covering, is_button, is_row, pressed, words_under
from agent.guards.words import id_words, mentions, says
from agent.wording import words
from devices.inputs import Key
from devices.phone import Element
from devices.wording import sentence_of

MAX_SECRET = 64
"""The maximum letters of a code or password; a longer text is none."""
APPS_KEPT = 64
"""How many packages' entries in the policy are cached."""
MAX_BUTTONS = 100
"""How many buttons of one screen are checked for a key press. With more of them, a person is asked."""
CUT_OFF = 5000
"""How many elements of one screen a phone reports at most. On such a screen, the element under the finger may be
missing.
"""
LEAVING = {Key.HOME, Key.BACK, Key.RECENTS, Key.WAKE, Key.VOLUME_UP, Key.VOLUME_DOWN, Key.NOTIFICATIONS}
SUBMITTED = (RuleName.SEND, RuleName.PAY)
"""The rules for which Enter in a field counts as pressing a button next to it."""
OPENED = {RuleName.PAY, RuleName.SEND, RuleName.INSTALL}
"""Rules whose words, in a list without an amount of money, only name the page to open ("Donate", "Send messages")."""
ANDROID = "android"
"""The package of the dialogs that Android itself shows over an app."""
_MOVES = (act.Swipe, act.Drag, act.Scroll)
_KEYS = (act.Type, act.EnterSecret, act.PressKey)
HARMLESS_ACTIONS = (act.Scroll, act.Wait, act.WaitFor, act.Note, act.SumUp, act.ListApps, act.OpenApp)
"""Actions that are harmless unless a rule covers them."""


class PolicyError(Exception):
    """The policy file is unusable; the message names the file and the fault."""


class Policy:
    """The rules of one policy file, and how they judge actions. The constructor takes the file's content and raises
    PolicyError.
    """

    def __init__(self, rules: dict[str, Any]) -> None:
        try:
            self._rules = Rules.model_validate(rules)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the file"
            raise PolicyError(f"{where}: {first['msg']}") from error
        self.lexicon = self._lexicon = lexicon_of(self._rules)
        self._secret_words = SecretWords(self._rules.secret.labels, self._rules.secret.unless)
        self._app = lru_cache(APPS_KEPT)(self._find_app)

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Load a policy file and lay it over the shipped policy. Raises PolicyError."""
        try:
            return cls(laid_over(tomllib.loads(path.read_text(encoding="utf-8"))))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, PolicyError) as error:
            raise PolicyError(words("policy.unusable", path=path, why=sentence_of(error))) from error

    @classmethod
    @cache
    def default(cls) -> Policy:
        """Return the policy that ships with the program."""
        return cls(shipped().model_dump())

    def rules(self) -> dict[str, Any]:
        """Return the rules as JSON data, from which the same policy can be built in another process."""
        return self._rules.model_dump(mode="json")

    def switched_off(self) -> tuple[str, ...]:
        """Return what the shipped rules stop and this policy does not, each entry in a form such as
        "approve.pay.labels: tip".
        """
        return switched_off(self._rules)

    def app_name(self, package: str) -> str:
        """Return the name that the policy file has for an app, followed by its package; just the package if it has
        none.
        """
        app = self._app(package)
        return f"{app.name} ({package})" if app is not None else package

    def closes(self, package: str) -> bool:
        """Whether the rules forbid touching this app and showing it to a model."""
        return fits(package, self._rules.refuse.packages)

    def gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge an action. `spot` is what it touches on the screen."""
        if self._is_closed(action, spot.package):
            return Gate("refuse", words("reason.closed", app=self.app_name(spot.package)))
        if isinstance(action, act.Tap) and action.sensitive:
            return Gate("approve", words("reason.sensitive", why=action.sensitive))
        if isinstance(action, act.OpenUrl):
            return self.address_gate(action.url)
        if isinstance(action, act.Type):
            field = spot.target or spot.focused_field
            if field is not None and self._is_secret(field, action.text):
                return Gate("secret", "goes into a field for a password or code")
        return self.press_gate(action, spot)

    def press_gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge the touch and the keys of an action, regardless of the text that it types.

        A touch is judged by what it reaches, not by the action's name: typing into a button presses it, and so does a
        finger that moves on it. Any action at a place on the screen counts as a touch unless it is known to be
        something else.
        """
        gate = ALLOWED
        if isinstance(action, _MOVES) and not stays(spot):
            gate = self._move(action, spot)
        elif not isinstance(action, _KEYS):
            gate = self._touch(spot) if spot.has_place else ALLOWED
        else:
            if spot.target is None or not spot.target.editable:
                if isinstance(action, act.Type) and action.target is not None:
                    gate = self._touch(spot)
                elif isinstance(action, act.EnterSecret) and spot.target is not None:
                    gate = self._gate_of_touched(spot)
            gate = self._keys(action, spot) if gate.verdict == "allow" else gate
        return HARMLESS if gate is ALLOWED and isinstance(action, HARMLESS_ACTIONS) else gate

    def file_gate(self, path: str, *, asked: str) -> Gate:
        """Judge whether the file at `path` may leave the phone for the chat. `asked` is the task as the person wrote
        it.
        """
        return ALLOWED if asked_for(path, asked, self._rules.files) else Gate("approve", LEAVES)

    def is_secret_field(self, field: Element) -> bool:
        """Whether a field is for a password or code, according to Android or to its hint, description or id."""
        named = any(map(self._secret_words.stand_in, _names(field)))
        return field.password or (named and not _has_word(field, self._rules.secret.unless))

    def is_one_time(self, field: Element) -> bool:
        """Whether the content of this field is only valid once, such as a confirmation code."""
        return not field.password and _has_word(field, self._rules.secret.one_time)

    def asks_for_secret(self, question: str) -> bool:
        """Whether a question asks for a password, PIN, code or recovery phrase, in any supported language."""
        return self._secret_words.stand_in(question)

    def _is_closed(self, action: act.Action, package: str) -> bool:
        if isinstance(action, act.OpenApp):
            return self.closes(action.name)
        if isinstance(action, act.PressKey):
            return self.closes(package) and action.key not in LEAVING
        return self.closes(package)

    def hold(self, rule: str, how: str, about: str = "", *, answers: bool = False) -> Gate:
        """Return the result of this rule: needs approval, or ALLOWED if the policy has no such rule.

        `how` says how the rule's words were recognised, and `about` quotes them. `answers` means that the button
        answers the question above it, which the reason then says.
        """
        known = self._rules.approve.get(rule)
        if known is None:
            return ALLOWED
        reason = of_rule(rule, known.reason)
        reason = answering(reason) if answers else reason
        return Gate("approve", reason, consequence=str(rule), object=about, how=how)

    def _touch(self, spot: TouchTarget) -> Gate:
        said = words_under(spot)
        if presses_enter(spot):
            line = replace(spot, target=None, point=None)
            gate = self._keys(act.PressKey(key=Key.ENTER), line)
            if gate.verdict != "allow":
                return gate
        gate = self._gate_of_touched(spot, said)
        ordered = any(each.button and self._lexicon.read(each.label).slide for each in said)
        if gate.verdict == "allow" and (ordered or is_made_to_slide(spot)):
            slid = self._slid(spot)
            gate = slid if slid is not ALLOWED else gate
        return self._blind(spot) if gate is ALLOWED and is_nameless(spot, said) else gate

    def _gate_of_touched(self, spot: TouchTarget, said: tuple[Words, ...] | None = None) -> Gate:
        """Judge a touched element by its words, id or place, by the consent it gives or by the text above it."""
        app, touched = self._app(spot.package), pressed(spot)
        if app is not None and touched is not None and touched.short_id in app.harmless:
            return HARMLESS
        said = words_under(spot) if said is None else said
        secrets = filter(self.is_secret_field, (e for e in spot.around if e.editable))
        if rule := entered(spot, secrets, self._lexicon):
            return self.hold(rule, "key pad")
        gate = self._captions(spot, said)
        if gate is not ALLOWED:
            return gate
        if pastes_unknown(spot, said):
            return Gate("approve", words("reason.clipboard"), how="egress")
        captions = [w.label for w in said if w.button]
        own = touched is not None and touched.package == ANDROID
        harmless = bool(captions) and all(
            self._lexicon.read(each).harmless or (own and waits(each)) for each in captions
        )
        harmless = harmless and not covering(spot)
        if not harmless and (kind := consent(spot)):
            about = next(iter(captions), "")
            return Gate("approve", consent_reason(kind), consequence=kind, object=about, how="surface")
        if harmless:
            return HARMLESS if touched is None else self._closes(touched, spot)
        if touched is not None and (gate := self._placed(touched, spot, captions)) is not ALLOWED:
            return gate
        if touched is None:
            return ALLOWED
        gate = self._agreed(agreed(spot, touched, captions, self._lexicon))
        if gate is not ALLOWED and is_part_of_picker(touched, spot.around):
            gate = ALLOWED
        opens_only = bool(captions) and all(self._lexicon.read(each).opens and not goes_on(each) for each in captions)
        clear = touched.editable or opens_only or is_reversible(touched, spot)
        return HARMLESS if gate is ALLOWED and clear and not covering(spot) else gate

    def _closes(self, touched: Element, spot: TouchTarget) -> Gate:
        """Judge an element whose words only close something. Words that merely describe a picture are not trusted."""
        if not is_drawn(touched) or is_navigation(touched, spot):
            return HARMLESS
        paid = any(e.label and has_amount(e.label) for e in spot.around)
        if is_wide(touched, spot) and (paid or is_sensitive(spot, self._rules.screens, self._lexicon)):
            return Gate("approve", NAMELESS, standing="unknown", how="nameless", sensitive=True)
        return ALLOWED

    def _agreed(self, found: Agreement | None) -> Gate:
        if found is None:
            return ALLOWED
        if found.rule:
            return self.hold(found.rule, found.how, found.object, answers=True)
        kind = self._rules.approve.get(RuleName.PERMISSION)
        reason = answering(of_rule(RuleName.PERMISSION, kind.reason)) if kind is not None else NAMELESS
        return Gate("approve", reason, standing="unknown", object=found.object, how=found.how, sensitive=True)

    def _placed(self, touched: Element, spot: TouchTarget, captions: list[str]) -> Gate:
        """Judge a control by its position and type, whatever its words."""
        if is_price(touched, spot):
            return self.hold(RuleName.PAY, "price", touched.label)
        if priced := takes_price(touched, captions, spot, self._lexicon):
            return self.hold(RuleName.PAY, "price", priced)
        if answers_call(captions, touched, spot, self._lexicon):
            return self.hold(RuleName.SEND, "call", captions[0])
        for label in words_of_switch(touched, spot):
            if rule := switched(label) or self._lexicon.read(label).states:
                return self.hold(rule, "switch", label)
        field = message_field(spot, self._lexicon)
        written = field is not None and field.text not in {"", field.hint}
        if field is not None and written and sends_by_place(touched, field, spot, self._lexicon):
            return self.hold(RuleName.SEND, "place", field.text)
        return ALLOWED

    def _captions(self, spot: TouchTarget, said: tuple[Words, ...]) -> Gate:
        """Judge a touched element by its own words and ids."""
        if is_app_icon(spot):
            said = tuple(replace(each, place="icon") for each in said)
        elif is_listed(spot):
            said = titled(spot, said)
        elif place := place_in_few(spot, self._lexicon):
            said = tuple(replace(each, place=place) for each in said)
        gate = self._first(said, spot.package, tuple(self._rules.approve))
        if gate is not ALLOWED:
            return gate
        for element in filter(None, {id(each): each for each in (spot.target, pressed(spot))}.values()):
            if rule := self._by_id(element, spot):
                return self.hold(rule, "id", element.label)
        return ALLOWED

    def _move(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge a moving finger. A drag begins with a long press and drops what it holds; a swipe presses a button if
        it never leaves it. Each of them, and a scroll too, slides the knob it begins on or swipes a row away.
        """
        if isinstance(action, act.Drag) or (isinstance(action, act.Swipe) and stays_on_button(spot)):
            gate = self._gate_of_touched(spot)
            if gate.verdict != "allow":
                return gate
        if isinstance(action, act.Drag) and spot.end is not None:
            onto = replace(spot, target=None, point=spot.end, end=None)
            by = tuple(Words(e, label, True) for e, label in words_by_end(spot) if not is_button(e))
            gate = self._captions(onto, words_under(onto) or by)
            if gate is not ALLOWED:
                return gate
        gate = self._slid(spot)
        if gate is ALLOWED and is_swiped_away(spot):
            return self.hold(RuleName.DELETE, "row swiped away")
        if gate is ALLOWED and tells_nothing(spot) and (isinstance(action, act.Drag) or slides(spot)):
            return self._blind(spot)
        return gate

    def _slid(self, spot: TouchTarget) -> Gate:
        """Judge a sliding control by the words in its row and around it."""
        row = words_in_row(spot)
        around = [(e, label) for e, label in words_around(spot) if not is_button(e) or self._lexicon.read(label).slide]
        labels = [label for _, label in (*row, *around)]
        readings = [self._lexicon.read(label) for label in (*labels, " ".join(label for _, label in around))]
        slides = any(read.slide for read in readings)
        if slides:
            meant = {rule for read in readings for rule in read.mentions}
            meant |= {RuleName.SEND for label in labels if answers(label)}
            rule = next((name for name in self._rules.approve if name in meant), "")
            if not rule and any(has_amount(e.label) for e in spot.around):
                rule = RuleName.PAY
            if rule:
                return self.hold(rule, "slide", next((each for each in labels if self._lexicon.read(each).slide), ""))
        if takes_call(spot):
            return self.hold(RuleName.SEND, "call")
        if is_confirming_slider(spot):
            return self.hold(RuleName.PAY, "slide", next(iter(labels), ""))
        said = [Words(element, label, True) for element, label in (*row, *around)]
        gate = self._first(said, spot.package, (RuleName.PAY,)) if on_slider(spot) else ALLOWED
        return SLID if gate is ALLOWED and slides and is_made_to_slide(spot) else gate

    def _keys(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge the keys of an action: Enter and space press the focused button."""
        keys, gate = keys_of(action), ALLOWED
        if not (keys.enter or keys.space):
            return gate
        if keys.moved:
            buttons = [e for e in spot.around if is_button(e) and not e.editable]
            said = [Words(e, label, True) for e in buttons for label in (e.text, e.description) if label]
            gate = self._first(said, spot.package, tuple(self._rules.approve))
            if gate is ALLOWED:
                gate = self._any(buttons, spot)
        elif spot.target is None and (pressed := focused_button(spot)) is not None:
            gate = self._gate_of_touched(replace(spot, target=pressed, point=None))
        if gate.verdict == "allow" and keys.enter and tells_nothing(spot):
            return self._blind(spot)
        return self._enter(spot) if gate.verdict == "allow" and keys.enter else gate

    def _any(self, buttons: list[Element], spot: TouchTarget) -> Gate:
        """Return the verdict of the first button that has one. If there are too many buttons to check, ask a person."""
        if len(buttons) > MAX_BUTTONS:
            return Gate("approve", NAMELESS, standing="unknown", how="keys", sensitive=True)
        gates = (self._gate_of_touched(replace(spot, target=button, point=None)) for button in buttons)
        return next((gate for gate in gates if gate.verdict != "allow"), ALLOWED)

    def _enter(self, spot: TouchTarget) -> Gate:
        field = spot.target or spot.focused_field
        writes = field is not None and message_field(spot, self._lexicon, field) is not None
        last = form_button(spot, field, self._lexicon) if field is not None else None
        for element in spot.around:
            near = field is None or element is field or element is last or beside(field, element)
            if not is_button(element) or element.editable:
                continue
            said = [Words(element, label, True) for label in (element.text, element.description) if label]
            gate = self._first(said, spot.package, SUBMITTED if near else SUBMITTED[1:])
            if gate is ALLOWED and near and (rule := self._by_id(element, spot)) in SUBMITTED:
                gate = self.hold(rule, "id", element.label)
            if gate is ALLOWED and writes and field is not None and sends_by_place(element, field, spot, self._lexicon):
                gate = self.hold(RuleName.SEND, "place", field.text)
            if gate is not ALLOWED:
                return gate
        if field is not None and is_for_messages(field, self._lexicon):
            return self.hold(RuleName.SEND, "enter", field.text)
        return ALLOWED

    def _first(self, said: tuple[Words, ...] | list[Words], package: str, rules: tuple[str, ...]) -> Gate:
        """Return the verdict of the first rule that one of these labels triggers."""
        app = self._app(package)
        own = app.labels if app is not None else {}
        found: dict[str, str] = {}
        for each in said:
            for rule in self._meant(each):
                found.setdefault(rule, each.label)
            for rule, labels in own.items():
                unless = self._rules.approve[rule].unless
                if any(says(each.label, word, button=each.button, unless=unless) for word in labels):
                    found.setdefault(rule, each.label)
        rule = next((name for name in rules if name in found), "")
        return self.hold(rule, "words", found[rule]) if rule else ALLOWED

    def _meant(self, each: Words) -> frozenset[str]:
        """Return the rules that a label triggers, depending on its place."""
        read = self._lexicon.read(each.label)
        meant: frozenset[str]
        match each.place:
            case "title":
                meant = read.row
            case "entry":
                meant = read.row - OPENED
            case "row":
                meant = read.row & {read.exact}
            case "pair":
                meant = read.verb - {RuleName.PAY, RuleName.INSTALL}
            case "lone":
                meant = read.verb - OPENED
            case "icon":
                meant = frozenset({read.exact} & {str(RuleName.DELETE)})
            case _ if each.row:
                meant = frozenset({read.own})
            case _:
                meant = frozenset({read.button if each.button else read.exact, read.exact})
        return meant - {""}

    def _by_id(self, element: Element, spot: TouchTarget) -> str:
        """Return the rule that an element triggers by its resource id; "" if there is none."""
        app = self._app(spot.package)
        for rule, ids in (app.ids if app is not None else {}).items():
            if element.short_id in ids:
                return rule
        if not element.resource_id or not is_button(element):
            return ""
        if element.label:
            known = self._lexicon.read(element.label)
            if known.harmless or known.confirm or known.opens or is_row(element, spot.around):
                return ""
        else:
            name = " ".join(id_words(element.resource_id))
            if rule := self._lexicon.read(name).exact:
                return rule
        rule = by_id(element)
        return rule if rule in self._rules.approve else ""

    def _blind(self, spot: TouchTarget) -> Gate:
        if not is_sensitive(spot, self._rules.screens, self._lexicon) and len(spot.around) < CUT_OFF:
            return ALLOWED
        return Gate("approve", NAMELESS, standing="unknown", how="nameless", sensitive=True)

    def address_gate(self, url: str) -> Gate:
        """Judge an address by its form alone, regardless of the information in it."""
        reason = address_reason(url, self._rules.urls)
        return Gate("approve", reason) if reason is not None else ALLOWED

    def _is_secret(self, field: Element, text: str) -> bool:
        if not text.strip():
            return False
        short = len(text.split()) == 1 and len(text) <= MAX_SECRET
        return self.is_secret_field(field) and (field.password or short)

    def _find_app(self, package: str) -> App | None:
        return next((app for app in self._rules.app if app.is_for(package)), None)


def _has_word(field: Element, labels: tuple[str, ...]) -> bool:
    """Whether the field's hint, description or id has one of these words."""
    return any(mentions(each, word) for each in _names(field) for word in labels)


def _names(field: Element) -> tuple[str, ...]:
    return field.hint, field.description, " ".join(id_words(field.resource_id))
