"""The programs `pm` and `cmd package`, which list installed packages, and the packages' APK files: zip archives with
the resource table that contains the app's label.

Format of the table: AOSP ResourceTypes.h, written as aapt2 writes it: one pool of UTF-8 texts, one package with one
type of two entries (the label refers to the app's name), one chunk for each language.

Texts: AOSP PackageManagerShellCommand.java; ResolveInfo.dump and ActivityInfo.dump for the long form. As on a real
phone, a label from an app's resources is printed only as a number.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from functools import cache

from devices.virtual_phone.apps import APPS, BY_PACKAGE, LAUNCHER_ACTIVITY, LAUNCHER_PACKAGE
from devices.virtual_phone.apps.base import App
from devices.virtual_phone.shell.commands.activity import HOME, Intent, read_intent
from devices.virtual_phone.shell.interpreter import Call, Family
from devices.virtual_phone.state import ADB_KEYBOARD, LATIN_KEYBOARD
from devices.virtual_phone.strings import translate

LABEL = 0x7F020001
"""The resource id of an app's label."""
FOLDER = "/data/app/~~virtual==/"
SPLIT_APP = "org.example.shop"
"""The app that is installed as split APKs: its Chinese texts are in a file of their own."""
_POOL, _TABLE, _PACKAGE, _TYPE, _TYPE_SPEC = 0x0001, 0x0002, 0x0200, 0x0201, 0x0202
_UTF8 = 0x100
_CONFIG_BYTES = 64
_STRING, _REFERENCE = 3, 1


def path_of(package: str, part: str = "base") -> str:
    """Return the path of an app's APK on the phone; `part` is the name of the split."""
    return f"{FOLDER}{package}-virtual==/{part}.apk"


def archive_at(path: str) -> bytes | None:
    """Return the APK at this path; None when there is none."""
    for app in APPS:
        package, label, chinese = app.package, app.label, translate(app.label, "zh-CN")
        split = package == SPLIT_APP
        if path == path_of(package):
            texts = {"": label} if split or chinese == label else {"": label, "zh": chinese}
            return _archive(package, tuple(texts.items()))
        if split and path == path_of(package, "split_config.zh"):
            return _archive(package, (("zh", chinese),))
    return None


