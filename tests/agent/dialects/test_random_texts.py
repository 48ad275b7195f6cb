"""Random texts: parsers raise nothing but BadReply, points stay inside, typed text comes out as it went in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.actions import Finish, PointTarget, Tap, Type, action_data
from agent.dialects.base import BadReply, Decision, Dialect
from agent.dialects.select import NAMES, dialect_for
from agent.models.base import ModelReply, ToolCall
from agent.models.json_answers import whole_signs
from devices.geometry import Point, Size
from devices.inputs import as_typed

pytestmark = pytest.mark.slow

SPACE = Size(922, 2048)
DIALECTS = [dialect_for(name, "") for name in NAMES if name != "auto"]

PIECES = st.sampled_from(
    [
        *("Action:", "Action：", "Thought:", "\nAction: ", "finish(", "finished(content='", 'do(action="', "</answer>"),
        *(
            "<answer>",
            "<think>",
            "</think>",
            "<tool_call>",
            "</tool_call>",
            "<tool_response>",
            "<|im_start|>user\n",
            "\nUser: ",
            "\nObservation: ",
            '{"name": "tap", "arguments": ',
            "```json\n",
        ),
        *(
            "click(start_box='(1,2)')",
            "type(content='",
            'do(action="Tap", element=[',
            "<point>",
            "</point>",
            "<|box_start|>",
        ),
        *(
            "'",
            '"',
            "\\",
            "\\'",
            '\\"',
            "\n",
            "\r\n",
            "(",
            ")",
            "（",
            "）",
            "，",
            "：",
            "“",
            "”",
            "‘",
            "’",
            "[",
            "]",
            "{",
            "}",
        ),
        *(
            ",",
            "=",
            "＝",
            " ",
            "999",
            "1001",
            "-1",
            "0.5",
            "1e999",
            "NaN",
            "null",
            "true",
            "你好",
            "😀",
            "\x00",
            "\u2028",
            "\ud83d",
            "\\ud83d",
        ),
        *(
            "finish(message=“",
            "”, status=“failure”)",
            "status='failure'",
            ", success=False",
            '", "status": "',
            "finished()",
            "`Action: finished()`",
            '{"name": "finish", "arguments": {"status": "success"}}',
            "<point_2d>",
            "{x: 1, y: 2}",
            "end_box=",
            "1 hour",
        ),
        *(
            "<THINK>",
            "</THINK>\n",
            "explain:e\t",
            "action:TYPE\tvalue:",
            "\tpoint:1,2",
            "\tsummary:s",
            "action:COMPLETE",
        ),
        *("<function=tap>", "<parameter=x>1</parameter>", "</function>", '<invoke name="', '"></invoke>', "<answer>"),
        *('"action": "click"', '"coordinate": [1, 2]', '"element": 3', "direction='down'", ", start_box='", "🇨🇭"),
    ]
)
LONGEST_REASON = 1200
"""Bytes of a reason: a model's own words in it are bounded."""
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=25).map("".join)

VALID = [
    "Thought: t\nSummary: s\nAction: type(content='it\\'s', point='<point>1 2</point>')\n\nscroll(direction='up')",
    "Action: drag(start_box='(1,2,3,4)', end_box=<|box_start|>(5,6)<|box_end|>)",
    '<think>t</think><answer>do(action="Swipe", start=[1,2], end=[3.5,4])</answer>',
    '<think>t</think><answer>do(action="Type", text="say \\"hi\\"\n")</answer>',
    '<tool_call>{"name": "mobile_use", "arguments": {"action": "swipe", "coordinate": [1, 2], "coordinate2": [3, 4]}}',
    "<THINK> t </THINK>\nexplain:e\taction:SLIDE\tpoint1:1,2\tpoint2:3,4\tsummary:s",
    "<tool_call><function=tap><parameter=x>1</parameter><parameter=y>2</parameter></function></tool_call>",
    '[{"name": "tap", "arguments": {"x": 1, "y": 2}}, {"name": "type", "arguments": {"text": "a", "element": 1}}]',
]


def parsed(dialect: Dialect, reply: ModelReply) -> Decision | None:
    """The decision, None when the reply was refused; anything else than BadReply fails the test."""
    refusal = ""
    try:
        decision = dialect.parse(reply, SPACE)
    except BadReply as bad:
        refusal = str(bad)
    if refusal:
        assert len(refusal.encode()) < LONGEST_REASON
        return None
    assert decision.actions
    assert len(decision.summary.split()) <= 10
    # What is decided is kept and sent: no file takes half a sign.
    json.dumps([action_data(action) for action in decision.actions], ensure_ascii=False).encode()
    f"{decision.thought} {decision.summary}".encode()
    for action in decision.actions:
        ends = [getattr(action, field, None) for field in ("target", "start", "end")]
        assert all(SPACE.holds(Point(end.x, end.y)) for end in ends if isinstance(end, PointTarget))
    return decision


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])
@settings(max_examples=150)
@given(text=TEXTS)
def test_nothing_but_a_bad_reply_is_raised(dialect: Dialect, text: str) -> None:
    parsed(dialect, ModelReply(text))
    parsed(dialect, ModelReply(text, (ToolCall("1", "type", text),)))
    parsed(dialect, ModelReply("", (ToolCall("1", text, json.dumps({"text": text, "x": text})),)))


