"""Reads `mcp.json`, which lists the MCP servers whose tools may be used, in the usual form `{"mcpServers": {NAME: …}}`.

Only the operator writes this file, with an editor; no page, command or tool changes it.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

MOST_BYTES: Final = 200_000
MOST_SERVERS: Final = 20
MOST_CALLS: Final = 50
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,19}")


class ToolEntry(BaseModel):
    """The operator's settings in `mcp.json` for one tool of a server."""

    model_config = ConfigDict(frozen=True)

    ask: bool = True
    """Whether a person must approve each call with its exact arguments."""


class ServerEntry(BaseModel):
    """One MCP server: either a program to start (`command`) or an address (`url`). Keys that only other clients of this
    file use, such as `type` or `autoApprove`, are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """The program's environment, in addition to PATH, HOME and the language."""
    cwd: Path | None = None
    url: str = Field(default="", repr=False)
    headers: Mapping[str, str] = Field(default_factory=dict, repr=False)
    disabled: bool = False
    max_calls: int = Field(default=MOST_CALLS, ge=1)
    """Most calls of its tools in one task."""
    tools: Mapping[str, ToolEntry] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_both(self) -> ServerEntry:
        if bool(self.command) == bool(self.url):
            raise ValueError("name either a command or a url")
        if self.url:
            parts = urlsplit(self.url)
            if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
                raise ValueError("the url has to be one of http or https, without a name or password in it")
        return self


@dataclass(frozen=True, slots=True)
class McpFile:
    """The contents of `mcp.json`: the usable servers by name, and the reason why each of the others is refused. The key
    "" stands for the whole file.
    """

    servers: Mapping[str, ServerEntry]
    refused: Mapping[str, str]


def read_mcp_file(path: Path) -> McpFile | None:
    """Read the servers from this file; None if there is no file. Errors in it are part of the result."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _refused(f"it cannot be read ({error.strerror})")
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return _refused("others may write to it: chmod 600 it")
    if len(text) > MOST_BYTES:
        return _refused(f"it is larger than {MOST_BYTES:,} bytes")
    try:
        named = json.loads(text)["mcpServers"]
    except (ValueError, RecursionError) as error:
        return _refused(f"it is no JSON ({error})" if isinstance(error, json.JSONDecodeError) else "it is no JSON")
    except (KeyError, TypeError):
        return _refused('it has no "mcpServers"')
    if not isinstance(named, dict) or len(named) > MOST_SERVERS:
        return _refused(f'"mcpServers" has to be an object with at most {MOST_SERVERS} servers')
    return _servers(named)


def part_of_name(name: str) -> str:
    """Return a server's name as it appears in the names of its tools; it never contains two underscores in a row."""
    return re.sub("[-_]+", "_", name.lower()).rstrip("_")


def _servers(named: Mapping[str, Any]) -> McpFile:
    servers: dict[str, ServerEntry] = {}
    refused: dict[str, str] = {}
    taken: set[str] = set()
    for name, data in named.items():
        if not _NAME.fullmatch(name) or part_of_name(name) in taken:
            refused[name] = "its name has to be one of its own: up to 20 letters, digits, - and _"
            continue
        try:
            entry = ServerEntry.model_validate(data)
        except ValidationError as error:
            # Without the input, which may contain a key.
            wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
            refused[name] = f"{'.'.join(map(str, wrong['loc'])) or 'the entry'}: {wrong['msg']}"
            continue
        if not entry.disabled:
            taken.add(part_of_name(name))
            servers[name] = entry
    return McpFile(servers, refused)


def _refused(why: str) -> McpFile:
    return McpFile({}, {"": why})
