"""Combines two policies so that the stricter verdict counts."""

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
    """Return the stricter of two verdicts; the first if they are equally strict."""
    return max(one, other, key=_strength)


def _strength(gate: Gate) -> tuple[int, int, bool]:
    return _VERDICTS.index(gate.verdict), _STANDINGS.index(gate.standing), gate.sensitive


class StricterPolicy(Policy):
    """The policy `one`, which `other` can only make stricter. Wording comes from `one`."""

    def __init__(self, one: Policy, other: Policy) -> None:
        super().__init__(one.rules())
        self._one = one
        self._other = other

    def closes(self, package: str) -> bool:
        """See `Policy.closes`; true if either policy says so."""
        return self._one.closes(package) or self._other.closes(package)

    def gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """See `Policy.gate`; returns the stricter verdict."""
        return stricter(self._one.gate(action, spot), self._other.gate(action, spot))

    def press_gate(self, action: act.Action, spot: TouchTarget) -> Gate:
        """See `Policy.press_gate`; returns the stricter verdict."""
        return stricter(self._one.press_gate(action, spot), self._other.press_gate(action, spot))

    def file_gate(self, path: str, *, asked: str) -> Gate:
        """See `Policy.file_gate`; returns the stricter verdict."""
        return stricter(self._one.file_gate(path, asked=asked), self._other.file_gate(path, asked=asked))

    def address_gate(self, url: str) -> Gate:
        """See `Policy.address_gate`; returns the stricter verdict."""
        return stricter(self._one.address_gate(url), self._other.address_gate(url))

    def hold(self, rule: str, how: str, about: str = "", *, answers: bool = False) -> Gate:
        """See `Policy.hold`; returns the stricter verdict."""
        return stricter(
            self._one.hold(rule, how, about, answers=answers), self._other.hold(rule, how, about, answers=answers)
        )

    def is_secret_field(self, field: Element) -> bool:
        """See `Policy.is_secret_field`; true if either policy says so."""
        return self._one.is_secret_field(field) or self._other.is_secret_field(field)

    def is_one_time(self, field: Element) -> bool:
        """See `Policy.is_one_time`; true only if both policies say so."""
        return self._one.is_one_time(field) and self._other.is_one_time(field)

    def asks_for_secret(self, question: str) -> bool:
        """See `Policy.asks_for_secret`; true if either policy says so."""
        return self._one.asks_for_secret(question) or self._other.asks_for_secret(question)
