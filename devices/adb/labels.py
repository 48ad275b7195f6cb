"""What apps are called on a phone, in its language, read from the apps' own files.

A shell does not tell labels that stand in an app's resources. But every app's file can be read by everybody, and the
phone's `unzip` takes one part out of it. That part has 0.1 to 10 MB, so it is only read when a name is not understood
otherwise, and remembered for as long as app, version and language stay.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from devices.adb.app_names import App
from devices.adb.quoting import command
from devices.adb.resources import Locale, NotATable, best, texts
from devices.adb.shell import Shell
from devices.adb.together import together
from devices.errors import PhoneTimeout
from devices.wording import words

logger = logging.getLogger(__name__)

TABLE_BYTES = 16 * 1024 * 1024
"""Of one app: the largest apps have tables of about 10 MB."""
ALL_BYTES = 256 * 1024 * 1024
ALL_SECONDS = 15.0
"""For all apps at once; whatever was not read by then is read when a name is not understood again."""
TABLE_SECONDS = 8.0
AT_ONCE = 4
"""Files read at a time: a phone has one flash memory."""
MAX_LABEL = 100
_LISTED = re.compile(r"^package:(?P<path>/.*)=(?P<package>[\w.]+)(?: versionCode:(?P<version>\d+))?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Installed:
    path: str
    version: str


class Labels:
    """The labels of one phone's apps."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._known: dict[tuple[str, str, str], tuple[str, ...]] = {}
        """Labels by package, version and language, the phone's own first; none when there are none."""
        self._spent = 0

    async def of(self, apps: Sequence[App], language: str) -> tuple[App, ...]:
        """The apps with their labels as far as they could be read in time. Raises PhoneGone, PhoneUnavailable."""
        installed = await self._installed()
        self._spent = 0
        turn = asyncio.Semaphore(AT_ONCE)

        async def read(app: App) -> None:
            async with turn:
                await self._read(app, installed[app.package], language)

        wanted = [app for app in apps if app.resource and app.package in installed]
        wanted = [app for app in wanted if self._key(app, installed, language) not in self._known]
        try:
            async with asyncio.timeout(ALL_SECONDS), together() as group:
                for app in wanted:
                    group.create_task(read(app))
        except TimeoutError:
            logger.info("not all labels of %s were read in %.0f s", self._shell.connection.serial, ALL_SECONDS)
        return tuple(self._labelled(app, self._known.get(self._key(app, installed, language), ())) for app in apps)

    @staticmethod
    def _key(app: App, installed: dict[str, _Installed], language: str) -> tuple[str, str, str]:
        found = installed.get(app.package)
        return app.package, found.version if found else "", language

    @staticmethod
    def _labelled(app: App, labels: tuple[str, ...]) -> App:
        if not labels or app.label:
            return app
        return replace(app, label=labels[0], also=labels[1:])

    async def _installed(self) -> dict[str, _Installed]:
        # Without a user all are meant, and a work profile or Samsung's Secure Folder is one that the shell may not see.
        listed = await self._shell.run(
            "pm list packages --user 0 -f --show-versioncode", doing=words("phone.doing.app_files")
        )
        return {
            each["package"]: _Installed(each["path"], each["version"] or "") for each in _LISTED.finditer(listed.out)
        }

    async def _read(self, app: App, where: _Installed, language: str) -> None:
        """Also from the part of an app that holds one language: a shop installs only those that a phone needs."""
        wanted = Locale.parse(language)
        found: dict[Locale, str] = {}
        folder = where.path.rpartition("/")[0]
        for path in (where.path, f"{folder}/split_config.{wanted.language}.apk"):
            if any(each.fit(wanted) > 1 for each in found):
                break
            if self._spent >= ALL_BYTES:
                return
            line = f"{command('unzip', '-p', path, 'resources.arsc')} 2>/dev/null | head -c {TABLE_BYTES}"
            try:
                table = await self._shell.raw(line, timeout=TABLE_SECONDS, doing=words("phone.doing.app_name"))
            except PhoneTimeout:
                return
            self._spent += len(table)
            try:
                found |= await asyncio.to_thread(texts, table, app.resource)
            except NotATable as broken:
                logger.debug("no labels in %s: %s", path, broken)
        names = (best(found, language), found.get(Locale(), ""))
        kept = dict.fromkeys(filter(None, (_plain(name) for name in names)))
        self._known[app.package, where.version, language] = tuple(kept)


def _plain(label: str) -> str:
    """On one line, without signs that nobody sees: an app may write anything there."""
    return "".join(sign for sign in " ".join(label.split()) if sign.isprintable())[:MAX_LABEL]
