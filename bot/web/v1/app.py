"""Builds the FastAPI application: its routes, its OpenAPI document, and the form {code, message, details} of all
errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bot.application.access import NotAllowed, Refused, Unknown
from bot.application.services import Services
from bot.commands.parser import ParseError
from bot.domain.task import AgentFailed, BadText, OverQuota, TaskError, TooManyTasks, UnknownQuestion, UnknownTask
from bot.store.audit import AuditKind
from bot.store.errors import StoreAway
from bot.tasks.files import BadFiles
from bot.tasks.manual_input import NeedsApproval
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.http import CODES, NOT_FOUND, answer_not_served, away_words, refuse
from bot.web.v1 import conversations, events, fleet, records, skills, tasks
from bot.web.v1.asking import BadPage
from bot.web.v1.models import MOST_ON_A_PAGE, Problem

logger = logging.getLogger(__name__)

RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "A limit or cursor is not valid, or the token is in the address."},
    401: {"model": Problem, "description": "No token that holds."},
    403: {"model": Problem, "description": "The token may not do that."},
    404: {"model": Problem, "description": "There is no such thing for this token."},
    409: {"model": Problem, "description": "As things stand it cannot be done."},
    413: {"model": Problem, "description": "Too large."},
    415: {"model": Problem, "description": "The body is of another type."},
    422: {"model": Problem, "description": "The request does not have its form."},
    429: {"model": Problem, "description": "Used up: the quota, or the places in the queue."},
    503: {"model": Problem, "description": "The store or the agent cannot be reached now."},
}
PAGE_PLACES: Final = frozenset({"query.limit", "query.cursor", "header.last-event-id"})
"""Parameters that select a part of a list or a stream."""
BY_ERROR: tuple[tuple[type[Exception], int, str], ...] = (
    (NotAllowed, 403, "not_allowed"),
    (BadPage, 400, "bad_page"),
    (Unknown, 404, NOT_FOUND),
    (ParseError, 422, "bad_text"),
    (Refused, 409, "refused"),
    (OverQuota, 429, "over_quota"),
    (TooManyTasks, 429, "too_many_tasks"),
    (UnknownTask, 404, NOT_FOUND),
    (UnknownQuestion, 404, NOT_FOUND),
    (BadText, 422, "bad_text"),
    (BadFiles, 413, "too_large"),
    (NeedsApproval, 409, "needs_approval"),
    (AgentFailed, 503, "agent_failed"),
    (TaskError, 409, "refused"),
)
"""The status and code of each kind of error; the first that matches counts."""


def api_app(services: Services, stopping: asyncio.Event, routers: Sequence[APIRouter]) -> FastAPI:
    """Build the application to be mounted below /api/v1. `routers` are further routes, from optional parts of the
    program; setting `stopping` ends its streams.
    """
    app = FastAPI(
        title="opengui-bot",
        version=version("opengui-bot"),
        description="Hand tasks to Android phones, follow them, answer their questions, and touch phones by hand.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        servers=[{"url": "/api/v1"}],
        root_path_in_servers=False,
        responses=RESPONSES,
        separate_input_output_schemas=False,
    )
    app.state.services = services
    app.state.stopping = stopping
    for router in (
        *(conversations.router, tasks.router, events.router, skills.router, fleet.router),
        *(*routers, records.router),
    ):
        app.include_router(router)
    for kind, _, _ in BY_ERROR:
        app.add_exception_handler(kind, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, answer_not_served)
    app.add_exception_handler(StoreAway, _away)
    app.add_exception_handler(Exception, _failed)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    made = app.openapi

    def described() -> dict[str, Any]:
        document = made()
        parts = document.setdefault("components", {})
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
        for path in document["paths"].values():
            if (post := path.get("post")) is not None and not any(
                one["name"] == "Idempotency-Key" for one in post.get("parameters", ())
            ):
                key = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
                post.setdefault("parameters", []).append(
                    {"name": "Idempotency-Key", "in": "header", "required": False, "schema": key}
                )
        return document

    app.openapi = described  # type: ignore[method-assign]  # as FastAPI's documentation extends it


async def _answer_refusal(request: Request, error: Exception) -> Response:
    if isinstance(error, NotAllowed) and not error.audited:
        services: Services = request.app.state.services
        await services.store.audit.note(AuditKind.REFUSED, caller_of(request).person, detail=error.check)
    status, code = next((status, code) for kind, status, code in BY_ERROR if isinstance(error, kind))
    return refuse(status, str(error), code, {"allow": error.approval_key} if isinstance(error, NeedsApproval) else None)


async def _misshapen(_: Request, error: Exception) -> Response:
    """Say what is wrong and where, without the values, one of which may be a secret."""
    assert isinstance(error, RequestValidationError)
    places = {".".join(map(str, one["loc"])) for one in error.errors()}
    if places <= PAGE_PLACES:
        return refuse(400, say("api.bad_page", most=MOST_ON_A_PAGE), "bad_page")
    if all(place.startswith("path.") for place in places):
        return refuse(404, say("api.no_path"))
    found = [{"where": ".".join(map(str, one["loc"])), "why": one["msg"]} for one in error.errors()[:20]]
    return refuse(422, say("refusal.form", **(found[0])), CODES[400], found)


async def _away(_: Request, error: Exception) -> Response:
    assert isinstance(error, StoreAway)
    logger.warning("A request to the API was not carried out: %s", error)
    return refuse(503, away_words(error))


async def _failed(request: Request, _: Exception) -> Response:
    """Answer an error of the program; the traceback is in the log, under the request's id."""
    return refuse(500, say("api.fault", request=request.state.request_id))
