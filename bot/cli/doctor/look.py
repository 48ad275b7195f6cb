"""Runs all checks of `opengui doctor`, those of the optional dependencies, tools and folders among them, and prints
their findings, for a person or as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.ports.workshop import Lack
from bot.chats.installed import installed
from bot.checks import chats, files, model
from bot.checks.service import MODEL, waited
from bot.checks.settings import in_force
from bot.cli.doctor import phones
from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import Remote, running_service
from bot.config.installation import install_command, lack_of
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import listed, say
from bot.views.tools import ToolLack, ToolState
from bot.wiring.parts import installed_parts
from bot.wiring.team import refused_folders, tools_here
from devices.extras import Extra, is_installed
from devices.wording import said


def extras(settings: Settings) -> list[Finding]:
    """List the installed extras, and the missing ones that a setting asks for. A missing extra is only a note, because
    all else works without it; extras that a tool needs are reported with the tool.
    """
    there = [extra for extra in Extra if is_installed(extra)]
    wanted = {Extra.OTEL: settings.otlp_endpoint, Extra.VIRTUAL_PHONE: settings.virtual_phones}
    return [
        *([Finding("computer", "good", say("extra.installed", names=listed(there)))] if there else []),
        *(
            Finding("computer", "note", said(lack_of(extra)), install_command(extra))
            for extra, asked in wanted.items()
            if asked and extra not in there
        ),
    ]


async def tool_findings(settings: Settings) -> list[Finding]:
    """Check the tools, and return the findings. This starts a room of the workshop (a sandbox for programs) to try it.
    The servers in `mcp.json` have their own check.
    """
    offer = await tools_here(settings)
    lacking: dict[ToolLack | Extra, list[ToolState]] = {}
    room: Lack | None = None
    for tool in offer.tools:
        if isinstance(tool.lack, Lack):
            room = tool.lack
        elif tool.lack is not None:
            lacking.setdefault(tool.lack, []).append(tool)
    found = [_workshop(room)]
    for tools in lacking.values():
        names = listed(tool.name for tool in tools)
        found.append(Finding("computer", "note", say("tools.lacking", names=names, why=tools[0].why)))
    return found + [files.refused_folder(each) for each in await asyncio.to_thread(refused_folders, settings)]


def _workshop(lack: Lack | None) -> Finding:
    """Whether shell and Python can be offered. A lack is only a note, because tasks work without them."""
    if lack is None:
        return Finding("computer", "good", say("workshop.good"))
    fix = "" if lack is Lack.OFF else say(f"workshop.fix.{lack.value}")
    return Finding("computer", "note", say("workshop.none", why=say(f"workshop.lack.{lack.value}")), fix)


async def findings(remote: Remote | None) -> list[Finding]:
    """Return findings about whether a service is running, and what it is waiting for. `remote` is None if none runs.
    Raises ServiceGone.
    """
    if remote is None:
        return [Finding("service", "note", say("check.service.away"))]
    health = await remote.health()
    if (standing_by := health.get("standing_by")) is not None:
        return [Finding("service", "good", say("standby.page", name=standing_by["active"]))]
    found = [Finding("service", "good", say("check.service.good"))]
    if "desk" in health["wrong"]:
        found = [Finding("service", "bad", say("check.service.hangs"), say("check.service.hangs_fix"))]
    waits = [wait for wait in health["waits"] if wait["for"] != MODEL]
    found += [waited(wait["for"], wait["why"], wait["since"], installed()) for wait in waits]
    return found


MARKS = {"good": "✓", "note": "·", "bad": "✗"}


async def doctor(options: argparse.Namespace, settings: Settings) -> int:
    """Print every finding; the exit code is 0 if none is bad."""
    bad = 0
    # Closed here if the reader stops early, so that the phones are released before the loop ends.
    async with aclosing(_findings(settings, mend=options.mend)) as found:
        async for finding in found:
            bad += finding.verdict == "bad"
            if options.json:
                print(json.dumps(dataclasses.asdict(finding), ensure_ascii=False), flush=True)
                continue
            print(f"{MARKS[finding.verdict]} {finding.text}")
            if finding.fix:
                print(f"    → {finding.fix}")
    if not options.json:
        print(say("doctor.well") if not bad else say("doctor.bad", number=bad))
    return OK if not bad else UNAVAILABLE


async def _findings(settings: Settings, *, mend: bool) -> AsyncGenerator[Finding, None]:
    yield Finding("computer", "good", say("check.python.good", version=sys.version.split()[0]))
    for finding in await files.findings(settings):
        yield finding
    settings, changed = await in_force(settings, installed())
    for finding in changed:
        yield finding
    for finding in extras(settings):
        yield finding
    async with running_service(settings.data_dir) as remote:
        running = remote is not None
        for finding in await findings(remote):
            yield finding
        for check in (part.check for part in installed_parts() if part.check is not None):
            for finding in await check(settings, remote):
                yield finding
    if not running and (taken := await files.console_port(settings)) is not None:
        yield taken
    async with aclosing(phones.findings(settings, running=running, mend=mend)) as attached:
        async for finding in attached:
            yield finding
    for examine in (model.findings, model.fallback, model.embedding, tool_findings):
        for finding in await examine(settings):
            yield finding
    for finding in await chats.findings(settings, installed()):
        yield finding
