"""Forms are those of AOSP's dump methods and of dumps that people posted from real phones."""

import pytest

from devices.adb.identity import health_of, parse_identity
from devices.adb.state import State, foreground, parse_state
from devices.geometry import Size
from devices.phone import Health

ANDROID_14 = """@@window
  mCurrentFocus=Window{4f2e1d0 u0 com.android.chrome/com.google.android.apps.chrome.Main}
  mFocusedApp=ActivityRecord{a6c9b47 u0 com.android.chrome/com.google.android.apps.chrome.Main t12}
    mCurrentRotation=ROTATION_90
@@policy
    showing=false
    inputRestricted=false
@@power
  mWakefulness=Awake
@@keyboard
    mInputShown=true
@@battery
  USB powered: true
  level: 85
"""
ANDROID_8 = """@@window
  mFocusedApp=AppWindowToken{d0a5 token=Token{1e ActivityRecord{2f u0 com.android.settings/.Settings t5}}}
  mRotation=0 mDeferredRotationPauseCount=0
  mCurrentFocus=Window{8a1 u0 com.android.settings/com.android.settings.Settings}
@@policy
    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false mDreamingSleepToken=null
    isStatusBarKeyguard=true
@@power
  mWakefulness=Dozing
Display Power: state=OFF
@@keyboard
  mShowRequested=false mShowExplicitlyRequested=false mShowForced=false mInputShown=false
@@battery
  AC powered: false
  USB powered: false
  level: 7
"""


def test_android_14() -> None:
    assert parse_state(ANDROID_14) == State(
        package="com.android.chrome",
        activity="com.google.android.apps.chrome.Main",
        keyboard_shown=True,
        rotation=1,
        battery=85,
        charging=True,
        window="Window{4f2e1d0 u0 com.android.chrome/com.google.android.apps.chrome.Main}",
    )


def test_android_8() -> None:
    assert parse_state(ANDROID_8) == State(
        package="com.android.settings",
        activity="com.android.settings.Settings",
        locked=True,
        screen_on=False,
        battery=7,
        window="Window{8a1 u0 com.android.settings/com.android.settings.Settings}",
    )


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("mCurrentFocus=null\nmFocusedApp=null", ("", "")),
        ("", ("", "")),
        (
            "  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{1 u0 com.a.b/.C t1}\n",
            ("com.a.b", "com.a.b.C"),
        ),
        (
            "  mCurrentFocus=Window{1 u0 NotificationShade}\n  mFocusedApp=ActivityRecord{1 u0 com.a.b/.C t1}\n",
            ("com.a.b", "com.a.b.C"),
        ),
        ("  mCurrentFocus=Window{1 u0 PopupWindow:a1b2c3}\n", ("", "PopupWindow:a1b2c3")),
        (
            "  mCurrentFocus=Window{1 u10 com.work.app/com.work.app.Main$Inner}\n",
            ("com.work.app", "com.work.app.Main$Inner"),
        ),
        (
            "  mCurrentFocus=Window{1 u0 Keyguard EXITING}\n  topResumedActivity=ActivityRecord{2 u0 a.b/.C t3}",
            ("a.b", "a.b.C"),
        ),
    ],
)
def test_what_is_in_front(window: str, expected: tuple[str, str]) -> None:
    assert foreground(window) == expected


@pytest.mark.parametrize(
    ("line", "turns"),
    [("mRotation=3 mX=1", 3), ("mCurrentRotation=ROTATION_270", 3), ("mRotation=ROTATION_180", 2), ("nothing", 0)],
)
def test_rotation(line: str, turns: int) -> None:
    assert parse_state(f"@@window\n{line}\n").rotation == turns


@pytest.mark.parametrize(
    ("policy", "locked"),
    [
        ("showing=true\nshowingAndNotOccluded=true", True),
        ("mIsShowing=true", True),
        ("mKeyguardShowing=false", False),
        ("mDreamingLockscreen=true", True),
        ("showingAndNotOccluded=true", False),
    ],
)
def test_lock(policy: str, locked: bool) -> None:
    assert parse_state(f"@@policy\n{policy}\n").locked is locked


@pytest.mark.parametrize(
    ("power", "on"),
    [
        ("mWakefulness=Asleep", False),
        ("Display Power: state=OFF", False),
        ("Display Power: state=ON", True),
        ("", True),
    ],
)
def test_screen(power: str, on: bool) -> None:
    assert parse_state(f"@@power\n{power}\n").screen_on is on


def test_nothing_at_all_is_harmless() -> None:
    assert parse_state("") == State()
    assert parse_state("@@window\n@@policy\nPermission Denial: can't dump\n@@battery\nlevel: many") == State()


def test_identity() -> None:
    identity = parse_identity(
        "@@id\n1a2b3c4d5e6f7081\n@@model\nPixel_8\n@@android\n14\n@@size\nPhysical size: 1080x2400\n"
        "Override size: 720x1600\n" + ANDROID_14,
        0.0,
    )
    assert identity.android_id == "1a2b3c4d5e6f7081"
    assert (identity.model, identity.android, identity.size) == ("Pixel 8", "14", Size(720, 1600))
    assert identity.state.battery == 85


