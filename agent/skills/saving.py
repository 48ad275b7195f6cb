"""Changes the operator's folder of skills: saves, renames, removes and imports recorded skills.

A folder from elsewhere is treated like any other: it is read with the same checks as at the start, and its actions are
judged by the rules and asked about whenever they are done.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.front_matter import MAX_NAME, NAME, FolderRefused, read_document, text_of
from agent.recorded_skills.skill_file import FILE as RECORDING
from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import RecordedAction
from agent.skills.library import APPS, FILE, Skills, load_skills, recording_of
from agent.wording import Spoken, shortened
from devices.atomic_file import write_atomically
from devices.wording import sentence_of

VERSIONS: Final = "versions"
MOST_DESCRIPTION: Final = 200
"""The maximum characters of a saved skill's description, because it is part of all prompts."""
MOST_FILES: Final = 50
MOST_BYTES: Final = 2_000_000
"""The maximum bytes of all files of an imported folder."""
_HEAD_NAME: Final = re.compile(r"^name:.*$", re.MULTILINE)
_NAMED: Final = re.compile(r"[^\s\-_.,:;!?'\"()]+")
_BREAKS: Final = re.compile(r"[\s\x00-\x1f\x7f<>\"\\]+")


class NotChanged(Spoken):
    """The folder was not changed; its sentence says why."""


def save(skills: Skills, name: str, recorded: RecordedSkill) -> int:
    """Save a recorded skill and return its version number. An earlier recording of the same name is kept as its
    previous version.

    Blocks while it writes to the disk. Raises NotChanged and OSError.
    """
    check(skills, name)
    own, former, version = _own(skills), skills.found.get(name), 1
    folder = own / name
    folder.mkdir(parents=True, exist_ok=True)
    if former is not None and former.recorded is not None:
        version = former.recorded.version + 1
        (folder / VERSIONS).mkdir(exist_ok=True)
        write_atomically(folder / VERSIONS / f"{former.recorded.version}.json", (folder / RECORDING).read_bytes())
    recorded = recorded.model_copy(update={"version": version})
    data = recorded.model_dump_json(exclude_defaults=True, indent=1)
    write_atomically(folder / RECORDING, data.encode())
    write_atomically(folder / FILE, document(name, recorded).encode())
    refresh(skills)
    return version


def check(skills: Skills, name: str) -> None:
    """Check that a recorded skill may be saved under this name. Raises NotChanged if not."""
    own, former = _own(skills), skills.found.get(name)
    check_name(name)
    if (own / name).exists() if former is None else (former.recorded is None or former.folder.parent != own):
        raise NotChanged("skill.taken", name=name)


def restore(skills: Skills, name: str, version: str) -> int:
    """Make an earlier version of a recorded skill the latest one, and return its new number. The current one is kept as
    an earlier version.

    Blocks while it writes to the disk. Raises NotChanged and OSError.
    """
    folder = _recorded(skills, name)
    kept = sorted((path.stem for path in (folder / VERSIONS).glob("*.json") if path.stem.isdecimal()), key=int)
    if version not in kept:
        raise NotChanged("skill.no_version", name=name, version=version[:20], kept=", ".join(kept) or "-")
    try:
        recorded = recording_of(folder, folder / VERSIONS / f"{version}.json")
    except FolderRefused as refused:
        raise NotChanged("skill.bad_version", name=name, version=version, why=sentence_of(refused)) from None
    return save(skills, name, recorded)


def remove(skills: Skills, name: str) -> None:
    """Delete a recorded skill with all its versions. Blocks while it writes to the disk. Raises NotChanged
    and OSError.
    """
    shutil.rmtree(_recorded(skills, name))
    refresh(skills)


def rename(skills: Skills, old: str, new: str) -> None:
    """Rename a recorded skill. Blocks while it writes to the disk. Raises NotChanged, FolderRefused and OSError."""
    folder = _recorded(skills, old)
    check_name(new)
    if new in skills.found or (folder.parent / new).exists():
        raise NotChanged("skill.taken", name=new)
    text = text_of(folder.parent, folder / FILE)
    before = text[: text.index("\n---")]
    head = _HEAD_NAME.sub(f"name: {new}", before, count=1)
    recorded = skills.found[old].recorded
    assert recorded is not None
    text = document(new, recorded) if head == before else head + text[len(before) :]
    folder.rename(folder.parent / new)
    write_atomically(folder.parent / new / FILE, text.encode())
    refresh(skills)


