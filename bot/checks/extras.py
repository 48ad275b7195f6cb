"""The extras that are installed, and those that a setting asks for and that are not. Tools tell of their own."""

from __future__ import annotations

from bot.config.extras import install_command, lack_of
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import listed, say
from devices.extras import Extra, is_installed
from devices.wording import said


def findings(settings: Settings) -> list[Finding]:
    """All works without them, so one that is missing is a note."""
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
