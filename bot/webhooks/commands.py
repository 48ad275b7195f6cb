"""The chat command `webhooks`, which creates, tests and removes webhooks."""

from __future__ import annotations

import re
from typing import Final

from bot.application.access import Refused
from bot.application.services import Services
from bot.commands.request import Request, public_reply
from bot.domain.outgoing import Reply
from bot.domain.webhook import Webhook
from bot.texts import say
from bot.webhooks.delivery import host_of, test_words
from bot.webhooks.making import WebhookCommands

_LIST: Final = frozenset({"", "list", "列表"})
_ADD: Final = re.compile(r"add\s+(\S+)", re.IGNORECASE)
_CHANGE: Final = re.compile(r"(test|off|on|remove)\s+#?(\d{1,18})", re.IGNORECASE)


async def webhooks(request: Request, services: Services) -> Reply:
    """List the caller's webhooks (an admin's list has all), or create, test, switch or remove one. Raises Refused."""
    typed = request.call.rest.strip()
    commands = WebhookCommands(request, services)
    if typed.casefold() in _LIST:
        found = await commands.visible()
        lines = [_line(one, request) for one in found]
        return public_reply("\n".join(lines)) if lines else public_reply(say("webhook.none_yet", prefix=request.prefix))
    if (added := _ADD.fullmatch(typed)) is not None:
        if not request.place.private:
            raise Refused(say("webhook.in_private"))
        made = await commands.add(added[1], everybody=request.flag("everybody"))
        return public_reply(say("webhook.made", webhook=made.id, secret=made.wish.secret))
    if (changed := _CHANGE.fullmatch(typed)) is None:
        raise Refused(say("webhook.usage"))
    deed, number = changed[1].lower(), changed[2]
    match deed:
        case "test":
            return public_reply(test_words(number, await commands.test(number)))
        case "off":
            await commands.switch_off(number)
            return public_reply(say("webhook.switched_by_hand", webhook=number))
        case "on":
            await commands.switch_on(number)
            return public_reply(say("webhook.on", webhook=number))
        case _:
            await commands.remove(number)
            return public_reply(say("webhook.removed", webhook=number))


def _line(one: Webhook, request: Request) -> str:
    """Show the full address only in private, because it may contain a secret."""
    state = say(f"webhook.off.{one.off}") if one.off else say("webhook.is_on")
    return f"{one.id} · {one.wish.url if request.place.private else host_of(one.wish.url)} · {state}"
