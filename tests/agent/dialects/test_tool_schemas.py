"""The tools that are generated from the typed actions."""

from __future__ import annotations

from agent.actions import DIALECT_ACTIONS
from agent.dialects.tool_schemas import tool_specs
from devices.geometry import Size

TOOLS = {tool.name: tool for tool in tool_specs(Size(922, 2048), DIALECT_ACTIONS)}


def test_there_is_one_tool_for_each_action() -> None:
    assert list(TOOLS) == [model.model_fields["kind"].default for model in DIALECT_ACTIONS]
    assert {"tap", "wait_for", "enter_secret", "finish"} <= TOOLS.keys()


def test_nothing_else_is_allowed_and_everything_is_described() -> None:
    for tool in TOOLS.values():
        assert tool.description
        assert tool.parameters["additionalProperties"] is False
        for field in tool.parameters["properties"].values():
            assert field["description"]
            assert field["type"] in {"string", "integer", "number", "boolean", "array"}


def test_points_are_numbers_inside_the_picture() -> None:
    tap = TOOLS["tap"].parameters["properties"]
    assert (tap["x"]["minimum"], tap["x"]["maximum"]) == (0, 921)
    assert (tap["y"]["minimum"], tap["y"]["maximum"]) == (0, 2047)
    assert TOOLS["swipe"].parameters["required"] == ["start_x", "start_y", "end_x", "end_y"]


def test_limits_and_choices_come_from_the_actions() -> None:
    assert TOOLS["scroll"].parameters["properties"]["direction"]["enum"] == ["up", "down", "left", "right"]
    assert "recents" in TOOLS["key"].parameters["properties"]["key"]["enum"]
    assert TOOLS["wait"].parameters["properties"]["seconds"]["maximum"] == 10
    assert TOOLS["finish"].parameters["properties"]["data"]["type"] == "string"
    assert TOOLS["type"].parameters["required"] == ["text"]
