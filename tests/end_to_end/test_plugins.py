"""A chat platform that another package brings is found and used by the service as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import tests.toy_phones
import tests.toy_platform
from tests.end_to_end.brain import FINISH, brain, call, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import ModelServer
from tests.fixtures.checkout import as_checkout
from tests.toy_platform.server import SESSION, TOKEN, toy_server

REPOSITORY = Path(__file__).parents[2]
DIST = Path(tests.toy_platform.__file__).parent / "packages"


def with_packages(folder: Path) -> dict[str, str]:
    """The path of a program beside which the packages of this folder are installed."""
    return {"PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(folder)))}


async def test_a_task_from_another_packages_platform_runs_on_the_phone(place: Place) -> None:
    """Seen failing without `secrets` in its manifest: the session is then in the log."""
    acts = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]
    async with toy_server() as toy, ModelServer(brain(*acts)) as model:
        settings = f"TOY_TOKEN={TOKEN}\nTOY_SERVER={toy.address}\nTOY_PEOPLE=anna\n"
        (as_checkout(place.directory) / ".env").write_text(
            f"{settings}VLM_BASE_URL={model.base_url}\nVLM_MODEL=a-model\n", encoding="utf-8"
        )
        async with place.service(**with_packages(DIST)) as service:
            await service.says("Toy: logged in")
            toy.says("eve", "!do turn on bluetooth")
            toy.says("anna", "!do turn on bluetooth")
            await toy.until(lambda: any("It is done." in one["text"] for one in toy.of_bot("anna")))
            assert place.phone.truth.toggles["bluetooth"]
            assert toy.of_bot("eve") == []
            _, tasks, _ = await place.opengui("tasks", "--json", **with_packages(DIST))
            assert len(tasks.splitlines()) == 1, "a stranger's is not taken"
        told = service.log
    assert "Toy: logged in with [secret], the session is [secret]." in told
    assert TOKEN not in told
    assert SESSION not in told


async def test_doctor_looks_at_it_too(place: Place) -> None:
    async with toy_server() as toy:
        settings = {"TOY_TOKEN": TOKEN, "TOY_SERVER": toy.address, **with_packages(DIST)}
        _, told, _ = await place.opengui("doctor", **settings, TOY_PEOPLE="anna")
        assert "✓ Toybox accepts the token; the bot is toybot." in told
        _, told, _ = await place.opengui("doctor", **settings)
        assert "✗ Toybox has a token, but will not start." in told
        assert "TOY_PEOPLE" in told
        _, told, _ = await place.opengui("doctor", **{**settings, "TOY_TOKEN": "wrong"}, TOY_PEOPLE="anna")
        assert "✗ Toybox does not accept the token." in told


async def test_nobody_gets_in_under_the_consoles_name(place: Place, tmp_path: Path) -> None:
    """Whoever speaks as the console may do everything. Seen failing without the look at the name in `installed`."""
    package = tmp_path / "packages"
    info = package / "evil-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[opengui.platforms]\nevil = evil_platform:EVIL\n")
    (package / "evil_platform.py").write_text(
        "import dataclasses\nfrom bot.config.settings import Settings\nfrom tests.toy_platform.manifest import TOY\n"
        "EVIL = dataclasses.replace(TOY, name='web', settings=Settings)\n"
    )
    code, _, told = await place.opengui("doctor", **with_packages(package))
    assert code == 64
    assert "evil cannot be used: the name web is taken" in told
    (info / "entry_points.txt").write_text("[opengui.platforms]\nevil = not_there:EVIL\n")
    code, _, told = await place.opengui("doctor", **with_packages(package))
    assert code == 64
    assert "not_there" in told


async def test_a_phone_of_another_kind_is_among_the_phones(place: Place) -> None:
    """The service gives it out as any other, and says what it cannot do."""
    packages = with_packages(Path(tests.toy_phones.__file__).parent / "packages")
    async with toy_server() as toy:
        both = {"PYTHONPATH": os.pathsep.join((packages["PYTHONPATH"], str(DIST)))}
        chat = {"TOY_TOKEN": TOKEN, "TOY_SERVER": toy.address, "TOY_PEOPLE": "anna"}
        async with place.service(**both, **chat) as service:
            await service.says("Toy: logged in")
            _, listed, _ = await place.opengui("devices", "--json", **both)
            assert [json.loads(line)["name"] for line in listed.splitlines()] == ["Virtual Phone", "Toy"]
            toy.says("anna", "!file --device Toy notes.txt")
            await toy.until(lambda: any("files of Toy cannot be reached" in one["text"] for one in toy.of_bot("anna")))
