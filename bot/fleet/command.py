"""The `opengui fleet` command: lists, invites and removes hosts, moves phones between computers, and prints the
configuration for the nats-server.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Final

from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.config.settings import Settings
from bot.texts import say

FLEET: Final = "/api/fleet"


async def fleet(options: argparse.Namespace, settings: Settings) -> int:
    """Carry out the command and return its exit code. `config` is done here, everything else by the running service.

    Raises Refused, and ServiceGone if the service is needed and not running.
    """
    if options.what == "config":
        return _configuration(options, settings)
    if options.what == "move" and not options.host:
        raise Refused(say("fleet.no_phone", phone=""))
    if options.what != "list" and not options.host:
        raise Refused(say("fleet.bad_name"))
    async with service_of(settings) as remote:
        if options.what == "invite":
            line = await remote.send(f"{FLEET}/invite", name=options.host)
            print(say("fleet.invited"), file=sys.stderr)
            print(f"opengui host --join '{line['join']}'")
        elif options.what == "revoke":
            await remote.send(f"{FLEET}/revoke", name=options.host)
            print(say("fleet.revoked", name=options.host))
        elif options.what == "move":
            print((await remote.send(f"{FLEET}/move", name=options.host, host=options.to))["text"])
        else:
            known = await remote.read(FLEET)
            _list(known["fleet"], as_json=options.json)
            for each in known["conflicts"]:
                print(f"{each['text']} {each['fix']}", file=sys.stderr)
    return OK


def _list(hosts: list[dict[str, Any]], *, as_json: bool) -> None:
    for host in hosts:
        if as_json:
            print(json.dumps(host, ensure_ascii=False))
        else:
            print(say("fleet.line", name=host["name"], state=host["state"], phones=len(host["phones"])))
    if not hosts and not as_json:
        print(say("fleet.none"))


def _configuration(options: argparse.Namespace, settings: Settings) -> int:
    # Imported here so that asking a service does not load the engine's client.
    from bot.fleet.assembly import hub_keys  # noqa: PLC0415 - see above
    from bot.fleet.sign_in import server_configuration  # noqa: PLC0415 - see above

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    written = server_configuration(
        hub_keys(settings),
        store=options.store,
        host=options.listen,
        port=options.port,
        tls=(options.tls_cert, options.tls_key),
        websocket=options.websocket,
    )
    print(written, end="")
    return OK
