"""Reads folders with a Markdown file that has front matter: those of members (AGENTS.md) and skills (SKILL.md).

The operator writes them, and a mistake in one must not affect the others, so each unusable folder is reported with its
reason. Front matter is the plain part of YAML: every value is a text, a list or a table; anchors, types and duplicate
keys are not allowed.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from agent.wording import Spoken
from devices.wording import sentence_of

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

logger = logging.getLogger(__name__)

MAX_FILE: Final = 64_000
"""The maximum size of the file in bytes, about 16,000 tokens, which is more than a model should read about one member
or skill.
"""
MAX_HEAD: Final = 8_000
"""The maximum length of the front matter, in characters."""
NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
"""The maximum length of a description. It comes from the Agent Skills standard, like `MAX_NAME` and the form
of names.
"""

DESCRIPTION: Final = "opengui-description"
"""The prefix of a key in `metadata` for a description that people read instead of the one for models. "-zh" or another
language follows it.
"""

MOST_NESTED: Final = 400
_NESTS: Final = ("[", "{", "- ", "? ")

_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


class FolderRefused(Spoken):
    """A folder cannot be used; its sentence says why."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A folder that cannot be used. `why` is the reason, as a sentence for people that is not translated yet."""

    folder: str
    why: str


@dataclass(frozen=True, slots=True)
class Document:
    """A file with front matter: its `folder`, the values of the front matter (`head`), and the text below (`body`)."""

    folder: Path
    head: Mapping[str, Any]
    body: str

    def checked(self, form: type[M]) -> M:
        """Return the front matter as an instance of this model. Raises FolderRefused with the first error."""
        try:
            return form.model_validate(dict(self.head))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(step) for step in first["loc"]) or "-"
            raise FolderRefused("folder.field", field=field, problem=first["msg"]) from error


@dataclass(frozen=True, slots=True)
class Folders(Generic[T]):
    """The result of reading folders: what was made of each, by name, and the folders that cannot be used."""

    found: Mapping[str, T]
    refused: tuple[Refused, ...] = ()


def read_folders(roots: Iterable[Path], file: str, make: Callable[[Document], T]) -> Folders[T]:
    """Apply `make` to each folder in these roots, without those whose names begin with "." or "_"; a folder without the
    given file is refused. A folder in a later root replaces one with the same name in an earlier root.

    `make` may raise FolderRefused, which does not affect the other folders.
    """
    found: dict[str, T] = {}
    refused: list[Refused] = []
    for root in roots:
        names: dict[str, Path] = {}
        for folder in _folders_in(root):
            try:
                document = read_document(root, folder, file)
                name = str(document.head.get("name", ""))
                if name in names:
                    raise FolderRefused("folder.twice", name=name, other=names[name].name)  # noqa: TRY301 - as below
                _check_name(folder, name)
                found[name] = make(document)
                names[name] = folder
            except FolderRefused as error:
                refused.append(Refused(str(folder), sentence_of(error)))
    return Folders(found, tuple(refused))


def _folders_in(root: Path) -> list[Path]:
    """Return the folders in the root, sorted, without hidden ones; an empty list if the root does not exist."""
    try:
        entries = sorted(root.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        logger.warning("The folder %s cannot be read and is ignored: %s", root, error)
        return []
    return [path for path in entries if not path.name.startswith((".", "_")) and path.is_dir()]


def _check_name(folder: Path, name: str) -> None:
    if not name:
        raise FolderRefused("folder.field", field="name", problem="it is missing")
    if len(name) > MAX_NAME or NAME.fullmatch(name) is None:
        raise FolderRefused("folder.bad_name", name=name[:MAX_NAME])
    if folder.name != name:
        raise FolderRefused("folder.other_name", name=name, folder=folder.name)


def description_in(language: str, metadata: Mapping[str, str], description: str) -> str:
    """Return the description in this language for people from `metadata`; if there is none, `description`, the one for
    models.
    """
    return metadata.get(f"{DESCRIPTION}-{language}", description)


def read_document(root: Path, folder: Path, file: str) -> Document:
    """Read the file with this name in a folder of the root. Raises FolderRefused, for example if a link leads out of
    the root.
    """
    text = text_of(root, folder / file)
    fences = list(_FENCE.finditer(text))
    if len(fences) < 2 or fences[0].start() != 0:
        raise FolderRefused("folder.no_front_matter", file=file)
    head = text[fences[0].end() : fences[1].start()]
    if len(head) > MAX_HEAD:
        raise FolderRefused("folder.long_front_matter", limit=MAX_HEAD)
    return Document(folder, parse(head), text[fences[1].end() :].strip())


def text_of(root: Path, path: Path, most: int = MAX_FILE) -> str:
    """Return the text of a file below this root. Raises FolderRefused, for example if a link leads out of the root or
    the file has more than `most` bytes.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root.resolve()):
            raise FolderRefused("folder.link", file=path.name)
        # Non-blocking, because opening a pipe would wait for a writer.
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise FolderRefused("folder.no_file", file=path.name)
            data = opened.read(most + 1)
    except FileNotFoundError as error:
        raise FolderRefused("folder.no_file", file=path.name) from error
    except (OSError, RuntimeError) as error:
        raise FolderRefused("folder.unreadable", file=path.name, why=str(error)) from error
    if len(data) > most:
        raise FolderRefused("folder.large", file=path.name, limit=most)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FolderRefused("folder.not_utf8", file=path.name) from error


def parse(head: str) -> dict[str, Any]:
    """Parse front matter into a dictionary. Raises FolderRefused."""
    import yaml  # noqa: PLC0415 - 20 ms, only where there is a folder to read

    if sum(map(head.count, _NESTS)) > MOST_NESTED:
        # Parsing time grows quadratically: a few thousand brackets would delay the start by seconds.
        raise FolderRefused("folder.bad_yaml", line=1, problem="too many brackets")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(head, Loader=yaml.BaseLoader)):
            raise FolderRefused("folder.alias")
        node = yaml.compose(head, Loader=yaml.BaseLoader)
        if not isinstance(node, yaml.MappingNode):
            raise FolderRefused("folder.no_table")
        return dict(_plain(node))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise FolderRefused("folder.bad_yaml", line=line, problem=getattr(error, "problem", None) or "?") from error
    except RecursionError as error:
        raise FolderRefused("folder.bad_yaml", line=1, problem="too many brackets") from error


def _plain(node: Any) -> Any:  # noqa: ANN401 - yaml has no types for nodes
    """Convert a YAML node to plain data; every scalar stays the text that was written."""
    if node.id == "scalar":
        return node.value
    if node.id == "sequence":
        return [_plain(each) for each in node.value]
    table: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar":
            raise FolderRefused("folder.bad_yaml", line=key.start_mark.line + 1, problem="a name has to be a text")
        if key.value in table:
            raise FolderRefused("folder.two_keys", key=key.value)
        table[key.value] = _plain(value)
    return table
