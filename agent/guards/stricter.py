"""Combines two policies into one that always uses the stricter result."""

from __future__ import annotations

from typing import Final

from agent import actions as act
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from devices.phone import Element

_VERDICTS: Final = ("allow", "approve", "secret", "refuse")
_STANDINGS: Final = ("harmless", "unknown", "held")


def stricter(one: Gate, other: Gate) -> Gate:
    """Return the stricter of two results; `one` if they are equally strict."""
    return max(one, other, key=_strength)


def _strength(gate: Gate) -> tuple[int, int, bool]:
    return _VERDICTS.index(gate.verdict), _STANDINGS.index(gate.standing), gate.sensitive


class StricterPolicy(Policy):
    """A policy that combines two: `other` can only make `one` stricter. If both are equally strict, the wording is that
    of `one`.
    """

    def __init__(self, one: Policy, other: Policy) -> None:
        super().__init__(one.rules())
        self._one = one
        self._other = other

    def closes(self, package: str) -> bool:
        """Whether either policy forbids touching this app and showing it to a model. Overrides `Policy.closes`."""
        return self._one.closes(package) or self._other.closes(package)

    def gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge an action by both policies and return the stricter result. Overrides `Policy.gate`."""
        return stricter(self._one.gate(action, spot), self._other.gate(action, spot))

    def press_gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """Judge the touch and keys of an action by both policies and return the stricter result. Overrides
        `Policy.press_gate`.
        """
        return stricter(self._one.press_gate(action, spot), self._other.press_gate(action, spot))

    def file_gate(self, path: str, *, asked: str) -> Gate:
        """Judge by both policies whether a file may leave the phone, and return the stricter result. Overrides
        `Policy.file_gate`.
        """
        return stricter(self._one.file_gate(path, asked=asked), self._other.file_gate(path, asked=asked))

    def address_gate(self, url: str) -> Gate:
        """Judge the form of an address by both policies and return the stricter result. Overrides
        `Policy.address_gate`.
        """
        return stricter(self._one.address_gate(url), self._other.address_gate(url))

    def hold(self, rule: str, how: str, about: str = "", *, answers: bool = False) -> Gate:
        """Return the stricter of the results that both policies have for this rule. Overrides `Policy.hold`."""
        return stricter(
            self._one.hold(rule, how, about, answers=answers), self._other.hold(rule, how, about, answers=answers)
        )

    def is_secret_field(self, field: Element) -> bool:
        """Whether the field is for a password or code according to either policy. Overrides
        `Policy.is_secret_field`.
        """
        return self._one.is_secret_field(field) or self._other.is_secret_field(field)

    def is_one_time(self, field: Element) -> bool:
        """Whether the field's content is only valid once, according to both policies. Overrides
        `Policy.is_one_time`.
        """
        return self._one.is_one_time(field) and self._other.is_one_time(field)

    def asks_for_secret(self, question: str) -> bool:
        """Whether the question asks for a secret according to either policy. Overrides `Policy.asks_for_secret`."""
        return self._one.asks_for_secret(question) or self._other.asks_for_secret(question)
