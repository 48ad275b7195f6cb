"""Combines an operator's policy file with the shipped rules, and lists which of these it switches off."""

from __future__ import annotations

from typing import Any

from agent.guards.egress import EFFECTS
from agent.guards.rules import Rules, shipped


def laid_over(own: dict[str, Any]) -> dict[str, Any]:
    """Return the shipped rules with an operator's file laid over them, as plain data.

    Each list in the file replaces the shipped one; everything else stays as shipped. Apps are replaced by name, and the
    kinds of files as one list.
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
    """Return what the shipped rules stop and these rules do not, each entry in a form such as "approve.pay.labels:
    tip".
    """
    base, off = shipped(), []
    for name, rule in base.approve.items():
        own = rules.approve.get(name)
        if own is None:
            off.append(f"approve.{name}")
            continue
        for part in ("labels", "endings", "statements"):
            off += _missing(f"approve.{name}.{part}", getattr(rule, part), getattr(own, part))
        off += _missing(f"approve.{name}.unless: +", own.unless, rule.unless)
        off += _missing(f"approve.{name}.things: +", own.things, rule.things)
    off += _missing("confirm.labels", base.confirm.labels, rules.confirm.labels)
    off += _missing("confirm.harmless: +", rules.confirm.harmless, base.confirm.harmless)
    off += _missing("screens.packages", base.screens.packages, rules.screens.packages)
    off += _missing("screens.labels", base.screens.labels, rules.screens.labels)
    off += _missing("secret.labels", base.secret.labels, rules.secret.labels)
    off += _missing("secret.unless: +", rules.secret.unless, base.secret.unless)
    for effect in EFFECTS:
        off += _missing(f"urls.{effect}", getattr(base.urls, effect), getattr(rules.urls, effect))
    off += _missing("urls.shows: +", rules.urls.shows, base.urls.shows)
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
    """Return those of `words` that are not `present`."""
    have = set(present)
    return [f"{where}: {word}" if not where.endswith("+") else f"{where}{word}" for word in words if word not in have]
