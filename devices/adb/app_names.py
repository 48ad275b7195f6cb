"""Decides which installed app a person means by a name."""

from __future__ import annotations

import difflib
import importlib.resources
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypedDict

from devices.errors import AmbiguousApp, UnknownApp
from devices.wording import words

CLOSE = 0.82
"""The similarity (difflib's ratio) accepted as a typing error: "Calender" and "Calendar" have 0.875."""

NEAR = 0.5
"""The similarity from which a name is suggested if none fits."""

MAX_MENTIONED = 5
# Parts of package names that say nothing about the app itself.
_EMPTY_WORDS = frozenset(
    {"com", "org", "net", "io", "cn", "app", "apps", "android", "google", "client", "mobile", "main", "launcher", "ui"}
)


@dataclass(frozen=True, slots=True)
class App:
    """An app with a launcher icon.

    - `activity`: The activity that the icon opens, "" if unknown.
    - `label`: The name below the icon, "" if the phone does not report it.
    - `also`: Other labels, such as the one in the app's default language.
    - `resource`: Id of the label's resource, 0 if unknown.
    """

    package: str
    activity: str = ""
    label: str = ""
    also: tuple[str, ...] = ()
    resource: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, without case, blanks and punctuation, for comparison."""
        return tuple(filter(None, (_folded(each) for each in (self.label, *self.also))))

    @property
    def shown(self) -> str:
        """The app's name in messages: label and package, or only the package."""
        return f"{self.label} ({self.package})" if self.label else self.package


def choose(name: str, apps: tuple[App, ...], aliases: Mapping[str, str]) -> App:
    """Return the one of these `apps` that a person means by `name`.

    Checked in this order: package name; the operator's `aliases` (name → package); label; common names in English and
    Chinese; words of the package name; part of a label or of the package name; a typing error. Raises UnknownApp (with
    similar names) or AmbiguousApp (with the candidates).
    """
    wanted = _folded(name)
    if not wanted:
        raise UnknownApp(words("phone.rejected.unnamed_app"))
    operator = {_folded(alias): package for alias, package in aliases.items()}
    for fits in (
        lambda app: app.package == name.strip(),
        lambda app: operator.get(wanted) == app.package,
        lambda app: wanted in app.labels,
        lambda app: wanted in _usual_names(app.package),
        lambda app: wanted in _words(app.package),
        lambda app: _is_part(wanted) and (_within(wanted, app.labels) or wanted in "".join(_words(app.package))),
        lambda app: _likeness(wanted, app) >= CLOSE,
    ):
        found = [app for app in apps if fits(app)]
        if len({app.package for app in found}) == 1:
            return found[0]
        if found:
            listed = ", ".join(app.shown for app in found[:MAX_MENTIONED])
            raise AmbiguousApp(words("phone.rejected.apps_fit", name=repr(name), listed=listed))
    ranked = sorted(apps, key=lambda app: _likeness(wanted, app), reverse=True)
    near = [app.shown for app in ranked[:MAX_MENTIONED] if _likeness(wanted, app) >= NEAR]
    if near:
        raise UnknownApp(words("phone.rejected.no_app_near", name=repr(name), near=", ".join(near)))
    raise UnknownApp(words("phone.rejected.no_app", name=repr(name)))


def _is_part(wanted: str) -> bool:
    """Return whether it is long enough to match part of a name: two Chinese characters are a word."""
    return len(wanted) > (2 if wanted.isascii() else 1)


def _within(wanted: str, labels: tuple[str, ...]) -> bool:
    return any(wanted in label for label in labels)


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _words(package: str) -> frozenset[str]:
    return frozenset(word for word in re.split(r"[._]", package.casefold()) if word and word not in _EMPTY_WORDS)


def _likeness(wanted: str, app: App) -> float:
    names = {*app.labels, *_words(app.package), *_usual_names(app.package)} - {""}
    return max((difflib.SequenceMatcher(None, wanted, each).ratio() for each in names), default=0.0)


class _Entry(TypedDict):
    names: list[str]
    packages: list[str]


@cache
def _entries() -> tuple[_Entry, ...]:
    text = (importlib.resources.files("devices.adb") / "app_names.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["app"])


@cache
def _table() -> dict[str, frozenset[str]]:
    names: dict[str, frozenset[str]] = {}
    for entry in _entries():
        for package in entry["packages"]:
            names[package] = names.get(package, frozenset()) | {_folded(name) for name in entry["names"]}
    return names


def usual_name(package: str) -> str:
    """Return the English name of a well-known app; "" for any other."""
    return _first_names().get(package, "")


@cache
def _first_names() -> dict[str, str]:
    return {package: entry["names"][0] for entry in reversed(_entries()) for package in entry["packages"]}


def _usual_names(package: str) -> frozenset[str]:
    return _table().get(package, frozenset())
