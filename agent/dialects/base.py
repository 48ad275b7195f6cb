"""The interface of a dialect, the form in which a model writes its actions. A dialect renders a scene into messages and
parses the reply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent.actions import Action
from agent.models.base import Message, ModelReply, ToolSpec
from agent.models.json_answers import whole_signs
from agent.scene import Scene
from agent.wording import shortened
from devices.geometry import Size

LONGEST_ECHO = 60
"""The maximum number of characters that an error message quotes from a model's answer; people read them too."""


def echo(written: object) -> str:
    """Return a model's words shortened to one line, so that an error message can quote them."""
    return shortened(" ".join(whole_signs(str(written)[: 2 * LONGEST_ECHO]).split()), LONGEST_ECHO)


class BadReply(Exception):
    """A reply that cannot be acted on. The message tells the model what was wrong and what is expected."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A parsed reply. Points in the actions are pixels of the sent image and always inside it.

    `thought` is the model's reason. `summary` is its caption for the step, "" if it gave none that is complete and
    short. The thought is not used instead, except its last line for models that are trained to end it with a caption.
    `told` are notices for the model about its answer, such as parts that were ignored. `named` has, for each action,
    the words that the model read at its target, "" if it gave none; it is empty in dialects without such words.
    """

    actions: tuple[Action, ...]
    thought: str = ""
    summary: str = ""
    told: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


class Dialect(Protocol):
    """One form in which models write their actions. It has no state; the model reads its errors at the next step.

    An example of one step:

        messages, tools = dialect.render(scene)
        reply = await model.complete(ModelRequest(Purpose.ACT, messages, tools))
        decision = dialect.parse(reply, scene.screen.space)
    """

    @property
    def name(self) -> str:
        """The dialect's name, as in the setting VLM_DIALECT."""

    @property
    def image_window(self) -> int:
        """How many screenshots the model should be shown, including the current one."""

    @property
    def lightens_past(self) -> bool:
        """Whether pictures of past steps are compressed more. Their size in pixels stays the same, so that positions in
        them do too.
        """

    def offering(self, models: tuple[type[Action], ...], /) -> Dialect:
        """Return the dialect for these actions. Models trained on actions of their own keep those in any case. Actions
        beyond DIALECT_ACTIONS are described to the model in its own call format, with the action's own docstring, and
        such calls are parsed (agent.dialects.offered). A name that the dialect already uses keeps its meaning.
        """

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages and tools for this scene: the parts that stay the same first, the current screen last.

        The last text of the last message is all about the current screen. While the picture is in the image window,
        later scenes repeat this text as the step's `shown`; everything before it is repeated unchanged.
        """

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """Return the actions of a reply, in order; there is at least one. `space` is the size of the sent image.

        Raises BadReply, and nothing else, for anything that is not clearly an action.
        """
