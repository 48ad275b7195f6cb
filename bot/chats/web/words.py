"""The page's own words from the catalogue, in the language of who opens it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.texts import CATALOGUE, CATALOGUES, language_of, speaking

AREAS = ("page.", "count.", "outcome.")
"""What the page may say; everything else comes from the service as a finished sentence."""


class Words:
    """Serves the words. `setting` is a language of the catalogue, or "auto" for the one that the browser asks for."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def routes(self) -> list[web.RouteDef]:
        """What is served; it needs no token, since the page has to say that one is missing."""
        return [web.get("/page/words.json", self.words)]

    async def words(self, request: web.Request) -> web.Response:
        """The language, and all sentences by key with their placeholders still in them."""
        language = self.language(request)
        words = {**CATALOGUE, **CATALOGUES[language]}
        words = {key: text for key, text in words.items() if key.startswith(AREAS)}
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language"}
        return web.json_response({"language": language, "words": words}, headers=headers)

    @web.middleware
    async def spoken(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """The middleware: what is said in an answer is said in the language of this browser."""
        with speaking(self.language(request)):
            return await handler(request)

    def language(self, request: web.Request) -> str:
        """In which language this browser is spoken to."""
        return language_of(self._setting, locale_of(request))


def locale_of(request: web.Request) -> str:
    """The locale that the browser asks for first, such as "zh-CN"; "" when it names none."""
    return request.headers.get("Accept-Language", "").split(",")[0].split(";")[0].strip()
