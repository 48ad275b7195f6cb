"""Members and skills over HTTP: what is taken in, what is refused with a sentence, and that nothing leads out."""

from __future__ import annotations

import base64
import io
import shutil
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.front_matter import Folders
from agent.members.loading import Team, load_team
from agent.skills import saving
from agent.skills.library import load_skills
from bot.web.connect_folders import MOST_BYTES, MOST_FILES, ConnectFolders, FolderKind
from tests.bot.web.world import open_world
from tests.bot.world import a_world

pytestmark = pytest.mark.slow

SKILL = "---\nname: {name}\ndescription: How to make tea.\n---\nBoil water.\n"
MEMBER = "---\nname: poet\ndescription: Writes poems.\ntools: {tools}\n---\nWrite a poem.\n"


@dataclass
class Caller:
    """The page, as far as HTTP knows it."""

    session: aiohttp.ClientSession
    skills: Path
    agents: Path
    found: Any
    """The skills that the service has now."""
    team: list[Team]
    read: list[Callable[[Path], None]]
    """Called with the staging directory after a skill has passed its checks."""

    async def bring(self, kind: str, files: Mapping[str, bytes], **more: object) -> tuple[int, str]:
        sent = [{"path": path, "data": base64.b64encode(data).decode()} for path, data in files.items()]
        return await self.post("", kind=kind, files=sent, **more)

    async def bring_zip(self, data: bytes, kind: str = "skills") -> tuple[int, str]:
        return await self.post("", kind=kind, zip=base64.b64encode(data).decode())

    async def post(self, what: str, **body: object) -> tuple[int, str]:
        async with self.session.post(f"/api/connect/folders{what}", json=body) as response:
            told = await response.json()
            return response.status, told.get("text") or told["message"]


@asynccontextmanager
async def folders(directory: Path) -> AsyncIterator[Caller]:
    """A console with the folders of a service behind it."""
    skills, agents = directory / "skills", directory / "agents"
    team = [Team()]
    read: list[Callable[[Path], None]] = []

    def skill(root: Path) -> Folders[Any]:
        found = load_skills(root, shipped=False)
        for after in read:
            after(root)
        return found

    def members(root: Path) -> Folders[Any]:
        found = load_team(None, {"calculate"}, shipped=root)
        return Folders(found.members, found.refused)

    def again() -> None:
        team[0] = load_team(agents, {"calculate"})

    async with a_world(directory) as world:
        world.services.skills.own = skills
        kinds = {
            "members": FolderKind(agents, "AGENTS.md", members, again),
            "skills": FolderKind(
                skills,
                "SKILL.md",
                skill,
                lambda: saving.refresh(world.services.skills),
            ),
        }
        (directory / "console").mkdir()
        routes = ConnectFolders(world.services, kinds).routes()
        async with open_world(directory / "console", beside=routes) as console:
            headers = {"Authorization": f"Bearer {console.token}"}
            async with aiohttp.ClientSession(console.url, headers=headers) as session:
                yield Caller(session, skills, agents, world.services.skills, team, read)


def zipped(files: Mapping[str, bytes | str], *, link: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, "/etc/passwd")
    return target.getvalue()


def tea(name: str = "tea") -> bytes:
    return SKILL.format(name=name).encode()


def there(directory: Path) -> set[Path]:
    return {each for each in directory.rglob("*") if "console" not in each.parts}


async def test_a_skill_comes_as_a_folder_is_replaced_on_demand_and_goes(tmp_path: Path) -> None:
    async with folders(tmp_path) as page:
        files = {"tea/SKILL.md": tea(), "tea/references/green.md": b"80 degrees", "tea/.DS_Store": b"x"}
        assert await page.bring("skills", files) == (200, "tea can be followed from now on.")
        assert page.found.found["tea"].reference("green.md") == "80 degrees"
        assert sorted(path.name for path in (page.skills / "tea").iterdir()) == ["SKILL.md", "references"]
        status, words = await page.bring("skills", {"tea/SKILL.md": tea()})
        assert status == 412
        assert "There is already a folder tea" in words
        assert (page.skills / "tea/references").exists()
        assert (await page.bring("skills", {"tea/SKILL.md": tea()}, replace=True))[0] == 200
        assert not (page.skills / "tea/references").exists()
        assert await page.post("/delete", kind="skills", name="tea") == (200, "tea was deleted.")
        assert "tea" not in page.found.found
        assert list(page.skills.iterdir()) == []
        assert (await page.post("/delete", kind="skills", name="tea"))[0] == 409