@cache
def _archive(package: str, texts: tuple[tuple[str, str], ...]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("AndroidManifest.xml", b"\x03\x00\x08\x00")
        archive.writestr("resources.arsc", table_of(package, dict(texts)))
    return out.getvalue()


def table_of(package: str, texts: Mapping[str, str]) -> bytes:
    """Return a compiled resource table with the app's label in each language ("" is the default language)."""
    pool = _strings(list(texts.values()))
    chunks = [_types(language, index) for index, language in enumerate(texts)]
    spec = _chunk(_TYPE_SPEC, struct.pack("<BBHI", 2, 0, 0, 2), struct.pack("<II", 0, 0))
    types, keys = _strings(["attr", "string"]), _strings(["app_name", "label"])
    name = package.encode("utf-16-le").ljust(256, b"\0")
    places = struct.pack("<IIIII", 288, 2, 288 + len(types), 2, 0)
    body = b"".join((types, keys, spec, *chunks))
    packed = _chunk(_PACKAGE, struct.pack("<I", 0x7F) + name + places, body)
    return _chunk(_TABLE, struct.pack("<I", 1), pool + packed)


def _types(language: str, index: int) -> bytes:
    """The entries of one language: the app's name, a text of the pool, and its label, which refers to that."""
    config = struct.pack("<I4x2s", _CONFIG_BYTES, language.encode()).ljust(_CONFIG_BYTES, b"\0")
    name = struct.pack("<HHIHBBI", 8, 0, 0, 8, 0, _STRING, index)
    label = struct.pack("<HHIHBBI", 8, 0, 1, 8, 0, _REFERENCE, LABEL - 1)
    start = 8 + 12 + _CONFIG_BYTES + 8
    return _chunk(_TYPE, struct.pack("<BBHII", 2, 0, 0, 2, start) + config, struct.pack("<II", 0, 16) + name + label)


def _strings(texts: list[str]) -> bytes:
    written = b""
    offsets = []
    for text in texts:
        offsets.append(len(written))
        data = text.encode()
        written += bytes((len(text), len(data))) + data + b"\0"
    written += b"\0" * (-len(written) % 4)
    start = 28 + 4 * len(texts)
    head = struct.pack("<IIIII", len(texts), 0, _UTF8, start, 0)
    return _chunk(_POOL, head, struct.pack(f"<{len(texts)}I", *offsets) + written)


def _chunk(kind: int, header: bytes, body: bytes) -> bytes:
    return struct.pack("<HHI", kind, 8 + len(header), 8 + len(header) + len(body)) + header + body


SYSTEM_PACKAGES = (
    "android",
    "com.android.systemui",
    "com.android.shell",
    "com.android.providers.settings",
    "com.android.providers.media",
    LAUNCHER_PACKAGE,
    LATIN_KEYBOARD.partition("/")[0],
)
# AOSP UserController.handleIncomingUser; without --user all users are meant (Android 13 and later).
OTHER_USER = "java.lang.SecurityException: Shell does not have permission to access user 150"
LAUNCHER_CATEGORY = "android.intent.category.LAUNCHER"
RESOLVED = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def packages(call: Call) -> list[str]:
    """Return the names of all installed packages."""
    names = [*SYSTEM_PACKAGES, *(app.package for app in APPS)]
    if call.phone.adb_keyboard:
        names.append(ADB_KEYBOARD.partition("/")[0])
    return names


async def pm(call: Call) -> int:
    """Simulate the shell command `pm list packages [-3|-s] [-f] [--show-versioncode] [filter]`, `pm path PACKAGE`, and
    everything that `cmd package` can do. Returns the exit code.
    """
    return run(call, list(call.arguments))


def run(call: Call, words: list[str]) -> int:
    """Run a command of the package service and return its exit code; `words` are its arguments."""
    if words[:2] == ["list", "packages"]:
        if "--user" in words[:-1]:
            del words[words.index("--user") : words.index("--user") + 2]
        elif call.phone.faults.two_users:
            return call.threw("list", OTHER_USER)
        options = [word for word in words[2:] if word.startswith("-")]
        wanted = next((word for word in words[2:] if not word.startswith("-")), "")
        for name in packages(call):
            third = not name.startswith(("com.android.", "android")) or name == ADB_KEYBOARD.partition("/")[0]
            if wanted in name and not ("-3" in options and not third) and not ("-s" in options and third):
                path = f"{path_of(name)}=" if "-f" in options else ""
                version = " versionCode:1" if "--show-versioncode" in options else ""
                call.say(f"package:{path}{name}{version}")
        return 0
    if words[:1] == ["path"]:
        if words[-1] not in packages(call):
            return 1
        call.say(f"package:{path_of(words[-1])}")
        return 0
    if words[:1] in (["enable"], ["disable-user"]):
        return _switch(call, words[0], words[-1])
    if words[:1] == ["resolve-activity"]:
        return _resolve(call, words[1:])
    if words[:1] == ["query-activities"]:
        return _query(call, words[1:])
    return call.complain(f"Unknown command: {words[0] if words else 'help'}", 255)


def short_component(component: str) -> str:
    """Return a component in its short form, like ComponentName.flattenToShortString."""
    package, _, name = component.partition("/")
    return f"{package}/{name.removeprefix(package)}" if name.startswith(package + ".") else component


def _matching(intent: Intent) -> list[App]:
    if intent.package:
        return [BY_PACKAGE[intent.package]] if intent.package in BY_PACKAGE else []
    if intent.data.startswith(("http://", "https://")):
        return [BY_PACKAGE["com.android.browser"]]
    return list(APPS) if LAUNCHER_CATEGORY in intent.categories else []


def _switch(call: Call, verb: str, package: str) -> int:
    """`enable` and `disable-user`, as PackageManagerShellCommand.runSetEnabledSetting words them."""
    if package not in BY_PACKAGE:
        return call.threw(verb, f"java.lang.IllegalArgumentException: Unknown package: {package}")
    others = [each for each in call.phone.state.disabled if each != package]
    call.phone.state.disabled = others if verb == "enable" else [*others, package]
    call.say(f"Package {package} new state: {'enabled' if verb == 'enable' else 'disabled-user'}")
    call.phone.changed()
    return 0


def _resolve(call: Call, words: list[str]) -> int:
    intent = read_intent([word for word in words if word not in {"--brief", "--components"}])
    found = [(app.package, app.activity) for app in _matching(intent)][:1]
    if HOME in intent.categories:
        found = [(LAUNCHER_PACKAGE, LAUNCHER_ACTIVITY)]
    if not found:
        call.say("No activity found")
        return 0
    if "--components" not in words:
        call.say(RESOLVED)
    if "--brief" in words or "--components" in words:
        call.say(short_component("/".join(found[0])))
    else:
        _long(call, *found[0], indent="  ")
    return 0


def _query(call: Call, words: list[str]) -> int:
    intent = read_intent([word for word in words if word not in {"--brief", "--components"}])
    found = [app for app in _matching(intent) if app.package not in call.phone.state.disabled]
    if not found:
        call.say("No activities found")
        return 0
    if "--components" in words:
        for app in found:
            call.say(short_component(app.component))
        return 0
    call.say(f"{len(found)} activities found:")
    for index, app in enumerate(found):
        if "--brief" in words:
            call.say(f"  {RESOLVED}")
            call.say(f"  {short_component(app.component)}")
        else:
            call.say(f"  Activity #{index}:")
            call.say(f"    {RESOLVED}")
            _long(call, app.package, app.activity, indent="    ")
    return 0


def _long(call: Call, package: str, activity: str, *, indent: str) -> None:
    label = f"  labelRes={LABEL:#x} nonLocalizedLabel=null icon=0x7f080001 banner=0x0"
    for line in (
        "ActivityInfo:",
        f"  name={activity}",
        f"  packageName={package}",
        label,
        "  enabled=true exported=true directBootAware=false",
        f"  taskAffinity={package} targetActivity=null persistableMode=PERSIST_ROOT_ONLY",
        "  launchMode=2 flags=0x3 privateFlags=0x1 theme=0x7f130001",
        "  ApplicationInfo:",
        f"    packageName={package}",
        f"  {label}",
        f"    processName={package}",
        "    enabled=true minSdkVersion=29 targetSdkVersion=34 versionCode=1 targetSandboxVersion=1",
    ):
        call.say(indent + line)


FAMILY: Family = {"pm": pm}
