"""The apps of a phone: listing and naming them, and the commands that open them.

The name of the app in front is always available from memory; the phone is asked for it in the background.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Mapping

from devices.adb.app_names import App, Labels, choose, printable_label, usual_name
from devices.adb.shell import Result, Shell, command
from devices.errors import AmbiguousApp, InputRejected, PhoneError, UnknownApp
from devices.names import readable
from devices.phone import InstalledApp
from devices.wording import words

LIST_TIMEOUT = 10.0
CACHE_SECONDS = 600.0
"""Seconds for which the list is cached; an app missing from it causes a new read at once."""

_LIST = (
    "cmd package query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    " | grep -E 'Activity #|name=|packageName=|nonLocalizedLabel='"
)
_RESOURCE = re.compile(r"labelRes=0x([0-9a-f]{1,8})")
_LANGUAGE = "getprop persist.sys.locale; getprop ro.product.locale"
_LABEL = re.compile(r"nonLocalizedLabel=(.*?)(?: icon=0x\S+(?: banner=0x\S+)?)?\s*$", re.MULTILINE)
_NAME = re.compile(r"^\s*name=(\S+)", re.MULTILINE)
_PACKAGE = re.compile(r"^\s*packageName=(\S+)", re.MULTILINE)
# Intent.FLAG_ACTIVITY_NEW_TASK | FLAG_ACTIVITY_RESET_TASK_IF_NEEDED: what a launcher sends.
_LAUNCHER_FLAGS = "0x10200000"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HOST_AND_PORT = re.compile(r"[A-Za-z0-9.-]+:\d+(?:/|$)")
_OPENABLE = frozenset({"http", "https", "geo", "mailto", "tel", "sms", "smsto", "market"})
"""Schemes that only show something. `intent:`, `file:`, `content:` and `javascript:` can do more than that."""

logger = logging.getLogger(__name__)


class Apps:
    """The launcher apps of one phone. The list is cached until the phone's language changes, `CACHE_SECONDS` are over,
    or a name does not fit exactly one app on it.

    `aliases` are the operator's own names for apps (name → package).
    """

    def __init__(self, shell: Shell, aliases: Mapping[str, str]) -> None:
        self._shell = shell
        self._aliases = aliases
        self._labels = Labels(shell)
        self._known: tuple[App, ...] = ()
        self._language = ""
        self._read_at = float("-inf")
        self._labelled: dict[str, str] = {}

    async def find(self, name: str) -> App:
        """Return the app that a person means by this name. Labels are read from the apps' files if needed. Raises
        UnknownApp, AmbiguousApp, and other PhoneErrors if the phone does not answer.
        """
        language = await self._told_language()
        if language == self._language and time.monotonic() - self._read_at < CACHE_SECONDS:
            with contextlib.suppress(UnknownApp, AmbiguousApp):  # another app may have been installed since
                return choose(name, self._known, self._aliases)
        apps = await self._read()
        self._language, self._read_at = language, time.monotonic()
        try:
            self._known = apps
            return choose(name, apps, self._aliases)
        except (UnknownApp, AmbiguousApp):
            self._known = await self._labels.of(apps, language)
            return choose(name, self._known, self._aliases)

    async def all(self) -> tuple[InstalledApp, ...]:
        """Return every app on the launcher, sorted by its label in the phone's language, or by a name made from its
        package if the label cannot be read.
        """
        language = await self._told_language()
        self._known = await self._labels.of(await self._read(), language)
        self._language, self._read_at = language, time.monotonic()
        listed = (InstalledApp(app.package, printable_label(app.label) or readable(app.package)) for app in self._known)
        return tuple(sorted(listed, key=lambda app: app.label.casefold()))

    def forget(self) -> None:
        """Drop the cached list, because an app on it could not be opened."""
        self._read_at = float("-inf")

    def label(self, package: str) -> str:
        """Return the last known label of this app, from memory; "" if there is none."""
        return self._labelled.get(package, "")

    async def learn(self, package: str) -> None:
        """Ask the phone for the label of one app, for `label`. Raises PhoneError."""
        language = await self._told_language()
        if language != self._language or time.monotonic() - self._read_at >= CACHE_SECONDS:
            apps = await self._read()
            self._known, self._language, self._read_at = apps, language, time.monotonic()
        found = [app for app in self._known if app.package == package and not app.label]
        found = [*await self._labels.of(found, language)] if found else []
        label = next((app.label for app in (*found, *self._known) if app.package == package and app.label), "")
        self._labelled[package] = printable_label(label)

    async def version(self, package: str) -> str:
        """Return the version code of an app; "" if the phone does not report it. Raises PhoneError."""
        line = command("pm", "list", "packages", "--user", 0, "--show-versioncode", package)
        listed = await self._shell.run(line, doing=words("phone.doing.app_files"))
        told = re.search(rf"^package:{re.escape(package)} versionCode:(\d+)\s*$", listed.out, re.MULTILINE)
        return told.group(1) if told else ""

    async def _told_language(self) -> str:
        told = (await self._shell.run(_LANGUAGE, doing=words("phone.doing.language"))).out.split()
        return told[0] if told else ""

    async def _read(self) -> tuple[App, ...]:
        listed = await self._shell.run(_LIST, timeout=LIST_TIMEOUT, doing=words("phone.doing.apps"))
        if apps := parse_activities(listed.out):
            return apps
        # Android before 7 has no query-activities: list every package, without labels.
        packages = await self._shell.run(
            "pm list packages --user 0", timeout=LIST_TIMEOUT, doing=words("phone.doing.apps")
        )
        found = (line.strip().partition("package:") for line in packages.out.splitlines())
        return tuple(App(package) for before, _, package in found if package and not before)


def parse_activities(output: str) -> tuple[App, ...]:
    """Parse the output of `cmd package query-activities` into apps (AOSP `ResolveInfo.dump`,
    `PackageItemInfo.dumpFront`).

    It contains a label only if the app defines it as text instead of a resource; the activity's label comes first.
    """
    apps: dict[str, App] = {}
    for block in re.split(r"^\s*Activity #\d+:?\s*$", output, flags=re.MULTILINE)[1:]:
        package, name = _PACKAGE.search(block), _NAME.search(block)
        if package is None:
            continue
        labels = [text for text in _LABEL.findall(block) if text and text != "null"]
        named = (int(number, 16) for number in _RESOURCE.findall(block))
        app = App(
            package.group(1),
            name.group(1) if name else "",
            labels[0] if labels else "",
            resource=next((number for number in named if number), 0),
        )
        apps.setdefault(app.package, app)
    return tuple(apps.values())


def launch_command(app: App) -> str:
    """Return the command line that opens an app in the same way as its icon."""
    if not app.activity:
        return command("monkey", "-p", app.package, "-c", "android.intent.category.LAUNCHER", 1)
    intent = ("-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER", "-f", _LAUNCHER_FLAGS)
    return command("am", "start", *intent, "-n", f"{app.package}/{app.activity}")


def view_command(url: str) -> str:
    """Return the command line that opens a URL, as https if it has no scheme.

    Raises InputRejected for schemes other than those in `_OPENABLE`, and for blanks and unprintable characters inside.
    """
    address = url.strip()
    scheme = _SCHEME.match(address)
    if scheme is None or (scheme.group(1).lower() not in _OPENABLE and _HOST_AND_PORT.match(address)):
        address = f"https://{address}"
    elif scheme.group(1).lower() not in _OPENABLE:
        raise InputRejected(words("phone.rejected.scheme", scheme=scheme.group(1)))
    if not address.isprintable() or " " in address:
        raise InputRejected(words("phone.rejected.address_signs"))
    return command("am", "start", "-a", "android.intent.action.VIEW", "-d", address)


def refusal(result: Result) -> str:
    """Return the reason in the output of `am` or `monkey` why nothing was started; "" if something was, or was in front
    already.

    Older Android versions report failures but exit with 0.
    """
    said = [line.strip() for line in result.text.splitlines()]
    # "Error type 3" and "Exception occurred while executing" come first, and say less. Of the warnings that it was not
    # started, those without a "because" mean that the app is in front already (AOSP ActivityManagerShellCommand).
    for begin in (("Error:", "java.", "android."), ("Warning: Activity not started because",), ("Exception", "Error")):
        for line in said:
            if line.startswith(begin) or "monkey aborted" in line:
                return line
    return f"exit code {result.code}" if result.code else ""


class AppTitles:
    """Names of apps for people, known from memory. The phone is asked in the background and only during a run (between
    `begin` and `end`).
    """

    def __init__(self, apps: Apps) -> None:
        self._apps = apps
        self._open = False
        self._asked: set[str] = set()
        self._versions: dict[str, str] = {}
        self._learning: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start a run: from now on the phone is asked once about each app, because its language and the apps' versions
        may have changed.
        """
        self._open = True
        self._asked.clear()
        self._versions.clear()

    async def end(self) -> None:
        """End the run, or release the phone: the phone is not asked any more."""
        self._open = False
        learning, self._learning = self._learning, None
        if learning is not None:
            learning.cancel()
            await asyncio.wait({learning})

    def of(self, package: str) -> str:
        """Return an app's last known label, otherwise its common name or one made from its package; "" for no app."""
        return self._apps.label(package) or usual_name(package) or readable(package)

    def version_of(self, package: str) -> str:
        """Return the version code of an app as learned in this run; "" if unknown."""
        return self._versions.get(package, "")

    def note_front(self, package: str) -> None:
        """Note that an app came to the front: during a run, ask the phone for its label and version in the background.

        Only one app is asked about at a time; another one is skipped until it is met again.
        """
        busy = self._learning is not None and not self._learning.done()
        if not self._open or busy or not package or package in self._asked:
            return
        self._asked.add(package)
        self._learning = asyncio.create_task(self._learn(package), name=f"label of {package}")

    async def _learn(self, package: str) -> None:
        try:
            self._versions[package] = await self._apps.version(package)
            await self._apps.learn(package)
        except PhoneError as lost:
            logger.debug("the label of %s was not told: %s", package, lost)
            self._asked.discard(package)
