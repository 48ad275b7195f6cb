"""What Slack looks at before it takes a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.slack.world import Block, File


class Refused(Exception):
    """Slack's answer to a request that it does not take."""

    def __init__(self, error: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(error)
        self.error, self.status, self.headers, self.more = error, status, dict(headers or {}), more


def check(text: str, blocks: Sequence[Block], files: Mapping[str, File]) -> None:
    """Raise Refused as Slack would."""
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > 40_000:
        raise Refused("msg_too_long")
    _require(len(blocks) <= 50)
    actions = []
    for block in blocks:
        match block["type"]:
            case "rich_text":
                _require(bool(block["elements"]))
                for outer in block["elements"]:
                    _require(outer["type"] in {"rich_text_section", "rich_text_preformatted"} and outer["elements"])
                    for one in outer["elements"]:
                        _require(one["type"] != "text" or 0 < len(one["text"]) <= 6000)
                        _require(one["type"] != "link" or one["url"].startswith(("http://", "https://")))
            case "context":
                _require(0 < len(block["elements"]) <= 10)
                _require(all(one["type"] == "plain_text" and 0 < len(one["text"]) <= 3000 for one in block["elements"]))
            case "image":
                _require(block.keys() == {"type", "slack_file", "alt_text"} and block["slack_file"].keys() == {"id"})
                file = files.get(block["slack_file"]["id"])
                _require(file is not None and file.whole and not file.looks and bool(block["alt_text"]))
            case "actions":
                _require(0 < len(block["elements"]) <= 25)
                for one in block["elements"]:
                    actions.append(one["action_id"])
                    _check_control(one)
            case _:
                _require(False)
    _require(len(actions) == len(set(actions)))


def _check_control(one: Block) -> None:
    if one["type"] == "button":
        _require(0 < len(one["text"]["text"]) <= 75 and 0 < len(one["value"]) <= 2000)
        _require(one.get("style") in {None, "primary", "danger"})
        return
    _require(one["type"] == "static_select" and 0 < len(one["options"]) <= 100)
    for option in one["options"]:
        _require(0 < len(option["text"]["text"]) <= 75 and 0 < len(option["value"]) <= 150)
    _require(len(one.get("placeholder", {}).get("text", "")) <= 150)


def _require(fine: object) -> None:
    if not fine:
        raise Refused("invalid_blocks")
