"""The command line speaks the language of the setting, else of the terminal; what scripts read stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.cli.terminal import padded, terminal_language, wished


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN:zh"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:zh:en"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": ""}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "C", "LANGUAGE": "zh"}, "zh"),
        ({"LANG": "zh_CN", "LANGUAGE": "auto"}, "zh"),
    ],
)
def test_the_setting_goes_before_the_terminal(environment: dict[str, str], language: str, tmp_path: Path) -> None:
    assert terminal_language(wished(environment, tmp_path / ".env"), environment) == language


def test_the_settings_file_counts_unless_the_environment_sets_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# LANGUAGE=en\nMAX_STEPS=none\nLANGUAGE='zh'\n", encoding="utf-8-sig")
    assert wished({}, file) == "zh"
    assert wished({"LANGUAGE": "en"}, file) == "en"
    assert wished({"LANGUAGE": "en_US:en"}, file) == "zh"
    file.write_bytes(b"LANGUAGE=\xff")
    assert wished({}, file) == ""


def test_columns_hold_with_chinese_in_them() -> None:
    assert (padded("ab", 4), padded("手机", 5), padded("手机手机", 5)) == ("ab  ", "手机 ", "手机手机")


def test_complaints_are_in_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("MAX_STEPS", "many")
    monkeypatch.setenv("LOG_LEVEL", "LOUD")
    assert main(["tasks"]) == 64
    assert capsys.readouterr().err.splitlines() == [
        "opengui：LOG_LEVEL 设置有误，应为：DEBUG、INFO、WARNING 或 ERROR。",
        "MAX_STEPS 设置有误，应为：不小于 1 的数字。",
    ]
    monkeypatch.delenv("MAX_STEPS")
    monkeypatch.delenv("LOG_LEVEL")
    assert main(["tasks"]) == 0
    assert capsys.readouterr().out == "还没有任务。\n"
    assert main(["backup", "there"]) == 69
    assert "没有写入任何内容" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["do"])
    assert "opengui do：命令行有误" in capsys.readouterr().err


@pytest.mark.slow
def test_what_scripts_read_is_the_same_in_every_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGUAGE", "zh")
    main(["doctor", "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {one["verdict"] for one in found} <= {"good", "note", "bad"}
    assert any("没有设置 Telegram" in one["text"] for one in found)
