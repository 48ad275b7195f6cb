"""What goes into the log, as the log's own handler writes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator

import pytest

from agent.run import RunId
from bot.chats.installed import installed, model_of
from bot.logs.lines import ABOUT, HIDDEN, About
from bot.logs.setup import CHATTY, set_up_logs

TELEGRAM = f"123456789:{'A' * 35}"
DISCORD = f"{'M' * 24}.{'x' * 6}.{'y' * 38}"
LIBRARIES = [name for platform in installed() for name in platform.chatty]
KEY = f"sk-{'k' * 20}"

SetUp = Callable[..., None]


@pytest.fixture
def set_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetUp]:
    """Sets the logs up with these settings; afterwards all is as it was."""
    root = logging.getLogger()
    handlers, levels = root.handlers[:], {name: logging.getLogger(name).level for name in ("", *CHATTY, *LIBRARIES)}
    for name in ("DISCORD_BOT_TOKEN", "TELEGRAM_BOT_TOKEN", "VLM_API_KEY", "LOG_LEVEL", "LOG_FORMAT"):
        monkeypatch.delenv(name, raising=False)

    def with_settings(*, quiet: bool = False, **settings: str) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(name.upper(), value)
        platforms = installed()
        forms = [form for platform in platforms for form in platform.secrets]
        set_up_logs(model_of(platforms)(), quiet=quiet, forms=forms, chatty=LIBRARIES)

    yield with_settings
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"POST https://api.telegram.org/bot{TELEGRAM}/getUpdates", TELEGRAM),
        (f"POST https://api.telegram.org/file/bot{TELEGRAM}/photos/1.jpg", TELEGRAM),
        (f"the token {TELEGRAM} is wrong", TELEGRAM),
        (f"Authorization: Bot {DISCORD}", DISCORD),
        ("Authorization: Bearer abcdef0123456789.abc/def+xyz~", "abcdef0123456789"),
        (f"Incorrect API key provided: {KEY}.", KEY),
    ],
    ids=["a Telegram URL", "a Telegram file", "a Telegram token", "a Discord token", "a bearer", "a key"],
)
def test_what_looks_like_a_token_is_covered(
    set_up: SetUp, capsys: pytest.CaptureFixture[str], text: str, secret: str
) -> None:
    """Seen failing with `_TOKENS` matching nothing."""
    set_up()
    logging.getLogger("bot.some").warning("%s", text)
    told = capsys.readouterr().err
    assert secret not in told
    assert HIDDEN in told
    assert "bot.some" in told


@pytest.mark.parametrize("name", ["discord_bot_token", "telegram_bot_token", "vlm_api_key", "basic_api_key"])
def test_a_secret_of_the_settings_is_covered_whatever_it_looks_like(
    set_up: SetUp, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Seen failing without the known secrets: a key of a form of its own is then in the log."""
    set_up(**{name: "plain-words-as-key"})
    logging.getLogger("bot.some").warning("asked with %s", {"key": "plain-words-as-key"})
    assert "plain-words" not in capsys.readouterr().err


def test_an_exception_is_covered_too(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(vlm_api_key="plain-words-as-key")
    error = ConnectionError(f"no way to https://api.telegram.org/bot{TELEGRAM}/getMe with plain-words-as-key")
    logging.getLogger("bot.some").error("it failed", exc_info=error)
    told = capsys.readouterr().err
    assert "ConnectionError: no way to" in told
    assert TELEGRAM not in told
    assert "plain-words" not in told


def test_ordinary_words_and_numbers_stay(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    line = "task 12: 127.0.0.1:38243 com.android.settings de59b9d4f8202e737bd40631881790b8.jpg 11:04:36 skip-this"
    logging.getLogger("bot.some").info(line)
    assert line in capsys.readouterr().err


def test_a_quiet_command_shows_warnings_only(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(quiet=True)
    logging.getLogger("bot.some").info("working")
    logging.getLogger("bot.some").warning("careful")
    told = capsys.readouterr().err
    assert "working" not in told
    assert "careful" in told


def test_who_asks_for_more_gets_it_but_not_what_others_write(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(quiet=True, log_level="debug")
    logging.getLogger("bot.some").debug("closely")
    logging.getLogger("httpx").info("HTTP Request: POST …")
    logging.getLogger("telegram.Bot").debug("a message with a code 246810")
    told = capsys.readouterr().err
    assert "closely" in told
    assert "HTTP Request" not in told
    assert "246810" not in told


def test_no_line_goes_to_standard_output(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to the command: `do --json` is read by programs."""
    set_up()
    logging.getLogger("bot.some").error("trouble")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "trouble" in captured.err


def test_a_line_says_what_it_is_about(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    token = ABOUT.set(About("12"))
    try:
        logging.getLogger("bot.some").info("first")
        about = ABOUT.get()
        assert about is not None
        about.run, about.phone = RunId("12"), "Pixel"
        logging.getLogger("bot.some").info("second")
    finally:
        ABOUT.reset(token)
    told = capsys.readouterr().err
    assert "bot.some [task 12]: first" in told
    assert "bot.some [task 12, run 12-1, phone Pixel]: second" in told


def test_json_lines_are_objects(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(log_format="json", vlm_api_key='a "quoted" key')
    token = ABOUT.set(About("12"))
    try:
        error = ConnectionError('with a "quoted" key')
        logging.getLogger("bot.some").error("two\nlines with %s", 'a "quoted" key', exc_info=error)
    finally:
        ABOUT.reset(token)
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert told["message"] == f"two\nlines with {HIDDEN}"
    assert (told["level"], told["logger"], told["task"]) == ("ERROR", "bot.some", "12")
    assert "run" not in told
    assert told["trace"] == f"ConnectionError: with {HIDDEN}"
    assert told["time"].endswith("+00:00")


def test_nobody_forges_a_line_or_moves_the_cursor(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    logging.getLogger("bot.some").warning("typed: %s", "x\n2026-01-01 ERROR bot: forged\x1b[2J\r")
    told = capsys.readouterr().err
    assert "\n    2026-01-01" in told
    assert "\x1b" not in told
    assert "\r" not in told


def test_a_line_that_cannot_be_written_tells_no_values(set_up: SetUp, capsys: pytest.CaptureFixture[str]) -> None:
    """Must fail with logging's own `handleError`, which writes the arguments out."""
    set_up(vlm_api_key="plain-words-as-key")
    logging.getLogger("bot.some").warning("%d", "plain-words-as-key")
    told = capsys.readouterr().err
    assert "test_logs.py" in told
    assert "could not be logged: TypeError" in told
    assert "plain-words" not in told
