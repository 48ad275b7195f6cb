import shlex
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devices.adb.shell import command, quote, with_receipt

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200)


@given(TEXT)
@example("")
@example("'")
@example("a'; reboot; '")
@example('$(reboot) `reboot` ${HOME} \\ " ! * ? [a] {a,b} ~ # & | < > ;')
@example("-n")
@example("A=1")
@example("line\nline\r\n\ttab")
@example("你好，世界 👋")
def test_a_posix_lexer_reads_one_word_that_is_exactly_the_text(text: str) -> None:
    assert shlex.split(f"echo {quote(text)} end") == ["echo", text, "end"]


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(TEXT, min_size=1, max_size=5))
def test_a_real_shell_reads_exactly_the_words(words: list[str]) -> None:
    """Seen failing with `quote` returning its text unchanged, and with `\\'` inside the quotes left as it is."""
    line = command("printf", "%s\\0", *words)
    printed = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True, env={}).stdout
    assert printed.decode().split("\0")[:-1] == words


def test_plain_words_stay_readable() -> None:
    assert command("input", "tap", 540, 1200) == "input tap 540 1200"
    assert (
        command("am", "start", "-n", "com.android.settings/.Settings") == "am start -n com.android.settings/.Settings"
    )


def test_a_word_that_looks_like_an_assignment_is_quoted() -> None:
    assert quote("PATH=/evil") == "'PATH=/evil'"


def test_a_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        quote("a\0b")


@pytest.mark.slow
def test_a_receipt_stands_in_front_and_does_not_reach_the_command() -> None:
    line = with_receipt("printenv OPENGUI_RECEIPT", "run-1.2_a", 3)
    assert line == "OPENGUI_RECEIPT=run-1.2_a.3 printenv OPENGUI_RECEIPT"
    printed = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True, text=True).stdout
    assert printed == "run-1.2_a.3\n"


@pytest.mark.parametrize("receipt", ["", "a b", "a;b", "$(a)", "a\n", "é", "a'b"])
def test_a_receipt_with_other_signs_is_refused(receipt: str) -> None:
    """Seen failing with the check in `with_receipt` removed."""
    with pytest.raises(ValueError, match="receipt"):
        with_receipt("true", receipt, 1)
