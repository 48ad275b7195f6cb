"""The default dialect: native tool calls with coordinates in pixels of the sent image. Calls printed as text are parsed
too.

For model families trained on it, variants ask for printed calls of the function `mobile_use`. Both forms are always
accepted: coordinates of `mobile_use` are in thousandths, those of other tools in pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from agent import actions as act
from agent.captions import phrase
from agent.dialects import mobile_use
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.grid import Grid, number
from agent.dialects.offered import OfferedAction, further_lines, offered
from agent.dialects.printed_calls import NamedCall, Printed, arguments_of, loaded, printed_calls
from agent.dialects.replies import decided, key_named, made, split_thinking, status_of, whole_reply
from agent.dialects.scene_text import conversation, numbered
from agent.dialects.tool_schemas import ON, SAY, json_schema, plain_field, tool_specs
from agent.models.base import Message, ModelReply, ToolSpec
from agent.prompts import prompt
from agent.scene import Scene
from devices.geometry import Size

_EXPECTED_TOOLS = 'Call one of the tools, such as tap with {"element": 3}.'
_EXPECTED_PRINTED = (
    'Answer with <tool_call>{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 80]}}'
    "</tool_call>."
)
_FINISH_ALONE = (
    "Finish alone, when you have seen that all is done: another action stands beside it, and it is not said which of "
    "the two counts. Nothing was done."
)
"""No maker of tool-calling models defines what an end next to other calls means, as the ending is our own tool."""
_FIRST_ONLY = "Only the first call of your answer was done, the others were not read. Write one call at a time."
_OWN_PLACES = frozenset({"element", "x", "y", "target", "start_x", "start", "seconds"})
_WORDS = frozenset({"direction", "what"})
"""Arguments that are one of a few words, in any case."""
Models = Mapping[str, type[act.Action]]
"""The actions that can be called, by name."""
_LINE_LABELS = ("Action:", "Summary:")


class ToolsDialect:
    """The dialect of native tool calls or, with a `family`, of printed calls to the function `mobile_use`."""

    lightens_past = False  # a prompt that only grows can stay in an endpoint's cache

    def __init__(
        self, models: tuple[type[act.Action], ...] = act.DIALECT_ACTIONS, *, family: mobile_use.Family | None = None
    ) -> None:
        self._models = {model.model_fields["kind"].default: model for model in models}
        lacking = () if family is None or family is mobile_use.MAI_UI else (act.Drag,)
        self._offered = offered(models, mobile_use.FORMS, mobile_use.ACTIONS, lacking=lacking)
        self._family = family
        self.name = family.dialect if family else "tools"
        self.image_window = family.image_window if family else 1

    def offering(self, models: tuple[type[act.Action], ...], /) -> Self:
        """Return the dialect for the given actions. Implements `Dialect.offering`."""
        return type(self)(models, family=self._family)

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages for this scene, and the tools (none if calls are printed)."""
        space, rules = scene.screen.space, prompt("dialects/rules")
        if self._family:
            further = further_lines(self._offered, self._family.told)
            instructions = prompt(
                self._family.prompt, width=space.width, height=space.height, further=further, rules=rules
            )
            return conversation(instructions, scene, self._family.grid(space).written), ()
        last_x, last_y = space.width - 1, space.height - 1
        if scene.by_list:
            sight = prompt("dialects/by_list", last_x=last_x, last_y=last_y)
        else:
            sight = prompt("dialects/by_picture", width=space.width, height=space.height, last_x=last_x, last_y=last_y)
        instructions = prompt("dialects/tools", sight=sight, rules=rules)
        messages = conversation(instructions, scene, Grid(space, thousandths=False).written, numbered)
        return messages, tool_specs(space, tuple(self._models.values()))

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """Return the actions of a reply. `space` is the size of the sent image. Raises BadReply with the reason and the
        expected form.
        """
        reply = whole_reply(reply)
        try:
            thinking, text = split_thinking(reply.text, unopened=True)
            printed = self._first_of_mobile_use(_calls(reply, text, self._models))
            said, line = printed.said, _unlabelled(printed.said)
            if not line and thinking and self._family and self._family.thought_ends_in_caption:
                line = thinking.splitlines()[-1].removeprefix("Thought:").strip()
            actions = self._actions(printed, space, line)
            spoken = next((say for call in printed.calls if isinstance(say := call.arguments.get(SAY), str)), "")
            # Text too long for the person counts as a thought, and no other model is asked for a caption.
            thought = said or thinking or reply.reasoning or ("" if phrase(spoken) else spoken)
            decision = decided(actions, thought, spoken or line, printed.told, alone=printed.alone)
            return replace(decision, named=tuple(map(_named, printed.calls)))
        except BadReply as bad:
            raise BadReply(f"{bad} {_EXPECTED_PRINTED if self._family else _EXPECTED_TOOLS}") from None

    def _actions(self, printed: Printed, space: Size, line: str) -> tuple[act.Action, ...]:
        grid = (self._family or mobile_use.QWEN).grid(space)
        actions = tuple(
            mobile_use.action_of(call.arguments, grid, line, self._offered)
            if _is_mobile_use(call, self._offered)
            else _action(call, space, self._models)
            for call in printed.calls
        )
        if len(actions) > 1 and any(isinstance(action, act.Finish) for action in actions):
            raise BadReply(_FINISH_ALONE)
        return actions

    def _first_of_mobile_use(self, printed: Printed) -> Printed:
        """Keep only the first of several calls to `mobile_use`: on phones its makers read just that one (MobileAgent
        v3.5, run_gui_owl_1_5_for_mobile.py), and they ask for a single call.
        """
        if len(printed.calls) == 1 or not any(_is_mobile_use(call, self._offered) for call in printed.calls):
            return printed
        return replace(printed, calls=printed.calls[:1], told=(_FIRST_ONLY,))


