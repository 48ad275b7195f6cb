"""The names of apps: their labels in the phone's language, read from the compiled resources in the apps' files, and
which installed app a person means by a name.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypedDict

from devices.adb.shell import Shell, command, together
from devices.errors import AmbiguousApp, PhoneTimeout, UnknownApp
from devices.wording import table_of, words

logger = logging.getLogger(__name__)


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
        return tuple(filter(None, map(_folded, (self.label, *self.also))))

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
        lambda app: _is_part(wanted) and any(wanted in name for name in (*app.labels, "".join(_words(app.package)))),
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
    return tuple(table_of("devices.adb", "app_names.toml")["app"])


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


_POOL, _TABLE, _PACKAGE, _TYPE = 0x0001, 0x0002, 0x0200, 0x0201
_UTF8 = 0x100
_SPARSE, _SHORT = 1, 2
_COMPLEX, _COMPACT = 1, 8
_STRING, _REFERENCES = 3, frozenset({1, 7})
_NO_ENTRY, _NO_SHORT_ENTRY = 0xFFFFFFFF, 0xFFFF
MAX_REFERENCES = 8
"""How many resources are followed for one text: a label may refer to another resource, and so on."""
_TRADITIONAL = frozenset({"TW", "HK", "MO"})


class NotATable(ValueError):
    """The bytes are not a resource table of an Android app, or are incomplete."""


@dataclass(frozen=True, slots=True)
class Locale:
    """A locale: language, script and country, as in `zh-Hant-TW`. Unknown parts are ""."""

    language: str = ""
    script: str = ""
    country: str = ""

    @classmethod
    def parse(cls, tag: str) -> Locale:
        """Parse `zh-Hans-CN`, `zh-CN`, `zh_CN` or `en`. Of several, separated by commas, the first one counts."""
        language, *rest = tag.split(",", maxsplit=1)[0].strip().replace("_", "-").split("-")
        script = next((part.title() for part in rest if len(part) == 4), "")
        country = next((part.upper() for part in rest if len(part) in {2, 3}), "")
        return cls(language.lower(), script or _script(language.lower(), country), country)

    def fit(self, wanted: Locale) -> int:
        """Return how well text in this locale suits the `wanted` one: 0 is not at all, 1 the app's default language,
        up to 4.
        """
        if not self.language:
            return 1
        if self.language != wanted.language or (self.script and wanted.script and self.script != wanted.script):
            return 0
        return 4 if self.country == wanted.country else 3 if not self.country else 2


def _script(language: str, country: str) -> str:
    """Return the script of Chinese: simplified if there is no country, as in Android."""
    if language != "zh":
        return ""
    return "Hant" if country in _TRADITIONAL else "Hans"


def best(texts: Mapping[Locale, str], locale: str) -> str:
    """Return the text that a phone with this locale shows; "" if none fits."""
    wanted = Locale.parse(locale)
    fitting = [(each.fit(wanted), text) for each, text in texts.items() if each.fit(wanted)]
    return max(fitting, key=lambda pair: pair[0], default=(0, ""))[1]


def texts(table: bytes, resource: int) -> dict[Locale, str]:
    """Return the texts of a resource by locale, from an app's compiled resource table, following references. Raises
    NotATable.
    """
    found: dict[Locale, str] = {}
    wanted = [resource]
    try:
        for each in wanted:  # the list grows while it is read
            for locale, kind, data in _values(memoryview(table), each):
                if isinstance(data, str):
                    found.setdefault(locale, data)
                elif kind in _REFERENCES and data not in wanted and len(wanted) < MAX_REFERENCES:
                    wanted.append(data)
    except (struct.error, IndexError, UnicodeDecodeError) as broken:
        raise NotATable("the table ends too early") from broken
    return found


def _values(table: memoryview, resource: int) -> Iterator[tuple[Locale, int, int | str]]:
    """Yield locale, kind and data of each value of the resource, with texts in place of pool indexes."""
    kind, header, size, _ = struct.unpack_from("<HHII", table)
    if kind != _TABLE or size > len(table):
        raise NotATable("no table of resources")
    pool = -1
    for kind, start, end in _chunks(table, header, size):
        if kind == _POOL and pool < 0:
            pool = start
        elif kind == _PACKAGE and struct.unpack_from("<I", table, start + 8)[0] == resource >> 24:
            inner = start + struct.unpack_from("<H", table, start + 2)[0]
            for part, at, _ in _chunks(table, inner, end):
                if part == _TYPE and table[at + 8] == resource >> 16 & 0xFF:
                    locale, value = _entry(table, at, resource & 0xFFFF)
                    if value is not None:
                        yield locale, value[0], _string(table, pool, value[1]) if value[0] == _STRING else value[1]


def _chunks(table: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield kind, start and end of each chunk."""
    while start + 8 <= end:
        kind, header, size = struct.unpack_from("<HHI", table, start)
        if size < 8 or header > size or start + size > len(table):
            raise NotATable("a part of the table has no sensible size")
        yield kind, start, start + size
        start += size


