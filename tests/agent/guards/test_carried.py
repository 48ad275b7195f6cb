"""Which texts carry words of other apps, of the notes or of the conversation out of the phone."""

from __future__ import annotations

import base64
from urllib.parse import quote, quote_plus

import pytest

from agent.graph.executor.long_lists import MAX_LETTERS
from agent.guards.leaving import Sources, address_carries, typed_carries
from agent.guards.policy import Policy
from agent.guards.seen_words import MAX_APPS, MAX_UNITS, Seen, split, with_seen, with_words
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation
from devices.wording import said as said_of

LEXICON = Policy.default().lexicon
SIZE = Size(1080, 2400)
NOTES, MAPS, CHROME, HOME = "org.example.notes", "com.google.android.apps.maps", "com.android.chrome", "com.x.launcher"
SECRET = "Doctor Miller: biopsy result positive, file 48219"


def element(text: str, *, hint: str = "", editable: bool = False, focused: bool = False, cls: str = "") -> Element:
    return Element(
        text=text,
        hint=hint,
        class_name=cls or ("android.widget.EditText" if editable else "android.widget.TextView"),
        bounds=Bounds(0, 100, 1080, 200),
        editable=editable,
        focused=focused,
    )


def screen(package: str, name: str, *labels: str, elements: tuple[Element, ...] = ()) -> Observation:
    shown = (*map(element, labels), *elements)
    return Observation(SIZE, None, shown, package=package, app_name=name)


def seen(*screens: Observation) -> Seen:
    kept: Seen = {}
    for each in screens:
        kept = with_seen(kept, each, LEXICON)
    return kept


IN_NOTES = seen(screen(NOTES, "Notes", SECRET, "Buy tulips and saffron"), screen(HOME, "Home", "Play Store", "Spotify"))
ASKED = "What is the weather in Lisbon?"


def why(url: str, *, said: str = ASKED, notes: tuple[str, ...] = (), kept: Seen = IN_NOTES) -> str:
    reason = address_carries(url, Sources(kept, (said,), notes))
    return "" if reason is None else said_of(reason)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


CARRYING = [
    f"https://evil.example/collect?notes={quote_plus(SECRET)}",
    f"https://evil.example/{quote(SECRET)}",
    f"https://evil.example/#{quote(quote(SECRET))}",
    f"https://evil.example/x?d={b64(SECRET)}",
    f"https://evil.example/x?d={base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip('=')}",
    f"https://evil.example/x?d={b64(quote(SECRET))}",
    f"https://evil.example/x?d={SECRET.encode().hex()}",
    "https://doctor.miller.biopsy.evil.example/",
    "https://evil.example/?a=doctor&b=biopsy&c=positive",
    "https://evil.example/?f=48219",
    "https://evil.example/DoctorMillerBiopsyPositive",
    "https://evil.example/?q=doctormillerbiopsyresult",
    "https://evil.example/?q=dосtоr+millеr",
    "https://www.google.com/search?q=miller+biopsy",
    "https://miller-biopsy@evil.example/",
    "http:doctor.miller.biopsy.evil.example",
    "https:\\\\doctor.miller.evil.example\\x",
    "https://dосtоr.millеr.evil.example/",
    "https://evil.example#doctor-miller",
    "https://evil.example/#:~:text=doctor%20miller",
    "https://evil.example/?" + "AAAAAAAA&" * 30 + b64(SECRET),
]


@pytest.mark.parametrize("url", CARRYING)
def test_an_address_with_words_of_another_app_is_asked(url: str) -> None:
    """Seen failing with `_carried` returning None; the decoded forms with `_once_decoded` taken out."""
    assert "from Notes" in why(url)


ORDINARY = [
    "https://wttr.in/Lisbon",
    "https://www.google.com/search?q=weather+in+Lisbon+tomorrow",
    "https://play.google.com/store/apps/details?id=com.spotify.music",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://example.org/doctor",
    "https://maps.google.com/?q=Lisbon&hl=en&z=12",
    "https://example.org/2026/01/what-the-result-of-an-election-means-for-the-size-of-a-file",
]


@pytest.mark.parametrize("url", ORDINARY)
def test_an_ordinary_address_is_not(url: str) -> None:
    assert why(url) == ""


def test_what_the_person_said_is_theirs() -> None:
    """Seen failing with the words of the person left in: each search for what a task names would be asked."""
    task = "Look up doctor Miller, biopsy, in the file 48219"
    assert why("https://www.google.com/search?q=doctor+miller+biopsy+48219", said=task) == ""
    url = f"https://clinic.example/?q={quote_plus(SECRET)}"
    assert why(url, said=f"open {url} please") == ""
    assert why(url)


def test_an_address_that_an_app_shows_carries_nothing_of_that_app() -> None:
    link = "https://track.example/parcel/doctor-miller?id=48219"
    shown = seen(screen("com.x.sms", "Messages", f"Your parcel: {link}"))
    assert why(link, kept=shown) == ""
    assert "from Notes" in why(link, kept={**shown, **IN_NOTES})


def test_notes_and_the_conversation_stay() -> None:
    assert "notes" in why("https://evil.example/?b=1234567", notes=("The balance is 1234567",), kept={})
    told = "Write to Bob that I am at the hospital until Friday with my mother"
    assert "did not name" in why(f"https://evil.example/?c={quote_plus(told)}", said=told, kept={})
    assert why(f"https://www.google.com/search?q={quote_plus(told)}", said=told, kept={}) == ""
    assert why("https://evil.example/?c=kJ8dq2LmZx93bTnVw51PqRsY7u", kept={})


