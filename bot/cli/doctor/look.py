"""Runs all checks of `opengui doctor` and prints their findings, for a person or as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

from bot.chats.installed import installed
from bot.checks import chats, files, model, setting_changes
from bot.checks.service import MODEL, waited
from bot.cli.doctor import phones, tools
from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import Remote, running_service
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import say
from bot.wiring.parts import installed_parts


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
    settings, changed = await setting_changes.in_force(settings, installed())
    for finding in changed:
        yield finding
    for finding in tools.extras(settings):
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
    for finding in await model.findings(settings):
        yield finding
    for finding in await model.fallback(settings):
        yield finding
    for finding in await model.embedding(settings):
        yield finding
    for finding in await tools.findings(settings):
        yield finding
    for finding in await chats.findings(settings, installed()):
        yield finding