@settings(max_examples=300)
@given(
    valid=st.sampled_from(VALID), cut=st.integers(0, 200), length=st.integers(0, 4), piece=PIECES | st.just(""),
    keep=st.booleans(),
)  # fmt: skip
def test_damaged_replies_are_read_or_refused(valid: str, cut: int, length: int, piece: str, keep: bool) -> None:
    cut %= len(valid)
    damaged = valid[:cut] + piece + (valid[cut + length :] if keep else "")
    for dialect in DIALECTS:
        parsed(dialect, ModelReply(damaged))


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])
@pytest.mark.parametrize(
    "text",
    [
        "<answer>HALFx</answer>",
        "<function=type><parameter=content>HALFx</parameter></function>",
        "<function=type><parameter=text>HALFx</parameter></function>",
        "<THINK>t</THINK>explain:a\taction:TYPE\tvalue:HALFx\tsummary:s",
        '<think>HALFt</think><answer>do(action="Note", message="true")</answer>',
        'HALF <tool_call>{"name":"mobile_use","arguments":{"action":"terminate","status":"success"}}</tool_call>',
    ],
)
def test_half_a_sign_is_replaced(dialect: Dialect, text: str) -> None:
    """Seen failing for the forms of each dialect without `whole_reply`: no file takes what was decided."""
    parsed(dialect, ModelReply(text.replace("HALF", "\ud83d")))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        [
            *("action", "coordinate", "coordinate2", "text", "element", "x", "y", "start", "start_x", "end", "target"),
            *("key", "button", "time", "seconds", "say", "choices", "status", "kind", "question", "direction"),
        ]
    ),
    JSON_VALUES | st.sampled_from(["click", "swipe", "type", "wait", "terminate", "down"]),
    max_size=6,
)
TOOL_NAMES = ["tap", "type", "swipe", "scroll", "wait", "finish", "enter_secret", "ask_user", "key", "mobile_use"]


@settings(max_examples=300)
@given(name=st.sampled_from(TOOL_NAMES), arguments=ARGUMENTS)
def test_any_arguments_are_read_or_refused(name: str, arguments: dict[str, object]) -> None:
    tools = dialect_for("tools", "")
    parsed(tools, ModelReply("", (ToolCall("1", name, json.dumps(arguments)),)))
    parsed(tools, ModelReply(json.dumps({"name": name, "arguments": arguments})))
    parsed(tools, ModelReply(json.dumps(arguments)))


PROSE = st.text(st.characters(codec="utf-8", categories=["Lu", "Ll", "Lo", "Zs"]), max_size=12)
ENDS = [
    "finished()",
    "finished(content='done')",
    'finish(message="done")',
    'finish(message="done", status="success")',
    '{"name": "finish", "arguments": {"status": "success", "summary": "done"}}',
    '{"name": "mobile_use", "arguments": {"action": "terminate", "status": "success"}}',
    '{"action": "answer", "text": "done"}',
    "action:COMPLETE\treturn:done",
    '<invoke name="finish"><parameter name="status">success</parameter></invoke>',
    "<answer>done</answer>",
]


@settings(max_examples=300)
@given(
    end=st.sampled_from(ENDS), before=PROSE, after=PROSE, label=st.sampled_from(["Action: ", ""]),
    quotes=st.sampled_from(["``", "“”", "''", '""', "  "]),
)  # fmt: skip
def test_an_end_that_is_only_quoted_is_no_success(end: str, before: str, after: str, label: str, quotes: str) -> None:
    """Seen failing before: a thought that quoted the end ended the task."""
    quoted = f"I know {before} {quotes[0]}{label}{end}{quotes[1]} {after} would end it"
    for dialect in DIALECTS:
        # What follows the name of a field is its value, and "done is wrong" a text like any other.
        spoken_of = () if end.startswith("action:") else (f"{label}{end} {after} is wrong",)
        for text in (quoted, f"Thought: {quoted}", f"{quoted}\nbut not yet.", *spoken_of):
            decision = parsed(dialect, ModelReply(text))
            assert decision is None or not any(isinstance(action, Finish) for action in decision.actions)


