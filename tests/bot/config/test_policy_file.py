"""POLICY_FILE: the operator's rules stand in for the shipped ones, or the start says what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config.settings import Settings, SettingsError
from bot.wiring.core import open_core, policy_of


def test_without_a_file_the_shipped_rules_hold() -> None:
    assert policy_of(Settings(policy_file=None)).app_name("com.whatsapp") == "WhatsApp (com.whatsapp)"


@pytest.mark.parametrize(("rules", "why"), [("labels = 3", r"approve\.pay"), (f"labels = {'[' * 9_000}", "recursion")])
async def test_a_file_that_cannot_be_used_is_named_before_anything_starts(tmp_path: Path, rules: str, why: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(f"[approve.pay]\n{rules}\n", encoding="utf-8")
    settings = Settings(policy_file=file, data_dir=tmp_path / "data")
    with pytest.raises(SettingsError, match=rf"POLICY_FILE.*rules\.toml.*{why}"):
        async with open_core(settings, ()):
            pass
    assert not (tmp_path / "data").exists()