def _entry(table: memoryview, at: int, index: int) -> tuple[Locale, tuple[int, int] | None]:
    """Return the locale of a type's configuration, and kind and data of its value for the entry."""
    header = struct.unpack_from("<H", table, at + 2)[0]
    flags = table[at + 9]
    count, entries = struct.unpack_from("<II", table, at + 12)
    locale = _locale(table, at + 20)
    offset = _offset(table, at + header, flags, count, index)
    if offset is None:
        return locale, None
    entry = at + entries + offset
    size, entry_flags, _ = struct.unpack_from("<HHI", table, entry)
    if entry_flags & _COMPACT:
        return locale, (entry_flags >> 8, struct.unpack_from("<I", table, entry + 4)[0])
    if entry_flags & _COMPLEX:
        return locale, None
    _, _, data_type, data = struct.unpack_from("<HBBI", table, entry + size)
    return locale, (data_type, data)


def _offset(table: memoryview, offsets: int, flags: int, count: int, index: int) -> int | None:
    if flags & _SPARSE:
        for place in range(count):
            number, offset = struct.unpack_from("<HH", table, offsets + 4 * place)
            if number == index:
                return int(offset) * 4
        return None
    if index >= count:
        return None
    if flags & _SHORT:
        short = struct.unpack_from("<H", table, offsets + 2 * index)[0]
        return None if short == _NO_SHORT_ENTRY else int(short) * 4
    offset = struct.unpack_from("<I", table, offsets + 4 * index)[0]
    return None if offset == _NO_ENTRY else int(offset)


def _locale(table: memoryview, config: int) -> Locale:
    """Parse ResTable_config: language at 8, country at 10, script at 36 if the configuration is long enough."""
    size = struct.unpack_from("<I", table, config)[0]
    language = _letters(bytes(table[config + 8 : config + 10]), "a")
    country = _letters(bytes(table[config + 10 : config + 12]), "0")
    script = bytes(table[config + 36 : config + 40]).rstrip(b"\0").decode("ascii") if size >= 40 else ""
    return Locale(language, script.title() or _script(language, country.upper()), country.upper())


def _letters(packed: bytes, base: str) -> str:
    """Decode two plain letters, or three letters in five bits each."""
    if not packed[0] & 0x80:
        return packed.rstrip(b"\0").decode("ascii")
    number = packed[0] << 8 | packed[1]
    fives = (number & 0x1F, number >> 5 & 0x1F, number >> 10 & 0x1F)
    return "".join(chr(ord(base) + five) for five in fives)


def _string(table: memoryview, pool: int, index: int) -> str:
    header, _, count, _, flags, strings = struct.unpack_from("<HIIIII", table, pool + 2)
    if index >= count:
        raise NotATable("a text is missing")
    at = pool + strings + struct.unpack_from("<I", table, pool + header + 4 * index)[0]
    if flags & _UTF8:
        at += 2 if table[at] & 0x80 else 1  # the number of characters; the number of bytes follows
        length = table[at]
        at += 1
        if length & 0x80:
            length = (length & 0x7F) << 8 | table[at]
            at += 1
        return bytes(table[at : at + length]).decode("utf-8", "replace")
    length = struct.unpack_from("<H", table, at)[0]
    at += 2
    if length & 0x8000:
        length = (length & 0x7FFF) << 16 | struct.unpack_from("<H", table, at)[0]
        at += 2
    return bytes(table[at : at + 2 * length]).decode("utf-16-le", "replace")


TABLE_BYTES = 16 * 1024 * 1024
"""The maximum bytes of one app's table; the largest apps have about 10 MB."""
ALL_BYTES = 256 * 1024 * 1024
ALL_SECONDS = 15.0
"""Seconds for all apps together; the rest is read when a name is not understood again."""
TABLE_SECONDS = 8.0
AT_ONCE = 4
"""Files read at the same time; a phone has one flash memory."""
MAX_LABEL = 100
_LISTED = re.compile(r"^package:(?P<path>/.*)=(?P<package>[\w.]+)(?: versionCode:(?P<version>\d+))?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Installed:
    path: str
    version: str


class Labels:
    """Reads and caches the labels of one phone's apps."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._known: dict[tuple[str, str, str], tuple[str, ...]] = {}
        """Labels by package, version and language, the phone's own first; none when there are none."""
        self._spent = 0

    async def of(self, apps: Sequence[App], language: str) -> tuple[App, ...]:
        """Return the apps with their labels in this language, as far as these could be read within `ALL_SECONDS`.
        Apps that have a label keep it. Raises PhoneGone, PhoneUnavailable, PhoneTimeout.
        """
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
        # Without --user, all users are included, and the shell may not see a work profile or Samsung's Secure Folder.
        listed = await self._shell.run(
            "pm list packages --user 0 -f --show-versioncode", doing=words("phone.doing.app_files")
        )
        return {
            each["package"]: _Installed(each["path"], each["version"] or "") for each in _LISTED.finditer(listed.out)
        }

    async def _read(self, app: App, where: _Installed, language: str) -> None:
        """Read an app's labels, also from its language split: a store only installs the languages a phone needs."""
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
        kept = dict.fromkeys(filter(None, map(printable_label, names)))
        self._known[app.package, where.version, language] = tuple(kept)


def printable_label(label: str) -> str:
    """Return a label as one printable line of at most MAX_LABEL letters, because an app may write anything there."""
    return "".join(sign for sign in " ".join(label.split()) if sign.isprintable())[:MAX_LABEL]
