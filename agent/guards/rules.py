"""The form of a policy file."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Final

from pydantic import BaseModel, ConfigDict, model_validator


class RuleName(StrEnum):
    """The rules of the policy that ships, by the consequence that each holds; an operator may add others by any name.

    Each has a reason and a verb in the wording, and words in the table of every language.
    """

    PAY = "pay"
    SEND = "send"
    DELETE = "delete"
    INSTALL = "install"
    PERMISSION = "permission"
    ACCOUNT = "account"


RULE_NAMES: Final[frozenset[str]] = frozenset(RuleName)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """What waits for an approval: buttons that are or begin with `labels`, or end with `endings`, and those that agree
    to one of `statements`; none that end with one of `unless`, or begin with one of `things`.
    """

    reason: str
    labels: tuple[str, ...]
    endings: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()


class Refuse(_Part):
    """Apps that are never touched, by package name; `*` stands for anything."""

    packages: tuple[str, ...] = ()


class Confirm(_Part):
    """Buttons that mean what the words above them say, and those that do not whatever these say."""

    labels: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()


class Screens(_Part):
    """Screens where a touch on a place without a name waits too."""

    packages: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class SecretFields(_Part):
    """Fields that only a person fills, by the words of their hint, description or id.

    What goes into those of `one_time` is good once.
    """

    labels: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    one_time: tuple[str, ...] = ()


class Urls(_Part):
    """Addresses by what opening them starts; the form of an entry is in `agent.guards.egress`.

    Schemes of `shows` only show something, as http does; any other one waits.
    """

    shows: tuple[str, ...] = ()
    pay: tuple[str, ...] = ()
    send: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    sign_in: tuple[str, ...] = ()
    download: tuple[str, ...] = ()


class FileKind(_Part):
    """Words for a kind of file, and the endings of its names; without endings any file is one."""

    words: tuple[str, ...]
    suffixes: tuple[str, ...] = ()


class Files(_Part):
    """What words of a task let a file leave the phone without an approval. Without any, every file waits for one.

    A word that stands with a kind of file says which it is, unless it is one of `plain`; `bounds` end such words, and
    begin new ones after one of `places` (where the file is) or `relations`.
    """

    verbs: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    kinds: tuple[FileKind, ...] = ()


class App(_Part):
    """What is known of one app: buttons by resource id and by label, each under the rule that they set off.

    `harmless` are resource ids that no rule stops in this app.
    """

    name: str
    packages: tuple[str, ...]
    ids: dict[str, tuple[str, ...]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    harmless: tuple[str, ...] = ()

    def is_for(self, package: str) -> bool:
        """Whether this entry is about that package."""
        return fits(package, self.packages)


class Rules(_Part):
    """The whole file."""

    approve: dict[str, Rule]
    refuse: Refuse = Refuse()
    confirm: Confirm = Confirm()
    screens: Screens = Screens()
    secret: SecretFields = SecretFields()
    urls: Urls = Urls()
    files: Files = Files()
    app: tuple[App, ...] = ()

    @model_validator(mode="after")
    def _rules_are_there(self) -> Rules:
        for app in self.app:
            for rule in (*app.ids, *app.labels):
                if rule not in self.approve:
                    raise ValueError(f"the app {app.name} names the rule {rule!r}, but there is no [approve.{rule}]")
        return self


@cache
def shipped() -> Rules:
    """The rules that ship with the program."""
    text = resources.files("agent.guards").joinpath("policy.toml").read_text(encoding="utf-8")
    return Rules.model_validate(tomllib.loads(text))


def fits(package: str, patterns: tuple[str, ...]) -> bool:
    """Whether a package is one of these; `*` stands for anything."""
    return any(fnmatchcase(package, pattern) for pattern in patterns)