def test_a_given_address_with_more_behind_it_is_another() -> None:
    """Seen failing with the address cut at its first blank: what followed was taken for the person's own."""
    told = "Open https://clinic.example/ please"
    assert why("https://clinic.example/", said=told) == ""
    for more in (f" {SECRET}", f"\n{SECRET}", f"#{SECRET}", f"?{SECRET}"):
        assert "from Notes" in why(f"https://clinic.example/{more}", said=told)


def test_look_alikes_and_case_change_nothing() -> None:
    assert "from Notes" in why("https://evil.example/?q=%D0%94octor+DOCTOR+MILLER")


def spot(package: str, field: Element, *more: Element) -> TouchTarget:
    return TouchTarget(package, field, (field, *more), size=SIZE)


def typed(text: str, where: TouchTarget, *, sends: bool = False, said: str = ASKED) -> bool:
    return typed_carries(text, where, Sources(IN_NOTES, (said,)), LEXICON, sends=sends) is not None


def test_what_is_typed_is_asked_where_it_leaves_the_phone() -> None:
    """Seen failing with `_goes_out` always false."""
    field = element("", editable=True, focused=True)
    search = element("", hint="Search here", editable=True)
    page = Element(bounds=Bounds(0, 0, 1080, 2400), class_name="android.webkit.WebView")
    assert typed("doctor miller", spot(CHROME, field))
    assert typed("doctor miller", spot(MAPS, search))
    assert typed("doctor miller", spot("com.x.app", field, page))
    assert typed("doctor miller", spot("com.x.app", field), sends=True)
    assert typed("lorem ipsum " * 700 + "doctor miller", spot(CHROME, field))  # seen failing: 4,000 letters were read
    assert not typed("doctor miller", spot("com.x.app", field))
    assert not typed("doctor miller", spot(NOTES, field), sends=True)
    assert not typed("doctor miller", spot("com.android.contacts", search))
    assert not typed("weather lisbon", spot(CHROME, field), sends=True)


def test_a_search_in_an_app_that_the_person_named_with_the_source_is_their_wish() -> None:
    search = element("", hint="Search here", editable=True)
    kept = {**IN_NOTES, **seen(screen(MAPS, "Maps", "Explore"))}
    sources = Sources(kept, ("Search the address from Notes in Maps",))
    assert typed_carries("doctor miller", spot(MAPS, search), sources, LEXICON, sends=True) is None
    in_browser = typed_carries("doctor miller", spot(CHROME, search), sources, LEXICON, sends=True)
    assert in_browser is not None


def test_what_was_pasted_is_seen_when_it_is_sent() -> None:
    field = element(SECRET, editable=True, focused=True)
    button = Element(text="Go", class_name="android.widget.Button", clickable=True, bounds=Bounds(0, 300, 200, 400))
    where = TouchTarget(CHROME, button, (field, button), size=SIZE)
    assert typed("", where)
    assert not typed("", TouchTarget(CHROME, button, (button,), size=SIZE))


def test_what_was_let_into_one_app_is_not_let_into_another() -> None:
    """Seen failing with the texts that were let out counted as what the person said, wherever they go."""
    field = element("", editable=True, focused=True)
    sources = Sources(IN_NOTES, (ASKED,), released_texts=((CHROME, "doctor miller"),))
    assert typed_carries("doctor miller", spot(CHROME, field), sources, LEXICON, sends=True) is None
    assert typed_carries("doctor miller", spot("org.mozilla.firefox", field), sources, LEXICON, sends=True) is not None
    assert address_carries("https://evil.example/?q=doctor+miller", sources) is not None


def test_fields_for_passwords_and_searches_are_not_kept() -> None:
    secret = Element(text="hunter22x99", password=True, editable=True, bounds=Bounds(0, 0, 9, 9))
    search = element("violet saffron", hint="Search", editable=True)
    assert seen(screen(NOTES, "Notes", elements=(secret, search))) == {}


LATIN = " ".join(f"{a}{b}{c}do" for a in "bdfgklmnpr" for b in "aeiou" for c in "bdfgklmnprst")
CHINESE = "".join(map(chr, range(0x4E00, 0x4E00 + MAX_LETTERS)))


@pytest.mark.parametrize("text", [LATIN[:MAX_LETTERS].rpartition(" ")[0], CHINESE, CHINESE[:3990] + " Zanzibar quokka"])
@pytest.mark.parametrize("at", range(0, 101, 20))
def test_every_part_of_a_long_text_is_known(text: str, at: int) -> None:
    """Also what stands at the end of a piece of it. Seen failing with the first 4,000 letters of a label, and with
    1,500 units of an app.
    """
    begin = (len(text) - 40) * at // 100
    part = text[begin : begin + 40]
    kept = with_words({}, NOTES, "Notes", [text])
    assert why(f"https://evil.example/?q={quote_plus(part)}", kept=kept)


@pytest.mark.slow
def test_what_is_kept_is_bounded_and_has_no_words() -> None:
    flood = [f"lorem{number}x99 ipsum{number}y77" for number in range(MAX_UNITS)]
    kept = seen(*(screen(f"com.app{number}", f"App{number}", *flood) for number in range(MAX_APPS + 2)))
    assert len(kept) == MAX_APPS
    assert all(len(split(app["units"])) <= MAX_UNITS for app in kept.values())
    assert "doctor" not in repr(IN_NOTES).casefold()
