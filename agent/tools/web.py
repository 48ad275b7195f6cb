"""Tools that search the web and read pages without the phone. The texts that they return are treated as data.

A page is only read if the person gave its address or a search of this task returned it. So no page or screen can make
the agent open an address, or send information out in one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.addresses import addresses_in, same, with_scheme
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, PageSource, Tool, ToolContext, query_gate, ungated
from agent.wording import Texts

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from agent.tools.searching import Search

SHOWN: Final = 80
NOT_GIVEN: Final = (
    "Not read: neither the person nor a search has given this address. Read the address as it was given, "
    "search for it, or open it on the phone."
)
KEPT_BACK: Final = "Not done: there is a secret in it, and secrets never leave."
TEXTS: Final = Texts(
    {
        "read_page": "read {url}",
        "web_search": "search the web for {query}",
        "read": "{letters} characters read",
        "found": "pages found: {number}",
    },
    zh={
        "read_page": "阅读 {url}",
        "web_search": "在网上搜索 {query}",
        "read": "读到 {letters} 个字符",
        "found": "找到网页：{number}",
    },
)


class ReadPage(Action):
    """Read the text of a web page without the phone, at an address that the person or a search gave.

    Not for pages that need a browser or somebody signed in: open those on the phone.
    """

    kind: Literal["read_page"] = "read_page"
    url: str = Field(min_length=1, max_length=2000, description="The address, exactly as it was given.")


class WebSearch(Action):
    """Search the web without the phone. The pages that it returns can be read with read_page."""

    kind: Literal["web_search"] = "web_search"
    query: str = Field(min_length=1, max_length=300, description="A few words, without anything private.")


def may_read(url: str, context: ToolContext) -> bool:
    """Whether a tool may read this address, because the person gave it or a search of this task returned it."""
    wanted = same(url)
    return bool(wanted) and (wanted in addresses_in(context.said) or wanted in set(map(same, context.found)))


def read_page(make: Callable[[], Egress]) -> Tool[ReadPage]:
    """Return the tool that reads pages. `make` returns the Egress for fetching; it is called at each use."""

    async def run(action: ReadPage, context: ToolContext) -> ActionResult:
        if not may_read(action.url, context):
            raise ActionError(NOT_GIVEN)
        if context.mask.text(action.url) != action.url:
            raise ActionError(KEPT_BACK)
        from agent.tools.egress import FetchFailed  # noqa: PLC0415 - only where something is fetched
        from agent.tools.pages import read_page  # noqa: PLC0415 - the same

        try:
            page = await context.control.guard(read_page(with_scheme(action.url), make()))
        except FetchFailed as error:
            raise ActionError(f"The page could not be read. {error}") from error
        title = f"title: {in_a_line(page.title, 200)}\n" if page.title else ""
        text = f"page: {page.url}\n{title}\n{page.text}"
        return ActionResult(
            (Worded.of(TEXTS.words("read", letters=len(page.text))),),
            read=(text,),
            sources=(PageSource(in_a_line(page.title, 200), page.url),),
        )

    return Tool(
        model=ReadPage,
        describe=lambda action, _: TEXTS.words("read_page", url=in_a_line(action.url, SHOWN)),
        gate=ungated,
        repeatable=True,
        cacheable=True,
        run=run,
    )


def web_search(make: Callable[[], Search]) -> Tool[WebSearch]:
    """Return the tool that searches the web. `make` returns the search to use; it is called at each use."""

    async def run(action: WebSearch, context: ToolContext) -> ActionResult:
        if context.mask.text(action.query) != action.query:
            raise ActionError(KEPT_BACK)
        from agent.tools.egress import FetchFailed  # noqa: PLC0415 - only where something is fetched

        try:
            pages = await context.control.guard(make().search(action.query))
        except FetchFailed as error:
            raise ActionError(f"The search did not work. {error}") from error
        lines = [f"{number}. {page.title}\n   {page.url}\n   {page.text}" for number, page in enumerate(pages, 1)]
        shown = f"search: {in_a_line(action.query, SHOWN)}\n\n" + ("\n".join(lines) or "Nothing was found.")
        effect = Worded.of(TEXTS.words("found", number=len(pages)))
        return ActionResult((effect,), read=(shown,), found=tuple(page.url for page in pages))

    return Tool(
        model=WebSearch,
        describe=lambda action, _: TEXTS.words("web_search", query=repr(in_a_line(action.query, SHOWN))),
        gate=lambda action, situation: query_gate(action.query, situation),
        details=lambda action: [action.query],
        repeatable=True,
        cacheable=True,
        run=run,
    )
