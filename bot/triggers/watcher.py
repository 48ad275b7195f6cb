"""Reads the notifications of phones that have a trigger, and starts the resulting tasks. Notifications with a code or
link for signing in start no task and are shown to no model.

The words for secrets (`Policy.asks_for_secret`) cover every language that has a table. Whether a number or word is a
code depends on what the text says about signing in; in doubt it counts as one.

Reading needs no lease and disturbs no task, and a phone, app or chat that hangs delays no other. A notification that
was already read is not considered again. The id of the notification that started a task is stored with the task.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from agent.guards.policy import Policy
from agent.ports.agent import ReceivedText
from bot.application.access import Caller, NotAllowed, Refused, audited, require
from bot.application.interpret import looks_like_a_code
from bot.application.schedules import yes_of_now
from bot.application.services import Services
from bot.application.tasks import TaskCommands
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.domain.task import OverQuota, OverTriggerLimit, TaskError
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.domain.trigger import TaskTrigger, mark_of
from bot.people.subjects import RolesUnknown, with_roles
from bot.store.errors import StoreAway
from bot.store.schedules import HOUR
from bot.texts import say, speaking
from devices.errors import PhoneError
from devices.notification import PhoneNotification
from devices.phone import NotificationSource
from devices.recent import Recent

logger = logging.getLogger(__name__)


_SIGN_IN: Final = re.compile(
    r"\b(?:log(?:ging)?[ -]?(?:in|on)|sign(?:ing)?[ -]?in|verif\w*|tokens?|tan|2fa|authenticat\w*"
    r"|passwordless|magic link"
    r"|confirm (?:that )?(?:it'?s you|you|your (?:identity|e-?mail|account|device|phone))"
    r"|anmeld\w*|einlog\w*|einzuloggen|connexion|connect(?:er|ez)|acceso|acceder|(?:iniciar|inicio de) sesi[oó]n"
    r"|accedi|accedere|accesso|iniciar sess[aã]o|entrar na (?:sua )?conta|inlogg\w*|aanmeld\w*|zalog\w*|logowani\w*"
    r"|přihlá\w*|logga in|logg inn|log ind|kirjaudu\w*|autentific\w*|bejelentkez\w*|вход\w*|войти|войдите|авториз\w*"
    r"|увійти|вхід|giriş|masuk|đăng nhập"
    r"|\w*(?:lösenord|passord|passwort|kennwort|wachtwoord|koodi|jelszó)\w*)\b"
    r"|登录|登入|登陆|验证|驗證|ログイン|サインイン|로그인|인증"
    r"|تسجيل الدخول|لاگین|ورود به|התחבר|लॉग ?इन|เข้าสู่ระบบ|σύνδεση",
    re.IGNORECASE,
)
"""Phrases in such messages that name no secret."""
_HARMLESS: Final = re.compile(
    r"\b(?:tracking|order|booking|reservation|pick-?up|collection|parcel|ship(?:ping|ment)|flight|invoice|reference"
    r"|customer)[ -]codes?\b|\b(?:sendungs|bestell|buchungs|abhol|kunden)-?codes?\b"
    r"|\bcodes? de (?:suivi|commande|retrait)\b"
    r"|\bc[oó]digos? de (?:seguimiento|rastreo|rastreamento|reserva|pedido|recogida|retirada)\b"
    r"|\bcodice (?:di tracciamento|ordine|prenotazione)\b|\bкод\w* (?:отслеживания|заказа|бронирования|получения)\b",
    re.IGNORECASE,
)
"""Codes for finding or collecting things."""
_NUMBER: Final = re.compile(
    r"(?<![\w.,:/+#№€$£¥₹])(?:[A-Za-z]{1,3}-)?\d(?:[ .·–-]?\d){3,10}"
    r"(?![\w/]|[.,:]\d|\s?(?:[€$£¥₹%]|(?:eur|usd|gbp|rmb)\b|元|円))",
    re.IGNORECASE,
)
"""Four to eleven digits, grouped or not, that are neither an amount nor a time."""
_DATE: Final = re.compile(r"(?:0?[1-9]|[12]\d|3[01])([.-])(?:0?[1-9]|1[0-2])\1(?:\d\d)?\d\d|\d{4}([.-])[01]\d\2[0-3]\d")
_MIXED: Final = re.compile(
    r"(?<![\w#№./-])(?=\w*\d)(?=\w*[a-z])(?!\d+(?:min|mins|sec|secs|hrs|days|gb|mb)\b)[a-z0-9]{4,10}(?![\w/]|[.-]\w)",
    re.IGNORECASE,
)
_GROUPS: Final = re.compile(
    r"(?<![\w#№/-])(?:[A-Z0-9]{3,6}(?:-[A-Z0-9]{3,6})+|(?=[a-z-]*\d)[a-z0-9]{3,6}(?:-[a-z0-9]{3,6})+)(?![\w-])"
)
_WORD: Final = r"(?:[A-Z]{4,10}|[a-z]{4,10})"
_SAID: Final = re.compile(
    rf"(?:[:：=]|\b(?:is|ist|lautet|est|es|é|è|jest|je|är|er|on|este|adalah|ialah|là)\b|是|为|為|は)\s*"
    rf"[\"“”„«「'*]*{_WORD}[\"”“»」'*.。!]*\s*$",
    re.MULTILINE,
)
"""A word on its own after what it is."""
_LINE: Final = re.compile(r"^\s*[A-Z]{4,10}\s*$", re.MULTILINE)
_IS_IT: Final = re.compile(
    rf"^\W*(?:\[[^\]]*\]\s*)?{_WORD}\s+(?:is|ist|est|es|é|è|jest|är|er|on|adalah|là)\b", re.MULTILINE
)
"""A word on its own before what it is."""
_LINK: Final = re.compile(r"\bhttps?://\S+", re.IGNORECASE)
_LETS_IN: Final = re.compile(
    r"token|otp|magic|log-?in|sign-?in|passwordless|auth|sso|verif|(?:reset|forgot)[-_/]?p|invite", re.IGNORECASE
)
_KEY: Final = re.compile(r"(?<![A-Za-z0-9_-])(?=[\w.-]*\d)[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+)*|[A-Za-z0-9_-]{20,}")
"""A part of an address that no person would write."""


def tells_code(text: str, policy: Policy) -> bool:
    """Return whether the text contains, or may contain, a code or link with which somebody can sign in."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if looks_like_a_code(plain):
        return True
    links = _LINK.findall(plain)
    words = _HARMLESS.sub(" ", _LINK.sub(" ", plain))
    is_about_it = policy.asks_for_secret(words) or _SIGN_IN.search(words) is not None
    if any(
        _KEY.search(link.partition("//")[2].partition("/")[2]) for link in links if is_about_it or _LETS_IN.search(link)
    ):
        return True
    if not is_about_it:
        return False
    return any(pattern.search(words) for pattern in (_MIXED, _GROUPS, _SAID, _LINE, _IS_IT)) or any(
        not _DATE.fullmatch(found[0]) for found in _NUMBER.finditer(words)
    )


