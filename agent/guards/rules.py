"""The form of a policy file."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """What waits for an approval: buttons that are or begin with `labels`, or end with `endings`, and those that agree
    to one of `statements`.
    """

    reason: str
    labels: tuple[str, ...]
    endings: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
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
    """Addresses that do more than show a page."""

    schemes: tuple[str, ...] = ()


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


def laid_over(own: dict[str, Any]) -> dict[str, Any]:
    """The shipped rules with an operator's file laid over them.

    What the file has stands: of a rule or a part, each list that it names. What it leaves out stays as it is shipped;
    apps are told apart by their names, and kinds of files are one list.
    """
    base = shipped().model_dump()
    laid: dict[str, Any] = {**base, **{name: part for name, part in own.items() if name not in base}}
    for name in ("refuse", "confirm", "screens", "secret", "urls", "files"):
        laid[name] = _over(base[name], own.get(name, {}))
    rules = own.get("approve", {})
    if isinstance(rules, dict):
        known = {name: _over(rule, rules.get(name, {})) for name, rule in base["approve"].items()}
        laid["approve"] = {**known, **{name: rule for name, rule in rules.items() if name not in known}}
    else:
        laid["approve"] = rules
    apps = own.get("app", [])
    if isinstance(apps, list) and all(isinstance(app, dict) for app in apps):
        names = {app.get("name") for app in apps}
        laid["app"] = [*apps, *(app for app in base["app"] if app["name"] not in names)]
    else:
        laid["app"] = apps
    return laid


def _over(base: dict[str, object], own: object) -> object:
    return {**base, **own} if isinstance(own, dict) else own


def switched_off(rules: Rules) -> tuple[str, ...]:
    """What the shipped rules stop and these do not, each as "approve.pay.labels: tip"."""
    base, off = shipped(), []
    for name, rule in base.approve.items():
        own = rules.approve.get(name)
        if own is None:
            off.append(f"approve.{name}")
            continue
        for part in ("labels", "endings", "statements"):
            off += _missing(f"approve.{name}.{part}", getattr(rule, part), getattr(own, part))
        off += _missing(f"approve.{name}.unless: +", own.unless, rule.unless)
    off += _missing("confirm.labels", base.confirm.labels, rules.confirm.labels)
    off += _missing("confirm.harmless: +", rules.confirm.harmless, base.confirm.harmless)
    off += _missing("screens.packages", base.screens.packages, rules.screens.packages)
    off += _missing("screens.labels", base.screens.labels, rules.screens.labels)
    off += _missing("secret.labels", base.secret.labels, rules.secret.labels)
    off += _missing("secret.unless: +", rules.secret.unless, base.secret.unless)
    off += _missing("urls.schemes", base.urls.schemes, rules.urls.schemes)
    apps = {app.name: app for app in rules.app}
    for app in base.app:
        mine = apps.get(app.name)
        for kind in ("ids", "labels"):
            for rule_name, words in getattr(app, kind).items():
                have = getattr(mine, kind).get(rule_name, ()) if mine is not None else ()
                off += _missing(f"app {app.name}.{kind}.{rule_name}", words, have)
    shipped_apps = {app.name: app.harmless for app in base.app}
    for app in rules.app:
        off += _missing(f"app {app.name}.harmless: +", app.harmless, shipped_apps.get(app.name, ()))
    return tuple(off)


def _missing(where: str, words: tuple[str, ...], present: tuple[str, ...]) -> list[str]:
    """Those of `words` that are not `present`."""
    have = set(present)
    return [f"{where}: {word}" if not where.endswith("+") else f"{where}{word}" for word in words if word not in have]
