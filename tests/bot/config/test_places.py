"""Where settings and data are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config.installation import places
from tests.fixtures.checkout import as_checkout


def test_a_checkout_has_its_own(tmp_path: Path) -> None:
    found = places(as_checkout(tmp_path))
    assert (found.settings, found.data) == (tmp_path / ".env", tmp_path / "data")


@pytest.mark.parametrize(
    "project", ["", "name = 'something-else'", "name = ", "[tool", "\xff", f"name = {'[' * 9_000}"]
)
def test_what_lies_in_any_other_folder_is_never_used(
    tmp_path: Path, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing with the working directory's own as they were before."""
    monkeypatch.setenv("XDG_DATA_HOME", "/home/anna/.local/share")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/home/anna/.config")
    (tmp_path / ".env").write_text("VLM_API_KEY=another-programs", encoding="utf-8")
    (tmp_path / "data").mkdir()
    if project:
        (tmp_path / "pyproject.toml").write_text(f"[project]\n{project}\n", encoding="latin-1")
    found = places(tmp_path)
    assert found.settings == Path("/home/anna/.config/opengui/.env")
    assert found.data == Path("/home/anna/.local/share/opengui")
