"""The data model of a policy file, which contains the safety rules."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from pydantic import BaseModel, ConfigDict, model_validator

from devices.wording import table_of


class RuleName(StrEnum):
    """The rules of the shipped policy. Each is named by the consequence that needs an approval. An operator may add
    rules with other names.

    Each shipped rule has a reason and a verb in the wording, and words in every language's table.
    """

    PAY = "pay"
    SEND = "send"
    DELETE = "delete"
    INSTALL = "install"
    PERMISSION = "permission"
    ACCOUNT = "account"


RULE_NAMES: Final[frozenset[str]] = frozenset(RuleName)


class Part(BaseModel):
    """Base of the parts of a file of rules. Unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(Part):
    """A rule: which buttons need an approval.

    It covers buttons whose caption is or begins with one of `labels` or ends with one of `endings`, and buttons that
    agree to one of `statements`. Captions that end with one of `unless` or begin with one of `things` are exempt.
    `reason` is what people are shown.
    """

    reason: str
    labels: tuple[str, ...]
    endings: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()


class Refuse(Part):
    """Apps that are never touched, by package name; `*` matches anything."""

    packages: tuple[str, ...] = ()


class Confirm(Part):
    """Captions of buttons that say yes to the words above them (`labels`), and of those that never do (`harmless`)."""

    labels: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()


class Screens(Part):
    """Screens on which even a touch on a spot without words needs approval: those of these packages or with these
    labels.
    """

    packages: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class SecretFields(Part):
    """Fields that only a person may fill.

    They are recognised by words in their hint, description or id (`labels`). A word of `unless` before one of these
    gives it another meaning. The content of a field with a word of `one_time` is only valid once.
    """

    labels: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    one_time: tuple[str, ...] = ()


class Urls(Part):
    """Addresses, by what opening them starts. `agent.guards.egress` documents the form of an entry.

    Schemes in `shows` only display something, as http does; any other scheme needs approval.
    """

    shows: tuple[str, ...] = ()
    pay: tuple[str, ...] = ()
    send: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    sign_in: tuple[str, ...] = ()
    download: tuple[str, ...] = ()


class FileKind(Part):
    """The words in a task for one kind of file, and the filename endings of such files; without endings, any file
    matches.
    """

    words: tuple[str, ...]
    suffixes: tuple[str, ...] = ()


class Files(Part):
    """The words with which a task asks for a file, so that it may leave the phone without approval. If there are none,
    every file needs approval.

    A word next to a kind of file says which file is meant, unless it is one of `plain`. Words in `bounds` end such a
    description; those in `places` (where the file is) and `relations` begin a new one.
    """

    verbs: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    kinds: tuple[FileKind, ...] = ()


class App(Part):
    """What is known about one app: its buttons by resource id (`ids`) and by label (`labels`), each grouped under the
    rule that they trigger. `harmless` lists resource ids that no rule stops in this app.
    """

    name: str
    packages: tuple[str, ...]
    ids: dict[str, tuple[str, ...]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    harmless: tuple[str, ...] = ()

    def is_for(self, package: str) -> bool:
        """Whether this entry is about the app with this package."""
        return fits(package, self.packages)


class Rules(Part):
    """The content of a whole policy file."""

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
    """Load the rules that ship with the program. The result is cached."""
    return Rules.model_validate(table_of("agent.guards", "policy.toml"))


def fits(package: str, patterns: tuple[str, ...]) -> bool:
    """Whether a package matches one of these patterns, in which `*` matches anything."""
    return any(fnmatchcase(package, pattern) for pattern in patterns)
