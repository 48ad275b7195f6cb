"""The program as a service of a machine whose root is a folder."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.main import main
from bot.cli.service import Account, Call, Failed, File, Folder, InstallTarget, State, install, unit_file
from tests.fixtures.checkout import as_checkout

UNIT = "etc/systemd/system/opengui.service"
RULE = "etc/udev/rules.d/70-opengui-phones.rules"
KEY = "sk-never-to-be-shown-anywhere"
SETTINGS = f"# mine\nVLM_API_KEY={KEY}\nVLM_MODEL=a-model\nDATA_DIR=data\nDISCORD_BOT_TOKEN=\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "checkout"
    here.mkdir()
    (here / ".env").write_text(SETTINGS)
    monkeypatch.chdir(as_checkout(here))
    made = tmp_path / "root"
    made.mkdir()
    return made


def files(root: Path) -> dict[str, tuple[str, int]]:
    """Content and mode of each file."""
    return {
        str(path.relative_to(root)): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
        for path in root.rglob("*")
        if path.is_file()
    }


def test_nothing_is_done_unless_asked_for(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "install", "--root", str(root)]) == OK
    told = capsys.readouterr().out
    assert files(root) == {}
    for word in ("user opengui", UNIT, RULE, "systemctl enable --now", "udevadm trigger", "Nothing was done"):
        assert word in told
    assert KEY not in told


def test_it_is_done_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "install", "--root", str(root), "--apply"]) == OK
    made = files(root)
    assert set(made) == {"etc/opengui/env", "etc/credstore/VLM_API_KEY", UNIT, RULE}
    assert made["etc/credstore/VLM_API_KEY"] == (KEY, 0o600)
    assert made["etc/opengui/env"] == ("# mine\nVLM_MODEL=a-model\n", 0o600), "no secret, no data of this folder"
    assert stat.S_IMODE((root / "etc/credstore").stat().st_mode) == 0o700
    assert f"ExecStart={Path(sys.executable).parent}/opengui run\n" in made[UNIT][0]
    assert main(["service", "install", "--root", str(root), "--apply"]) == OK
    assert files(root) == made
    again = capsys.readouterr().out.split(f"below {root} were changed")[1]
    assert "+" not in again
    assert KEY not in again


def test_what_somebody_changed_is_left_and_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen failing with `do` writing whatever is there: the operator's own limits were gone after an update."""
    main(["service", "install", "--root", str(root), "--apply"])
    for name in (UNIT, "etc/opengui/env"):
        with (root / name).open("a") as file:
            file.write("# mine\n")
    changed = files(root)
    capsys.readouterr()
    assert main(["service", "install", "--root", str(root), "--apply"]) == OK
    assert files(root) == changed
    told = capsys.readouterr().out
    assert "opengui.service, mode 644 (differs)" in told
    assert "1 files differ" in told
    assert main(["service", "install", "--root", str(root), "--apply", "--overwrite"]) == OK
    after = files(root)
    assert after[f"{UNIT}.old"][0] == changed[UNIT][0]
    assert not after[UNIT][0].endswith("# mine\n")
    assert after["etc/opengui/env"] == changed["etc/opengui/env"], "the settings are the operator's"


def test_it_is_taken_back_but_for_settings_and_data(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["service", "install", "--root", str(root), "--apply"])
    with (root / RULE).open("a") as file:
        file.write("# mine\n")
    assert main(["service", "uninstall", "--root", str(root)]) == OK
    assert UNIT in files(root)
    assert main(["service", "uninstall", "--root", str(root), "--apply"]) == OK
    assert set(files(root)) == {"etc/opengui/env", "etc/credstore/VLM_API_KEY", RULE}
    assert "differs" in capsys.readouterr().out
    assert main(["service", "uninstall", "--root", str(root), "--apply"]) == OK


def test_without_settings_the_example_is_a_beginning(root: Path) -> None:
    Path(".env").unlink()
    main(["service", "install", "--root", str(root), "--apply"])
    assert "DISCORD_BOT_TOKEN=\n" in files(root)["etc/opengui/env"][0]


def test_a_program_in_a_home_is_no_service(tmp_path: Path) -> None:
    """The unit hides homes: systemd would start it and it would end at once with a riddle (203/EXEC)."""
    with pytest.raises(Failed, match="could not read /home/anna/opengui-bot"):
        install(InstallTarget(Path("/")), tmp_path / ".env", program=Path("/home/anna/opengui-bot"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_takes_the_unit_and_finds_it_closed(root: Path) -> None:
    unit = unit_file(InstallTarget(root), Path(__file__).parents[4])
    target = root / "opengui.service"
    target.write_text(unit.content)
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(target)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "opengui.service" not in verified.stderr, verified.stderr
    told = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(target)],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert found is not None
    assert float(found[1]) <= 3.0


@pytest.mark.slow
def test_what_cannot_be_done_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Failed, match="could not be created"):
        Folder(tmp_path / "file" / "below", 0o755).apply()
    with pytest.raises(Failed, match="could not be written"):
        File(tmp_path / "nowhere" / "file", "").apply()
    with pytest.raises(Failed, match="There is no opengui-no-such-program"):
        Call(("opengui-no-such-program",)).apply()
    with pytest.raises(Failed, match="failed: 1"):
        Call(("false",)).apply()
    assert Account("root", Path("/")).inspect() is State.RIGHT
    assert Account("nobody-has-this-name", Path("/")).inspect() is State.MISSING
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    assert File(binary, "").inspect() is State.CHANGED


@pytest.mark.parametrize("content", [b"VLM_MODEL=mine", b"VLM_MODEL=m\xffine"])
def test_the_operators_file_is_never_written_over(tmp_path: Path, content: bytes) -> None:
    """Whatever is in it. Seen failing for bytes that are not UTF-8."""
    path = tmp_path / "opengui.env"
    path.write_bytes(content)
    step = File(path, "VLM_MODEL=\n", theirs=True, overwrite=True)
    assert step.inspect() is State.RIGHT
    assert File(path, "VLM_MODEL=\n").inspect() is State.CHANGED


def test_a_step_that_fails_ends_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "etc").write_text("no folder")
    assert main(["service", "install", "--root", str(root), "--apply"]) == UNAVAILABLE
    assert "✗" in capsys.readouterr().out
