"""The HTTP API (v1) for hosts, the computers whose phones work for this service. It is for admins: a host receives
everybody's tasks.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fastapi import APIRouter
from pydantic import Field

from bot.application.access import Refused, Unknown
from bot.config.installation import install_command
from bot.domain.right import Right
from bot.fleet.console import hub_of, may_be_called, state_of
from bot.fleet.messages import INVITATION_MINUTES
from bot.store.audit import AuditKind
from bot.texts import say
from bot.web.v1.asking import Caller, Id, whole
from bot.web.v1.calls import Calls
from bot.web.v1.models import NAME_LIMIT, Got, Listed, Sent
from devices.extras import Extra, is_installed
from devices.wording import said, sentence_of

if TYPE_CHECKING:
    from bot.fleet.hub import Hub

router = APIRouter(tags=["hosts"])


class HostInfo(Got):
    """A host: a computer whose phones work for this service. `joined` is in Unix seconds; `phones` are names."""

    name: str
    state: str = Field(description="How it stands, in words.")
    usable: bool = Field(description="Whether it can be given work now.")
    joined: float
    version: str = Field(description="Of the program there; empty while it is not known.")
    phones: list[str]


class ConflictInfo(Got):
    """Two computers report a phone with the same id. It belongs to `owner`; the one reported by `claimant` is
    ignored.
    """

    phone: str
    owner: str = Field(description="The name of the host; empty for the machine of the service itself.")
    claimant: str = Field(description="The same for the other one.")
    text: str


class Hosts(Listed[HostInfo]):
    """The list of hosts that have joined. `switched_on` is false if this service takes none; the setting FLEET_URL
    switches that on.
    """

    switched_on: bool
    install: str = Field(description="The command that installs what hosts need; empty where it is installed.")
    conflicts: list[ConflictInfo]


class PhoneOwner(Sent):
    """The computer that a phone is to be assigned to: the name of a host, empty for the service's own computer."""

    host: str = Field(max_length=NAME_LIMIT)


class NewHost(Sent):
    """The name of a host to invite: 1 to 32 lowercase letters, digits and dashes."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT)


class Invitation(Got):
    """The command with which a host joins the fleet. It works once and is not shown again."""

    command: str = Field(description="What is run on the machine with the phones.")
    minutes: int = Field(description="How long it can be used.")


def _hub(calls: Calls) -> Hub:
    """Return the hub. Raises NotAllowed, and Refused if this service takes no hosts."""
    calls.require(Right.ADMIN)
    hub = hub_of(calls.services.machines)
    if hub is None:
        raise Refused(say("fleet.not_hub"))
    return hub


@router.get("/hosts")
async def list_hosts(calls: Caller) -> Hosts:
    """List the hosts that have joined, with their phones, and phones that two computers report."""
    calls.require(Right.ADMIN)
    hub = hub_of(calls.services.machines)
    infos = [
        HostInfo(
            name=host.name,
            state=state_of(host),
            usable=host.usable,
            joined=host.known.joined,
            version="" if host.presence is None else host.presence.version,
            phones=[there.info.name for there in host.phones()],
        )
        for host in (() if hub is None else hub.hosts.values())
    ]
    conflicts = [
        ConflictInfo(phone=each.phone, owner=each.owner, claimant=each.claimant, text=said(each.sentence))
        for each in (() if hub is None else hub.owners.conflicts)
    ]
    listed = whole(infos).data
    install = "" if is_installed(Extra.FLEET) else install_command(Extra.FLEET)
    return Hosts(data=listed, switched_on=hub is not None, install=install, conflicts=conflicts)


@router.post("/hosts", status_code=201)
async def invite_host(wish: NewHost, calls: Caller) -> Invitation:
    """Create the command with which a computer can join under this name, once and within ten minutes."""
    hub = _hub(calls)
    if not may_be_called(wish.name):
        raise Refused(say("fleet.bad_name"))
    join = await hub.invite(wish.name)
    await calls.services.store.audit.note(AuditKind.SETTING, calls.person, detail=f"hosts/{wish.name}: invited")
    return Invitation(command=f"opengui host --join {shlex.quote(join)}", minutes=INVITATION_MINUTES)


@router.delete("/hosts/{host}", status_code=204)
async def revoke_host(host: Id, calls: Caller) -> None:
    """Remove a host: it is not admitted again, and what it sends from now on is ignored."""
    if not await _hub(calls).revoke(host):
        raise Unknown(say("fleet.unknown", name=host))
    await calls.services.store.audit.note(AuditKind.SETTING, calls.person, detail=f"hosts/{host}: revoked")


@router.patch("/hosts/phones/{phone_id}", status_code=204)
async def move_phone(phone_id: Id, wish: PhoneOwner, calls: Caller) -> None:
    """Assign a phone, given by its id, to another computer, together with its tasks, its name and what is remembered
    about it.
    """
    from bot.fleet.hub import NotMoved  # noqa: PLC0415 - only a hub loads the engine's client

    try:
        await _hub(calls).move_phone(phone_id, wish.host)
    except NotMoved as why:
        raise Refused(said(sentence_of(why))) from why
    await calls.services.store.audit.note(
        AuditKind.SETTING, calls.person, detail=f"phones/{phone_id}: of {wish.host!r}"
    )
