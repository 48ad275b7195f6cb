"""Answers simple questions without a model (battery, time, phones, schedules). Also recognises requests for a later
time, for which people should make a schedule.
"""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from agent.guards.words import CHINESE
from bot.application.access import Caller
from bot.application.phones import open_phones, phones_named, state_of
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.cards.formatting import local_time
from bot.domain.locale import zone_named
from bot.domain.schedule import BadRule
from bot.domain.schedule_words import read_rule
from bot.texts import say, speaking, spoken
from devices.phone import PhoneInfo

LONGEST: Final = 80
"""Maximum characters of a question that is answered without a model."""
_ABOUT_ME: Final = re.compile(
    r"what (?:do|have) you (?:know|remember(?:ed)?|learned) about me"
    r"|你(?:都)?(?:知道|记得|记住)(?:了)?(?:关于)?我(?:的)?(?:什么|哪些事?|些什么)|你对我(?:都)?(?:了解|知道)(?:多少|些?什么)",
    re.IGNORECASE,
)
LONGEST_TIME: Final = 40
"""Maximum characters of the words for a time at the beginning of a request."""
_BORDER: Final = re.compile(
    r"[\s,，]+|(?<=[^\W\dA-Za-z_])(?=\w)(?![一二三四五六七八九十日天末半])|(?<=[0-9])(?=[^\W\dA-Za-z_点时分月日号年])"
)
"""Where the words for a time may end. In Chinese there is no blank at this place, only a change from or to a number."""
_LEADS_ON: Final = re.compile(r"(?:\b(?:at|on|in|the|of|and)|[在和的]|[点时分半刻整0-9][早晚])$", re.IGNORECASE)
"""Words at the end that belong to the request rather than to the time. A time that ends with them would be misread."""
_GIVEN: Final = re.compile(r"\b(?:every|each|in)\b|[每点]|后(?!天)|\D[0-9]|[0-9]\D", re.IGNORECASE)
"""A text contains a time only if this matches: "tonight" and 早上 also begin other sentences."""
_ASKS: Final = re.compile(
    r"[?？吗谁哪几]|什么|怎么|如何|多少|是否"
    r"|^(?:who|what|where|when|why|how|which|is|are|was|am|will|do|does)\b|^(?:can|could|should|would)\b(?! you\b)"
    r"|^(?!(?:open|launch|start|search|show|read)\b|[去请]?(?:打开|启动|搜|查|看|读)).*(?:天气|新闻|\b(?:weather|forecast|news)\b)",
    re.IGNORECASE,
)
_ALARM: Final = re.compile(r"叫醒我|叫我起床|闹钟|\b(?:alarm|wake me)\b", re.IGNORECASE)
"""A request for an alarm is carried out at once; the time in it is that of the alarm."""
_AROUND: Final = re.compile(r"^(?:(?:please|hey|hi|请问|请)[\s,，]+|请问?)|[\s.!?。！？]+$", re.IGNORECASE)


class Subject(StrEnum):
    """What a question that needs no model is about."""

    BATTERY = "battery"
    TIME = "time"
    PHONES = "phones"
    SCHEDULES = "schedules"


@cache
def _asked() -> tuple[tuple[Subject, str, re.Pattern[str]], ...]:
    """Patterns of the questions, each with its language."""
    table = tomllib.loads(files("bot.application").joinpath("own_facts.toml").read_text(encoding="utf-8"))
    return tuple(
        (Subject(subject), language, re.compile(pattern, re.IGNORECASE))
        for language, patterns in table.items()
        for subject, pattern in patterns.items()
    )


def asks_for_all(text: str) -> bool:
    """Return whether the text only asks what the service remembers about the writer, such as "what do you know about
    me?".
    """
    return _ABOUT_ME.fullmatch(text.strip(" \n\t.,!?。，！？")) is not None


def subject_of(text: str) -> tuple[Subject, str] | None:
    """Return the subject and the language code ("en", "zh") of a question that the service can answer without a model.
    None if the text is not exactly such a question.
    """
    plain = _AROUND.sub("", _AROUND.sub("", " ".join(text.split())))
    if len(plain) > LONGEST:
        return None
    return next(((subject, language) for subject, language, asked in _asked() if asked.fullmatch(plain)), None)


def later_of(text: str, *, now: float, zone: ZoneInfo) -> tuple[str, str] | None:
    """Split a request such as "every morning at 8 open Clock" into the words for the time and the rest. None if the
    text does not begin with a time, or is about an alarm or a question. `now` is in Unix seconds; `zone` is the zone of
    the time.
    """
    plain = " ".join(text.split())
    if _ALARM.search(plain):
        return None
    for border in reversed([*_BORDER.finditer(plain, 0, LONGEST_TIME)]):
        when, what = plain[: border.start()], plain[border.end() :]
        if not _GIVEN.search(when) or _LEADS_ON.search(when) or len(what) < 2 or what[0].isdigit():
            continue
        with suppress(BadRule):
            read_rule(when, now=now, zone=zone)
            return None if _ASKS.search(what) else (when, what)
    return None


async def answer_to(text: str, device: str, caller: Caller, services: Services) -> str:
    """Answer a question about battery, time, phones or schedules, in the text's language and limited to what the caller
    may know. A request for a later time gets the advice to make a schedule. Returns "" for any other text.

    `device` names the phones that the question is about, "" for all. Raises Refused for an unknown phone.
    """
    asked = subject_of(text)
    if asked is None:
        later = later_of(text, now=services.clock(), zone=services.zone)
        with speaking("zh" if CHINESE.search(text) else spoken()):
            return say("own_facts.later", when=later[0], what=later[1]) if later is not None else ""
    subject, language = asked
    with speaking(language):
        phones = open_phones(caller, services)
        if device.strip():
            phones = phones_named(device, phones) or phones
        match subject:
            case Subject.TIME:
                return say("own_facts.time", time=local_time(services.clock(), services.zone), zone=services.zone.key)
            case Subject.SCHEDULES:
                return await _schedules(caller, services)
            case _ if not phones:
                return say("phone.none")
            case Subject.BATTERY:
                return "\n".join(map(_battery, phones))
            case Subject.PHONES:
                return "\n".join(say("phone.line", name=phone.name, state=state_of(phone)) for phone in phones)


def _battery(phone: PhoneInfo) -> str:
    if phone.battery is None:
        return say("own_facts.battery_unknown", name=phone.name)
    return say("own_facts.battery", name=phone.name, percent=phone.battery)


async def _schedules(caller: Caller, services: Services) -> str:
    found = [one for one in await ScheduleCommands(caller, services).visible() if not one.paused]
    lines = [
        say(
            "own_facts.schedule",
            schedule=one.id,
            time=local_time(one.due, zone_named(one.plan.rule.zone)),
            text=one.plan.draft.text,
        )
        for one in sorted(found, key=lambda one: one.due)
    ]
    return "\n".join(lines) or say("own_facts.no_schedules")
