"""Checks for `opengui doctor`: whether the message broker between hub and hosts works, and the state of the hosts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from bot.config.installation import install_command, lack_of
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.fleet.messages import HOST_KEYS, HUB_KEYS, SPEAKS, Hello, asked_by, inbox_of, read_reply, understands
from bot.texts import say
from devices.extras import Extra, is_installed
from devices.wording import said

if TYPE_CHECKING:
    from bot.fleet.engine import Address, Link
    from bot.part import RunningService


async def findings(settings: Settings, service: RunningService | None) -> list[Finding]:
    """Check the fleet and return the results; none if this computer is neither a hub nor a host.

    If this computer's hub is running (`service`), also report its hosts, and phones that two computers report.
    """
    joined = await asyncio.to_thread((settings.data_dir / HOST_KEYS).exists)
    if not settings.fleet_url and not joined:
        return []
    if not is_installed(Extra.FLEET):
        return [Finding("service", "bad", said(lack_of(Extra.FLEET)), install_command(Extra.FLEET))]
    from bot.fleet.engine import Address, EngineAway, EngineRefused  # noqa: PLC0415 - an extra
    from bot.fleet.keys import HostKeys, HubKeys, KeysLost  # noqa: PLC0415 - the same
    from bot.fleet.nats_engine import connected  # noqa: PLC0415 - the same

    try:
        if settings.fleet_url:
            hub = await asyncio.to_thread(HubKeys.kept, settings.data_dir / HUB_KEYS)
            address = Address(settings.fleet_url, "doctor", "_INBOX_hub", seed=hub.user)
        else:
            keys = await asyncio.to_thread(HostKeys.kept, settings.data_dir / HOST_KEYS)
            assert keys is not None
            address = Address(keys.url, keys.name, inbox_of(keys.name), seed=keys.user)
    except KeysLost as lost:
        return [Finding("service", "bad", say("settings.fleet_keys", why=str(lost)))]
    try:
        async with connected(address) as link:
            found = [Finding("service", "good", say("check.fleet.good", url=address.url))]
            if not settings.fleet_url:
                found += await _hub_of(link, address)
    except EngineRefused:
        here = bool(settings.fleet_url)
        fix = say("check.fleet.hub_refused_fix") if here else say("check.fleet.host_refused_fix")
        found = [Finding("service", "bad", say("check.fleet.refused", url=address.url), fix)]
    except EngineAway as away:
        why = say("check.fleet.away", url=address.url, why=str(away))
        found = [Finding("service", "bad", why, say("check.fleet.away_fix"))]
    if not settings.fleet_url or service is None:
        return found
    known = await service.read("/api/fleet")
    for host in known["fleet"]:
        text = say("fleet.line", name=host["name"], state=host["state"], phones=len(host["phones"]))
        fix = "" if host["usable"] else _fix_of(host)
        found.append(Finding("service", "good" if host["usable"] else "bad", text, fix))
    return found + [Finding("service", "bad", each["text"], each["fix"]) for each in known["conflicts"]]


async def _hub_of(link: Link, address: Address) -> list[Finding]:
    """Check the hub's version as a host sees it. Raises EngineAway."""
    answer = await link.request(asked_by(address.name), Hello().model_dump_json().encode())
    try:
        theirs = int(read_reply(answer)[0].data["speaks"])
    except (ValueError, TypeError, KeyError):
        theirs = 0
    if understands(theirs):
        return []
    text = say("check.fleet.hub_version", theirs=theirs, ours=SPEAKS)
    return [Finding("service", "bad", text, say("fleet.version_fix"))]


def _fix_of(host: dict[str, Any]) -> str:
    if host["blocked"]:
        return say("fleet.blocked_fix", host=host["name"])
    return say("fleet.version_fix") if host["other_version"] else say("fleet.away_fix")
