"""What is said to a text that may be a code or password in the wrong place."""

from __future__ import annotations

from bot.application.interpret import MaybeSecret
from bot.application.services import Services
from bot.application.task_access import own_question
from bot.cards.formatting import title_of
from bot.cards.question import closed_line
from bot.commands.answers import cleared
from bot.commands.request import Request, plain
from bot.domain.outgoing import Reply
from bot.texts import say


async def tell_of_secret(request: Request, services: Services, secret: MaybeSecret) -> Reply:
    """Where it is asked for, or that it comes too late. The tasks of others are not named. A code is deleted."""
    if secret.closed is not None:
        words = f"{closed_line(secret.closed)} {say('answer.closed_secret')}"
        return plain(words if request.message is None else f"{words} {await cleared(request.message, services)}")
    tasks = [
        await services.task_service.get(one.task) for one in secret.asked if await own_question(one, request, services)
    ]
    number = next((task.called for task in tasks if task is not None), "12")
    how = {"answer": f"{request.lead}answer --task {number} …", "do": f"{request.lead}do …"}
    lines = [say("answer.elsewhere", **how), *(title_of(task) for task in tasks if task is not None)]
    if request.message is not None:
        lines.append(await cleared(request.message, services) if secret.is_code else say("answer.elsewhere_stays"))
    return plain("\n".join(lines))
