"""A tool with which the model asks for the complete element list, which it is shown until it acts."""

from __future__ import annotations

from typing import Final, Literal

from agent.actions import Action
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.tools.spec import ActionError, Done, ungated
from agent.wording import Texts

NOTHING_LEFT: Final = "Not done: the list of this screen leaves out nothing. Scroll to see more."
_TEXTS: Final = Texts({"whole": "read the whole list"}, zh={"whole": "查看完整列表"})


class ShowAll(Action):
    """See rows left out of the list."""

    kind: Literal["show_all"] = "show_all"


async def _show_all(_action: ShowAll, context: PhoneContext) -> Done:
    if context.sight is not None and not context.sight.screen.is_cut:
        raise ActionError(NOTHING_LEFT)
    context.screen.list_all()
    return Done()


SHOW_ALL: Final = PhoneTool(
    model=ShowAll,
    describe=lambda _action, _sight: _TEXTS.words("whole"),
    gate=ungated,
    journalled=False,
    run=_show_all,
)