async def test_a_folder_that_cannot_be_replaced_is_still_there(tmp_path: Path) -> None:
    """Seen failing with the former folder moved to where it is deleted first: neither of the two was left."""
    async with folders(tmp_path) as page:
        assert (await page.bring("skills", {"tea/SKILL.md": tea(), "tea/references/green.md": b"80 degrees"}))[0] == 200
        page.read.append(lambda staging: shutil.rmtree(staging / "tea"))
        status, words = await page.bring("skills", {"tea/SKILL.md": tea()}, replace=True)
        assert status == 503
        assert "No such file" in words
        assert [path.name for path in page.skills.iterdir()] == ["tea"]
        assert page.found.found["tea"].reference("green.md") == "80 degrees"
        page.read.clear()
        assert (await page.bring("skills", {"tea/SKILL.md": tea()}, replace=True))[0] == 200
        assert [path.name for path in page.skills.iterdir()] == ["tea"]


async def test_a_zip_may_have_the_folder_in_it_or_be_it(tmp_path: Path) -> None:
    async with folders(tmp_path) as page:
        assert (await page.bring_zip(zipped({"SKILL.md": tea("one"), "references/a.md": "a"})))[0] == 200
        assert (await page.bring_zip(zipped({"x/two/SKILL.md": tea("two"), "__MACOSX/x/._SKILL.md": "?"})))[0] == 200
        assert {"one", "two"} <= page.found.found.keys()
        assert page.found.found["one"].reference("a.md") == "a"


async def test_a_member_is_in_the_team_at_once_and_checked_as_at_the_start(tmp_path: Path) -> None:
    async with folders(tmp_path) as page:
        status, words = await page.bring("members", {"poet/AGENTS.md": MEMBER.format(tools="lyre").encode()})
        assert status == 409
        assert "lyre" in words
        assert (await page.bring("members", {"poet/AGENTS.md": MEMBER.format(tools="calculate").encode()}))[0] == 200
        assert page.team[0].members["poet"].tools == ("calculate",)
        assert (await page.post("/delete", kind="members", name="poet"))[0] == 200
        assert "poet" not in page.team[0].members


@pytest.mark.parametrize("path", ["../tea/SKILL.md", "/tmp/tea/SKILL.md", "tea/../../SKILL.md", "C:\\tea\\SKILL.md"])
async def test_nothing_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    """Seen failing without `_inside`: such a path was taken for another, and an absolute one brought in."""
    async with folders(tmp_path) as page:
        before = there(tmp_path)
        for status, words in (await page.bring("skills", {path: tea()}), await page.bring_zip(zipped({path: tea()}))):
            assert status == 409
            assert "leads out" in words
        assert there(tmp_path) <= before | {page.skills}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no zip", "not a readable zip"),
        (zipped({"tea/SKILL.md": tea()})[:60], "not a readable zip"),
        (zipped({"tea/README.md": "?"}), "no SKILL.md"),
        (zipped({"a/SKILL.md": tea("a"), "b/SKILL.md": tea("b")}), "More than one folder"),
        (zipped({"tea/SKILL.md": tea(), "tea/big.md": bytes(MOST_BYTES)}), "more than 2 MB"),
        (zipped({"tea/SKILL.md": tea(), **{f"tea/{n}.md": "" for n in range(MOST_FILES)}}), "more than 50 files"),
        (zipped({"tea/SKILL.md": tea()}, link="tea/passwd"), "leads out"),
        (zipped({"tea/SKILL.md": "no front matter"}), "front matter"),
        (zipped({"tea/SKILL.md": SKILL.format(name="Tea Time")}), "Tea Time"),
        (zipped({"tea/SKILL.md": tea(), "tea/x": "a file", "tea/x/y": "another"}), "changed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "zip",  # the bytes of a zip have the time in them
)
async def test_what_is_refused_changes_nothing_and_says_why(tmp_path: Path, data: bytes, words: str) -> None:
    """Seen failing without the limit: two megabytes of nothing were unpacked from two thousand bytes."""
    async with folders(tmp_path) as page:
        status, told = await page.bring_zip(data)
        assert status in {409, 503}
        assert words in told
        assert not page.skills.exists() or list(page.skills.iterdir()) == []


async def test_what_is_no_folder_of_ones_own_is_not_deleted(tmp_path: Path) -> None:
    """Seen failing without the look at what there is: a path as the name deleted another folder."""
    async with folders(tmp_path) as page:
        (tmp_path / "precious").mkdir()
        page.skills.mkdir()
        (page.skills / "link").symlink_to(tmp_path / "precious")
        for name in ("../precious", "link", ".", "..", "compare-prices", str(tmp_path / "precious")):
            assert (await page.post("/delete", kind="skills", name=name))[0] == 409
        assert (tmp_path / "precious").is_dir()


async def test_nothing_comes_or_goes_without_the_token(tmp_path: Path) -> None:
    async with folders(tmp_path) as page:
        for path in ("/api/connect/folders", "/api/connect/folders/delete"):
            async with page.session.post(path, json={}, headers={"Authorization": ""}) as response:
                assert response.status == 401, path
