"""The program `dumpsys`: prints the lines that drivers read, in the place and form of Android 14.

Sources in AOSP frameworks/base/services: DisplayContent.dump and RootWindowContainer.dump (mCurrentFocus, mFocusedApp;
since Android 10 not under `window windows`), DisplayPolicy.dump (mDreamingLockscreen), KeyguardServiceDelegate.dump
(showing=), KeyguardStateMonitor.dump (mIsShowing), ActivityTaskSupervisor.dump (topResumedActivity, ResumedActivity),
InputMethodManagerService.dump (mInputShown), InputMethodService.dump (mIsInputViewShown, which stays true when the
keyboard's window is closed: see its isInputViewShown), PowerManagerService.dump (mWakefulness), BatteryService.dump,
DisplayViewport.toString, SurfaceFlinger's --display-id.
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

from devices.virtual_phone.apps import BY_KEY, BY_PACKAGE, LAUNCHER_ACTIVITY, LAUNCHER_PACKAGE
from devices.virtual_phone.shell.commands import notifications
from devices.virtual_phone.shell.commands.frame import DISPLAYS, in_use
from devices.virtual_phone.shell.commands.packages import packages, short_component
from devices.virtual_phone.shell.interpreter import Call, Family
from devices.virtual_phone.state import LAUNCHER, PhoneState

# BatteryManager.BATTERY_STATUS_CHARGING and _DISCHARGING.
CHARGING, DISCHARGING = 2, 3
HOTTEST = 1000
"""Highest battery temperature that can be set, in tenths of a degree Celsius."""
Section = Callable[[Call, tuple[str, ...]], None]


def focused_window(state: PhoneState) -> str:
    """Return the focused window: a component, or the name of a system window."""
    if state.locked or state.shade:
        return "NotificationShade"
    if state.dialogs and state.dialogs[-1].window:
        return state.dialogs[-1].window
    return resumed_component(state)


def _token(state: PhoneState) -> str:
    """Return the number by which Android tells windows of the same name apart: each app and each dialog has its own."""
    shown = f"{focused_window(state)} {len(state.dialogs)} {state.dialogs[-1].title if state.dialogs else ''}"
    return f"{crc32(shown.encode()):x}"[:7]


def numbered_window(state: PhoneState) -> str:
    """Return the focused window with its number in front, as the input dispatcher logs it."""
    return f"{_token(state)} {focused_window(state)}"


def resumed_component(state: PhoneState) -> str:
    """Return the component of the activity in front, with its full class name."""
    if state.front == LAUNCHER or state.recents:
        return f"{LAUNCHER_PACKAGE}/{LAUNCHER_ACTIVITY}"
    return BY_KEY[state.front].component


def record(state: PhoneState) -> str:
    """Return the activity in front in the form of ActivityRecord.toString."""
    return f"ActivityRecord{{5c2f1d8 u0 {short_component(resumed_component(state))} t{len(state.tasks) + 1}}}"


async def dumpsys(call: Call) -> int:
    """Simulate the shell command `dumpsys SERVICE [arguments]` or `dumpsys -l`. Returns the exit code."""
    words = [word for word in call.arguments if word != "-t"]
    if not words or words[0] == "-l":
        call.say("Currently running services:")
        for name in sorted(SECTIONS):
            call.say(f"  {name}")
        return 0
    section = SECTIONS.get(words[0])
    if section is None:
        return call.complain(f"Can't find service: {words[0]}", 0)
    section(call, tuple(words[1:]))
    return 0


def _window(call: Call, words: tuple[str, ...]) -> None:
    state = call.phone.state
    part = words[0] if words else ""
    window = f"Window{{{_token(state)} u0 {focused_window(state)}}}"
    if part in {"", "policy", "p"}:
        locked = _flag(on=state.locked)
        awake = "AWAKE" if state.awake else "SLEEP"
        call.say("WINDOW MANAGER POLICY STATE (dumpsys window policy)")
        call.say(f"    mDreamingLockscreen={locked} mDreamingSleepToken=null")
        lit = _flag(on=state.awake)
        call.say(f"    mAwake={lit} mScreenOnEarly={lit} mScreenOnFully={lit}")
        call.say("    KeyguardServiceDelegate")
        call.say(f"      showing={locked}")
        call.say(f"      showingAndNotOccluded={locked}")
        call.say(f"      inputRestricted={locked}")
        call.say(f"      secure={_flag(on=bool(state.pin))}")
        call.say(f"      screenState=SCREEN_STATE_{'ON' if state.awake else 'OFF'}")
        call.say(f"      interactiveState=INTERACTIVE_STATE_{awake}")
        call.say("      KeyguardStateMonitor")
        call.say(f"        mIsShowing={locked}")
        call.say(f"        mInputRestricted={locked}")
    if part in {"", "windows", "w"}:
        call.say("WINDOW MANAGER WINDOWS (dumpsys window windows)")
        call.say(f"  Window #0 {window}:")
        call.say("    mDisplayId=0 rootTaskId=1 mSession=Session{7c3f u0a10} mClient=android.os.BinderProxy@1")
        call.say("    isOnScreen=true")
        call.say("    isVisible=true")
        call.say("  mTopFocusedDisplayId=0")
    if part in {"", "displays", "d"}:
        width, height = call.phone.scene().size
        call.say("WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)")
        if call.phone.faults.virtual_display:
            call.say("  Display: mDisplayId=2 (organized)")
            call.say("    init=500x500 100dpi cur=500x500 app=500x500 rng=500x500-500x500")
            call.say("    mCurrentRotation=ROTATION_270")
            call.say("      mAwake=true mScreenOnEarly=true mScreenOnFully=true")
            call.say("  mCurrentFocus=Window{9c1d2e3 u0 com.example.cast/com.example.cast.Main}")
            call.say("  mFocusedApp=ActivityRecord{4f5a6b7 u0 com.example.cast/.Main t99}")
        call.say("  Display: mDisplayId=0 (organized)")
        call.say(
            f"    init={state.width}x{state.height} {state.density}dpi mMinSizeOfResizeableTaskDp=220 "
            f"cur={width}x{height} app={width}x{height} rng={state.width}x{state.width}-{state.height}x{state.height}"
        )
        call.say(f"    mCurrentRotation=ROTATION_{state.rotation * 90}")
        lit = _flag(on=state.awake)
        call.say(f"      mAwake={lit} mScreenOnEarly={lit} mScreenOnFully={lit}")
        call.say(f"  mCurrentFocus={window if state.awake else 'null'}")
        call.say(f"  mFocusedApp={record(state)}")
    if part in {"", "windows", "w", "displays", "d"} and state.keyboard:
        call.say("  mInputMethodWindow=Window{3f81a2b u0 InputMethod}")


def _activity(call: Call, words: tuple[str, ...]) -> None:
    state = call.phone.state
    if words[:1] == ("top",):
        component = short_component(resumed_component(state))
        call.say(f"TASK {component.partition('/')[0]} id=2 userId=0")
        call.say(f"  ACTIVITY {component} 5c2f1d8 pid=4242")
        return
    call.say("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)")
    call.say("Display #0 (activities from top to bottom):")
    call.say(f"  * Task{{a1b2c3d #2 type=standard A=10101:{resumed_component(state).partition('/')[0]}}}")
    call.say(f"    topResumedActivity={record(state)}")
    call.say(f"    * Hist  #0: {record(state)}")
    call.say(f"  ResumedActivity: {record(state)}")
    call.say("  KeyguardController:")
    call.say(f"    mKeyguardShowing={_flag(on=state.locked)}")


def _input_method(call: Call, _words: tuple[str, ...]) -> None:
    state = call.phone.state
    shown = _flag(on=state.keyboard)
    current = state.settings["secure"].get("default_input_method", "")
    call.say("Input Method Manager Service state:")
    call.say(f"  mCurMethodId={current}")
    call.say(f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}")
    call.say(f"  mIsInputViewShown={_flag(on=state.keyboard_made)}")


def _power(call: Call, _words: tuple[str, ...]) -> None:
    awake = call.phone.state.awake
    call.say("POWER MANAGER (dumpsys power)")
    call.say(f"  mWakefulness={'Awake' if awake else 'Asleep'}")
    call.say(f"  mHoldingDisplaySuspendBlocker={_flag(on=awake)}")
    call.say(f"Display Power: state={'ON' if awake else 'OFF'}")


def _battery(call: Call, words: tuple[str, ...]) -> None:
    """As BatteryService.onShellCommand; `reset` puts the charger back and leaves the level, which has no truer one."""
    state = call.phone.state
    match words:
        case ("set", "level", level) if level.isascii() and level.isdigit() and int(level) <= 100:
            state.battery = int(level)
        case ("set", "temp", tenths) if tenths.isascii() and tenths.isdigit() and int(tenths) <= HOTTEST:
            state.temperature = int(tenths)
        case ("set", "ac" | "usb" | "wireless", ("0" | "1") as plugged):
            state.charging = plugged == "1"
        case ("unplug",):
            state.charging = False
        case ("reset",):
            state.charging = True
        case (_, *_):
            call.say("Battery service (battery) commands:")
            return
    if words:
        call.phone.changed()
        return
    for line in (
        "Current Battery Service state:",
        "  AC powered: false",
        f"  USB powered: {_flag(on=state.charging)}",
        "  Wireless powered: false",
        f"  status: {CHARGING if state.charging else DISCHARGING}",
        "  health: 2",
        "  present: true",
        f"  level: {state.battery}",
        "  scale: 100",
        "  voltage: 4112",
        f"  temperature: {state.temperature}",
        "  technology: Li-ion",
    ):
        call.say(line)


def _display(call: Call, _words: tuple[str, ...]) -> None:
    state = call.phone.state
    width, height = call.phone.scene().size
    call.say("DISPLAY MANAGER (dumpsys display)")
    virtual = "DisplayViewport{type=VIRTUAL, valid=true, isActive=true, displayId=2, uniqueId='virtual:cast,10,0'}, "
    call.say(
        f"  mViewports=[{virtual if call.phone.faults.virtual_display else ''}"
        f"DisplayViewport{{type=INTERNAL, valid=true, isActive={_flag(on=state.awake)}, displayId=0, "
        f"uniqueId='local:{in_use(state)}', "
        f"physicalPort=0, orientation={state.rotation}, logicalFrame=Rect(0, 0 - {width}, {height}), "
        f"physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, deviceHeight={height}}}]"
    )
    call.say(f"  mScreenState={'ON' if state.awake else 'OFF'}")


def _package(call: Call, words: tuple[str, ...]) -> None:
    if not words or words[0] not in packages(call):
        call.say(f"Unable to find package: {words[0] if words else ''}")
        return
    app = BY_PACKAGE.get(words[0])
    call.say("Packages:")
    call.say(f"  Package [{words[0]}] (1a2b3c4):")
    call.say("    versionCode=1 minSdk=29 targetSdk=34")
    call.say("    versionName=1.0")
    if app is not None:
        call.say("Activity Resolver Table:")
        call.say("  Non-Data Actions:")
        call.say("      android.intent.action.MAIN:")
        call.say(f"        5d6e7f8 {short_component(app.component)} filter 9a0b1c2")


def _surface_flinger(call: Call, words: tuple[str, ...]) -> None:
    if words[:1] == ("--display-id",):
        for number, display in enumerate(DISPLAYS if call.phone.faults.two_displays else (in_use(call.phone.state),)):
            call.say(f'Display {display} (HWC display {number}): port={number} pnpId=GGL displayName="virtual"')


def _flag(*, on: bool) -> str:
    return "true" if on else "false"


SECTIONS: dict[str, Section] = {
    "window": _window,
    "activity": _activity,
    "input_method": _input_method,
    "power": _power,
    "battery": _battery,
    "display": _display,
    "package": _package,
    "notification": notifications.dump,
    "SurfaceFlinger": _surface_flinger,
}
FAMILY: Family = {"dumpsys": dumpsys}