PAUSE: Final = 5.0
"""Seconds between two rounds of reading."""
LOOK: Final = 10.0
"""Seconds for reading one app's notifications on a phone."""
DEAL: Final = 30.0
"""Seconds for handling one notification; after that it is tried again in the next round."""
KEPT: Final = 4096
"""Notifications that this process remembers as handled, in addition to the stored marks."""


class TriggerWatcher:
    """Watches the notifications for all triggers. `services.clock` gives the time, `sleep` waits for some seconds, and
    `ticks` returns seconds that do not change when the clock is set.
    """

    def __init__(
        self,
        services: Services,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._services = services
        self._sleep = sleep
        self._ticks = ticks
        self._watched_since: dict[str, float] = {}
        """When each trigger was first watched, in `ticks`."""
        self._looked: float | None = None
        """When notifications were last read, by the clock; None before the first time."""
        self._working: dict[tuple[str, ...], asyncio.Task[None]] = {}
        """Work in progress: reading, by phone and app, and handling what was read, by trigger."""
        self._handled: Recent[tuple[str, str], None] = Recent(KEPT)
        self._reported_at: dict[str, float] = {}
        """When each trigger last reported why it started nothing."""

    async def run(self) -> None:
        """Read notifications repeatedly until cancelled. Errors are logged. Without triggers this costs nothing."""
        schedules = self._services.store.schedules
        try:
            while True:
                try:
                    schedules.trigger_begun.clear()
                    if not await self.check():
                        await schedules.trigger_begun.wait()
                except StoreAway as away:
                    logger.debug("the triggers are looked through again: %s", away)
                except Exception:
                    logger.exception("The check of the triggers failed and will be repeated")
                await self._sleep(PAUSE)
        finally:
            for task in self._working.values():
                task.cancel()
            await asyncio.gather(*self._working.values(), return_exceptions=True)

    async def check(self) -> bool:
        """Begin to read the notifications of every phone and app that has a trigger and is not being read already.
        Returns whether there are triggers.
        """
        triggers = await self._services.store.schedules.triggers()
        now, ticks = self._services.clock(), self._ticks()
        apps: defaultdict[tuple[str, str], list[Schedule]] = defaultdict(list)
        begun = {}
        for one in triggers:
            if one.plan.trigger is not None:
                apps[one.plan.trigger.phone, one.plan.trigger.package].append(one)
            # A trigger that is resumed ignores earlier notifications.
            is_new = self._looked is None or one.created > self._looked
            begun[one.id] = self._watched_since.get(one.id, ticks - max(0.0, now - one.created) if is_new else ticks)
        self._watched_since, self._looked = begun, now
        for app, found in apps.items():
            self._begin(app, partial(self._read_notifications, *app, found))
        return bool(triggers)

    async def finished(self) -> None:
        """Wait until no work is in progress."""
        while self._working:
            await asyncio.wait([*self._working.values()])
            await asyncio.sleep(0)

    def _begin(self, what: tuple[str, ...], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if what not in self._working:
            self._working[what] = asyncio.create_task(work(), name=f"trigger {' '.join(what)}")
            self._working[what].add_done_callback(lambda _: self._working.pop(what))

    async def _read_notifications(self, phone_id: str, package: str, triggers: Sequence[Schedule]) -> None:
        try:
            async with asyncio.timeout(LOOK):
                phone = self._services.phones.get(phone_id)
                if not isinstance(phone, NotificationSource):
                    return
                shown = await phone.notifications(package)
        except (PhoneError, TimeoutError) as away:
            logger.debug("the notifications of %s cannot be read now: %s", phone_id, away)
            return
        for one in triggers:  # separately, so that one that waits, for example for a chat, delays no other
            self._begin((one.id,), partial(self._consider_all, one, phone_id, shown))

    async def _consider_all(self, schedule: Schedule, phone_id: str, shown: Sequence[PhoneNotification]) -> None:
        for one in shown:
            try:
                async with asyncio.timeout(DEAL):
                    await self._consider(schedule, phone_id, one)
            except TimeoutError:
                logger.warning("Trigger %s took longer than %g s and will be tried again", schedule.id, DEAL)
                return
            except StoreAway as away:
                logger.debug("trigger %s is tried again: %s", schedule.id, away)
            except Exception:
                logger.exception("Trigger %s failed and will be tried again", schedule.id)

    async def _consider(self, schedule: Schedule, phone_id: str, one: PhoneNotification) -> None:
        trigger = schedule.plan.trigger
        assert trigger is not None
        mark = mark_of(phone_id, one)
        begun = self._watched_since.get(schedule.id)
        is_before = begun is None or one.age >= self._ticks() - begun
        if (schedule.id, mark) in self._handled or not trigger.takes(one) or is_before:
            return
        if not await self._services.store.schedules.is_marked(schedule.id, mark):
            with speaking(schedule.plan.person.language):
                await self._start_task(schedule, mark, one, self._services.clock())
        self._handled[schedule.id, mark] = None

    async def _start_task(self, schedule: Schedule, mark: str, one: PhoneNotification, now: float) -> None:
        trigger, plan = schedule.plan.trigger, schedule.plan
        assert trigger is not None
        if trigger.quiet is not None and trigger.quiet.hold(datetime.fromtimestamp(now, ZoneInfo(plan.rule.zone))):
            logger.info("trigger %s: nothing begins in its quiet hours", schedule.id)
            return
        said = f"{one.title}\n{one.text}".strip()
        if tells_code(one.text, Policy.default()) or tells_code(said, Policy.default()):
            logger.info("trigger %s: what may be a code begins nothing", schedule.id)
            return
        of = TaskTrigger(schedule=schedule.id, mark=mark, per_hour=trigger.per_hour)
        event = f"trigger-{schedule.id}-{mark}"
        try:
            person = await with_roles(plan.person, plan.place, self._services.policy, self._services.chats)
            caller = Caller(person, plan.place, event)
            async with audited(person, self._services.store):
                require(caller, self._services.policy, Right.USE, phone=trigger.phone)
            started = await TaskCommands(caller, self._services).start(
                plan.draft,
                standing=yes_of_now(caller, self._services, schedule),
                trigger=of,
                received=(ReceivedText(source=trigger.source, text=said),),
            )
        except NotAllowed as refused:
            await self._report_blocked(
                schedule, of, event, say("trigger.not_allowed", trigger=schedule.id, why=refused), now
            )
            await self._services.store.schedules.pause(schedule.id)
        except RolesUnknown:
            await self._report_blocked(schedule, of, event, say("trigger.roles_unknown", trigger=schedule.id), now)
        except (OverTriggerLimit, OverQuota, Refused, TaskError) as refused:
            await self._report_blocked(
                schedule, of, event, say("trigger.refused", trigger=schedule.id, why=refused), now
            )
        else:
            logger.info("trigger %s: task %s", schedule.id, started.task.id)
            await self._services.store.schedules.begun(schedule, started.task.id)

    async def _report_blocked(self, schedule: Schedule, of: TaskTrigger, event: str, why: str, now: float) -> None:
        """Report why nothing was started, as a task that is blocked from the beginning; at most once an hour."""
        logger.info("trigger %s: nothing begun", schedule.id)
        if now - self._reported_at.get(schedule.id, -HOUR) < HOUR:
            return
        plan = schedule.plan
        request = TaskRequest(
            plan.draft.text,
            plan.person,
            Origin(plan.place.address, event, private=plan.place.private),
            phones=tuple(WishedPhone(phone) for phone in plan.draft.device.split(",") if phone),
            options=plan.draft.options,
            max_steps=self._services.live.now.max_steps,
            trigger=of,
        )
        await self._services.task_service.turn_down(request, why)
        self._reported_at[schedule.id] = now
