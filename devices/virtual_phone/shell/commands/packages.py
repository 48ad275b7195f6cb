"""The programs `pm` and `cmd package`, which list installed packages.

Texts: AOSP PackageManagerShellCommand.java; ResolveInfo.dump and ActivityInfo.dump for the long form. As on a real
phone, a label from an app's resources is printed only as a number.
"""

from __future__ import annotations

from devices.virtual_phone.apks import LABEL, path_of
from devices.virtual_phone.apps import APPS, BY_PACKAGE, LAUNCHER_ACTIVITY, LAUNCHER_PACKAGE
from devices.virtual_phone.apps.base import App
from devices.virtual_phone.shell.call import Call, Family
from devices.virtual_phone.shell.commands.activity import HOME, Intent, read_intent
from devices.virtual_phone.state import ADB_KEYBOARD, LATIN_KEYBOARD

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
            call.complain(f"\nException occurred while executing 'list':\n{OTHER_USER}")
            return 255
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
    call.complain(f"Unknown command: {words[0] if words else 'help'}")
    return 255


def _short(package: str, activity: str) -> str:
    """As ComponentName.flattenToShortString."""
    return f"{package}/{activity.removeprefix(package) if activity.startswith(package + '.') else activity}"


def _matching(intent: Intent) -> list[App]:
    if intent.package:
        return [BY_PACKAGE[intent.package]] if intent.package in BY_PACKAGE else []
    if intent.data.startswith(("http://", "https://")):
        return [BY_PACKAGE["com.android.browser"]]
    return list(APPS) if LAUNCHER_CATEGORY in intent.categories else []


def _switch(call: Call, verb: str, package: str) -> int:
    """`enable` and `disable-user`, as PackageManagerShellCommand.runSetEnabledSetting words them."""
    if package not in BY_PACKAGE:
        call.complain(
            f"\nException occurred while executing '{verb}':\njava.lang.IllegalArgumentException: "
            f"Unknown package: {package}"
        )
        return 255
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
        call.say(_short(*found[0]))
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
            call.say(_short(app.package, app.activity))
        return 0
    call.say(f"{len(found)} activities found:")
    for index, app in enumerate(found):
        if "--brief" in words:
            call.say(f"  {RESOLVED}")
            call.say(f"  {_short(app.package, app.activity)}")
        else:
            call.say(f"  Activity #{index}:")
            call.say(f"    {RESOLVED}")
            _long(call, app.package, app.activity, indent="    ")
    return 0


def _long(call: Call, package: str, activity: str, *, indent: str) -> None:
    label = LABEL
    for line in (
        "ActivityInfo:",
        f"  name={activity}",
        f"  packageName={package}",
        f"  labelRes={label:#x} nonLocalizedLabel=null icon=0x7f080001 banner=0x0",
        "  enabled=true exported=true directBootAware=false",
        f"  taskAffinity={package} targetActivity=null persistableMode=PERSIST_ROOT_ONLY",
        "  launchMode=2 flags=0x3 privateFlags=0x1 theme=0x7f130001",
        "  ApplicationInfo:",
        f"    packageName={package}",
        f"    labelRes={label:#x} nonLocalizedLabel=null icon=0x7f080001 banner=0x0",
        f"    processName={package}",
        "    enabled=true minSdkVersion=29 targetSdkVersion=34 versionCode=1 targetSandboxVersion=1",
    ):
        call.say(indent + line)


FAMILY: Family = {"pm": pm}
