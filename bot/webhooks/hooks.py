"""Inbound webhooks: `POST /hooks/NAME` starts the task that the hook was created for.

The caller sends the hook's secret or a signature made with it. The contents of a call are data for the task, never part
of its instructions. Two calls with the same id start only one task, because the id is stored with the task.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent.ports.agent import ReceivedText
from bot.application.access import Caller, NotAllowed, Refused
from bot.application.services import Services
from bot.application.tasks import TaskCommands
from bot.domain.schedule import Schedule
from bot.domain.task import OverQuota, OverTriggerLimit, TaskError, TooManyTasks
from bot.domain.trigger import TaskTrigger
from bot.domain.webhook import MOST_VALUES
from bot.people.subjects import RolesUnknown, with_roles
from bot.store.errors import StoreAway, StoreConflict
from bot.texts import say, speaking
from bot.web.http import away_words, read_body, refuse
from bot.web.sign_in import caller_address
from bot.webhooks.delivery import is_signed, new_secret

BODY: Final = 65_536
"""Bytes of a call."""
CALLS: Final = 60
"""Calls per minute of one hook with its secret, and from one address without."""
MINUTE: Final = 60.0
KEY_LIMIT: Final = 200
VALUE: Final = 500
"""Characters of a value that is passed on."""
CALLERS_KEPT: Final = 1000

logger = logging.getLogger(__name__)


class Inbound:
    """Handles the requests to inbound webhooks, below /hooks. `ticks` returns seconds that do not change when the clock
    is set.
    """

    def __init__(self, services: Services, *, ticks: Callable[[], float] = time.monotonic) -> None:
        self._services = services
        self._ticks = ticks
        self._calls: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._nobody = new_secret()
        """Used in place of the secret of a missing hook, so that checking takes equally long."""

    async def call(self, request: Request) -> Response:
        """Start the hook's task, once per message id. Calls with a wrong secret do not count against the hook's rate
        limit.
        """
        name, now = request.path_params["name"][:60], self._services.clock()
        body = await read_body(request, BODY)
        hooks = await self._services.store.schedules.hooks()
        hook = next((one for one in hooks if one.plan.hook is not None and one.plan.hook.name == name), None)
        secret = self._nobody if hook is None or hook.plan.hook is None else hook.plan.hook.secret
        knows = _knows(secret, request, body, now) and hook is not None
        if not self._is_within_limit(("hook", name) if knows else ("address", caller_address(request))):
            answer = refuse(429, say("hook.too_many"))
            answer.headers["Retry-After"] = "60"
            return answer
        if not knows or hook is None:
            return refuse(401, say("hook.unknown"))
        if hook.paused:
            return refuse(409, say("hook.paused"))
        key = request.headers.get("webhook-id") or request.headers.get("Idempotency-Key") or secrets.token_hex(16)
        if len(key) > KEY_LIMIT or not key.isprintable():
            return refuse(422, say("api.bad_key", most=KEY_LIMIT), "bad_key")
        try:
            values = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            return refuse(422, say("hook.no_object"), "bad_body")
        with speaking(hook.plan.person.language):
            return await self._begin(hook, values, hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:32])

    def _is_within_limit(self, caller: tuple[str, str]) -> bool:
        now = self._ticks()
        if len(self._calls) > CALLERS_KEPT:
            self._calls = defaultdict(
                deque, {one: calls for one, calls in self._calls.items() if calls and calls[-1] > now - MINUTE}
            )
        calls = self._calls[caller]
        while calls and calls[0] <= now - MINUTE:
            calls.popleft()
        if len(calls) >= CALLS:
            return False
        calls.append(now)
        return True

    async def _begin(self, one: Schedule, values: Mapping[str, Any], mark: str) -> Response:
        plan, hook, services = one.plan, one.plan.hook, self._services
        assert hook is not None
        try:
            person = await with_roles(plan.person, plan.place, services.policy, services.chats)
            caller = Caller(person, plan.place, f"hook-{one.id}-{mark}")
            text = _listed(values, hook.values)
            started = await TaskCommands(caller, services).start(
                plan.draft,
                trigger=TaskTrigger(schedule=one.id, mark=mark, per_hour=hook.per_hour),
                received=(ReceivedText(source=f"a call of the webhook {hook.name}", text=text),) if text else (),
            )
        except NotAllowed as refused:
            await services.store.schedules.pause(one.id)
            return refuse(403, str(refused))
        except RolesUnknown:
            return refuse(503, say("hook.roles_unknown"))
        except (OverTriggerLimit, OverQuota, TooManyTasks) as refused:
            return refuse(429, str(refused))
        except (Refused, TaskError) as refused:
            return refuse(409, str(refused))
        except StoreConflict:
            # It is so long ago that the id is forgotten, but its mark is not.
            return refuse(409, say("hook.repeated"))
        except StoreAway as away:
            return refuse(503, away_words(away))
        logger.info("hook %s: task %s", hook.name, started.task.id)
        if not started.duplicate:
            await services.store.schedules.begun(one, started.task.id)
        return JSONResponse({"task": started.task.id, "duplicate": started.duplicate}, 202)


def _knows(secret: str, request: Request, body: bytes, now: float) -> bool:
    """Whether the caller has signed with this secret or sent it. An invalid signature is never excused."""
    if "webhook-signature" in request.headers:
        return is_signed(secret, request.headers, body, now)
    sent = request.headers.get("Authorization", "").partition(" ")[2].strip()
    return hmac.compare_digest(sent.encode("utf-8", "surrogateescape"), secret.encode())


def _listed(values: Mapping[str, Any], wanted: tuple[str, ...]) -> str:
    """Return the values to pass on, one per line."""
    names = [name for name in wanted or values if name in values][:MOST_VALUES]
    return "\n".join(f"{' '.join(name.split())[:60]}: {_value(values[name])}" for name in names)


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:VALUE]
