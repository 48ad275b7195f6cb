"""The Browser app: an address bar, search results for any query, and web pages."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import urlsplit

from devices.virtual_phone.apps.base import App, Page, shuffled, waiting
from devices.virtual_phone.screen.pieces import Gap, Label, Picture, Rule
from devices.virtual_phone.screen.widgets import Box, Row, Wide, Widget
from devices.virtual_phone.window_manager import WindowManager

ADDRESS = re.compile(r"(https?://\S+)|([\w-]+(\.[\w-]+)+(/\S*)?)", re.IGNORECASE)
# Title, site and first lines of each result; {q} is the query.
RESULTS = (
    (
        "{q} - official site",
        "www.{s}.example",
        "Everything about {q}: what it is, how to start, documentation and news.",
    ),
    ("{q} - Free Encyclopedia", "encyclopedia.example/{s}", "{q} is described here with its history, uses and links."),
    (
        "What is {q}? A short guide",
        "guides.example/what-is-{s}",
        "A guide in five minutes. First, {q} explained simply.",
    ),
    ("{q} source code and releases", "code.example/{s}", "Repository of {q}. Latest release, issues, contributors."),
    ("News about {q}", "news.example/topics/{s}", "The latest headlines and reports on {q}, updated today."),
    ("{q}: questions and answers", "answers.example/tagged/{s}", "People ask about {q}: 214 questions, 198 answered."),
)
SHORTCUTS = (("News", "newspaper", "red"), ("Weather", "weather_partly_cloudy", "blue"), ("Maps", "map", "green"))


def main(windows: WindowManager) -> Page:
    """Build the page of a new tab: the name, the search box, and three shortcuts."""
    tiles: list[Widget | Wide] = [
        Box(
            children=[
                Picture(icon, 28, "white", 56, colour),
                Label(windows.say(name), 14, colour="muted", align="centre"),
            ],
            gap=6,
            on_tap=partial(search, windows, windows.say(name)),
        )
        for name, icon, colour in SHORTCUTS
    ]
    box = Row(
        parts=[Wide(32, Picture("magnify", 24, "muted")), _bar_field(windows)],
        gap=8,
        padding=(16, 8, 16, 8),
        margin=(20, 0, 20, 0),
        fill="raised",
        radius=28,
    )
    return Page(
        header=Gap(24),
        body=[
            Gap(70),
            Picture("compass_outline", 72, "primary"),
            Gap(8),
            Label(windows.say("Browser"), 30, 500, align="centre"),
            Gap(24),
            box,
            Gap(28),
            Row(parts=tiles, padding=(24, 0, 24, 0)),
        ],
    )


def results(windows: WindowManager) -> Page:
    """Build the page with the results of a search."""
    query = windows.page.arguments["query"]

    def card(title: str, site: str, text: str) -> Widget:
        return Box(
            children=[
                Row(parts=[Wide(24, Picture("web", 18, "faint")), Label(site, 14, colour="muted", most=1)], gap=8),
                Label(title, 19, colour="primary", identifier="result_title", most=2),
                Label(text, 15, colour="muted", most=2, identifier="result_text"),
            ],
            gap=5,
            padding=(20, 14, 20, 14),
            on_tap=partial(open_url, windows, f"https://{site}", title),
            identifier="result",
        )

    found = [card(*each) for each in found_for(windows, query)]
    ruled: list[Widget] = [widget for each in found for widget in (each, Rule())]
    count = Label(windows.say("About 1,240 results"), 14, colour="faint")
    return Page(header=_bar(windows), body=[Box(children=[count], padding=(20, 12, 20, 4)), *ruled])


def site(windows: WindowManager) -> Page:
    """Build a web page."""
    url = windows.page.arguments["url"]
    title = windows.page.arguments.get("title") or urlsplit(url).netloc or url
    text = (
        windows.say("This page was opened at {url}.", url=url),
        windows.say(
            "Welcome. Here you find an introduction, a list of recent changes and answers to common questions."
        ),
        windows.say("Read on to learn more, or use the address bar to go somewhere else."),
    )
    return Page(
        header=_bar(windows),
        body=[
            Box(children=[Picture("image_outline", 56, "faint")], fill="surface", minimum=180, centred=True),
            Box(
                children=[
                    Label(title, 28, 500, identifier="page_title"),
                    *(Label(paragraph, 17, colour="muted") for paragraph in text),
                ],
                gap=14,
                padding=(20, 20, 20, 20),
            ),
        ],
    )


def found_for(windows: WindowManager, query: str) -> list[tuple[str, str, str]]:
    """Return the results for a query as (title, site, text)."""
    slug = re.sub(r"\W+", "-", query.lower()).strip("-") or "page"
    filled = [
        (windows.say(title, q=query), where.format(s=slug), windows.say(text, q=query))
        for title, where, text in RESULTS
    ]
    return shuffled(filled, windows.state.seed, "results")


def go(windows: WindowManager, text: str) -> None:
    """Handle Enter in the address bar: open an address, or search for anything else."""
    text = text.strip()
    if not text:
        return
    if ADDRESS.fullmatch(text):
        open_url(windows, text if "://" in text else f"https://{text}")
    else:
        search(windows, text)


def search(windows: WindowManager, query: str) -> None:
    """Search for a query and show the results."""
    windows.state.searches.append(query)
    activity = windows.show("browser", "results", query=query)
    activity.fields["url_bar"] = query
    windows.load_page(activity)


def open_url(windows: WindowManager, url: str, title: str = "") -> None:
    """Show the web page at this URL."""
    windows.state.urls.append(url)
    activity = windows.show("browser", "site", url=url, title=title)
    activity.fields["url_bar"] = url
    windows.load_page(activity)


def _bar_field(windows: WindowManager) -> Widget:
    return windows.field(
        "url_bar",
        "Search or type web address",
        on_enter=lambda: go(windows, windows.value("url_bar")),
        plain=True,
        size=17,
    )


def _bar(windows: WindowManager) -> Widget:
    return Row(
        parts=[
            Wide(40, Picture("home_outline", 24, "text", description=windows.say("Home page"), on_tap=windows.restart)),
            Row(
                parts=[Wide(24, Picture("lock_outline", 18, "muted")), _bar_field(windows)],
                gap=8,
                padding=(14, 3, 14, 3),
                fill="raised",
                radius=24,
            ),
            Wide(32, Picture("dots_vertical", 24, "text", description=windows.say("More options"))),
        ],
        gap=6,
        padding=(8, 8, 8, 8),
        fill="background",
    )


def _loading(windows: WindowManager) -> Page:
    return Page(header=_bar(windows), body=waiting(windows))


_PAGES = {"main": main, "results": results, "site": site}
APP = App("browser", "com.android.browser", ".BrowserActivity", "Browser", "compass", "blue", _PAGES, loading=_loading)