def test_a_phone_that_tells_nothing_has_no_identity() -> None:
    identity = parse_identity("@@id\nnull\n@@model\n@@android\n@@size\n@@locale\n\n@@sold\nde-DE\n", 0.0)
    assert identity.locale == "de-DE"
    assert (identity.android_id, identity.model, identity.android, identity.size) == ("", "", "", None)


@pytest.mark.parametrize(
    ("state", "health"),
    [
        (State(), Health.READY),
        (State(screen_on=False, locked=True), Health.ASLEEP),
        (State(locked=True), Health.LOCKED),
        (State(battery=10), Health.LOW_BATTERY),
        (State(battery=10, charging=True), Health.READY),
    ],
)
def test_health(state: State, health: Health) -> None:
    found, reason, fix = health_of(state)
    assert found is health
    assert bool(reason) is bool(fix) is (health is not Health.READY)


@pytest.mark.parametrize(
    ("line", "degrees"),
    [
        ("  temperature: 271", 27.1),
        ("  temperature: -55", -5.5),
        ("  temperature: 0", None),
        ("  temperature: hot", None),
    ],
)
def test_the_heat_of_the_battery(line: str, degrees: float | None) -> None:
    state = parse_state(f"@@battery\n  level: 50\n{line}\n")
    assert (state.battery, state.temperature) == (50, degrees)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("  mInputShown=true\n  mIsInputViewShown=true\n", True),
        # The keyboard was closed: its view stays.
        ("  mInputShown=false\n  mIsInputViewShown=true\n", False),
        ("  mIsInputViewShown=true\n", True),
        ("  mIsInputViewShown=false\n", False),
        ("", False),
    ],
)
def test_whether_the_keyboard_is_shown(told: str, shown: bool) -> None:
    """Seen failing with either of the two words taken for it: a closed keyboard counted as shown for ever."""
    assert parse_state(f"@@keyboard\n{told}").keyboard_shown is shown


@pytest.mark.parametrize(
    ("told", "on"),
    [
        ("@@window\n    mAwake=false mScreenOnEarly=false mScreenOnFully=false\n", False),
        ("@@window\n    mAwake=true mScreenOnEarly=true mScreenOnFully=true\n", True),
        ("@@window\n  mCurrentFocus=null\n", True),
        ("@@window\n    mAwake=true\n@@power\n  mWakefulness=Asleep\n", False),
    ],
)
def test_whether_the_screen_is_on(told: str, on: bool) -> None:
    assert parse_state(told).screen_on is on


def display(number: int, size: str, turns: int, *, package: str = "", awake: bool = True) -> str:
    focus = f"Window{{2785a60 u0 {package}/{package}.Main}}" if package else "null"
    return (
        f"  Display: mDisplayId={number} (organized)\n"
        f"    init={size} 420dpi base={size} 320dpi cur={size} app={size} rng={size}-{size}\n"
        f"  mCurrentFocus={focus}\n    mAwake={str(awake).lower()}\n    mRotation=ROTATION_{90 * turns}\n"
    )


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "section", ["@@window\n", "@@window\n@@windows\n  mCurrentFocus=Window{2785a60 u0 a.b/a.b.Main}\n"]
)
def test_the_display_that_a_person_sees_is_meant_whatever_is_listed_first(section: str, *, first: bool) -> None:
    """Seen failing with what is told of all displays: 500×500, no turn, dark."""
    own = display(0, "2400x1080", 1, package="a.b")
    others = [display(2, "500x500", 0, awake=False), display(14, "1280x720", 3, package="cast.app")]
    listed = "".join([own, *others] if first else [*others, own])
    state = parse_state(section.replace("@@window\n", f"@@window\n{listed}", 1))
    assert (state.size, state.rotation, state.screen_on, state.package) == (Size(2400, 1080), 1, True, "a.b")
    assert state.other_displays


@pytest.mark.parametrize(
    ("listed", "others"),
    [
        (display(0, "1080x2400", 0), False),
        (display(0, "1080x2400", 0) + display(3, "500x500", 0), True),
        ("  Display: mDisplayId=0\n    cur=720x1280\n  Display: mDisplayId=1\n    cur=500x500\n", False),
    ],
    ids=["one", "two", "two, before Android 10"],
)
def test_whether_commands_have_to_name_a_display(listed: str, *, others: bool) -> None:
    assert parse_state(f"@@window\n{listed}").other_displays is others


@pytest.mark.parametrize("power", ["", "@@power\n  mWakefulness=Awake\n"])
def test_a_lit_cover_does_not_light_the_default_display(power: str) -> None:
    """Seen failing with what the power service tells of the whole phone."""
    listed = display(0, "1080x2400", 0, awake=False) + display(1, "260x512", 0)
    assert not parse_state(f"@@window\n{listed}{power}").screen_on
