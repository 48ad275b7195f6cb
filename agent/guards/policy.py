"""The gate before the hands: rules in code over app, element and action. A model can add a gate, never remove one."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agent import actions as act
from devices.inputs import Key
from devices.phone import Element


class PolicyError(Exception):
    """The policy file cannot be used; the message names the file and the fault."""


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    reason: str
    labels: tuple[str, ...]


class _Refuse(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    packages: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    approve: dict[str, _Rule]
    refuse: _Refuse = _Refuse()


@dataclass(frozen=True, slots=True)
class Gate:
    """What stands before an action: nothing, a person's approval, or a refusal."""

    verdict: Literal["allow", "approve", "refuse"]
    reason: str = ""


ALLOWED = Gate("allow")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
SUBMITTED = ("send", "pay")
"""Rules that Enter can set off: other buttons beside a text field are not what Enter presses."""
_TOUCHES = (act.Tap, act.DoubleTap, act.LongPress)


class Policy:
    """The rules of one file."""

    def __init__(self, rules: dict[str, Any]) -> None:
        try:
            self._file = _File.model_validate(rules)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise PolicyError(f"{where}: {first['msg']}") from error

    @classmethod
    def load(cls, path: Path) -> Policy:
        """The policy in a file. Raises PolicyError."""
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, tomllib.TOMLDecodeError, PolicyError) as error:
            raise PolicyError(f"The policy file {path} cannot be used: {error}") from error

    @classmethod
    @cache
    def default(cls) -> Policy:
        """The policy that ships with the program."""
        text = resources.files("agent.guards").joinpath("policy.toml").read_text(encoding="utf-8")
        return cls(tomllib.loads(text))

    def gate(self, action: act.Action, *, package: str, target: Element | None, around: tuple[Element, ...]) -> Gate:
        """What stands before this action.

        `target` is the element that is touched or typed into; `around` is all that can be seen, because Enter in a
        text field presses the button beside it.
        """
        if package in self._file.refuse.packages and not isinstance(action, act.PressKey | act.OpenApp):
            return Gate("refuse", f"the app {package} is closed to the agent by the policy")
        if isinstance(action, act.Tap) and action.sensitive:
            return Gate("approve", f"the model calls it sensitive: {action.sensitive}")
        if isinstance(action, _TOUCHES) and target is not None:
            return self._approval((target,), tuple(self._file.approve))
        if _presses_enter(action):
            return self._approval(tuple(e for e in around if e.clickable), SUBMITTED)
        return ALLOWED

    def _approval(self, elements: tuple[Element, ...], rules: tuple[str, ...]) -> Gate:
        for name in rules:
            rule = self._file.approve.get(name)
            if rule is not None and any(_says(e, word) for e in elements for word in rule.labels):
                return Gate("approve", rule.reason)
        return ALLOWED


def _presses_enter(action: act.Action) -> bool:
    if isinstance(action, act.Type):
        return action.submit or action.text.endswith("\n")
    return isinstance(action, act.PressKey) and action.key is Key.ENTER


def _says(element: Element, word: str) -> bool:
    """Whether a label is this word, or begins with it as a button does ("Pay $12.90", "Send to Anna")."""
    for label in (element.text, element.description):
        plain = " ".join(label.casefold().split())
        if _CHINESE.search(word):
            if word in plain and len(plain) <= len(word) + 8:
                return True
        elif plain == word or (
            re.match(rf"{re.escape(word)}\b", plain) and len(plain.split()) <= len(word.split()) + 4
        ):
            return True
    return False