def bring(skills: Skills, folder: Path) -> str:
    """Import a skill by copying its folder from elsewhere, and return its name.

    The copy is checked: hidden files are left out, links are refused, and no more than the limits is read. Blocks while
    it writes to the disk. Raises NotChanged and OSError.
    """
    own = _own(skills)
    own.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=own) as place:
        staging = Path(place)
        copy = staging / "folder"
        try:
            _copy(folder, copy)
            name = str(read_document(staging, copy, FILE).head.get("name", ""))
            check_name(name)
            copy = copy.rename(staging / name)
            if refused := load_skills(staging, shipped=False).refused:
                raise NotChanged("skill.not_brought", folder=str(folder), why=refused[0].why)
        except FolderRefused as refused_folder:
            raise NotChanged("skill.not_brought", folder=str(folder), why=sentence_of(refused_folder)) from None
        if name in skills.found or (own / name).exists():
            raise NotChanged("skill.taken", name=name)
        copy.rename(own / name)
    refresh(skills)
    return name


def _copy(folder: Path, copy: Path) -> None:
    """Copy the files of a folder. Raises NotChanged, FolderRefused and OSError."""
    if not folder.is_dir():
        raise NotChanged("skill.no_such_folder", folder=str(folder))
    if not (folder / FILE).is_file():
        raise FolderRefused("folder.no_file", file=FILE)
    copy.mkdir()
    left = MOST_BYTES
    for number, path in enumerate(_files_in(folder), 1):
        if number > MOST_FILES:
            raise NotChanged("skill.many_files", most=MOST_FILES)
        if path.is_symlink() or not path.is_file():
            raise NotChanged("skill.not_plain", file=str(path.relative_to(folder)))
        with path.open("rb") as opened:
            data = opened.read(left + 1)
        left -= len(data)
        if left < 0:
            raise NotChanged("skill.much", most=MOST_BYTES // 1_000_000)
        target = copy / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder one by one, so that the caller can stop early."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        yield from (Path(place) / name for name in sorted([*names, *links]) if not name.startswith("."))


def refresh(skills: Skills) -> None:
    """Load the skills from their folders again. Raises NotChanged if there is no folder for the operator's own ones."""
    skills.found = load_skills(_own(skills)).found


def document(name: str, recorded: RecordedSkill) -> str:
    """Return the text of the SKILL.md of a recorded skill, for people and for agents that cannot replay recordings."""
    apps = sorted({step.package for step in recorded.steps if step.package and step.kind != "open_app"})
    lines = [f"{number}. {line}" for number, line in enumerate(_told(recorded), 1)]
    parameters = [f"- `{each.name}`, such as “{each.example}”. {each.about}".strip() for each in recorded.parameters]
    asked = _plain(recorded.task)
    head = ["---", f"name: {name}", f'description: "{shortened(asked, MOST_DESCRIPTION)}"', "metadata:"]
    head += [f'  {APPS}: "{" ".join(apps)}"', "---", ""]
    body = [f"Recorded on a phone. What was asked: {asked}", ""]
    body += ["## Parameters", "", *parameters, ""] if parameters else []
    return "\n".join([*head, *body, "## Steps", "", *lines, ""])


def _told(recorded: RecordedSkill) -> Iterator[str]:
    for step in recorded.steps:
        yield _in_words(step)
    marks = ", ".join(f"“{_plain(mark.words)}”" for mark in recorded.end.landmarks[:4])
    yield f"It is done when the screen shows {marks}." if marks else "Then it is done."


def _in_words(step: RecordedAction) -> str:
    data = step.action
    what = next((str(data[key]) for key in ("text", "name", "url", "key", "question", "reason") if key in data), "")
    parts = [step.kind.replace("_", " ").capitalize(), f"“{_plain(what)}”" if what else ""]
    if (anchor := step.anchor) is not None:
        words = _plain(anchor.words) or anchor.id.rsplit("/", 1)[-1]
        parts += [f"{'into' if step.kind == 'type' else ''} “{words}”".strip()]
        parts += [f"beside “{_plain(anchor.beside)}”" if anchor.beside else ""]
    elif step.touches:
        parts.append("(as the screen asks for it)")
    return " ".join(part for part in parts if part)


def _plain(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()


def _own(skills: Skills) -> Path:
    if skills.own is None:
        raise NotChanged("skill.no_folder")
    return skills.own


def as_name(written: str) -> str:
    """Convert a name as people write it, such as "Tell Alice", to a skill name: "tell-alice"."""
    return "-".join(_NAMED.findall(written.lower()))


def check_name(name: str) -> None:
    """Check that this is a valid skill name. Raises NotChanged if not."""
    if len(name) > MAX_NAME or NAME.fullmatch(name) is None:
        raise NotChanged("skill.bad_skill_name", name=name[:MAX_NAME])


def _recorded(skills: Skills, name: str) -> Path:
    """Return the folder of a recorded skill of the operator."""
    skill = skills.found.get(name)
    if skill is None or skill.recorded is None or skill.folder.parent != _own(skills) or skill.folder.is_symlink():
        raise NotChanged("skill.not_own", name=name[:MAX_NAME])
    return skill.folder
