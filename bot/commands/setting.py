"""The command `set`: settings that change while the service runs. For admins only."""

from __future__ import annotations

from datetime import datetime

from bot.chats.outgoing import Reply
from bot.commands.request import Refused, Request, Services, aside
from bot.endpoints import model_settings
from bot.live.names import UnknownSetting, known, names_of, value_of
from bot.live.names import is_set as named_in
from bot.live.settings import LiveSettings
from bot.settings import SettingsError
from bot.texts import listed, say
from devices.wording import said, sentence_of

DEFAULT = "default"
"""Typed in the place of a value: what was set is taken back."""


async def set_setting(request: Request, services: Services) -> Reply:
    """Show what can be changed, with its value and where that comes from; or change one."""
    words = request.call.rest.split(maxsplit=1)
    live = services.live
    if not words:
        return aside("\n".join(_lines(services)), heading=say("set.heading"))
    try:
        name = known(words[0])
        if len(words) == 1:
            return aside(_line(services, name))
        value = words[1].strip()
        if value.lower() == DEFAULT:
            old, new = await live.take_back(name, request.person)
        else:
            old, new = await live.set(name, value, request.person)
    except UnknownSetting:
        raise Refused(say("set.unknown", name=words[0][:40], known=listed(names_of(live.now)))) from None
    except SettingsError as error:
        raise Refused(say("set.refused", why=said(sentence_of(error)))) from None
    at_once = "tier" in name  # a quota is looked at again after each step
    lines = [say("set.done_now" if at_once else "set.done", name=name, old=old, new=new)]
    if name.endswith("model") and model_settings(live.now).offline:
        lines.append(say("set.offline"))
    return aside("\n".join(lines))


def _lines(services: Services) -> list[str]:
    live = services.live
    names = dict.fromkeys((*names_of(live.now), *live.changes))
    return [*(_line(services, name) for name in names), say("set.how")]


def _line(services: Services, name: str) -> str:
    live = services.live
    if why := live.unusable.get(name):
        return say("set.unusable", name=name, value=live.changes[name].value, why=said(why))
    value = value_of(live.now, name)
    change = live.changes.get(name)
    if change is None:
        return say(f"set.origin.{_origin(live, name)}", name=name, value=value)
    time = datetime.fromtimestamp(change.at, services.zone).strftime("%Y-%m-%d %H:%M")
    who = f"{change.by.name or change.by.id} ({change.by.platform}:{change.by.id})"
    return say("set.changed", name=name, value=value, who=who, time=time, before=value_of(live.base, name))


def _origin(live: LiveSettings, name: str) -> str:
    return "environment" if named_in(live.base, name) else "default"