@settings(max_examples=300)
@given(status=st.text(max_size=12) | st.sampled_from(["succes", "sucess", "done", "", "null", "failed", "“failure”"]))
def test_a_status_that_cannot_be_read_is_no_success(status: str) -> None:
    """Seen failing before: an end with a status in typographic quotes, or with an empty one, was a success."""
    if status.strip().lower() in {"success", "failure"}:
        return
    written = json.dumps(status)
    texts = [
        *(f"finish(message={text}, status={quoted})" for text in ('"no"', '"no”', "'no’", "“no”") for quoted in (
            written, f"“{status}”", f"'{escaped(status, chr(39))}'"
        )),
        f"Action: finished(content='no', status={written})",
        f"Action: finished(content='no’, status='{escaped(status, chr(39))}')",
        f'{{"name": "finish", "arguments": {{"summary": "no", "status": {written}}}}}',
        f'{{"action": "terminate", "status": {written}}}',
    ]  # fmt: skip
    for dialect in DIALECTS:
        for text in texts:
            decision = parsed(dialect, ModelReply(text))
            ends = () if decision is None else decision.actions
            assert not any(isinstance(action, Finish) and action.status == "success" for action in ends), text


@pytest.mark.timeout(40)  # quadratic ones take minutes
@pytest.mark.parametrize(
    "text",
    [
        *("[" * 50_000, "[ " * 25_000 + "x", '{"a":' * 50_000, '{"name":' * 5_000, "<tool_call>" * 5_000),
        *("Action: " + "``` " * 40 + "x", "Action: " * 5_000, "\npress_back()" * 5_000, "click(" * 5_000),
        *('do(action="' * 5_000, "do(action='Back')" * 5_000, "<answer>do(action='Back'" * 5_000, "<think>" * 5_000),
        *(
            "type(content='" + "' " * 25_000,
            "click(start_box='" + "1 " * 25_000 + "')",
            "type(content='" + "\\" * 50_001,
        ),
    ],
    ids=lambda text: text[:20],
)
def test_depth_and_length_do_no_harm(text: str) -> None:
    for dialect in DIALECTS:
        assert parsed(dialect, ModelReply(text)) is None
        assert parsed(dialect, ModelReply("", (ToolCall("1", "tap", text),))) is None


def escaped(text: str, quote: str) -> str:
    return text.replace("\\", "\\\\").replace(quote, f"\\{quote}")


TYPED = TEXTS.map(whole_signs).filter(lambda text: bool(text) and not as_typed(text).endswith("\n"))
TYPED_HERE = settings(max_examples=250)


@TYPED_HERE
@given(
    text=TYPED,
    quote=st.sampled_from("'\""),
    one_line=st.booleans(),
    label=st.sampled_from(["Thought: t\nAction: ", ""]),
)
def test_ui_tars_types_what_was_written(text: str, quote: str, one_line: bool, label: str) -> None:
    written = escaped(text, quote).replace("\n", "\\n") if one_line else escaped(text, quote)
    reply = ModelReply(f"{label}type(content={quote}{written}{quote})")
    for dialect in DIALECTS:
        if dialect.name.startswith("ui-tars"):
            assert dialect.parse(reply, SPACE).actions == (Type(text=text),)


@TYPED_HERE
@given(
    text=TEXTS.map(whole_signs).filter(bool),
    quote=st.sampled_from("'\""),
    one_line=st.booleans(),
    wrapped=st.booleans(),
)
def test_autoglm_types_what_was_written(text: str, quote: str, one_line: bool, wrapped: bool) -> None:
    written = escaped(text, quote).replace("\n", "\\n") if one_line else escaped(text, quote)
    call = f'do(action="Type", text={quote}{written}{quote})'
    reply = ModelReply(f"<think>t</think><answer>{call}</answer>" if wrapped else call)
    assert dialect_for("autoglm", "").parse(reply, SPACE).actions == (Type(text=text, clear=True),)


@TYPED_HERE
@given(text=TEXTS.map(whole_signs).filter(bool), ascii_only=st.booleans())
def test_tools_type_what_was_written(text: str, ascii_only: bool) -> None:
    tools = dialect_for("tools", "")
    arguments = json.dumps({"text": text}, ensure_ascii=ascii_only)
    mobile = {"name": "mobile_use", "arguments": {"action": "type", "text": text}}
    native = ModelReply("", (ToolCall("1", "type", arguments),))
    bare = ModelReply(f'{{"name": "type", "arguments": {arguments}}}')
    tagged = ModelReply(f"<tool_call>\n{json.dumps(mobile, ensure_ascii=ascii_only)}\n</tool_call>")
    for reply in (native, bare, tagged):
        assert tools.parse(reply, SPACE).actions == (Type(text=text),)


@settings(max_examples=100)
@given(x=st.integers(0, SPACE.width - 1), y=st.integers(0, SPACE.height - 1))
def test_pixels_come_out_as_they_went_in(x: int, y: int) -> None:
    here = (Tap(target=PointTarget(x=x, y=y)),)
    pixels = dialect_for("ui-tars-1.5", "").parse(ModelReply(f"Action: click(start_box='({x},{y})')"), SPACE)
    assert pixels.actions == here
    call = ToolCall("1", "tap", json.dumps({"x": x, "y": y}))
    assert dialect_for("tools", "").parse(ModelReply("", (call,)), SPACE).actions == here