def _calls(reply: ModelReply, text: str, models: Models) -> Printed:
    """Return the native calls if there are any, otherwise the printed ones; never none."""
    native = tuple(NamedCall(call.name, arguments_of(call.arguments, call.name)) for call in reply.tool_calls)
    found = Printed(native, text.strip()) if native else printed_calls(text, models.keys())
    if not found.calls:
        raise BadReply("There is no call in your answer.")
    return found


def _named(call: NamedCall) -> str:
    """Return the words that the model reads at its target."""
    named = call.arguments.get(ON)
    return named if isinstance(named, str) else ""


def _unlabelled(said: str) -> str:
    """Return the last line before the calls, without its label, as the description of the step; "" if the label marks a
    thought.
    """
    line = said.splitlines()[-1].strip() if said else ""
    for label in _LINE_LABELS:
        line = line.removeprefix(label)
    return "" if line.startswith("Thought:") else line.strip()


def _is_mobile_use(call: NamedCall, further: Mapping[str, OfferedAction]) -> bool:
    """Whether the call is to that function, by its name or by only the name of one of its actions."""
    name, action = call.name.strip().lower(), call.arguments.get("action")
    if name or not isinstance(action, str):
        return name == mobile_use.NAME
    action = action.strip().lower()
    return (action in mobile_use.ACTIONS or action in further) and not _OWN_PLACES & call.arguments.keys()


def _action(call: NamedCall, space: Size, models: Models) -> act.Action:
    given = dict(call.arguments)
    name = call.name.strip().lower()
    if not name and isinstance(action := given.pop("action", None), str):
        name = action.strip().lower()
    if name not in models:
        raise BadReply(f"There is no tool {echo(name)!r}. The tools are: {', '.join(models)}.")
    return _own_action(models[name], name, _typed(models[name], given) if call.texts else given, space)


def _typed(model: type[act.Action], given: dict[str, Any]) -> dict[str, Any]:
    """Parse arguments that were written as text as JSON, if the action requires another type."""
    schema = json_schema(model)
    others = {
        name
        for name, field in schema["properties"].items()
        if plain_field(field, schema.get("$defs", {})).get("type") not in {None, "string"}
    }
    read = {name: loaded(value) for name, value in given.items() if name in others and isinstance(value, str)}
    return given | {name: value for name, value in read.items() if value is not None}


def _own_action(model: type[act.Action], name: str, given: dict[str, Any], space: Size) -> act.Action:
    """Build one of our actions from arguments allowed by its schema; null counts as missing."""
    fields = {key: value for key, value in given.items() if value is not None and key != SAY}
    if fields.get("kind") == name:
        fields.pop("kind")
    for field in _WORDS & fields.keys():
        if isinstance(word := fields[field], str):
            fields[field] = word.strip().lower()
    if name == "key" and isinstance(written := fields.get("key"), str) and (known := key_named(written)) is not None:
        fields["key"] = known.key
    if name == "finish":
        fields["status"] = status_of(name, fields)
        fields.pop("success", None)
        if fields["status"] is None:
            raise BadReply('finish needs a status, "success" or "failure".')
    grid = Grid(space, thousandths=False)
    if "target" in model.model_fields:
        fields.pop(ON, None)
        if (target := _target(name, fields, grid)) is not None:
            fields["target"] = target
    for end in ("start", "end"):
        if end in model.model_fields:
            point = fields.pop(end, None)
            x, y = fields.pop(f"{end}_x", None), fields.pop(f"{end}_y", None)
            fields[end] = _point(f"{end} of {name}", point if isinstance(point, Mapping) else {"x": x, "y": y}, grid)
    if "target" in model.model_fields and model.model_fields["target"].is_required() and "target" not in fields:
        raise BadReply(f"{name} needs an element, or x and y.")
    action = made(model, name, **fields)
    if isinstance(action, act.Type) and not (action.text or action.clear or action.submit):
        raise BadReply("type needs a text, or clear to empty the field.")
    return action


def _target(name: str, fields: dict[str, Any], grid: Grid) -> act.Target | None:
    """Take the touched element or point out of the arguments; the element wins if both are given."""
    given = fields.pop("target", None)
    places = dict(given) if isinstance(given, Mapping) else {}
    places |= {key: fields.pop(key) for key in ("element", "x", "y") if key in fields}
    if (element := places.get("element")) is not None:
        found = number(element)
        if found is None or found < 0 or found != int(found):
            raise BadReply(f"The element of {name} must be a number from the list.")
        return act.ElementTarget(element=int(found))
    if not places and given is None:
        return None
    return _point(name, places, grid)


def _point(what: str, places: Mapping[str, Any], grid: Grid) -> act.PointTarget:
    x, y = number(places.get("x")), number(places.get("y"))
    if x is None or y is None:
        raise BadReply(f"{what} needs a point: two numbers, x and y.")
    return grid.target((x, y), what)
