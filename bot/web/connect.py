"""The *Connect* pages of the console, where admins set up the model, the chats and the team's members.

Settings are stored in the settings file and apply at once. A secret can be entered but is never returned: not in an
answer, nor in the audit, the log or a refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.members.loading import Team
from bot.application.services import Services
from bot.checks.model import cause_of, names_at, was_asked
from bot.config.endpoints import model_settings
from bot.config.settings import Settings, SettingsError
from bot.config.settings_file import ADDRESSES, own_address
from bot.domain.address import Person
from bot.domain.finding import Finding
from bot.domain.right import API_PLATFORM, Right, Token
from bot.logs.setup import cover_secrets
from bot.people.access import authorize
from bot.people.subjects import Subject
from bot.platform import Platform
from bot.runtime.run_config import RunConfigs
from bot.texts import say, spoken
from bot.views.tasks import Json, model_json
from bot.views.tools import server_data
from bot.web.api import ID_LIMIT, Body, body_of
from bot.web.auth import caller_of
from bot.web.connect_forms import MODEL, PRESETS, Form, forms, has_secret, kind_of, typed
from bot.web.http import RequestRefused, get, post
from bot.web.sessions import Way
from bot.web.viewers import person_of, place_of
from devices.wording import said, sentence_of

VALUE_LIMIT = 4_000
"""Characters of one setting."""


class Wish(Body):
    """The contents of one form, as the page sends them. A missing field is not changed; "" clears it."""

    form: str = Field(max_length=ID_LIMIT)
    values: Mapping[str, str] = Field(max_length=20, repr=False)
    anyway: bool = False
    """Whether to save a model that fails its test."""


def admin_of(request: Request, services: Services) -> Person:
    """Return the caller as a person if they are an admin. Raises RequestRefused if not."""
    person = person_of(request)
    verdict = authorize(person, place_of(request), Right.ADMIN, services.policy)
    if not verdict.allowed:
        raise RequestRefused(403, verdict.reason)
    return person


class Connect:
    """Handles the requests of the *Connect* pages.

    - `online` returns whether a platform's chat is connected; None if there is no such chat.
    - `team` reads the team's members; `members` is the folder with the operator's own ones.
    - `model` knows the state of the model that acts.
    """

    def __init__(
        self,
        services: Services,
        platforms: Sequence[Platform[Any]],
        *,
        online: Callable[[str], bool | None],
        team: Callable[[], Team],
        members: Path,
        model: RunConfigs,
    ) -> None:
        self._services = services
        self._live = services.live
        self._forms = forms(platforms)
        self._online = online
        self._team = team
        self._members = members
        self._model = model
        self._lock = asyncio.Lock()

    @property
    def fields(self) -> dict[str, str]:
        """The names of the settings that are made on these pages, each with the name of its form."""
        return {asked.field: form.name for form in self._forms.values() for asked in form.fields}

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            get("/api/connect", self.overview),
            post("/api/connect/test", self.test),
            post("/api/connect/models", self.models),
            post("/api/connect/save", self.save),
        ]

    async def overview(self, request: Request) -> Response:
        """Return everything that can be connected and its state as JSON, without secrets."""
        admin_of(request, self._services)
        team = await asyncio.to_thread(self._team)
        own = await asyncio.to_thread(_names_in, self._members)
        found = {
            "offline": model_settings(self._live.now).offline,
            "model_state": model_json(self._model.state),
            "forms": [self._form_json(form) for form in self._forms.values()],
            "presets": [asdict(preset) for preset in PRESETS],
            "members": [
                {"name": one.name, "description": one.described(spoken()), "tools": one.tools, "own": one.name in own}
                for one in team.members.values()
            ],
            "refused": [{"folder": Path(one.folder).name, "why": said(one.why)} for one in team.refused],
            "folder": str(self._members),
            "servers": list(server_data(self._services.tools())),
            "people": self._people(),
            "waiting": self._waiting(),
            "pairing": self._services.rights.pairing is not None,
            "tokens": [self._token_json(token) for token in self._services.rights.tokens.listed()],
            "makes_tokens": caller_of(request).way is not Way.PERSON,
        }
        return JSONResponse(found, headers={"Cache-Control": "no-store"})

    async def test(self, request: Request) -> Response:
        """Test the entered settings without saving them; if none are entered, test the current ones."""
        admin_of(request, self._services)
        form, values, _ = await self._wish(request)
        async with self._lock:
            findings = await form.check(self._tried(form, values))
        if not values:
            self._tested(form, findings)
        return _findings(findings)

    async def models(self, request: Request) -> Response:
        """List the models that the endpoint at the entered address offers, for a menu."""
        admin_of(request, self._services)
        form, values, _ = await self._wish(request)
        if form.endpoint is None:
            raise RequestRefused(400, say("connect.unknown"))
        tried = self._tried(form, values)
        address, key = typed(tried, form.endpoint.address), getattr(tried, form.endpoint.key).get_secret_value()
        return JSONResponse({"names": await names_at(address, key) if address else []})

    async def save(self, request: Request) -> Response:
        """Test the entered settings, save them and apply them. If the test fails nothing changes, so a chat whose new
        token is refused keeps its old one. A model's settings are saved nevertheless if the request says `anyway`.
        """
        person = admin_of(request, self._services)
        form, values, anyway = await self._wish(request)
        async with self._lock:
            tried = self._tried(form, values)
            findings = await form.check(tried) if form.is_set(tried) else []
            decisive = findings[:1] if form.platform is not None else [] if anyway else findings
            if any(finding.verdict == "bad" for finding in decisive):
                return _findings(findings, saved=False)
            if changed := self._changed(values):
                try:
                    await self._live.write_file(changed, person)
                except SettingsError as error:
                    raise RequestRefused(409, said(sentence_of(error))) from None
                except OSError as error:
                    raise RequestRefused(503, say("connect.unwritten", why=error.strerror or "")) from None
        self._tested(form, findings)
        return _findings(findings, saved=True)

    def _tested(self, form: Form, findings: Sequence[Finding]) -> None:
        """Record the result of testing the current model, which may have been saved despite a failure."""
        if form.name == MODEL and was_asked(findings):
            self._model.tested(cause_of(findings))

    async def _wish(self, request: Request) -> tuple[Form, dict[str, str], bool]:
        wish = await body_of(request, Wish)
        form = self._forms.get(wish.form)
        known = {asked.field for asked in form.fields} if form is not None else set()
        if form is None or not wish.values.keys() <= known:
            raise RequestRefused(400, say("connect.unknown"))
        if any(len(value) > VALUE_LIMIT for value in wish.values.values()):
            raise RequestRefused(413, say("connect.long"))
        return form, {name: value.strip() for name, value in wish.values.items()}, wish.anyway

    def _tried(self, form: Form, values: Mapping[str, str]) -> Settings:
        """Return the settings with the entered values, whose secrets are hidden from logs from now on. Raises
        RequestRefused.
        """
        live = self._live
        if locked := [name for name in values if live.is_fixed(name)]:
            raise RequestRefused(409, say("connect.fixed", names=", ".join(map(str.upper, locked))))
        of = form.endpoint
        if of is not None and values.get(of.key) and not own_address(live.now, of.key) and not values.get(of.address):
            raise RequestRefused(409, say("connect.no_address"))
        try:
            tried = live.tried(values)
        except SettingsError as error:
            raise RequestRefused(409, said(sentence_of(error))) from None
        cover_secrets(tried)
        if of is not None:
            before, address = typed(live.now, of.address), typed(tried, of.address)
            if urlsplit(address).username is not None:
                raise RequestRefused(409, say("connect.key_in_address"))
            if address != before and of.key not in values and has_secret(live.now, of.key):
                raise RequestRefused(409, say("connect.key_again"))
        return tried

    def _changed(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the values that differ from the current ones; secrets always count as different."""
        now = self._live.now
        return {
            name: value for name, value in values.items() if value != typed(now, name) or kind_of(now, name) == "secret"
        }

    def _form_json(self, form: Form) -> Json:
        now = self._live.now
        told: Json = {"name": form.name, "title": form.title(), "about": form.about(), "state": self._state(form)}
        if form.platform is not None and form.is_set(now):
            told["closing"] = form.platform.closing(now)
        told["endpoint"] = None if form.endpoint is None else asdict(form.endpoint)
        fields = [self._field_json(asked.field, asked.prompt(), more=asked in form.more) for asked in form.fields]
        return told | {"fields": fields}

    def _field_json(self, field: str, label: str, *, more: bool) -> Json:
        now, fixed = self._live.now, self._live.is_fixed(field)
        value = typed(now, field)
        if fixed and field in ADDRESSES.values():
            # A path in the environment's address can be a key, and so can the part before an @.
            parts = urlsplit(value)
            value = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
        return {
            "name": field,
            "label": label,
            "kind": kind_of(now, field),
            "value": value,
            "set": has_secret(now, field) or bool(value),
            "fixed": fixed,
            "more": more,
        }

    def _state(self, form: Form) -> Json:
        """Return the state: a chat is off, closed (with the reason), connecting or connected, a model off or set."""
        now = self._live.now
        if form.platform is None:
            assert form.endpoint is not None
            is_set = form.is_set(now)
            return {"kind": "set" if is_set else "off", "text": typed(now, form.endpoint.model) if is_set else ""}
        if refusal := form.platform.refusal(now):
            return {"kind": "closed", "text": said(refusal)}
        kinds = {None: "off", False: "connecting", True: "connected"}
        return {"kind": kinds[self._online(form.name)], "text": ""}

    def _people(self) -> list[Json]:
        """List everybody's rights, and whether they come from the settings or from an admin, who can revoke them."""
        policy = self._services.policy
        rows = []
        for platform, lists in policy.platforms.items():
            rows += [_right(f"{platform}:{one}", Right.ADMIN) for one in sorted(lists.admins)]
            rows += [_right(f"{platform}:{one}", Right.APPROVE) for one in sorted(lists.users - lists.admins)]
        names = {phone.id: phone.name for phone in self._services.phones.list()}
        for grant in policy.grants:
            phone = names.get(grant.phone, grant.phone)
            rows.append(_right(str(Subject.of(grant)), grant.right, phone=phone, given=True))
        return rows

    def _waiting(self) -> list[Json]:
        pairing = self._services.rights.pairing
        return [
            {"who": f"{person.platform}:{person.id}", "name": person.name or person.id, "minutes": int(left // 60)}
            for person, left in (pairing.waiting() if pairing is not None else ())
        ]

    def _token_json(self, token: Token) -> Json:
        owner = "" if token.owner.platform == API_PLATFORM else str(Subject.of_person(token.owner))
        return {
            "name": token.name,
            "rights": sorted(token.rights),
            "owner": owner,
            "phones": list(token.phones),
            "expires": token.expires,
            "expired": token.expires <= self._services.clock(),
            "used": token.used,
        }


def _names_in(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()


def _right(who: str, right: Right, *, phone: str = "", given: bool = False) -> Json:
    return {"who": who, "right": right.value, "phone": phone, "given": given}


def _findings(findings: Sequence[Finding], **more: bool) -> Response:
    return JSONResponse({"findings": [asdict(finding) for finding in findings], **more})
