from __future__ import annotations

import shlex
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.shell.commands import COMMANDS
from devices.virtual_phone.shell.interpreter import ERR, OUT, Interpreter


async def run(line: str, phone: VirtualPhone | None = None) -> tuple[int, str, str]:
    code, output = await Interpreter(phone or VirtualPhone(), COMMANDS, "shell").run(line)
    return code, output.of(OUT).decode("utf-8", "surrogateescape"), output.of(ERR).decode("utf-8", "surrogateescape")


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=4))
async def test_quoted_words_come_back_unchanged_and_run_nothing(words: list[str]) -> None:
    phone = VirtualPhone()
    await run("nothing " + " ".join(map(shlex.quote, words)), phone)
    assert [(entry.kind, entry.argv) for entry in phone.journal.entries] == [("shell", ("nothing", *words))]


@settings(max_examples=150)
@given(st.text(string.ascii_letters + " ;&|<>$`\"'\\\n(){}#=%", max_size=30))
async def test_no_line_breaks_the_shell(line: str) -> None:
    code, _out, err = await run(line)
    assert 0 <= code <= 255
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo a  b", "a b\n"),
        ("echo 'a  b' \"c  d\"", "a  b c  d\n"),
        (r"echo a\ b \$HOME", "a b $HOME\n"),
        ('echo "a\\"b" "\\$x" "\\n"', 'a"b $x \\n\n'),
        ("echo ''x''", "x\n"),
        ("echo ''", "\n"),
        ("false || echo no; true && echo yes", "no\nyes\n"),
        ("false && echo never; echo $?", "1\n"),
        ("exit 3; echo never", ""),
        ("A=1; echo $A ${A}x \"$A\" '$A'", "1 1x 1 $A\n"),
        ("echo one two | cat", "one two\n"),
        ("nothing 2>/dev/null; echo $?", "127\n"),
        ("nothing 2>&1", "/system/bin/sh: nothing: inaccessible or not found\n"),
        ("echo hidden >/dev/null", ""),
        ("echo $(echo inner  words) `echo old`", "inner words old\n"),
        ('echo "$(echo inner  words)"', "inner words\n"),
        ("echo x # comment", "x\n"),
        ("echo a\necho b", "a\nb\n"),
        ("echo a > /sdcard/f; echo b >> /sdcard/f; cat < /sdcard/f", "a\nb\n"),
        ("/system/bin/echo path", "path\n"),
    ],
)
async def test_lines_as_posix_reads_them(line: str, expected: str) -> None:
    _code, out, _err = await run(line)
    assert out == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("echo 'open", "no closing quote"),
        ('echo "open', "no closing quote"),
        ("echo (", "syntax error: unexpected '('"),
        ("&& echo", "syntax error: unexpected '&&'"),
        ("echo `open", "no closing quote"),
        ("echo $(open", "no closing quote"),
        ("echo a &&", "syntax error: unexpected EOF"),
        ("echo >", "syntax error: unexpected EOF"),
    ],
)
async def test_bad_lines_fail_as_in_mksh(line: str, message: str) -> None:
    assert await run(line) == (1, "", f"/system/bin/sh: {message}\n")


async def test_an_injected_command_shows_in_the_journal() -> None:
    phone = VirtualPhone()
    await run('input text "$(rm -rf /sdcard)"', phone)
    assert [(entry.kind, entry.name) for entry in phone.journal.entries] == [("substitution", "rm"), ("shell", "input")]


async def test_a_receipt_belongs_to_its_command_only() -> None:
    phone = VirtualPhone()
    await run("OPENGUI_RECEIPT=run.1.2.0 input tap 1 2; input tap 3 4", phone)
    assert [(entry.argv, entry.receipt, entry.code) for entry in phone.journal.named("input")] == [
        (("input", "tap", "1", "2"), "run.1.2.0", 0),
        (("input", "tap", "3", "4"), "", 0),
    ]
