"""Refusals in the form that programs get: {code, message, details}."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse

NOT_FOUND: Final = "not_found"
"""Whatever it is that does not exist for the caller."""
CODES: Final = {408: "too_slow", 413: "too_large", 404: NOT_FOUND, 405: "method_not_allowed"}
"""What HTTP itself refuses."""


def problem(status: int, code: str, message: str, details: Any = None) -> JSONResponse:  # noqa: ANN401 - JSON
    """A refusal in the form that programs get; see `bot.web.v1.models.Problem`."""
    return JSONResponse({"code": code, "message": message, "details": details}, status)
